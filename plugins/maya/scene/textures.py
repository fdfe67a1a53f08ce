"""Textures that feed a shader of Maya, as nodes of MaterialX."""

from __future__ import annotations

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.plugins.maya.arnold_document import Document, vector_text

_CHANNELS = {"outColorR": 0, "outColorG": 1, "outColorB": 2, "outAlpha": 3}
_CHANNELS |= {f"outColor.{name}": place for name, place in _CHANNELS.items()}
# Attributes of place2dTexture, and of file, that must have these values.
_PLAIN_PLACEMENT = {
    "coverageU": 1.0,
    "coverageV": 1.0,
    "translateFrameU": 0.0,
    "translateFrameV": 0.0,
    "rotateFrame": 0.0,
    "rotateUV": 0.0,
    "mirrorU": 0,
    "mirrorV": 0,
    "stagger": 0,
    "noiseU": 0.0,
    "noiseV": 0.0,
}
_PLAIN_FILE = {
    "exposure": 0.0,
    "alphaGain": 1.0,
    "alphaOffset": 0.0,
    "invert": 0,
    "colorGain": (1.0, 1.0, 1.0),
    "colorOffset": (0.0, 0.0, 0.0),
}
_TOLERANCE = 1e-5
_TANGENT_SPACE = 1


class UnknownNodeError(HostError):
    """The network contains a node that this reader does not support."""


def feed_of(plug: str) -> tuple[str, str]:
    """The node and the output that feed an input. Empty if nothing does."""
    found = cmds.listConnections(plug, source=True, destination=False, plugs=True)
    node, _, output = found[0].partition(".") if found else ("", "", "")
    return node, output


class TextureReader:
    """Writes the textures of inputs into a document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self.notes: list[str] = []

    def read(self, plug: str, kind: str) -> str:
        """The node for an input, after `=`. Empty if nothing feeds it."""
        if kind == "color3":
            for channel in "RGB":
                node, _ = feed_of(f"{plug}{channel}")
                if node:
                    raise UnknownNodeError(f"{plug}{channel} is connected by itself")
        node, output = feed_of(plug)
        if not node:
            return ""
        if cmds.nodeType(node) not in ("file", "aiImage"):
            raise UnknownNodeError(f"{plug} is fed by {node} ({cmds.nodeType(node)})")
        if kind == "color3" and output == "outColor":
            return f"={self._image(node, kind)}"
        channel = _CHANNELS.get(output)
        if kind != "float" or channel is None:
            raise UnknownNodeError(f"{plug} is fed by {node}.{output}")
        return f"={self._channel(node, channel)}"

    def read_normal(self, plug: str) -> str:
        """The node for a normal, after `=`. Empty if nothing feeds it."""
        if not cmds.attributeQuery(
            plug.rpartition(".")[2], node=plug.partition(".")[0], exists=True
        ):
            return ""
        node, _ = feed_of(plug)
        if not node:
            return ""
        kind, scale = cmds.nodeType(node), 1.0
        if kind == "aiNormalMap":
            _require_plain(node, {"invertX": 0, "invertY": 0, "invertZ": 0})
            picture, _ = feed_of(f"{node}.input")
            scale = cmds.getAttr(f"{node}.strength")
        elif kind == "bump2d" and cmds.getAttr(f"{node}.bumpInterp") == _TANGENT_SPACE:
            picture, _ = feed_of(f"{node}.bumpValue")
        elif kind == "bump2d":
            self.notes.append(f"{node}: a bump map of heights is left out: use a normal map")
            return ""
        else:
            raise UnknownNodeError(f"{plug} is fed by {node} ({kind})")
        if not picture or cmds.nodeType(picture) not in ("file", "aiImage"):
            raise UnknownNodeError(f"{node} is not fed by a texture")
        image = self._image(picture, "vector3")
        normal = self._document.add(
            "normalmap",
            "vector3",
            f"{node}_normal",
            **{"in": ("vector3", f"={image}"), "scale": ("float", vector_text([scale]))},
        )
        return f"={normal}"

    def _channel(self, node: str, channel: int) -> str:
        """A number from a texture."""
        is_alpha = channel == _CHANNELS["outAlpha"]
        if is_alpha and cmds.nodeType(node) == "file" and cmds.getAttr(f"{node}.alphaIsLuminance"):
            image = self._image(node, "color3")
            source = self._document.add(
                "luminance", "color3", f"{node}_luminance", **{"in": ("color3", f"={image}")}
            )
            kind, channel = "color3", 0
        else:
            kind = "color4" if is_alpha else "color3"
            source = self._image(node, kind)
        return self._document.add(
            "extract",
            "float",
            f"{node}_{'rgba'[channel]}",
            **{"in": (kind, f"={source}"), "index": ("integer", str(channel))},
        )

    def _image(self, node: str, kind: str) -> str:
        if cmds.nodeType(node) == "file":
            _require_plain(node, _PLAIN_FILE)
            is_tiled = cmds.getAttr(f"{node}.uvTilingMode")
            attribute = "computedFileTextureNamePattern" if is_tiled else "fileTextureName"
        else:
            attribute = "filename"
        file = cmds.getAttr(f"{node}.{attribute}")
        if not file:
            raise HostError(f"{node} has no file: choose one, or remove the node")
        inputs = {"file": ("filename", file)}
        uv = self._placement(node)
        if uv:
            inputs["texcoord"] = ("vector2", f"={uv}")
        image = self._document.add("image", kind, f"{node}_{kind}", **inputs)
        # vectors have no colour space
        if kind != "vector3":
            self._document.set_colour_space(image, "file", cmds.getAttr(f"{node}.colorSpace"))
        return image

    def _placement(self, node: str) -> str:
        """The texture coordinates. Empty for those of the mesh."""
        if cmds.nodeType(node) == "aiImage":
            repeat = [cmds.getAttr(f"{node}.{name}") for name in ("sscale", "tscale")]
            offset = [cmds.getAttr(f"{node}.{name}") for name in ("soffset", "toffset")]
        else:
            place, _ = feed_of(f"{node}.uvCoord")
            if not place:
                return ""
            if cmds.nodeType(place) != "place2dTexture":
                raise UnknownNodeError(f"{node} is placed by {place} ({cmds.nodeType(place)})")
            _require_plain(place, _PLAIN_PLACEMENT)
            repeat = [cmds.getAttr(f"{place}.{name}") for name in ("repeatU", "repeatV")]
            offset = [cmds.getAttr(f"{place}.{name}") for name in ("offsetU", "offsetV")]
        if repeat == [1, 1] and offset == [0, 0]:
            return ""
        uv = self._document.add("texcoord", "vector2", "uv")
        repeated = self._document.add(
            "multiply",
            "vector2",
            f"{node}_repeat",
            in1=("vector2", f"={uv}"),
            in2=("vector2", vector_text(repeat)),
        )
        return self._document.add(
            "add",
            "vector2",
            f"{node}_offset",
            in1=("vector2", f"={repeated}"),
            in2=("vector2", vector_text(offset)),
        )


def _require_plain(node: str, expected: dict[str, object]) -> None:
    """Raises an error if an attribute has another value than this reader supports."""
    for name, plain in expected.items():
        if not cmds.attributeQuery(name, node=node, exists=True):
            continue
        found = cmds.getAttr(f"{node}.{name}")
        values = found[0] if isinstance(found, list) else [found]
        wanted = plain if isinstance(plain, tuple) else [plain]
        if any(abs(a - b) > _TOLERANCE for a, b in zip(values, wanted, strict=True)):  # type: ignore[operator]
            raise UnknownNodeError(f"{node}.{name} is {vector_text(values)}")
