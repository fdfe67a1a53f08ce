"""Light of an environment by few directions: a quick picture as bright as the final one.

Each pixel has its own directions, as in interleaved sampling (Keller and Heidrich 2001). Half of
them are drawn from the light of the map and half from what a material may reflect, and both are
weighted by the balance heuristic (Veach 1997): the mean over neighbours has the light of the whole
environment. Where highlights are known, lobes follow them. Two more lights, one of them from the
eye, are the same at all pixels. They show the material without grain, and guide the smoothing of
the others (smoothing.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.lighting.environment import principal_lights
from verdigris.core.material.sides import THIN, density_of_passed, passed, passes, refracted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray, Floats, Ints
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.pictures.gbuffer import GBuffer

# Directions at a pixel from the map and from the lobes.
_DRAWN = 3
# Widths of GGX lobes, because a graph does not say how rough it is.
_WIDTHS = (0.003, 0.02, 0.08, 0.25, 0.6)
# Where highlights are known: the width of a second lobe by that of a highlight, and of a third.
_WIDER, _WIDEST = 3.0, 0.5
# Pixels along a side of a square over which directions are spread evenly, and directions in a
# table. Each direction of a pixel in the square has its own part of the table.
_SIDE, _PART = 4, 127
_TABLE = _SIDE * _SIDE * _DRAWN * _PART
# From a direction to that through a thin wall.
_DOWN = np.array((1, 1, -1), np.float32)
# The cosine to the eye, as in shade_view.slang: a smooth normal can face away. And that to light.
_LEAST_COSINE, _LEAST_HEIGHT = 1e-3, 1e-4


class Lit(NamedTuple):
    """What the pixels of a G-buffer show."""

    light: Floats
    """Light and coverage, (N, 4)."""
    guide: Floats | None = None
    """Light without grain, (N, 3), if `light` has grain."""


def joined(parts: Sequence[Lit]) -> Lit:
    """Pixels of all parts."""
    guides = [part.guide for part in parts if part.guide is not None]
    light = np.concatenate([part.light for part in parts])
    return Lit(light, np.concatenate(guides) if guides else None)


def mean_of(passes: Sequence[tuple[Ints, Lit]]) -> tuple[Ints, Lit]:
    """The mean of passes, each with the pixels that it sees: others are empty in it."""
    pixels = np.unique(np.concatenate([each for each, _ in passes]))
    light = np.zeros((len(pixels), 4), np.float32)
    guide = np.zeros((len(pixels), 3), np.float32)
    for of_pass, lit in passes:
        at = np.searchsorted(pixels, of_pass)
        light[at] += lit.light / len(passes)
        if lit.guide is not None:
            guide[at] += lit.guide / len(passes)
    return pixels, Lit(light, guide if passes[0][1].guide is not None else None)


@dataclass(frozen=True)
class Directions:
    """Directions of incoming light at pixels, in their frames, and factors of the responses."""

    wi: Floats
    """(N, directions, 3)."""
    wo: Floats
    """(N, 3)."""
    gain: Floats
    """(N, directions, 3)."""
    guide: Floats | None = None
    """Factors of the first directions, (N, some, 3), for the guide; None if the light has no
    grain."""
    above: int | None = None
    """The number of first directions that are above the surface; all others are below. None: all
    are above."""

    def with_below(self, below: Directions) -> Directions:
        """The directions of a surface that transmits. Detail that light from below shows is in the
        guide, too."""
        wi, gain = (
            np.concatenate(each, 1) for each in ((self.wi, below.wi), (self.gain, below.gain))
        )
        guide = self.guide
        if guide is not None and below.guide is not None:
            unseen = self.wi.shape[1] - guide.shape[1]
            guide = np.concatenate([np.pad(guide, ((0, 0), (0, unseen), (0, 0))), below.guide], 1)
        return replace(self, wi=wi, gain=gain, above=self.wi.shape[1], guide=guide)

    def lit(self, response: Floats, coverage: Floats | None = None) -> Lit:
        """The light of responses (N, directions, 3)."""
        light = np.ones((len(response), 4), np.float32)
        np.einsum("ndc,ndc->nc", response, self.gain, out=light[:, :3])
        if coverage is not None:
            light[:, 3] = coverage
        if self.guide is None:
            return Lit(light)
        first = response[:, : self.guide.shape[1]]
        return Lit(light, np.asarray(np.einsum("ndc,ndc->nc", first, self.guide), np.float32))


def directions_to(
    lights: list[tuple[Floats, Floats]], gbuffer: GBuffer, index: float = 0.0
) -> Directions:
    """The directions to lights, which are the same at all pixels. What a solid refracts of a light
    is a caustic, which is not drawn."""
    axes, wo = frames_of(gbuffer)
    above = _to_lights(lights, axes, wo)
    return above.with_below(_to_lights(lights, axes, wo, is_below=True)) if index == THIN else above


def _to_lights(
    lights: list[tuple[Floats, Floats]], axes: Floats, wo: Floats, is_below: bool = False
) -> Directions:
    wi = np.einsum("nij,lj->nli", axes, np.stack([direction for direction, _ in lights]))
    colours = np.broadcast_to(np.stack([colour for _, colour in lights]), wi.shape)
    return _below(wi * _DOWN, wo, colours, THIN) if is_below else _lit_only(wi, wo, colours)


class QuickLight:
    """An environment, and what is drawn from it."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._guides = principal_lights(environment, 1)[:1]
        polar = (np.arange(len(environment.texels)) + 0.5) * np.pi / len(environment.texels)
        mean = np.average(
            environment.texels.mean(1, dtype=np.float64), axis=0, weights=np.sin(polar)
        )
        # of a light as bright as the map from all sides
        self._from_eye = (np.pi * mean).astype(np.float32)
        self._xi, self._halfway = _drawn_table()
        self._towards = environment.draw(self._xi).astype(np.float32)
        self._radiance = environment.radiance(self._towards).astype(np.float32)
        self._density = environment.density(self._towards).astype(np.float32)

    def directions(
        self,
        gbuffer: GBuffer,
        highlights: Floats | None = None,
        number: int = 0,
        index: float = 0.0,
    ) -> Directions:
        """The directions at the pixels of a G-buffer: first those of the guide. `highlights`, (N,
        8), are those of `DeviceMaterial.highlights`, and `index` that below a surface that
        transmits. Each pass, by its number, has others."""
        axes, wo = frames_of(gbuffer)
        fixed = _to_lights(self._guides, axes, wo)
        # a second one from the eye, which sees detail where the first does not shine
        to_guides = np.concatenate([fixed.wi, wo[:, None]], 1)
        of_guide = np.concatenate(
            [fixed.gain, np.broadcast_to(self._from_eye, (len(wo), 1, 3))], 1
        ).astype(np.float32)
        places = _places(gbuffer, 0, number)
        of_map = np.einsum("nij,nkj->nki", axes, self._towards[places])
        lobes = _lobes(highlights, len(wo))
        at = _places(gbuffer, 1, number)
        halfway = self._halfway[at] if lobes is None else lobes.halfway(self._xi[at])
        cosine = np.einsum("nki,ni->nk", halfway, wo)
        of_lobes = 2 * cosine[..., None] * halfway - wo[:, None]
        light, density = self._seen(of_lobes, axes)
        wi = np.concatenate([of_map, of_lobes], 1)
        light = np.concatenate([self._radiance[places], light], 1)
        density = np.concatenate([self._density[places], density], 1) + _density(lobes, wi, wo)
        drawn = _lit_only(wi, wo, _gain(light, density))
        # the sun is the first of the fixed lights, and the rest of them is in the drawn ones
        own = of_guide.copy()
        own[:, 1 if self._environment.sun is not None else 0 :] = 0
        found = Directions(
            np.concatenate([to_guides, drawn.wi], 1),
            fixed.wo,
            np.concatenate([own, drawn.gain], 1),
            of_guide,
        )
        if index == THIN:
            below = self._through_wall(of_map, of_lobes, places, axes, wo, lobes)
        elif index:
            below = self._through_solid(of_lobes, axes, wo, lobes, index)
        return found.with_below(below) if index else found

    def _through_wall(
        self,
        of_map: Floats,
        of_lobes: Floats,
        places: NDArray[np.int64],
        axes: Floats,
        wo: Floats,
        lobes: _Lobes | None,
    ) -> Directions:
        """Directions below a thin wall: those of the map, those of the lobes on its other side, and
        the sun."""
        of_lobes = of_lobes * _DOWN
        light, density = self._seen(of_lobes, axes)
        wi = np.concatenate([of_map, of_lobes], 1)
        light = np.concatenate([self._radiance[places], light], 1)
        density = np.concatenate([self._density[places], density], 1)
        density += _density(lobes, wi * _DOWN, wo)
        drawn = _below(wi * _DOWN, wo, _gain(light, density), THIN)
        # the same lights as those of the guide above, from the other side
        fixed = _to_lights(self._guides, axes, wo, is_below=True)
        wi = np.concatenate([fixed.wi, (wo * _DOWN)[:, None], drawn.wi], 1)
        from_eye = np.broadcast_to(self._from_eye, (len(wo), 1, 3))
        guide = np.concatenate([fixed.gain, from_eye], 1).astype(np.float32)
        own = guide.copy()
        own[:, 1 if self._environment.sun is not None else 0 :] = 0
        return replace(drawn, wi=wi, gain=np.concatenate([own, drawn.gain], 1), guide=guide)

    def _through_solid(
        self, mirrored: Floats, axes: Floats, wo: Floats, lobes: _Lobes | None, index: float
    ) -> Directions:
        """Directions below a solid, by its lobes: the light is refracted once more."""
        along, outwards = np.moveaxis(mirrored, -1, 0), wo.T[:, :, None]
        wi = passed(along, outwards, index)
        towards, share = refracted(wi, index)
        light, _ = self._seen(np.moveaxis(towards, 0, -1), axes)
        density = _density(lobes, mirrored, wo) * density_of_passed(wi, along, outwards, index)
        is_lit = passes(along, outwards, index) & (wi[2] < -_LEAST_HEIGHT)
        return _below(mirrored, wo, _gain(light * (share * is_lit)[..., None], density), index)

    def _seen(self, wi: FloatArray, axes: Floats) -> tuple[FloatArray, FloatArray]:
        """The radiance from directions, (N, directions, 3), and their density in the map."""
        towards = np.einsum("nij,nki->nkj", axes, wi).reshape(-1, 3)
        light = self._environment.radiance(towards).reshape(wi.shape)
        return light, self._environment.density(towards).reshape(wi.shape[:2])


