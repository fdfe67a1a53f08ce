"""Light from everywhere around: a map of directions, a sun, and a few lights that stand for both.

A map is in the latitude-longitude layout of OpenEXR and USD: y is up, the top row looks up, the
centre looks along +z (in pictures: from the shape to the eye), and a quarter of the width left
of it is +x. Seen from inside it is not mirrored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import LUMINANCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats

    Light = tuple[Floats, Floats]
    """Unit direction to a light, and its irradiance on a surface that faces it."""

ENVIRONMENTS = STUDIO, SKY, OVERCAST, SUNSET = ("studio", "sky", "overcast", "sunset")
"""Names of environments that are made here."""
# Shares of a texel and of each neighbour in the mean of bilinear interpolation over the texel.
_OWN, _NEXT = 0.75, 0.125
# Rows of the small map that principal lights are found on.
_ROWS = 32


@dataclass(frozen=True)
class Sun:
    """A disc of constant radiance, far away."""

    direction: tuple[float, float, float]
    """Unit direction to the sun."""
    irradiance: tuple[float, float, float]
    """Irradiance of a surface that faces it."""
    radius: float
    """Half of the angle that it spans, in radians."""

    @property
    def radiance(self) -> NDArray[np.float64]:
        # the integral of the cosine over the disc
        return np.asarray(np.array(self.irradiance) / (np.pi * np.sin(self.radius) ** 2))


@dataclass(frozen=True)
class Environment:
    """What lights a picture."""

    texels: Floats
    """Radiance by direction, (height, width, 3), linear Rec.709."""
    distribution: Distribution
    """Distribution of directions on the map, in proportion to luminance."""
    sun: Sun | None = None
    turn: float = 0.0
    """Rotation of map and sun in degrees about y: counter-clockwise, seen from above."""

    @classmethod
    def of(cls, texels: Floats, sun: Sun | None = None) -> Environment:
        """The environment with this map, and with a sun that is not part of the map."""
        return cls(np.ascontiguousarray(texels, np.float32), _distribution(texels), sun)

    def turned(self, degrees: float) -> Environment:
        """The environment, rotated further."""
        return replace(self, turn=(self.turn + degrees) % 360.0)

    @property
    def turned_sun(self) -> Sun | None:
        """The sun, where it stands in the picture."""
        if self.sun is None:
            return None
        c, s = np.cos(np.radians(self.turn)), np.sin(np.radians(self.turn))
        x, y, z = self.sun.direction
        return replace(self.sun, direction=(float(c * x + s * z), y, float(c * z - s * x)))

    def radiance(self, directions: NDArray[np.floating]) -> NDArray[np.float64]:
        """Radiance of the map without the sun, (N, 3), with bilinear interpolation."""
        height, width = self.texels.shape[:2]
        u, v = place_of(directions, self.turn).T
        x, y = u * width - 0.5, np.clip(v * height - 0.5, 0, height - 1)
        left, top = np.floor(x).astype(int), np.floor(y).astype(int)
        right, below = (left + 1) % width, np.minimum(top + 1, height - 1)
        across, down = (x - left)[:, None], (y - top)[:, None]
        left %= width
        upper = self.texels[top, left] * (1 - across) + self.texels[top, right] * across
        lower = self.texels[below, left] * (1 - across) + self.texels[below, right] * across
        return np.asarray(upper * (1 - down) + lower * down, np.float64)

    def draw(self, xi: Floats) -> NDArray[np.float64]:
        """Directions (N, 3) towards the map's light, by random numbers in [0, 1)."""
        return direction_of(self.distribution.draw(xi), self.turn)

    def density(self, directions: NDArray[np.floating]) -> NDArray[np.float64]:
        """Density of drawn directions, per solid angle."""
        height, width = self.texels.shape[:2]
        u, v = place_of(directions, self.turn).T
        row = np.minimum((v * height).astype(int), height - 1)
        column = np.minimum((u * width).astype(int), width - 1)
        sine = np.hypot(directions[:, 0], directions[:, 2])
        per_area = self.distribution.density[row, column]
        return np.asarray(per_area / (2 * np.pi**2 * np.maximum(sine, 1e-9)), np.float64)

    @property
    def exposure(self) -> float:
        """Exposure in stops, with which a white surface that faces up is as bright as white paper
        on a display. Light from below alone counts as if it came from all sides."""
        level = float(self.irradiance_from_above @ LUMINANCE)
        level = level or np.pi * float(self.texels.mean((0, 1), dtype=np.float64) @ LUMINANCE)
        return float(np.log2(np.pi / level))

    @property
    def irradiance_from_above(self) -> NDArray[np.float64]:
        """Irradiance of a surface that faces up, with the sun."""
        polar = np.minimum(np.linspace(0, np.pi, len(self.texels) + 1), np.pi / 2)
        share = np.pi * np.diff(np.sin(polar) ** 2)
        total = share @ self.texels.mean(1, dtype=np.float64)
        if self.sun is not None:
            total = total + np.array(self.sun.irradiance) * max(0.0, self.sun.direction[1])
        return np.asarray(total)


