"""Light from everywhere around: a map of directions, and a sun.

A map is in the latitude-longitude layout of OpenEXR and USD: y is up, the top row looks up, the
centre looks along +z (in pictures: from the shape to the viewer), and a quarter of the width left
of it is +x. Seen from inside it is not mirrored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.lighting.distribution import Distribution

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

ENVIRONMENTS = STUDIO, SKY, OVERCAST, SUNSET = ("studio", "sky", "overcast", "sunset")
"""Names of environments that are made here."""
# Shares of a texel and of each neighbour in the mean of bilinear interpolation over the texel.
_OWN, _NEXT = 0.75, 0.125


@dataclass(frozen=True)
class Sun:
    """A disc of constant radiance, far away."""

    direction: tuple[float, float, float]
    """Towards it, of unit length."""
    irradiance: tuple[float, float, float]
    """On a surface that faces it."""
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
    """Of directions on the map, in proportion to luminance."""
    sun: Sun | None = None
    turn: float = 0.0
    """Rotation of map and sun in degrees about y: counter-clockwise, seen from above."""

    @classmethod
    def of(cls, texels: Floats, sun: Sun | None = None) -> Environment:
        """An environment of a map, and of a sun that the map does not hold."""
        return cls(np.ascontiguousarray(texels, np.float32), _distribution(texels), sun)

    def turned(self, degrees: float) -> Environment:
        """The same, rotated further."""
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
        """Of the map without the sun, (N, 3), with bilinear interpolation."""
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
        """Of drawn directions, per solid angle."""
        height, width = self.texels.shape[:2]
        u, v = place_of(directions, self.turn).T
        row = np.minimum((v * height).astype(int), height - 1)
        column = np.minimum((u * width).astype(int), width - 1)
        sine = np.hypot(directions[:, 0], directions[:, 2])
        per_area = self.distribution.density[row, column]
        return np.asarray(per_area / (2 * np.pi**2 * np.maximum(sine, 1e-9)), np.float64)

    @property
    def exposure(self) -> float:
        """In stops: a white surface that faces up is as bright as white paper on a display. Light
        from below alone counts as if it came from all sides."""
        level = float(self.irradiance_from_above @ LUMINANCE)
        level = level or np.pi * float(self.texels.mean((0, 1), dtype=np.float64) @ LUMINANCE)
        return float(np.log2(np.pi / level))

    @property
    def irradiance_from_above(self) -> NDArray[np.float64]:
        """On a surface that faces up, with the sun."""
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


def _distribution(texels: Floats) -> Distribution:
    """In proportion to the light of each texel, as bilinear interpolation spreads it: positive
    wherever any light is."""
    luminance = texels.astype(np.float64) @ LUMINANCE
    beside = np.roll(luminance, 1, 1) + np.roll(luminance, -1, 1)
    luminance = _OWN * luminance + _NEXT * beside
    padded = np.concatenate([luminance[:1], luminance, luminance[-1:]])
    luminance = _OWN * luminance + _NEXT * (padded[:-2] + padded[2:])
    solid_angle = -np.diff(np.cos(np.linspace(0, np.pi, len(texels) + 1)))
    return Distribution.of(luminance * solid_angle[:, None])
