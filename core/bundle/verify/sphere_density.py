"""Whether the density of the sampler of a surface that transmits integrates to 1 over the sphere.

The density is evaluated as a renderer does, at directions above the surface and below it. They are
those that each lobe draws for a grid of numbers, which are dense where a lobe is narrow, and all
others. Solid angles, also those below the surface, are differences of directions: they do not
follow from the formula that is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.bundle.verify.rows import Row
from verdigris.core.material.sides import passed, passes
from verdigris.core.network.directions import normalise
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.light.sampler import draw_ggx, ggx_density, halves, pdf
from verdigris.core.network.numpy_mlp import latents_at_lod

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.network.light.sampler import Lobes
    from verdigris.core.network.parameters import Parameters

# Places with a view each; the first views are grazing.
PLACES, _GRAZING = 200, 20
BOUND = 1e-3
_AT_ONCE = 10
# Rows and columns of grids: each is for places where the one before is not near enough to 1.
_GRIDS = (24, 16), (48, 32), (96, 48), (192, 96)
_NEAR = 0.7
# Places that the finer grids are for: more are not near to 1 only if the density is wrong.
_MOST_REST = PLACES // 2
_STEP = 1e-5


def density_row(parameters: Parameters) -> Row:
    """The largest difference from 1, over places and views, of the share of directions that carry
    light and of those that carry none."""
    random = np.random.default_rng(74)
    uv, turn = random.random((PLACES, 2)), 2 * np.pi * random.random(PLACES)
    cosine = random.uniform(0.1, 1, PLACES)
    cosine[:_GRAZING] = random.uniform(0.01, 0.1, _GRAZING)
    sine = np.sqrt(1 - cosine**2)
    wo = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine])
    doubles = parameters.with_double_decoder()
    error: FloatArray = np.full(PLACES, np.inf)
    for number, grid in enumerate(_GRIDS):
        rest = np.flatnonzero(~(error < _NEAR * BOUND))
        if number > 1 and len(rest) > _MOST_REST:
            # it is wrong, not too coarse
            break
        for start in range(0, len(rest), _AT_ONCE):
            some = rest[start : start + _AT_ONCE]
            latents = latents_at_lod(doubles, uv[some].T, np.zeros(len(some)))
            sampler = SphereSampler.at(doubles, latents, wo[:, some])
            error[some] = np.abs(integral_of(sampler, *grid) - 1)
    # what is not finite disagrees
    worst = float(np.nan_to_num(error, nan=np.inf).max())
    return Row("density over the sphere against 1", PLACES, "largest", worst, BOUND)


def integral_of(sampler: SphereSampler, rows: int, columns: int) -> FloatArray:
    """For each surface, with the share of draws that carry no light."""
    index, share, wo = sampler.index, sampler.share, sampler.wo[:, None]

    def above(wi: FloatArray) -> FloatArray:
        dark = share * pdf(sampler.above, wi)
        return np.asarray(np.where(wi[2] >= 0, sampler.pdf(wi), dark))

    def below(mirrored: FloatArray) -> FloatArray:
        area, is_lit = _area(mirrored, wo, index)
        dark = (1 - share) * pdf(sampler.below, mirrored)
        return np.asarray(np.where(is_lit, sampler.pdf(passed(mirrored, wo, index)) * area, dark))

    with np.errstate(invalid="ignore", divide="ignore"):
        return _integral(sampler.above, above, rows, columns) + _integral(
            sampler.below, below, rows, columns
        )


def _integral(
    lobes: Lobes, density: Callable[[FloatArray], FloatArray], rows: int, columns: int
) -> FloatArray:
    """Of a density over directions [3, S, N], for each of N surfaces."""
    total = np.zeros(lobes.weights.shape[1])
    for number in range(len(lobes.frames) + 1):
        wi, area = _directions(lobes, number, rows, columns)
        # shares of the grids at each direction: any that add up to 1
        shares: list[FloatArray] = [np.full(wi.shape[1:], 1 / (4 * np.pi))]
        for frame, seen, widths in zip(lobes.frames, lobes.seen, lobes.widths, strict=True):
            shares.append(ggx_density(halves(frame, seen, wi), widths**2))
        total += (density(wi) * area * shares[number] / sum(shares)).mean(0)
    return total


def _directions(
    lobes: Lobes, number: int, rows: int, columns: int
) -> tuple[FloatArray, FloatArray]:
    """Directions [3, S, N] for a grid of the unit square, and how much solid angle each has by area
    [S, N]: for 0 all directions, otherwise those that a lobe draws."""
    row, column = (np.arange(rows) + 0.5) / rows, (np.arange(columns) + 0.5) / columns
    shape = rows * columns, lobes.weights.shape[1]
    height, turn = (
        np.broadcast_to(each.ravel()[:, None], shape)
        for each in np.meshgrid(row, column, indexing="ij")
    )
    if number == 0:
        z = 1 - 2 * height
        sine = np.sqrt(1 - z**2)
        wi = np.stack([sine * np.cos(2 * np.pi * turn), sine * np.sin(2 * np.pi * turn), z])
        return wi, np.full(shape, 4 * np.pi)
    lobe = lobes.seen[number - 1], lobes.widths[number - 1]
    along, across = (
        draw_ggx(*lobe, turn + x, height + y) - draw_ggx(*lobe, turn - x, height - y)
        for x, y in ((_STEP, 0), (0, _STEP))
    )
    area = _size(_cross(along, across)) / (2 * _STEP) ** 2
    wi = np.einsum("abN,aSN->bSN", lobes.frames[number - 1], draw_ggx(*lobe, turn, height))
    return wi, area


def _area(
    mirrored: FloatArray, wo: FloatArray, index: float
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Solid angle of light below by that of its mirrored directions, and where light is."""
    is_lit = (mirrored[2] > 0) & (passed(mirrored, wo, index)[2] < 0)
    # a tangent: across the axis that the direction is not along
    other = np.zeros_like(mirrored)
    other[0] = np.abs(mirrored[0]) < 0.5
    other[1] = 1 - other[0]
    first = normalise(_cross(mirrored, other))
    moved = []
    for along in (first, _cross(mirrored, first)):
        ends = []
        for step in (_STEP, -_STEP):
            near = normalise(mirrored + step * along)
            is_lit &= passes(near, wo, index)
            ends.append(passed(near, wo, index))
        moved.append((ends[0] - ends[1]) / (2 * _STEP))
    return _size(_cross(*moved)), is_lit


def _cross(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.cross(a.astype(float), b.astype(float), axis=0))


def _size(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors, axis=0))
