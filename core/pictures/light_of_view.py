"""The light that a view chooses: environments, read once and kept, and the few lights of quick
pictures."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry.mesh import normalized
from verdigris.core.lighting.blur import blurred, softened
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.pictures.backdrop import BACKDROP_BLUR
from verdigris.core.pictures.quick_light import QuickLight, directions_to

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.quick_light import Directions
    from verdigris.core.pictures.view import View

    LightKey = tuple[str, int, float]
    """Name and time of change of an environment, and its blur."""

KEY_COLOUR = (2.4, 2.3, 2.2)
# Without an environment, plain lights replace the studio on a CPU.
FILLS = (((0.35, 0.35, 0.87), (0.75, 0.78, 0.82)), ((0.9, 0.2, 0.1), (0.9, 1.05, 1.3)))


def few_directions(
    view: View,
    gbuffer: GBuffer,
    highlights: Floats | None = None,
    number: int = 0,
    index: float = 0.0,
) -> Directions:
    """The light of quick pictures on a CPU; `index` is that below a surface that transmits."""
    if view.lit_by:
        light = _quick_light(*light_key(view), view.rotate)
        return light.directions(gbuffer, highlights, number, index)
    lights = [(view.light, KEY_COLOUR, 1.0)]
    if view.environment > 0:
        lights += [(direction, colour, view.environment) for direction, colour in FILLS]
    plain = [
        (normalized(np.array(direction, np.float32)), np.array(colour, np.float32) * scale)
        for direction, colour, scale in lights
    ]
    return directions_to(plain, gbuffer, index)


def read_light(name: str) -> Environment:
    """The environment with a name, or in a file. The last ones are kept."""
    return _read(*file_key(name))


def environment_of(view: View) -> Environment:
    """The environment of a view, blurred and turned as the view has it."""
    return blurred_light(*light_key(view)).turned(view.rotate)


def backdrop_of(view: View) -> Environment:
    """What is seen behind the shape: at least as soft as a picture out of focus."""
    soft = _soft(*file_key(view.lit_by), max(BACKDROP_BLUR, view.blur))
    return soft.turned(view.rotate)


def light_key(view: View) -> LightKey:
    return (*file_key(view.lit_by), view.blur)


def file_key(name: str) -> tuple[str, int]:
    """A file's name and modification time. Missing files are reported by their reader."""
    try:
        return name, Path(name).stat().st_mtime_ns
    except OSError:
        return name, 0


# Maps can be large: the present one, and the one before.
@lru_cache(2)
def _read(name: str, _changed: int) -> Environment:
    return find_environment(name)


@lru_cache(2)
def blurred_light(name: str, changed: int, blur: float) -> Environment:
    sharp = _read(name, changed)
    return softened(sharp, blur) if blur else sharp


@lru_cache(2)
def _quick_light(name: str, changed: int, blur: float, rotate: float) -> QuickLight:
    return QuickLight(blurred_light(name, changed, blur).turned(rotate))


@lru_cache(2)
def _soft(name: str, changed: int, blur: float) -> Environment:
    return blurred(_read(name, changed), blur)