def place_of(directions: NDArray[np.floating], turn: float = 0.0) -> NDArray[np.float64]:
    """The places (N, 2) of unit directions on a rotated map: u from left to right, v from top to
    bottom, 0 to 1."""
    x, y, z = directions.astype(np.float64).T
    u = 0.5 - np.arctan2(x, z) / (2 * np.pi) + turn / 360.0
    return np.stack([u % 1.0, np.arctan2(np.hypot(x, z), y) / np.pi], 1)


def direction_of(places: NDArray[np.floating], turn: float = 0.0) -> NDArray[np.float64]:
    """The unit directions (N, 3) of places on a rotated map."""
    u, v = places.astype(np.float64).T
    azimuth, polar = 2 * np.pi * (0.5 - u + turn / 360.0), np.pi * v
    sine = np.sin(polar)
    return np.stack([sine * np.sin(azimuth), np.cos(polar), sine * np.cos(azimuth)], 1)


def principal_lights(environment: Environment, count: int) -> list[Light]:
    """The sun, if there is one, and the map divided by median cut (Debevec 2005). Each region gives
    its vector irradiance, so that all lights together light a diffuse surface exactly if it sees
    whole regions."""
    sun = environment.turned_sun
    found = [] if sun is None else [(np.array(sun.direction), np.array(sun.irradiance))]
    directions, light = _reduced_map(environment)
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


def _reduced_map(environment: Environment) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


@dataclass(frozen=True)
class Distribution:
    """Importance sampling of a map of weights: a piecewise constant density on the unit square, by
    inverted cumulative distributions over the rows and in each row.

    The same numbers are on the device, so that the density is exactly that of what is drawn.
    """

    rows: Floats
    """Cumulative distribution of the rows, (height + 1)."""
    columns: Floats
    """Cumulative distribution in each row, (height, width + 1)."""

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> Distribution:
        """The distribution in proportion to weights (height, width), whose sum is positive."""
        in_row = weights.sum(1)
        return cls(_cumulative(in_row), _cumulative(weights))

    @property
    def density(self) -> Floats:
        """Density per area of the unit square, for each texel, (height, width)."""
        height, width = self.columns.shape[0], self.columns.shape[1] - 1
        rows = np.diff(self.rows.astype(np.float64))[:, None]
        return np.asarray(np.diff(self.columns.astype(np.float64)) * rows * height * width, "f4")

    def draw(self, xi: Floats) -> Floats:
        """Places (N, 2) on the unit square, by random numbers in [0, 1)."""
        height, width = self.columns.shape[0], self.columns.shape[1] - 1
        row, down = _inverted(np.broadcast_to(self.rows, (len(xi), height + 1)), xi[:, 1])
        column, right = _inverted(self.columns[row], xi[:, 0])
        return np.stack([(column + right) / width, (row + down) / height], 1).astype(np.float32)


def _cumulative(weights: NDArray[np.float64]) -> Floats:
    """Cumulative shares from 0 to 1 along the last axis; uniform where all weights are 0."""
    total = weights.sum(-1, keepdims=True)
    share = np.divide(weights, total, out=np.ones_like(weights), where=total > 0)
    sums = np.cumsum(share, axis=-1)
    sums /= sums[..., -1:]
    return np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1).astype(np.float32)


def _inverted(cumulative: Floats, xi: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The interval of each number, and the place in it."""
    at = (cumulative[:, 1:] <= xi[:, None]).sum(1)
    which = np.arange(len(xi))
    low, high = cumulative[which, at], cumulative[which, at + 1]
    return at, (xi - low) / (high - low)


def _distribution(texels: Floats) -> Distribution:
    """The distribution in proportion to the light of each texel, as bilinear interpolation spreads
    it: positive wherever any light is."""
    luminance = texels.astype(np.float64) @ LUMINANCE
    beside = np.roll(luminance, 1, 1) + np.roll(luminance, -1, 1)
    luminance = _OWN * luminance + _NEXT * beside
    padded = np.concatenate([luminance[:1], luminance, luminance[-1:]])
    luminance = _OWN * luminance + _NEXT * (padded[:-2] + padded[2:])
    solid_angle = -np.diff(np.cos(np.linspace(0, np.pi, len(texels) + 1)))
    return Distribution.of(luminance * solid_angle[:, None])
