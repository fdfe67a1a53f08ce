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

from verdigris.core.ladder.image_fit import Backward, Pixels
from verdigris.core.ladder.texels import Grid, scatter, soft_quantise
from verdigris.core.network.texels import gather

if TYPE_CHECKING:
    from verdigris.core.ladder.texels import Floats, Ints
    from verdigris.core.ladder.tone_curve import ToneCurve

# Detail d multiplies colours by 4 d^2: half of the range is neutral, and dark steps are fine.
DETAIL_SCALE = 4.0


@dataclass
class _Read:
    """Interpolated values of a grid, and the way back."""

    grid: Grid
    indices: Ints
    weights: Floats
    softness: float

    def __post_init__(self) -> None:
        soft, self._slope = soft_quantise(self.grid.values, self.softness)
        self.values = gather(soft, self.indices, self.weights)

    def back(self, gradient: Floats) -> Floats:
        found = scatter(gradient, self.indices, self.weights, len(self.grid.values))
        return np.asarray(found * self._slope)


@dataclass
class OneTexture:
    """Light on a uv set without overlaps."""

    texture: Grid
    curve: ToneCurve

    @property
    def grids(self) -> Sequence[Grid]:
        return (self.texture,)

    def shade(self, pixels: Pixels, softness: float = 0.0) -> tuple[Floats, Backward]:
        read = _Read(self.texture, *self.texture.corners(pixels.uv), softness)
        light = self.curve.to_light(read.values)
        return light, lambda g: [read.back(g * self.curve.slope(read.values))]


@dataclass
class WithReflection:
    """Light that does not move with the eye, plus a share of a map of mirrored light."""

    texture: Grid
    share: Grid
    mirror: Grid
    """By the mirror direction; `mirror_uv` has the layout."""
    curve: ToneCurve
    mirror_curve: ToneCurve

    @property
    def grids(self) -> Sequence[Grid]:
        return self.texture, self.share, self.mirror

    def shade(self, pixels: Pixels, softness: float = 0.0) -> tuple[Floats, Backward]:
        at = self.texture.corners(pixels.uv)
        base = _Read(self.texture, *at, softness)
        share = _Read(self.share, *self.share.corners(pixels.uv), softness)
        mirror = _Read(self.mirror, *self.mirror.corners(mirror_uv(pixels.reflected)), softness)
        glow = self.mirror_curve.to_light(mirror.values)
        light = self.curve.to_light(base.values) + share.values * glow

        def backward(g: Floats) -> list[Floats]:
            by_mirror = g * share.values * self.mirror_curve.slope(mirror.values)
            return [
                base.back(g * self.curve.slope(base.values)),
                share.back(g * glow),
                mirror.back(by_mirror),
            ]

        return np.asarray(light), backward


@dataclass
class DetailAndColour:
    """Luminance at a high resolution times colours at a low one."""

    detail: Grid
    colour: Grid
    curve: ToneCurve

    @property
    def grids(self) -> Sequence[Grid]:
        return self.detail, self.colour

    def shade(self, pixels: Pixels, softness: float = 0.0) -> tuple[Floats, Backward]:
        detail = _Read(self.detail, *self.detail.corners(pixels.detail_uv), softness)
        colour = _Read(self.colour, *self.colour.corners(pixels.uv), softness)
        factor = DETAIL_SCALE * detail.values**2
        below = self.curve.to_light(colour.values)

        def backward(g: Floats) -> list[Floats]:
            by_factor = (g * below).sum(0, keepdims=True)
            return [
                detail.back(by_factor * 2 * DETAIL_SCALE * detail.values),
                colour.back(g * factor * self.curve.slope(colour.values)),
            ]

        return np.asarray(factor * below), backward


@dataclass
class VertexColours:
    """Stored light at vertices, interpolated before the curve."""

    colours: Grid
    """One row of texels: the vertices."""
    curve: ToneCurve

    @property
    def grids(self) -> Sequence[Grid]:
        return (self.colours,)

    def shade(self, pixels: Pixels, softness: float = 0.0) -> tuple[Floats, Backward]:
        read = _Read(self.colours, pixels.vertex, pixels.share, softness)
        light = self.curve.to_light(read.values)
        return light, lambda g: [read.back(g * self.curve.slope(read.values))]


def mirror_uv(direction: Floats) -> Floats:
    """Where a direction (3, N) is on the octahedral map (2, N), with y up."""
    x, y, z = direction / np.maximum(np.abs(direction).sum(0), 1e-9)
    fold_x = np.where(x >= 0, 1, -1) * (1 - np.abs(z))
    fold_z = np.where(z >= 0, 1, -1) * (1 - np.abs(x))
    u, v = np.where(y >= 0, x, fold_x), np.where(y >= 0, z, fold_z)
    # kept off the rim, where a filter would read the other side
    return np.asarray(np.clip(np.stack([u, v]) * 0.5 + 0.5, 0.01, 0.99), direction.dtype)


def mirror_directions(side: int) -> Floats:
    """The directions (3, side * side) of the map's texels."""
    v, u = ((np.indices((side, side)) + 0.5) / side * 2 - 1).reshape(2, -1)
    y = 1 - np.abs(u) - np.abs(v)
    x = np.where(y >= 0, u, np.where(u >= 0, 1, -1) * (1 - np.abs(v)))
    z = np.where(y >= 0, v, np.where(v >= 0, 1, -1) * (1 - np.abs(u)))
    found = np.stack([x, y, z])
    return np.asarray(found / np.linalg.norm(found, axis=0), np.float32)


def mean_at(values: Floats, indices: Ints, weights: Floats, count: int) -> tuple[Floats, Floats]:
    """Means (count, channels) of values (channels, N) at texels or vertices, and the sum of the
    weights that each got. Those without a value get the mean of all."""
    total = scatter(np.concatenate([values, np.ones_like(values[:1])]), indices, weights, count)
    means, weight = total[:, :-1], total[:, -1]
    seen = weight > 1e-6
    means[seen] /= weight[seen, None]
    means[~seen] = means[seen].mean(0) if seen.any() else 0.5
    return means.astype(np.float32), weight