def frames_of(gbuffer: GBuffer) -> tuple[Floats, Floats]:
    """The axes of pixels, (N, 3, 3), and the directions to the eye in them."""
    axes = np.stack([gbuffer.tangent, gbuffer.bitangent, gbuffer.normal], 1).astype(np.float32)
    wo = np.einsum("nij,nj->ni", axes, gbuffer.to_eye).astype(np.float32)
    wo[:, 2] = np.maximum(wo[:, 2], _LEAST_COSINE)
    return axes, wo / np.linalg.norm(wo, axis=1, keepdims=True)


def _lit_only(wi: Floats, wo: Floats, gain: Floats) -> Directions:
    """Directions of which those below the horizon have no light."""
    is_lit = (wi[..., 2:] > _LEAST_HEIGHT).astype(np.float32)
    # any valid direction will do where no light comes from
    wi = np.where(is_lit, wi, np.array([0, 0, 1], np.float32))
    return Directions(wi.astype(np.float32), wo, (gain * is_lit).astype(np.float32))


def _below(mirrored: Floats, wo: Floats, gain: Floats, index: float) -> Directions:
    """Directions of light from below by their mirrored directions."""
    lit = _lit_only(mirrored, wo, gain)
    wi = passed(np.moveaxis(lit.wi, -1, 0), wo.T[:, :, None], index)
    return replace(lit, wi=np.moveaxis(wi, 0, -1).astype(np.float32))


