"""Environments that are made here, by name: a sky, an overcast sky, a studio, a sunset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.lighting.environment import (
    ENVIRONMENTS,
    OVERCAST,
    SKY,
    STUDIO,
    SUNSET,
    Environment,
    Sun,
    direction_of,
)
from verdigris.core.lighting.environment_file import read_environment

if TYPE_CHECKING:
    from collections.abc import Callable

    from verdigris.core.base.array_types import Doubles


SUN = (0.6, 0.62, 0.5)
"""Direction to the sun, not normalised: 38 degrees high, at the right and on the viewer's side, so
that it lights the front of a shape and still shows relief."""
# Half of the sun's .53 degrees.
SUN_RADIUS = float(np.radians(0.53 / 2))
# Irradiance of a surface that faces the sun, over that of the sky on the ground. On a clear day
# with the sun this high it is 4 to 6.
SUN_OVER_SKY = 4.5
_SKY_HEIGHT = 512

# Luminance of each part. Errors under a sky are measured in this light, too.
_ZENITH, _HORIZON, _GROUND = 0.6, 0.9, 0.12
_AUREOLE, _GLOW = 6.0, 0.8
_HORIZON_FALL, _AUREOLE_FALL, _GLOW_FALL = 6.0, 120.0, 8.0
_GLOW_ENDS = -0.05

_HEIGHT = 256
# The studio of plain pictures: shaders/pictures/shade_view.slang has the same numbers.
STUDIO_BRIGHTNESS = 0.8
STUDIO_KEY = (-0.45, 0.6, 0.66)
STUDIO_KEY_COLOUR = (2.4, 2.3, 2.2)
_STUDIO_FLOOR, _STUDIO_CEILING = (0.10, 0.095, 0.09), (0.42, 0.45, 0.50)
# Colour, centre and sharpness of each soft box.
_SOFT_BOXES = (
    ((5.0, 4.6, 4.0), (-0.6, 0.65, 0.55), 18.0),
    ((1.6, 2.1, 2.8), (0.85, 0.25, -0.1), 24.0),
    ((0.9, 0.9, 0.95), (0.35, 0.3, 0.9), 6.0),
)
# A lamp with this radius is a sharp highlight on varnish, and not a point.
_KEY_RADIUS = float(np.radians(1.5))

# Radiance of the zenith, as in the standard overcast sky of the CIE.
_OVERCAST_ZENITH = np.array([0.98, 1.0, 1.03])
_OVERCAST_GROUND = 0.15

_SUNSET_SUN = (0.80, 0.17, -0.45)
_SUNSET_SUN_COLOUR = (4.6, 2.2, 0.85)
_SUNSET_RADIUS = float(np.radians(0.6))
_SUNSET_ZENITH, _SUNSET_BAND = (0.09, 0.15, 0.30), (0.34, 0.22, 0.24)
_SUNSET_GLOW, _SUNSET_GROUND = (2.0, 0.72, 0.2), (0.09, 0.07, 0.06)


def make_environment(name: str) -> Environment:
    """The environment with a name from ENVIRONMENTS."""
    if name == SKY:
        return make_sky(SUN)
    if name == OVERCAST:
        return Environment.of(_map(_overcast))
    if name == STUDIO:
        return Environment.of(_map(_studio), _lamp(STUDIO_KEY, STUDIO_KEY_COLOUR, _KEY_RADIUS))
    return Environment.of(_map(_sunset), _lamp(_SUNSET_SUN, _SUNSET_SUN_COLOUR, _SUNSET_RADIUS))


def named_light(
    name: str,
) -> tuple[Callable[[Doubles], Doubles], tuple[float, float, float] | None]:
    """The radiance of the map with a name by direction, and the direction to its sun or lamp."""
    towards = np.array(SUN) / np.linalg.norm(SUN)
    return {
        SKY: (lambda directions: sky_radiance(directions, towards), SUN),
        OVERCAST: (_overcast, None),
        STUDIO: (_studio, STUDIO_KEY),
        SUNSET: (_sunset, _SUNSET_SUN),
    }[name]


def find_environment(name: str) -> Environment:
    """The environment with a name, or in a file (.hdr, .exr)."""
    return make_environment(name) if name in ENVIRONMENTS else read_environment(Path(name))


def make_sky(to_sun: tuple[float, float, float] = SUN) -> Environment:
    """The sky with the sun in this direction. A sun below the horizon does not shine."""
    towards = np.array(to_sun, np.float64)
    towards /= np.linalg.norm(towards)
    sky = Environment.of(_map(lambda directions: sky_radiance(directions, towards), _SKY_HEIGHT))
    if towards[1] <= 0:
        return sky
    level = SUN_OVER_SKY * float(sky.irradiance_from_above @ LUMINANCE)
    x, y, z = towards.tolist()
    red, green, blue = (level * _OF_SUN).tolist()
    return Environment(sky.texels, sky.distribution, Sun((x, y, z), (red, green, blue), SUN_RADIUS))


def sky_radiance(
    directions: NDArray[np.floating], to_sun: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Radiance of the sky without the disc of the sun, (..., 3): brighter towards the horizon, with
    an aureole and a wide glow around the sun, over a dark ground."""
    tints = _OF_ZENITH, _OF_HORIZON, _OF_GROUND, _OF_SUN
    parts = zip(_parts(directions, to_sun), tints, strict=True)
    return np.asarray(sum(part[..., None] * tint for part, tint in parts))


