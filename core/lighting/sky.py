"""A procedural clear sky, with the sun as a light of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.lighting.environment import Environment, Sun, direction_of

SUN = (0.75, 0.55, -0.32)
"""Towards the sun, not of unit length: 34 degrees high, at the right and a little behind the shape,
where it shows relief and highlights."""
# Half of the sun's .53 degrees.
SUN_RADIUS = float(np.radians(0.53 / 2))
# Irradiance of a surface that faces the sun, over that of the sky on the ground. On a clear day
# with the sun this high it is 4 to 6.
SUN_OVER_SKY = 4.5
_HEIGHT = 512

# Luminance of each part. Errors under a sky are measured in this light, too.
_ZENITH, _HORIZON, _GROUND = 0.6, 0.9, 0.12
_AUREOLE, _GLOW = 6.0, 0.8
_HORIZON_FALL, _AUREOLE_FALL, _GLOW_FALL = 6.0, 120.0, 8.0
_GLOW_ENDS = -0.05


def _tint(red: float, green: float, blue: float) -> NDArray[np.float64]:
    """A colour of luminance 1."""
    colour = np.array([red, green, blue])
    return np.asarray(colour / (colour @ LUMINANCE))


_OF_ZENITH, _OF_HORIZON = _tint(0.42, 0.68, 1.25), _tint(0.86, 0.96, 1.12)
_OF_GROUND, _OF_SUN = _tint(1.1, 1.0, 0.86), _tint(1.08, 1.0, 0.88)


def sky_radiance(
    directions: NDArray[np.floating], to_sun: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Of the sky without the disc of the sun, (..., 3): brighter towards the horizon, with an
    aureole and a wide glow around the sun, over a dark ground."""
    tints = _OF_ZENITH, _OF_HORIZON, _OF_GROUND, _OF_SUN
    parts = zip(_parts(directions, to_sun), tints, strict=True)
    return np.asarray(sum(part[..., None] * tint for part, tint in parts))


def sky_luminance(
    directions: NDArray[np.floating], to_sun: NDArray[np.floating]
) -> NDArray[np.float64]:
    """The same in grey, (...)."""
    return np.asarray(sum(_parts(directions, to_sun)))


def _parts(
    directions: NDArray[np.floating], to_sun: NDArray[np.floating]
) -> tuple[NDArray[np.float64], ...]:
    """Luminance of the zenith's, the horizon's, the ground's and the sun's light."""
    up = directions[..., 1].astype(np.float64)
    away = 1.0 - directions.astype(np.float64) @ np.asarray(to_sun, np.float64)
    glow = _AUREOLE * np.exp(-_AUREOLE_FALL * away) + _GLOW * np.exp(-_GLOW_FALL * away)
    return (
        np.where(up > 0, _ZENITH, 0.0),
        np.where(up > 0, _HORIZON * np.exp(-_HORIZON_FALL * np.abs(up)), 0.0),
        np.where(up > 0, 0.0, _GROUND),
        np.where(up > _GLOW_ENDS, glow, 0.0),
    )


def make_sky(to_sun: tuple[float, float, float] = SUN) -> Environment:
    """The sky with the sun in this direction. A sun below the horizon does not shine."""
    towards = np.array(to_sun, np.float64)
    towards /= np.linalg.norm(towards)
    places = (np.stack(np.meshgrid(np.arange(2 * _HEIGHT), np.arange(_HEIGHT)), -1) + 0.5) / (
        2 * _HEIGHT,
        _HEIGHT,
    )
    texels = sky_radiance(direction_of(places.reshape(-1, 2)), towards)
    sky = Environment.of(texels.reshape(_HEIGHT, 2 * _HEIGHT, 3).astype(np.float32))
    if towards[1] <= 0:
        return sky
    level = SUN_OVER_SKY * float(sky.irradiance_from_above @ LUMINANCE)
    x, y, z = towards.tolist()
    red, green, blue = (level * _OF_SUN).tolist()
    return Environment(sky.texels, sky.distribution, Sun((x, y, z), (red, green, blue), SUN_RADIUS))
