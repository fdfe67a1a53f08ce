"""Facts of the images that a material reads, and parts of a report about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import MissingTextureError, VerdigrisError
from verdigris.core.material.analyse.features import APPROXIMATED, DROPPED, KEPT, Part
from verdigris.core.material.files.atlas import find_atlas
from verdigris.core.material.files.image_headers import read_info
from verdigris.core.material.files.similar_names import EXACT, pattern_of
from verdigris.core.material.graph.traversal import image_inputs, is_connected, is_of_document
from verdigris.core.material.tiles import MOST_ALONG_A_SIDE, Tiles

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.files.image_headers import ImageInfo
    from verdigris.core.material.files.paths import SearchPath
    from verdigris.core.material.load.mtlx_document import Document


# MaterialX decodes colours only, whatever colour space a file has.
AS_STORED = "numbers as stored"
_NUMBERS = ("float", "vector")


@dataclass(frozen=True)
class TextureFacts:
    """One image that the material reads."""

    node: str
    file: str
    colour_space: str
    """The colour space of the texels; AS_STORED if the node returns no colour."""
    width: int = 0
    height: int = 0
    channels: int = 0
    kind: str = ""
    tiles: int = 1
    tiles_left_out: int = 0
    """Tiles that are too far from each other for one atlas."""
    orientation: int = 1
    """EXIF orientation: viewers rotate or mirror the image unless it is 1."""
    problem: str = ""
    is_missing: bool = False
    folders: tuple[str, ...] = ()
    """If the file is missing, folders of the search path each of which would make it found."""
    written: str = ""
    """The name in the document, if a file of another name is read."""


def facts_of_images(document: Document, nodes: Sequence[mx.Node]) -> list[TextureFacts]:
    """The facts of each image of these nodes; an error becomes the `problem` of its facts."""
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
    """The facts with those of the header."""
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
    """Whether a file is a tile of one of these names with a token."""
    return any(
        path.parent == each.parent and pattern_of(each.name).rank(path.name) == EXACT
        for each in patterns
    )


def other_files(textures: Sequence[TextureFacts]) -> list[Part]:
    """Images that are read in place of those that the document names."""
    return [
        Part(f"file {name!r}", APPROXIMATED, f"was not found: {file} is read")
        for name, file in {each.written: each.file for each in textures if each.written}.items()
    ]


def parts_of_tiles(textures: Sequence[TextureFacts], search: SearchPath) -> list[Part]:
    """Tiles beyond the first, which are baked as one atlas."""
    tiles = find_atlas([facts.file for facts in textures], search)
    if tiles is not None:
        side = f"{tiles.side} x {tiles.side}"
        return [Part("UDIM tiles", KEPT, f"side by side in one square of {side} tiles")]
    if not any(facts.tiles_left_out for facts in textures):
        return []
    how = (
        "only tile 1001 is baked, since the others are further away than "
        f"{MOST_ALONG_A_SIDE} tiles: move them together, or write a tile's number for the token"
    )
    return [Part("UDIM tiles", DROPPED, how)]


def orientations(textures: Sequence[TextureFacts]) -> list[Part]:
    """Images that viewers rotate or mirror, and renderers do not."""
    turned = {Path(facts.file).name: facts.orientation for facts in textures}
    return [
        Part(
            f"orientation of {name}",
            DROPPED,
            f"viewers rotate or mirror it by its orientation {orientation}; its texels are read as "
            "stored, as renderers do: save it rotated if that is intended",
        )
        for name, orientation in turned.items()
        if orientation > 1
    ]


def images_without_file(nodes: Sequence[mx.Node]) -> list[Part]:
    """Image nodes without a file name, which exporters may lose."""
    how = "it has no file name and returns its default everywhere: name a file, or remove the node"
    return [
        Part(f"image of {node.getNamePath()!r}", DROPPED, how)
        for node in nodes
        if any(not _names_a_file(node, name) for name in _file_inputs(node))
    ]


def _file_inputs(node: mx.Node) -> list[str]:
    """File inputs of a node that reads files itself: library nodes only."""
    definition = node.getNodeDef()
    if definition is None or is_of_document(definition, node) or node.getType() == "filename":
        return []
    ports = definition.getActiveInputs()
    return [port.getName() for port in ports if port.getType() == "filename"]


def _names_a_file(node: mx.Node, name: str) -> bool:
    port = node.getActiveInput(name)
    if port is None or is_connected(port):
        return port is not None
    given = port.getInterfaceInput() or port
    return is_connected(given) or bool(given.getResolvedValueString())


def non_finite(texels: Mapping[Path, int]) -> list[Part]:
    """Images with texels that are NaN or infinite."""
    return [
        Part(f"image {path.name}", APPROXIMATED, f"{count} of its texels are not finite: read as 0")
        for path, count in texels.items()
    ]
