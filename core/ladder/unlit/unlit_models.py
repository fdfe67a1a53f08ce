"""Rungs without light: what an engine shows of them is what textures or vertices store.

`OneTexture` is a single texture. `WithReflection` adds what moves with the eye: a second texture of
how much each place reflects, times a small map by the mirror direction, which is one more read in
an engine. Pure metals have nearly no other light. `DetailAndColour` multiplies one channel of
detail at a high resolution, on the first uv set, by colours at a low one. `VertexColours` has no
texture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.hosts.host import MIRROR_RIM
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.unlit.image_fit import (
    BY_FIRST_UV,
    BY_MIRROR,
    BY_UNIQUE_UV,
    BY_VERTEX,
    Read,
)

if TYPE_CHECKING:
    from verdigris.core.ladder.texels.grid import Floats
    from verdigris.core.ladder.texels.tone_curve import ToneCurve

# Detail d multiplies colours by 4 d^2: half of the range is neutral, and dark steps are fine.
DETAIL_SCALE = 4.0


@dataclass
class OneTexture:
    """Light on a uv set without overlaps."""

    texture: Grid
    curve: ToneCurve
    kind = 0

    @property
    def reads(self) -> Sequence[Read]:
        return (Read(self.texture, BY_UNIQUE_UV, 0),)


@dataclass
class WithReflection:
    """Light that does not move with the eye, plus a share of a map of mirrored light."""

    texture: Grid
    share: Grid
    mirror: Grid
    """By the mirror direction; `mirror_uv` has the layout."""
    curve: ToneCurve
    mirror_curve: ToneCurve
    kind = 1

    @property
    def reads(self) -> Sequence[Read]:
        return (
            Read(self.texture, BY_UNIQUE_UV, 0),
            Read(self.share, BY_UNIQUE_UV, 3),
            Read(self.mirror, BY_MIRROR, 6),
        )


@dataclass
class DetailAndColour:
    """Luminance at a high resolution times colours at a low one."""

    detail: Grid
    colour: Grid
    curve: ToneCurve
    kind = 2

    @property
    def reads(self) -> Sequence[Read]:
        return Read(self.detail, BY_FIRST_UV, 3), Read(self.colour, BY_UNIQUE_UV, 0)


@dataclass
class VertexColours:
    """Stored light at vertices, interpolated before the curve."""

    colours: Grid
    """One row of texels: the vertices."""
    curve: ToneCurve
    kind = 0

    @property
    def reads(self) -> Sequence[Read]:
        return (Read(self.colours, BY_VERTEX, 0),)


def mirror_uv(direction: Floats) -> Floats:
    """Where a direction (3, N) is on the octahedral map (2, N), with y up."""
    x, y, z = direction / np.maximum(np.abs(direction).sum(0), 1e-9)
    fold_x = np.where(x >= 0, 1, -1) * (1 - np.abs(z))
    fold_z = np.where(z >= 0, 1, -1) * (1 - np.abs(x))
    u, v = np.where(y >= 0, x, fold_x), np.where(y >= 0, z, fold_z)
    return np.asarray(
        np.clip(np.stack([u, v]) * 0.5 + 0.5, MIRROR_RIM, 1 - MIRROR_RIM), direction.dtype
    )


def mirror_directions(side: int) -> Floats:
    """The directions (3, side * side) of the map's texels."""
    v, u = ((np.indices((side, side)) + 0.5) / side * 2 - 1).reshape(2, -1)
    y = 1 - np.abs(u) - np.abs(v)
    x = np.where(y >= 0, u, np.where(u >= 0, 1, -1) * (1 - np.abs(v)))
    z = np.where(y >= 0, v, np.where(v >= 0, 1, -1) * (1 - np.abs(u)))
    found = np.stack([x, y, z])
    return np.asarray(found / np.linalg.norm(found, axis=0), np.float32)
