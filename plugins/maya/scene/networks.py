"""Maya's own shaders, read from their nodes: core/hosts/nodes says what each node computes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.base.files import make_folders
from verdigris.core.hosts.host import HostDocument
from verdigris.core.hosts.nodes.host_nodes import HostImage, Value
from verdigris.core.hosts.nodes.library import find_type
from verdigris.core.hosts.nodes.network import read_network
from verdigris.core.hosts.nodes.operands import SURFACE, safe_name
from verdigris.core.hosts.nodes.rendering_space import RenderingSpace
from verdigris.plugins.maya.scene.colours import is_managed, rendering_space
from verdigris.plugins.maya.scene.displacement import find_displacement
from verdigris.plugins.maya.scene.documents import make_document

# MtoA adds this attribute to shading groups, for a shader that it renders instead of the
# viewport's.
_ARNOLD_SURFACE = "aiSurfaceShader"
_SHADING = ("texture", "utility", "shader", "rendernode")
# Maya's tokens for tiles of a file; 0-based ones have no name elsewhere.
_TILES = {"<UDIM>": "<UDIM>", "u<U>_v<V>": "<UVTILE>"}
_LAST_NUMBER = re.compile(r"(\d+)(\.\w+)$")
_RESOLUTION = 1024
_PARTS = {
    "displacementShader": "displacement: use a standardSurface or an openPBRSurface",
    "volumeShader": "volume: only surfaces are baked",
}


class SceneNodes:
    """The nodes of this scene. Answers are kept: one reading asks often, and changes nothing."""

    def __init__(self) -> None:
        self._sources: dict[str, dict[str, tuple[str, str]]] = {}
        self._known: dict[tuple[str, str], bool] = {}
        self._parts: dict[tuple[str, str], tuple[str, ...]] = {}

    def kind(self, node: str) -> str:
        return str(cmds.nodeType(node))

    def value(self, node: str, attribute: str) -> Value:
        if not self._exists(node, attribute):
            return None
        try:
            found = cmds.getAttr(f"{node}.{attribute}")
        except RuntimeError:
            # a message, or an array
            return None
        if isinstance(found, list):
            # a vector is in a list, a matrix is one
            return found[0] if len(found) == 1 else tuple(found)
        return found

    def source(self, node: str, attribute: str) -> tuple[str, str] | None:
        if node not in self._sources:
            self._sources[node] = _connections(node)
        return self._sources[node].get(_plain_path(attribute))

    def children(self, node: str, attribute: str) -> Sequence[str]:
        leaf = _leaf(attribute).partition("[")[0]
        if not self._exists(node, attribute):
            return ()
        if (node, leaf) not in self._parts:
            found = cmds.attributeQuery(leaf, node=node, listChildren=True)
            self._parts[node, leaf] = tuple(found or ())
        if attribute.endswith("]"):
            return tuple(f"{attribute}.{child}" for child in self._parts[node, leaf])
        outer, dot, _ = attribute.rpartition(".")
        return tuple(f"{outer}{dot}{child}" for child in self._parts[node, leaf])

    def parent(self, node: str, attribute: str) -> str:
        if not self._exists(node, attribute):
            return ""
        found = cmds.attributeQuery(attribute, node=node, listParent=True)
        return found[0] if found else ""

    def indices(self, node: str, array: str) -> Sequence[int]:
        if not self._exists(node, array):
            return ()
        return tuple(cmds.getAttr(f"{node}.{array}", multiIndices=True) or ())

    def image(self, node: str) -> HostImage:
        attribute = "filename" if self._exists(node, "filename") else "fileTextureName"
        file = str(self.value(node, attribute) or "")
        pattern = str(self.value(node, "computedFileTextureNamePattern") or "")
        if self.value(node, "uvTilingMode") and pattern:
            file = _with_tiles(node, pattern)
        elif self.value(node, "useFrameExtension"):
            file = _LAST_NUMBER.sub(partial(_of_frame, self._frame(node)), file)
        if not is_managed():
            return HostImage(file)
        space = str(self.value(node, "colorSpace") or "")
        return HostImage(file, space or str(cmds.colorManagementFileRules(evaluate=file)))

    def _frame(self, node: str) -> int:
        """The number in the name of the image that a sequence shows now."""
        parts = (self.value(node, name) for name in ("frameExtension", "frame", "frameOffset"))
        return int(sum(each for each in parts if isinstance(each, int | float)))

    def is_animation(self, kind: str) -> bool:
        return not any(cmds.getClassification(kind, satisfies=each) for each in _SHADING)

    def _exists(self, node: str, attribute: str) -> bool:
        leaf = _leaf(attribute).partition("[")[0]
        if (node, leaf) not in self._known:
            self._known[node, leaf] = bool(cmds.attributeQuery(leaf, node=node, exists=True))
        return self._known[node, leaf]


def shader_to_read(engine: str, shader: str) -> str:
    """The shader of a shading group whose nodes are read: its shader for Arnold, or its surface.
    Empty if neither is known."""
    scene = SceneNodes()
    own = scene.source(engine, _ARNOLD_SURFACE)
    shaders = (own[0] if own else "", shader)
    return next((each for each in shaders if each and _is_surface(each)), "")


def require_shader(shader: str) -> None:
    """Raises an error for what a shading group has instead of a shader."""
    if cmds.nodeType(shader) == "unknown":
        plugin = cmds.unknownNode(shader, query=True, plugin=True)
        raise HostError(
            f"{shader} is a node of the plug-in {plugin}, which is not loaded: load it in the "
            "Plug-in Manager and open the scene again, or assign a standardSurface"
        )
    if not _is_a(shader, "shader"):
        raise HostError(
            f"{shader} ({cmds.nodeType(shader)}) is not a shader: connect it to the color of a "
            "shader, and this shader to the shading group"
        )


def read_nodes(engine: str, shader: str, name: str, meshes: Sequence[str]) -> HostDocument:
    """The document of a shader that `shader_to_read` has found for a shading group on meshes."""
    space = RenderingSpace.of(rendering_space(), is_managed())
    scene = SceneNodes()
    displaced, apart = find_displacement(scene, engine, meshes)
    found = read_network(scene, shader, name, space, displaced)
    document = make_document(found.text, name, found.material)
    notes = [*found.notes, *apart, *left_out(engine, "volumeShader")]
    if not space.is_known:
        notes.append(
            f"the rendering space {rendering_space()} is not supported, and colours are taken as "
            "linear Rec. 709: choose a scene-linear one, such as ACEScg"
        )
    textures = tuple(each for each in found.untranslated if _is_a(each, "texture"))
    return replace(document, notes=(*notes, *document.notes), convertible=textures)


def left_out(engine: str, *parts: str) -> list[str]:
    """A note for each of these parts of a shading group beside its surface that it has."""
    scene = SceneNodes()
    return [
        f"{source[0]} of {engine} is left out, because it is a {_PARTS[part]}"
        for part in parts
        if (source := scene.source(engine, part)) is not None
    ]


def convert_to_texture(node: str, mesh: str, folder: Path) -> str:
    """Bakes a texture node to a file, which feeds what the node fed. Returns the node of the file.
    The caller makes it an undo step."""
    pairs = cmds.listConnections(
        node, source=False, destination=True, plugs=True, connections=True
    ) or []  # fmt: skip
    fed = [
        (_leaf(own), other)
        for own, other in zip(pairs[::2], pairs[1::2], strict=True)
        if _leaf(own).startswith("out")
    ]
    make_folders(folder)
    image = folder / f"{safe_name(node)}.tif"
    made = cmds.convertSolidTx(
        f"{node}.outColor",
        mesh,
        antiAlias=True,
        fillTextureSeams=True,
        resolutionX=_RESOLUTION,
        resolutionY=_RESOLUTION,
        fileFormat="tif",
        fileImageName=image.as_posix(),
    )
    if not made:
        raise HostError(f"Maya did not convert {node}: give {mesh} texture coordinates")
    for output, plug in fed:
        cmds.connectAttr(f"{made[0]}.{output}", plug, force=True)
    if any(output == "outAlpha" for output, _ in fed):
        # what a texture without alpha returns
        cmds.setAttr(f"{made[0]}.alphaIsLuminance", True)
    return str(made[0])


def _is_a(node: str, kind: str) -> bool:
    """Whether a node is classified as a texture, utility or shader."""
    return bool(cmds.getClassification(cmds.nodeType(node), satisfies=kind))


def _is_surface(shader: str) -> bool:
    kind = find_type(cmds.nodeType(shader))
    return kind is not None and kind.outputs["outColor"].type == SURFACE


def _connections(node: str) -> dict[str, tuple[str, str]]:
    """The node and the output that feed each attribute of a node, by its path."""
    pairs = cmds.listConnections(
        node, source=True, destination=False, plugs=True, connections=True
    ) or []  # fmt: skip
    found = {}
    for own, other in zip(pairs[::2], pairs[1::2], strict=True):
        feeding, _, output = other.partition(".")
        found[_plain_path(own.partition(".")[2])] = feeding, _leaf(output)
    return found


def _plain_path(path: str) -> str:
    """The path of an attribute, of whose parents only elements are named."""
    *parents, leaf = path.split(".")
    return ".".join([each for each in parents if "[" in each] + [leaf])


def _leaf(plug: str) -> str:
    return plug.rpartition(".")[2]


def _of_frame(frame: int, number: re.Match[str]) -> str:
    return f"{frame:0{len(number[1])}d}{number[2]}"


def _with_tiles(node: str, pattern: str) -> str:
    for own, other in _TILES.items():
        if own in pattern:
            return pattern.replace(own, other)
    raise HostError(
        f"{node}: tiles named {Path(pattern).name} cannot be read: rename the files by UDIM (1001)"
    )
