"""Environments that are made here, by name: a sky, an overcast sky, a studio, a sunset."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.lighting.environment import (
    ENVIRONMENTS,
    OVERCAST,
    SKY,
    STUDIO,
    Environment,
    Sun,
    direction_of,
)
from verdigris.core.lighting.environment_file import read_environment
from verdigris.core.lighting.sky import SUN, make_sky

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Directions = NDArray[np.float64]

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
# A lamp of this radius is a sharp highlight on varnish, and no point.
_KEY_RADIUS = float(np.radians(1.5))

# Of the zenith, as the standard overcast sky of the CIE.
_OVERCAST_ZENITH = np.array([0.98, 1.0, 1.03])
_OVERCAST_GROUND = 0.15

_SUNSET_SUN = (0.80, 0.17, -0.45)
_SUNSET_SUN_COLOUR = (4.6, 2.2, 0.85)
_SUNSET_RADIUS = float(np.radians(0.6))
_SUNSET_ZENITH, _SUNSET_BAND = (0.09, 0.15, 0.30), (0.34, 0.22, 0.24)
_SUNSET_GLOW, _SUNSET_GROUND = (2.0, 0.72, 0.2), (0.09, 0.07, 0.06)


def make_environment(name: str) -> Environment:
    """An environment by its name, of ENVIRONMENTS."""
    if name == SKY:
        return make_sky(SUN)
    if name == OVERCAST:
        return Environment.of(_map(_overcast))
    if name == STUDIO:
        return Environment.of(_map(_studio), _lamp(STUDIO_KEY, STUDIO_KEY_COLOUR, _KEY_RADIUS))
    return Environment.of(_map(_sunset), _lamp(_SUNSET_SUN, _SUNSET_SUN_COLOUR, _SUNSET_RADIUS))


def find_environment(name: str) -> Environment:
    """The environment of a name, or of a file (.hdr, .exr)."""
    return make_environment(name) if name in ENVIRONMENTS else read_environment(Path(name))


def _map(radiance: Callable[[Directions], Directions]) -> NDArray[np.float32]:
    places = np.stack(np.meshgrid(np.arange(2 * _HEIGHT), np.arange(_HEIGHT)), -1) + 0.5
    directions = direction_of((places / (2 * _HEIGHT, _HEIGHT)).reshape(-1, 2))
    return radiance(directions).reshape(_HEIGHT, 2 * _HEIGHT, 3).astype(np.float32)


def _lamp(
    towards: tuple[float, float, float], irradiance: tuple[float, float, float], radius: float
) -> Sun:
    x, y, z = (np.array(towards) / np.linalg.norm(towards)).tolist()
    return Sun((x, y, z), irradiance, radius)


def _overcast(directions: Directions) -> Directions:
    """Three times as bright at the zenith as at the horizon, over a darker ground."""
    up = directions[:, 1:2]
    return np.where(up > 0, _OVERCAST_ZENITH * (1 + 2 * up) / 3, _OVERCAST_GROUND)


def _studio(directions: Directions) -> Directions:
    """Floor, ceiling and three soft boxes."""
    up = (0.5 + 0.5 * directions[:, 1:2]) ** 2
    light = np.array(_STUDIO_FLOOR) * (1 - up) + np.array(_STUDIO_CEILING) * up
    for colour, centre, sharpness in _SOFT_BOXES:
        towards = np.array(centre) / np.linalg.norm(centre)
        light = light + np.array(colour) * np.exp(sharpness * (directions @ towards - 1))[:, None]
    return np.asarray(STUDIO_BRIGHTNESS * light)


def _sunset(directions: Directions) -> Directions:
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
