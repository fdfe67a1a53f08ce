"""Maya's own shaders, read from their nodes: core/hosts/nodes says what each node computes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument
from verdigris.core.hosts.nodes.host_nodes import HostImage, Value
from verdigris.core.hosts.nodes.library import find_type
from verdigris.core.hosts.nodes.network import read_network
from verdigris.core.hosts.nodes.operands import SURFACE, safe_name
from verdigris.core.hosts.nodes.rendering_space import RenderingSpace
from verdigris.plugins.maya.scene.colours import is_managed, rendering_space
from verdigris.plugins.maya.scene.documents import make_document
from verdigris.plugins.maya.scene.nodes import undo_step

# MtoA adds this attribute to shading groups, for a shader that it renders instead of the
# viewport's.
_ARNOLD_SURFACE = "aiSurfaceShader"
_SHADING = ("texture", "utility", "shader", "rendernode")
# Maya's tokens for tiles of a file; 0-based ones have no name elsewhere.
_TILES = {"<UDIM>": "<UDIM>", "u<U>_v<V>": "<UVTILE>"}
_LAST_NUMBER = re.compile(r"(\d+)(\.\w+)$")
_RESOLUTION = 1024


class SceneNodes:
    """The nodes of this scene."""

    def kind(self, node: str) -> str:
        return str(cmds.nodeType(node))

    def value(self, node: str, attribute: str) -> Value:
        if not self._exists(node, attribute):
            return None
        plug = f"{node}.{attribute}"
        try:
            found = cmds.getAttr(plug)
        except RuntimeError:
            # a message, or an array
            return None
        return found[0] if isinstance(found, list) else found

    def source(self, node: str, attribute: str) -> tuple[str, str] | None:
        if not self._exists(node, attribute):
            return None
        pairs = cmds.listConnections(
            f"{node}.{attribute}", source=True, destination=False, plugs=True, connections=True
        )
        leaf = _leaf(attribute)
        # Maya also lists the connections of components and elements
        for own, other in zip((pairs or [])[::2], (pairs or [])[1::2], strict=True):
            if _leaf(own) == leaf:
                feeding, _, output = other.partition(".")
                return feeding, _leaf(output)
        return None

    def children(self, node: str, attribute: str) -> Sequence[str]:
        leaf = _leaf(attribute).partition("[")[0]
        if not self._exists(node, attribute):
            return ()
        found = cmds.attributeQuery(leaf, node=node, listChildren=True) or []
        if attribute.endswith("]"):
            return tuple(f"{attribute}.{child}" for child in found)
        outer, dot, _ = attribute.rpartition(".")
        return tuple(f"{outer}{dot}{child}" for child in found)

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
        if self.value(node, "uvTilingMode"):
            file = _with_tiles(node, str(self.value(node, "computedFileTextureNamePattern")))
        elif self.value(node, "useFrameExtension"):
            number = int(self.value(node, "frameExtension")) + int(  # type: ignore[arg-type]
                self.value(node, "frameOffset") or 0  # type: ignore[arg-type]
            )
            file = _LAST_NUMBER.sub(lambda found: f"{number:0{len(found[1])}d}{found[2]}", file)
        if not is_managed():
            return HostImage(file)
        space = str(self.value(node, "colorSpace") or "")
        return HostImage(file, space or str(cmds.colorManagementFileRules(evaluate=file)))

    def is_animation(self, kind: str) -> bool:
        return not any(cmds.getClassification(kind, satisfies=each) for each in _SHADING)

    @staticmethod
    def _exists(node: str, attribute: str) -> bool:
        leaf = _leaf(attribute).partition("[")[0]
        return bool(cmds.attributeQuery(leaf, node=node, exists=True))


def shader_to_read(engine: str, shader: str) -> str:
    """The shader of a shading group whose nodes are read: its shader for Arnold, or its surface.
    Empty if neither is known."""
    scene = SceneNodes()
    own = scene.source(engine, _ARNOLD_SURFACE)
    shaders = (own[0] if own else "", shader)
    return next((each for each in shaders if each and _is_surface(each)), "")


def require_shader(shader: str) -> None:
    """Raises an error for what a shading group has instead of a shader."""
    if not _is_a(shader, "shader"):
        raise HostError(
            f"{shader} ({cmds.nodeType(shader)}) is not a shader: connect it to the color of a "
            "shader, and this shader to the shading group"
        )


def read_nodes(shader: str, name: str) -> HostDocument:
    """The document of a shader that `shader_to_read` has found."""
    space = RenderingSpace.of(rendering_space(), is_managed())
    found = read_network(SceneNodes(), shader, name, space)
    document = make_document(found.text, name, found.material)
    notes = [*found.notes]
    if not space.is_known:
        notes.append(
            f"the rendering space {rendering_space()} is not supported, and colours are taken as "
            "linear Rec. 709: choose ACEScg or scene-linear Rec.709-sRGB"
        )
    textures = tuple(each for each in found.untranslated if _is_a(each, "texture"))
    return replace(document, notes=(*notes, *document.notes), convertible=textures)


def convert_to_texture(node: str, mesh: str, folder: Path) -> str:
    """Bakes a texture node to a file, which feeds what the node fed. Returns the node of the file.
    One undo step."""
    pairs = cmds.listConnections(
        node, source=False, destination=True, plugs=True, connections=True
    ) or []  # fmt: skip
    fed = [
        (_leaf(own), other)
        for own, other in zip(pairs[::2], pairs[1::2], strict=True)
        if _leaf(own).startswith("out")
    ]
    folder.mkdir(parents=True, exist_ok=True)
    image = folder / f"{safe_name(node)}.tif"
    with undo_step(f"Convert {node} to a texture"):
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


def _leaf(plug: str) -> str:
    return plug.rpartition(".")[2]


def _with_tiles(node: str, pattern: str) -> str:
    for own, other in _TILES.items():
        if own in pattern:
            return pattern.replace(own, other)
    raise HostError(
        f"{node}: tiles named {Path(pattern).name} cannot be read: rename the files by UDIM (1001)"
    )