def _gain(light: FloatArray, density: FloatArray) -> Floats:
    return np.asarray(light / (_DRAWN * np.maximum(density, 1e-12))[..., None], np.float32)


def _places(gbuffer: GBuffer, kind: int, number: int) -> NDArray[np.int64]:
    """Places in the table, (N, directions): pixels of a square take different parts of it, and
    squares different places in each part."""
    row, column = np.divmod(gbuffer.pixel, gbuffer.size)
    order = _order()[row % _SIDE, column % _SIDE]
    square = (row // _SIDE) * 40503 + (column // _SIDE) * 30011 + 7919 * kind + 104729 * number
    inside = (square * 2654435761 >> 7) % _PART
    return np.asarray((order[:, None] * _DRAWN + np.arange(_DRAWN)) * _PART + inside[:, None])


@lru_cache(1)
def _order() -> NDArray[np.int64]:
    """An order of the pixels of a square, in which neighbours are far apart (Bayer 1973)."""
    order = np.zeros((1, 1), np.int64)
    while len(order) < _SIDE:
        order = np.block([[4 * order, 4 * order + 2], [4 * order + 3, 4 * order + 1]])
    return order


def _halfway_vectors(xi: Floats, width: NDArray[np.floating]) -> Floats:
    """Vectors halfway between both directions of a reflection by GGX lobes of these widths."""
    cosine = np.sqrt((1 - xi[..., 1]) / (1 + (width**2 - 1) * xi[..., 1]))
    sine, turn = np.sqrt(np.maximum(0, 1 - cosine**2)), 2 * np.pi * xi[..., 0]
    return np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], -1).astype(np.float32)


