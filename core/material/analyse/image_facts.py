"""Facts about the images that a material reads, and parts of a report about them.

Two faults are those that no renderer reports: numbers that are decoded like colours, and texels
that are used as normals without decoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import MissingTextureError, VerdigrisError
from verdigris.core.material.analyse.features import APPROXIMATED, IGNORED, KEPT, Part
from verdigris.core.material.domain import MOST_ALONG_A_SIDE, Tiles
from verdigris.core.material.files.image_headers import find_atlas, read_info
from verdigris.core.material.files.similar_names import EXACT, pattern_of
from verdigris.core.material.graph.traversal import (
    defined_input,
    defined_inputs,
    image_inputs,
    is_connected,
    is_defined_here,
    source_of,
)

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.files.image_headers import ImageInfo
    from verdigris.core.material.files.paths import SearchPath
    from verdigris.core.material.load.mtlx_document import Document

# MaterialX decodes only colours, whatever colour space a file has.
AS_STORED = "numbers as stored"
_NUMBERS = ("float", "vector")
HEIGHTS = "heighttonormal"
# Nodes that return texels, or values like texels.
_IMAGES = (
    "image",
    "tiledimage",
    "hextiledimage",
    "triplanarprojection",
    "gltf_image",
    "gltf_colorimage",
    "UsdUVTexture",
    HEIGHTS,
)
_PASS_ON = ("dot", "convert", "extract", "separate3", "separate4", "combine3")
# Outputs of the fourth channel, which is never decoded.
_ALPHA_OUTPUTS = ("a", "outa", "outw")
_ALPHA_INDEX = "3"
# Colour spaces that need no decoding.
_PLAIN_SPACES = (AS_STORED, "none", "", "lin_rec709")
_TAKES_NORMALS = "Nworld"
_HAVE_NUMBERS = ("surfaceshader", "BSDF")
_PREVIEW_SURFACE = "UsdPreviewSurface"
# Texel types without negative values, which directions need.
_WITHOUT_SIGN = ("uint8", "uint16")


@dataclass(frozen=True)
class TextureFacts:
    """The facts about one image that the material reads."""

    node: str
    file: str
    colour_space: str
    """The colour space of the texels; AS_STORED if the node does not return a colour."""
    width: int = 0
    height: int = 0
    channels: int = 0
    kind: str = ""
    tiles: int = 1
    tiles_left_out: int = 0
    """Tiles that are too far from each other for one atlas."""
    orientation: int = 1
    """The EXIF orientation: unless it is 1, viewers rotate or mirror the image."""
    problem: str = ""
    is_missing: bool = False
    folders: tuple[str, ...] = ()
    """If the file is missing, folders of which each would make it found on the search path."""
    written: str = ""
    """The name in the document, if a file with another name is read."""


def facts_of_images(document: Document, nodes: Sequence[mx.Node]) -> list[TextureFacts]:
    """The facts about each image of these nodes. An error becomes the `problem` of its facts."""
    found = []
    for node in nodes:
        for port in image_inputs(node):
            file = port.getResolvedValueString()
            is_number = node.getType().startswith(_NUMBERS)
            space = AS_STORED if is_number else port.getActiveColorSpace() or "none"
            asker = f"{document.name}: {node.getNamePath()}"
            if not file:
                continue
            facts = TextureFacts(node.getNamePath(), file, space)
            try:
                info = read_info(file, asker, document.search)
                facts = _with_header(facts, info, document.search)
            except MissingTextureError as failure:
                folders = tuple(str(folder) for folder in failure.folders)
                facts = replace(facts, problem=str(failure), is_missing=True, folders=folders)
            except VerdigrisError as failure:
                facts = replace(facts, problem=str(failure))
            found.append(facts)
    return found


def _with_header(facts: TextureFacts, info: ImageInfo, search: SearchPath) -> TextureFacts:
    """The facts with those from the header."""
    first, named = info.tiles[0].path, search.candidates(facts.file)
    is_named = first in named or (info.is_udim and _is_tile_of(first, named))
    return replace(
        facts,
        file=facts.file if info.is_udim and is_named else str(first),
        written="" if is_named else facts.file,
        width=info.width,
        height=info.height,
        channels=info.channels,
        kind=info.kind,
        tiles=len(info.tiles),
        tiles_left_out=_left_out(info),
        orientation=info.orientation,
    )


def _left_out(info: ImageInfo) -> int:
    others = [each for each in info.tiles if (each.column, each.row) != (0, 0)]
    atlas = Tiles.around((each.column, each.row) for each in info.tiles)
    return len(others) if atlas.side > MOST_ALONG_A_SIDE else 0


def _is_tile_of(path: Path, patterns: Sequence[Path]) -> bool:
    """Whether a file is a tile of one of these names, which have a token."""
    return any(
        path.parent == each.parent and pattern_of(each.name).rank(path.name) == EXACT
        for each in patterns
    )


def parts_of_images(
    nodes: Sequence[mx.Node], textures: Sequence[TextureFacts], search: SearchPath
) -> list[Part]:
    """The parts of a report about the images of these nodes."""
    return [
        *_images_without_file(nodes),
        *_other_files(textures),
        *_atlas(textures, search),
        *_orientations(textures),
        *_undecoded_normals(nodes, textures),
        *_numbers_decoded_as_colours(nodes, textures),
    ]


def _other_files(textures: Sequence[TextureFacts]) -> list[Part]:
    """Images that are read instead of images that the document names."""
    return [
        Part(f"file {name!r}", APPROXIMATED, f"was not found: {file} is read instead")
        for name, file in {each.written: each.file for each in textures if each.written}.items()
    ]


def _atlas(textures: Sequence[TextureFacts], search: SearchPath) -> list[Part]:
    """UDIM tiles, which are baked as one atlas if they lie close together."""
    tiles = find_atlas([facts.file for facts in textures], search)
    if tiles is not None:
        side = f"{tiles.side} x {tiles.side}"
        return [Part("UDIM tiles", KEPT, f"side by side in one square of {side} tiles")]
    if not any(facts.tiles_left_out for facts in textures):
        return []
    how = (
        f"only tile 1001 is baked, because the tiles span more than {MOST_ALONG_A_SIDE} on a side: "
        "move them together, or replace the token with a tile's number"
    )
    return [Part("UDIM tiles", APPROXIMATED, how)]


def _orientations(textures: Sequence[TextureFacts]) -> list[Part]:
    """Images that viewers rotate or mirror, but renderers do not."""
    turned = {Path(facts.file).name: facts.orientation for facts in textures}
    return [
        Part(
            f"orientation of {name}",
            IGNORED,
            f"viewers rotate or mirror it by its orientation {orientation}, but renderers and "
            "bakes read its texels as stored: save it rotated if that is intended",
        )
        for name, orientation in turned.items()
        if orientation > 1
    ]


def _images_without_file(nodes: Sequence[mx.Node]) -> list[Part]:
    """Image nodes without a file name, which exporters may lose."""
    how = "it has no file name and returns its default everywhere: name a file, or remove the node"
    return [
        Part(f"image of {node.getNamePath()!r}", APPROXIMATED, how)
        for node in nodes
        if any(not _names_a_file(node, name) for name in _file_inputs(node))
    ]


def _file_inputs(node: mx.Node) -> list[str]:
    """File inputs of a node that reads files itself: library nodes only."""
    if is_defined_here(node) or node.getType() == "filename":
        return []
    return [port.getName() for port in defined_inputs(node) if port.getType() == "filename"]


def _names_a_file(node: mx.Node, name: str) -> bool:
    port = node.getActiveInput(name)
    if port is None or is_connected(port):
        return port is not None
    given = port.getInterfaceInput() or port
    return is_connected(given) or bool(given.getResolvedValueString())


def non_finite(texels: Mapping[Path, int]) -> list[Part]:
    """Images with texels that are NaN or infinite."""
    return [
        Part(f"image {path.name}", APPROXIMATED, f"{count} texels are not finite: they read as 0")
        for path, count in texels.items()
    ]


def _numbers_decoded_as_colours(
    nodes: Sequence[mx.Node], textures: Sequence[TextureFacts]
) -> list[Part]:
    """Images whose numbers, such as roughness or normals, are decoded like colours."""
    spaces = {facts.node: facts.colour_space for facts in textures}
    found: dict[str, Part] = {}
    for node in nodes:
        for port in node.getInputs():
            for image in images_passed_on(port) if _takes_numbers(node, port) else ():
                path = image.getNamePath()
                space = spaces.get(path, "")
                if space not in _PLAIN_SPACES:
                    how = (
                        f"its texels are decoded from {space} like colours, but "
                        f"{port.getName()!r} of {node.getNamePath()!r} expects numbers: set the "
                        "colour space of its file to 'none', or read it as a vector3"
                    )
                    found.setdefault(path, Part(f"numbers of {path!r}", APPROXIMATED, how))
    return list(found.values())


def takes_normals(node: mx.Node, port: mx.Input) -> bool:
    """Whether an input is a direction whose default is the normal of the surface."""
    defined = defined_input(node, port.getName()) if port.getType() == "vector3" else None
    return defined is not None and defined.getDefaultGeomPropString() == _TAKES_NORMALS


def images_passed_on(port: mx.Input) -> Iterator[mx.Node]:
    """Images whose texels, without alpha, reach an input unchanged, in any order and type."""
    pending: list[mx.Input] = [port]
    seen: set[str] = set()
    while pending:
        reader = pending.pop()
        node = source_of(reader)
        if node is None or _output_of(reader) in _ALPHA_OUTPUTS or node.getNamePath() in seen:
            continue
        seen.add(node.getNamePath())
        if node.getCategory() in _IMAGES:
            yield node
        elif node.getCategory() in _PASS_ON and not _is_alpha(node):
            pending += node.getInputs()


def _takes_numbers(node: mx.Node, port: mx.Input) -> bool:
    if node.getCategory() == "normalmap":
        return str(port.getName()) == "in"
    has_numbers = node.getType() in _HAVE_NUMBERS and port.getType() in ("float", "vector3")
    return has_numbers or takes_normals(node, port)


def _output_of(port: mx.Input) -> str:
    output = port.getConnectedOutput()
    return str(
        (output if output is not None and not port.getNodeName() else port).getOutputString()
    )


def _is_alpha(node: mx.Node) -> bool:
    index = node.getInput("index")
    return index is not None and str(index.getValueString()) == _ALPHA_INDEX


def _undecoded_normals(nodes: Sequence[mx.Node], textures: Sequence[TextureFacts]) -> list[Part]:
    """Inputs for normals that read texels or heights without a node that decodes directions."""
    raw = {facts.node for facts in textures if facts.kind in _WITHOUT_SIGN and not facts.problem}
    found: dict[str, Part] = {}
    for node in nodes:
        is_preview = node.getCategory() == _PREVIEW_SURFACE
        remedy = (
            "read it with a UsdUVTexture with the scale 2, 2, 2, 1 and the bias -1, -1, -1, 0"
            if is_preview
            else "insert a normalmap node"
        )
        for port in node.getInputs():
            is_normal = is_preview and port.getName() == "normal"
            for image in images_passed_on(port) if is_normal or takes_normals(node, port) else ():
                path = image.getNamePath()
                is_raw = path in raw or image.getCategory() == HEIGHTS
                if is_raw and not _has_scale(image):
                    how = f"texels of {path!r}, from 0 to 1, are used as directions: {remedy}"
                    name = f"{port.getName()!r} of {node.getNamePath()!r}"
                    found.setdefault(name, Part(name, APPROXIMATED, how))
    return list(found.values())


def _has_scale(image: mx.Node) -> bool:
    return all(image.getInput(name) is not None for name in ("scale", "bias"))