def sky_luminance(
    directions: NDArray[np.floating], to_sun: NDArray[np.floating]
) -> NDArray[np.float64]:
    """Luminance of the sky without the disc of the sun, (...)."""
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


def _tint(red: float, green: float, blue: float) -> NDArray[np.float64]:
    """A colour of luminance 1."""
    colour = np.array([red, green, blue])
    return np.asarray(colour / (colour @ LUMINANCE))


_OF_ZENITH, _OF_HORIZON = _tint(0.42, 0.68, 1.25), _tint(0.86, 0.96, 1.12)


_OF_GROUND, _OF_SUN = _tint(1.1, 1.0, 0.86), _tint(1.08, 1.0, 0.88)


def _map(radiance: Callable[[Doubles], Doubles], height: int = _HEIGHT) -> NDArray[np.float32]:
    places = np.stack(np.meshgrid(np.arange(2 * height), np.arange(height)), -1) + 0.5
    directions = direction_of((places / (2 * height, height)).reshape(-1, 2))
    return radiance(directions).reshape(height, 2 * height, 3).astype(np.float32)


def _lamp(
    towards: tuple[float, float, float], irradiance: tuple[float, float, float], radius: float
) -> Sun:
    x, y, z = (np.array(towards) / np.linalg.norm(towards)).tolist()
    return Sun((x, y, z), irradiance, radius)


def _overcast(directions: Doubles) -> Doubles:
    """Three times as bright at the zenith as at the horizon, over a darker ground."""
    up = directions[:, 1:2]
    return np.where(up > 0, _OVERCAST_ZENITH * (1 + 2 * up) / 3, _OVERCAST_GROUND)


def _studio(directions: Doubles) -> Doubles:
    """Floor, ceiling and three soft boxes."""
    up = (0.5 + 0.5 * directions[:, 1:2]) ** 2
    light = np.array(_STUDIO_FLOOR) * (1 - up) + np.array(_STUDIO_CEILING) * up
    for colour, centre, sharpness in _SOFT_BOXES:
        towards = np.array(centre) / np.linalg.norm(centre)
        light = light + np.array(colour) * np.exp(sharpness * (directions @ towards - 1))[:, None]
    return np.asarray(STUDIO_BRIGHTNESS * light)


def _sunset(directions: Doubles) -> Doubles:
    """A violet sky, a warm band at the horizon, and a wide glow around a low sun."""
    up = directions[:, 1:2]
    away = 1.0 - directions @ (np.array(_SUNSET_SUN) / np.linalg.norm(_SUNSET_SUN))[:, None]
    low = np.exp(-5.0 * np.abs(up))
    sky = np.array(_SUNSET_ZENITH) * (1 - low) + np.array(_SUNSET_BAND) * low
    sky = sky + np.array(_SUNSET_GLOW) * (np.exp(-3.0 * away) * low + 2.0 * np.exp(-60.0 * away))
    ground = np.array(_SUNSET_GROUND) * (1 + np.exp(-3.0 * away))
    # the horizon is hazy: a hard edge would be seen in every reflection
    share = np.clip(up / 0.04 + 0.5, 0, 1)
    return np.asarray(ground * (1 - share) + sky * share)
