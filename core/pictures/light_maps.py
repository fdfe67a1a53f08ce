"""Small pictures of environments, for lists and dials: as a mirror ball, and from above."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import LUMINANCE
from verdigris.core.lighting.environment import direction_of, place_of
from verdigris.core.lighting.named_environments import named_light
from verdigris.core.pictures.tone import FILM, Tone

if TYPE_CHECKING:
    from collections.abc import Callable

    from verdigris.core.base.array_types import Bytes, Doubles
    from verdigris.core.lighting.environment import Environment

_HEIGHT = 64
# The sun as it is drawn, in radians: the true one would be invisible.
_SUN_RADIUS = 0.07
# What most of a map is brighter than is this bright on the screen.
_PERCENTILE, _LEVEL = 60, 0.4


def small_map(environment: Environment) -> Bytes:
    """The map of an environment that is not turned, (64, 128, 3), for a screen."""
    straight = environment.turned(-environment.turn)
    return _shown(straight.radiance, None if straight.sun is None else straight.sun.direction)


@lru_cache(8)
def named_map(name: str) -> Bytes:
    """The same of an environment with a name, which takes a few milliseconds."""
    return _shown(*named_light(name))


def mirror_ball(light: Bytes, size: int) -> Bytes:
    """A small map, reflected by a mirror ball that fills the square, (size, size, 3)."""
    x, y = _square(size)
    up = np.sqrt(np.maximum(0, 1 - x * x - y * y))
    # the eye is at z
    return _seen(light, np.stack([2 * up * x, 2 * up * y, 2 * up * up - 1], 1), size)


def from_above(light: Bytes, size: int) -> Bytes:
    """The upper half of a small map around the zenith, with the viewer below, (size, size, 3)."""
    x, y = _square(size)
    away = np.minimum(np.hypot(x, y), 1) * np.pi / 2
    turn = np.arctan2(x, -y)
    towards = np.sin(away) * np.sin(turn), np.cos(away), np.sin(away) * np.cos(turn)
    return _seen(light, np.stack(towards, 1), size)


def _square(size: int) -> tuple[Doubles, Doubles]:
    """x to the right and y up, at the pixels of a square."""
    at = (np.arange(size) + 0.5) / size * 2 - 1
    x, y = np.meshgrid(at, -at)
    return x.reshape(-1), y.reshape(-1)


def _seen(light: Bytes, directions: Doubles, size: int) -> Bytes:
    height, width = light.shape[:2]
    directions = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    column, row = (place_of(directions) * (width, height)).astype(int).T
    seen = light[np.minimum(row, height - 1), np.minimum(column, width - 1)]
    return np.ascontiguousarray(seen.reshape(size, size, 3))


def _shown(
    radiance: Callable[[Doubles], Doubles], to_sun: tuple[float, float, float] | None
) -> Bytes:
    places = np.stack(np.meshgrid(np.arange(2 * _HEIGHT), np.arange(_HEIGHT)), -1) + 0.5
    directions = direction_of((places / (2 * _HEIGHT, _HEIGHT)).reshape(-1, 2))
    light = radiance(directions).astype(np.float32)
    level = float(np.percentile(light @ LUMINANCE, _PERCENTILE)) or 1.0
    shown = Tone(float(np.log2(_LEVEL / level)), FILM).bytes(light)
    if to_sun is not None:
        sun = np.array(to_sun) / np.linalg.norm(to_sun)
        shown[directions @ sun > np.cos(_SUN_RADIUS)] = 255
    return shown.reshape(_HEIGHT, 2 * _HEIGHT, 3)