class _Lobes(NamedTuple):
    """Lobes of GGX at pixels, one for each direction."""

    normal: Floats
    """(N, directions, 3)."""
    width: Floats
    """(N, directions)."""

    def halfway(self, xi: Floats) -> Floats:
        """Halfway vectors, (N, directions, 3), by points of the unit square."""
        x, y, z = np.moveaxis(_halfway_vectors(xi, self.width), -1, 0)[..., None]
        # an orthonormal basis (Duff et al. 2017)
        n = self.normal
        side = np.where(n[..., 2] < 0, -1, 1).astype(np.float32)
        a = -1 / (side + n[..., 2])
        b = n[..., 0] * n[..., 1] * a
        first = 1 + side * n[..., 0] ** 2 * a, side * b, -side * n[..., 0]
        second = b, side + n[..., 1] ** 2 * a, -n[..., 1]
        return np.asarray(x * np.stack(first, -1) + y * np.stack(second, -1) + z * n, np.float32)

    def density(self, wi: Floats, wo: Floats) -> Floats:
        """Density of reflected directions, (N, directions), per solid angle."""
        halfway = wi + wo[:, None]
        halfway /= np.maximum(np.linalg.norm(halfway, axis=-1, keepdims=True), 1e-9)
        up = np.maximum(np.einsum("nki,nji->nkj", halfway, self.normal), 0)
        cosine = np.maximum(np.einsum("nki,ni->nk", halfway, wo), 1e-6)
        square = self.width[:, None] ** 2
        lobes = square * up / (1 + (square - 1) * up * up) ** 2
        return np.asarray(lobes.sum(-1) / (4 * np.pi * _DRAWN * cosine))


def _lobes(highlights: Floats | None, count: int) -> _Lobes | None:
    """A narrow and a wider lobe about the highlights, and one about the surface's own normal, which
    is all that is known of pixels without."""
    if highlights is None or not highlights[:, 3].any():
        return None
    found = highlights.reshape(count, 2, 4)
    # without a second one the first is both
    found = np.where(found[:, 1:, 3:] > 0, found, found[:, :1])
    own = np.zeros((count, 1, 4), np.float32)
    own[..., 2:] = 1, _WIDEST
    lobes = np.concatenate([found, own], 1)
    lobes = np.where(found[:, :1, 3:] > 0, lobes, own)
    lobes[:, 1, 3] = np.minimum(_WIDER * lobes[:, 1, 3], _WIDEST)
    return _Lobes(lobes[..., :3], lobes[..., 3])


def _density(lobes: _Lobes | None, wi: Floats, wo: Floats) -> Floats:
    """Density of reflected directions, (N, directions), per solid angle."""
    if lobes is not None:
        return lobes.density(wi, wo)
    halfway = wi + wo[:, None]
    halfway /= np.maximum(np.linalg.norm(halfway, axis=-1, keepdims=True), 1e-9)
    up = np.maximum(halfway[..., 2], 0)
    cosine = np.maximum(np.einsum("nki,ni->nk", halfway, wo), 1e-6)
    lobes = sum(width**2 / (1 + (width**2 - 1) * up * up) ** 2 for width in _WIDTHS)
    return np.asarray(lobes * up / (4 * np.pi * len(_WIDTHS) * cosine))


@lru_cache(1)
def _drawn_table() -> tuple[Floats, Floats]:
    """Points that are spread evenly over the unit square, (n, 2), and vectors halfway between both
    directions of a reflection, (n, 3)."""
    number = range(_TABLE)
    xi = [((each + 0.5) / _TABLE, mirrored(each, 2)) for each in number]
    points = np.array(xi, np.float32)
    return points, _halfway_vectors(points, np.array(_WIDTHS)[np.arange(_TABLE) % len(_WIDTHS)])


def mirrored(number: int, base: int) -> float:
    """The digits of a number, mirrored at the point (van der Corput 1935)."""
    result, scale = 0.0, 1.0
    while number:
        scale /= base
        number, digit = divmod(number, base)
        result += digit * scale
    return result
