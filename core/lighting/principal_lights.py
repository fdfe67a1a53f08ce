"""A few directional lights that stand for an environment, for pictures that must be fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.lighting.environment import direction_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.lighting.environment import Environment

    Floats = NDArray[np.float32]
    Light = tuple[Floats, Floats]
    """Unit direction to a light, and its irradiance on a surface that faces it."""

_ROWS = 32


def principal_lights(environment: Environment, count: int) -> list[Light]:
    """The sun, if there is one, and the map divided by median cut (Debevec 2005).

    Each region gives its vector irradiance, so that all lights together light a diffuse surface
    exactly that sees whole regions.
    """
    sun = environment.turned_sun
    found = [] if sun is None else [(np.array(sun.direction), np.array(sun.irradiance))]
    directions, light = _reduced(environment)
    regions = [(slice(0, _ROWS), slice(0, 2 * _ROWS))]
    luminance = light @ LUMINANCE
    while len(regions) < count - len(found):
        # the brightest one that can be divided
        regions.sort(key=lambda each: float(luminance[each].sum()))
        regions += _halves(regions.pop(), luminance, directions)
    for region in regions:
        part = light[region].reshape(-1, 3)
        vectors = part.T @ directions[region].reshape(-1, 3)
        towards = LUMINANCE @ vectors
        length = float(np.linalg.norm(towards))
        if length > 0:
            towards = towards / length
            found.append((towards, np.maximum(vectors @ towards, 0)))
    return [(np.asarray(a, np.float32), np.asarray(b, np.float32)) for a, b in found]


def _reduced(environment: Environment) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Directions (rows, columns, 3) of a small map, and radiance times solid angle."""
    columns = 2 * _ROWS
    places = np.stack(np.meshgrid(np.arange(columns), np.arange(_ROWS)), -1) + 0.5
    directions = direction_of((places / (columns, _ROWS)).reshape(-1, 2), environment.turn)
    texels = environment.texels.astype(np.float64)
    height, width = texels.shape[:2]
    solid = -np.diff(np.cos(np.linspace(0, np.pi, height + 1))) * 2 * np.pi / width
    weighted = texels * solid[:, None, None]
    row = np.arange(height) * _ROWS // height
    column = np.arange(width) * columns // width
    small = np.zeros((_ROWS, width, 3))
    np.add.at(small, row, weighted)
    light = np.zeros((columns, _ROWS, 3))
    np.add.at(light, column, small.swapaxes(0, 1))
    return directions.reshape(_ROWS, columns, 3), light.swapaxes(0, 1)


def _halves(
    region: tuple[slice, slice], luminance: NDArray[np.float64], directions: NDArray[np.float64]
) -> list[tuple[slice, slice]]:
    """Divides a region across its longer side, in halves of equal light."""
    rows, columns = region
    middle = directions[(rows.start + rows.stop - 1) // 2, columns.start]
    width = (columns.stop - columns.start) * float(np.hypot(middle[0], middle[2]))
    axis = 0 if rows.stop - rows.start >= width else 1
    along = region[axis]
    sums = np.cumsum(luminance[region].sum(1 - axis))
    cut = along.start + 1 + int(np.searchsorted(sums, sums[-1] / 2))
    cut = min(max(cut, along.start + 1), along.stop - 1)
    parts = slice(along.start, cut), slice(cut, along.stop)
    return [(part, columns) if axis == 0 else (rows, part) for part in parts]
