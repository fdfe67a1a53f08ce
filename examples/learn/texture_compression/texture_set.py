"""The textures of a material as one array, and what plain BC7 makes of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from kit import TEXTURES, Floats, load_image, psnr, resized, smaller

from verdigris.core.compress.compressed_set import QUAD, whole_blocks
from verdigris.core.network.latents.block_lines import decode, encode
from verdigris.core.network.latents.quantise import LatentRange

MOST_CHANNELS = 16


class TextureSet(NamedTuple):
    texels: Floats
    """[height, width, channels], from 0 to 1, as they are stored."""
    textures: list[slice]
    """The channels of each texture."""


def load_textures(material: str, side: int) -> TextureSet:
    """All textures of an example, reduced to one size. Channels that are constant are left out."""
    paths = sorted(TEXTURES.glob(f"{material}_*"))
    if not paths:
        sys.exit(f"{material}: no textures in {TEXTURES}: name an example, such as copper_tray")
    parts: list[Floats] = []
    for path in paths:
        image = load_image(path)
        parts.append(smaller(image, max(len(image) // side, 1)))
    rows, columns = (min(part.shape[axis] for part in parts) for axis in (0, 1))
    chosen: list[Floats] = []
    slices: list[slice] = []
    count = 0
    for part in parts:
        part = smaller(part, len(part) // rows)[:, :columns]
        part = part[..., np.ptp(part, (0, 1)) > 1 / 255][..., : MOST_CHANNELS - count]
        if part.shape[-1]:
            slices.append(slice(count, count + part.shape[-1]))
            chosen.append(np.clip(part, 0, 1))
            count += part.shape[-1]
    return TextureSet(np.concatenate(chosen, -1).astype(np.float32), slices)


def through_blocks(texels: Floats) -> Floats:
    """Texels of four or eight channels from 0 to 1, encoded as BC7 and decoded."""
    rows, columns, channels = texels.shape
    whole = LatentRange(np.ones(channels, np.float32), np.zeros(channels, np.float32))
    blocks = encode(np.ascontiguousarray(texels), whole)
    layers = decode(blocks, rows, columns)
    return np.concatenate([*layers], -1).astype(np.float32) / 255


class Plain(NamedTuple):
    """The set with each texture as BC7, reduced and enlarged again."""

    texels: Floats
    decibels: float
    bits: float
    """Of a texel of the set."""


# sides of a texture in the set's, and prices of a bit in square error
PLAIN_SIDES = (0.1875, 0.25, 0.3125, 0.375, 0.4375, 0.5, 0.625, 0.75, 0.875, 1.0)
PRICES = np.geomspace(1e-7, 1, 40)


def plain_blocks(textures: TextureSet, sides: Sequence[float] = PLAIN_SIDES) -> list[Plain]:
    """What BC7 makes of a set, from few bits to many. Textures that lose more by it are reduced
    less: each has the size of least square error for a price of bits."""
    made = [
        [_plain_texture(textures.texels[..., part], side) for side in sides]
        for part in textures.textures
    ]
    chosen = {tuple(index for _ in made) for index in range(len(sides))}
    chosen |= {
        tuple(int(np.argmin([error + price * bits for _, error, bits in each])) for each in made)
        for price in PRICES
    }
    found = []
    for choice in chosen:
        parts = [each[index] for each, index in zip(made, choice, strict=True)]
        texels = np.concatenate([part for part, _, _ in parts], -1)
        found.append(Plain(texels, psnr(texels, textures.texels), sum(part[2] for part in parts)))
    return sorted(found, key=lambda each: each.bits)


def _plain_texture(texels: Floats, side: float) -> tuple[Floats, float, float]:
    """What BC7 makes of a texture at a size, the sum of its mean square errors, and its bits."""
    rows, columns, channels = texels.shape
    size = whole_blocks(side, rows, columns)
    # constant channels cost nothing
    filled = np.ones((*size, QUAD), np.float32)
    filled[..., :channels] = resized(texels, *size)
    stored = resized(through_blocks(filled)[..., :channels], rows, columns)
    bits = 8 * size[0] * size[1] / (rows * columns)
    return stored, float(((stored - texels) ** 2).mean((0, 1)).sum()), bits
