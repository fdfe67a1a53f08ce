"""The images of a material as channels of one array, with their mip levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.array_types import Floats
from verdigris.core.base.colour import linear_from_srgb, srgb_from_linear
from verdigris.core.base.errors import TextureError
from verdigris.core.compress.compressed_set import level_sizes
from verdigris.core.material.analyse.image_facts import TextureFacts, facts_of_images
from verdigris.core.material.files.image_headers import read_info
from verdigris.core.material.files.image_texels import read_image
from verdigris.core.material.graph.traversal import upstream_nodes
from verdigris.core.material.load.provenance import texture_files

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.base.json_fields import Fields
    from verdigris.core.material.load.mtlx_document import Document, Material

MOST_CHANNELS = 16
LARGEST_SIDE = 4096
SRGB = "srgb_texture"
_CHANNELS = {"float": 1, "vector2": 2, "vector3": 3, "color3": 3}
# Channels that vary by less are stored as one number.
_LEAST_CHANGE = 0.5 / 255


@dataclass(frozen=True)
class Channel:
    """A channel of a texture: value = offset + scale x output of the network."""

    output: int | None
    """None for a channel that is the same everywhere: its value is the offset."""
    scale: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class SetTexture:
    """One image of the material."""

    name: str
    """The name of its node, by letters that code can have; no other texture has it."""
    nodes: tuple[str, ...]
    """Nodes that read it."""
    reaches: tuple[str, ...]
    """Inputs of the surface that it reaches."""
    file: str
    colour_space: str
    width: int
    height: int
    channels: tuple[Channel, ...] = ()

    @property
    def is_srgb(self) -> bool:
        return self.colour_space == SRGB

    @property
    def outputs(self) -> list[int]:
        return [each.output for each in self.channels if each.output is not None]


@dataclass(frozen=True)
class TextureSet:
    textures: tuple[SetTexture, ...]
    levels: list[Floats]
    """Mip levels [rows, columns, channels], finest first, from 0 to 1. Row 0 is at v = 0."""

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.levels[0].shape[:2]
        return rows, columns


def find_textures(
    document: Document, material: Material, names: Sequence[str] = ()
) -> list[tuple[SetTexture, int]]:
    """The images of a material, or those with these names, with the channels that their nodes
    read. Headers are checked, and nothing is decoded."""
    # one error for all that are missing
    texture_files(document, material)
    nodes = list(document.nodes_of(material))
    reached = _reached_inputs(document, nodes)
    found: dict[tuple[str, str], tuple[SetTexture, int]] = {}
    for node in nodes:
        for facts in facts_of_images(document, [node]):
            _check(facts, document.name)
            key = facts.file, facts.colour_space
            count = min(_CHANNELS.get(node.getType(), 4), _stored_channels(facts))
            name = _plain(node.getName())
            texture = SetTexture(
                name, (), (), facts.file, facts.colour_space, facts.width, facts.height
            )
            before, least = found.get(key, (texture, 1))
            reaches = (*before.reaches, *reached.get(facts.node, ()))
            merged = replace(
                before, nodes=(*before.nodes, facts.node), reaches=tuple(dict.fromkeys(reaches))
            )
            found[key] = merged, max(least, count)
    if not found:
        raise TextureError(
            f"{document.name}: material {material.name!r} reads no images: there is nothing to "
            "compress"
        )
    listed = _with_own_names([*found.values()])
    known = [each.name for each, _ in listed]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise TextureError(
            f"{document.name}: no image of {material.name!r} is named {unknown[0]!r}: it has "
            f"{', '.join(known)}"
        )
    return [each for each in listed if not names or each[0].name in names]


def load_set(
    document: Document, found: Sequence[tuple[SetTexture, int]], most_side: int = LARGEST_SIDE
) -> TextureSet:
    """Decodes images, brings them to the size of the largest, and makes mip levels."""
    rows = min(max(each.height for each, _ in found), most_side)
    columns = min(max(each.width for each, _ in found), most_side)
    sizes = level_sizes(rows, columns)
    textures: list[SetTexture] = []
    parts: list[list[Floats]] = []
    count = 0
    for texture, channels in found:
        values = _numbers(document, texture)[..., :channels]
        # means of light are means of linear values
        values = linear_from_srgb(values) if texture.is_srgb else values
        levels = [resized(values, *sizes[0])]
        for size in sizes[1:]:
            levels.append(resized(levels[-1], *size))
        if texture.is_srgb:
            levels = [srgb_from_linear(level) for level in levels]
        kept: list[Channel] = []
        for channel in range(channels):
            described = _channel(levels[0][..., channel], texture, count)
            kept.append(described)
            if described.output is not None:
                count += 1
                parts.append(
                    [(each[..., channel] - described.offset) / described.scale for each in levels]
                )
        textures.append(replace(texture, channels=tuple(kept)))
    if count > MOST_CHANNELS:
        listed = ", ".join(f"{each.name} ({len(each.outputs)})" for each in textures)
        raise TextureError(
            f"{document.name}: its images have {count} channels that vary, and one set holds "
            f"{MOST_CHANNELS}: choose some with --texture and compress twice: {listed}"
        )
    if not count:
        raise TextureError(
            f"{document.name}: its images are the same everywhere: write their numbers into the "
            "document instead"
        )
    levels = [
        np.stack([np.clip(part[level], 0, 1) for part in parts], -1).astype(np.float32)
        for level in range(len(sizes))
    ]
    return TextureSet(tuple(textures), levels)


def _check(facts: TextureFacts, document: str) -> None:
    if facts.problem:
        raise TextureError(facts.problem)
    if facts.tiles > 1:
        raise TextureError(
            f"{document}: {facts.file} has {facts.tiles} UDIM tiles, and a set is one square: "
            "write the number of one tile instead of the token"
        )


def _stored_channels(facts: TextureFacts) -> int:
    return 4 if facts.channels == 2 else min(facts.channels, 4)


def _numbers(document: Document, texture: SetTexture) -> Floats:
    """The texels [rows, columns, 4] of a file, as numbers; those of bytes from 0 to 1."""
    asker = f"{document.name}: {texture.nodes[0]}"
    image = read_image(read_info(texture.file, asker, document.search), asker)
    texels = image.levels[0]
    if texels.dtype.kind == "u":
        return texels.astype(np.float32) / np.float32(np.iinfo(texels.dtype).max)
    return texels.astype(np.float32)


def _channel(values: Floats, texture: SetTexture, output: int) -> Channel:
    low, high = float(values.min()), float(values.max())
    if high - low < _LEAST_CHANGE:
        return Channel(None, offset=float(values.mean()))
    if low >= 0 and high <= 1:
        return Channel(output)
    return Channel(output, high - low, low)


def _plain(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if re.match(r"[A-Za-z]", plain) else f"t{plain}"


def _with_own_names(found: list[tuple[SetTexture, int]]) -> list[tuple[SetTexture, int]]:
    taken: set[str] = set()
    result = []
    for texture, channels in found:
        name, number = texture.name, 2
        while name.lower() in taken:
            name, number = f"{texture.name}_{number}", number + 1
        taken.add(name.lower())
        result.append((replace(texture, name=name), channels))
    return result


def _reached_inputs(document: Document, nodes: Sequence[mx.Node]) -> dict[str, list[str]]:
    """The inputs of the surface that each node feeds, by the path of the node."""
    found: dict[str, list[str]] = {}
    for surface in nodes:
        if surface.getType() != "surfaceshader":
            continue
        for port in surface.getInputs():
            if port.getType() != "surfaceshader":
                for node in upstream_nodes(port, document.name):
                    found.setdefault(node.getNamePath(), []).append(port.getName())
    return found


def describe(texture: SetTexture) -> dict[str, Any]:
    """The texture as its manifest describes it."""
    return {
        "name": texture.name,
        "file": Path(texture.file).name,
        "nodes": list(texture.nodes),
        "reaches": list(texture.reaches),
        "colour_space": texture.colour_space,
        "width": texture.width,
        "height": texture.height,
        "channels": [
            {"output": each.output, "scale": each.scale, "offset": each.offset}
            for each in texture.channels
        ],
    }


def parse_texture(fields: Fields, outputs: int) -> SetTexture:
    """A texture of a manifest."""
    channels = []
    for each in fields.tables("channels", 4):
        is_constant = each.value("output") is None
        output = None if is_constant else each.whole("output", 0, outputs - 1)
        channels.append(Channel(output, each.number("scale"), each.number("offset")))
    name = fields.text("name")
    fields.require(_plain(name) == name, "name", "it must be a name in letters, digits and _")
    return SetTexture(
        name,
        fields.texts("nodes"),
        fields.texts("reaches"),
        fields.text("file"),
        fields.text("colour_space"),
        fields.whole("width", 1, 1 << 20),
        fields.whole("height", 1, 1 << 20),
        tuple(channels),
    )


def resized(texels: Floats, rows: int, columns: int) -> Floats:
    """The texels at another size: by linear interpolation, or as means of areas along a side that
    becomes shorter. The textures tile, so their edges continue on the other side."""
    for axis, size in ((0, rows), (1, columns)):
        if texels.shape[axis] != size:
            texels = np.moveaxis(_resized_rows(np.moveaxis(texels, axis, 0), size), 0, axis)
    return np.ascontiguousarray(texels, np.float32)


def _resized_rows(texels: Floats, size: int) -> Floats:
    before = len(texels)
    if size >= before:
        at = (np.arange(size) + 0.5) * before / size - 0.5
        low = np.floor(at).astype(int)
        share = (at - low).reshape(-1, *[1] * (texels.ndim - 1))
        return np.asarray(texels[low % before] * (1 - share) + texels[(low + 1) % before] * share)
    ends = np.arange(size + 1) * before / size
    sums = np.concatenate([np.zeros_like(texels[:1], float), np.cumsum(texels, 0, float)])
    low = np.minimum(ends.astype(int), before - 1)
    share = (ends - low).reshape(-1, *[1] * (texels.ndim - 1))
    at_ends = sums[low] + share * texels[low]
    return np.asarray(np.diff(at_ends, axis=0) * size / before)
