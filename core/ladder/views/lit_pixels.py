"""Pixels of views with their directions of light. Fits to pictures shade them again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.kernels import Source
from verdigris.core.ladder.views.reference import (
    both_frames,
    light_on_device,
    paint_of,
    without_coverage,
)

if TYPE_CHECKING:
    from verdigris.core.ladder.views.scene import FitViews, Scene


_DRAW = Source("ladder/views/draw_incoming")
# One direction to the sun for so many pairs, as in shade_environment.
_PAIRS_A_SUN = 4
PAIRS = 8
_READ = ("gPixel", "gFrames", "gToEye")
# Pixels of the largest buffer: a software device can bind 128 MiB.
_MOST_ON_CPU, _MOST_ON_GPU = 100_000, 3_000_000


@dataclass(frozen=True)
class LitPixels:
    """Device buffers of pixels and their directions of light."""

    count: int
    directions: int
    """Directions of light at each pixel."""
    exposure: float
    buffers: dict[str, Any]
    has_emission: bool = False
    """Whether the light contains the material's emission."""

    @classmethod
    def draw(cls, views: FitViews, seed: int, has_emission: bool = False) -> LitPixels:
        """Draws directions and the teacher's reflected light at some pixels of all views."""
        scene, teacher = views.scene, views.scene.teacher
        device, rng = teacher.device, np.random.default_rng(seed)
        views = views.some(_MOST_ON_CPU if device.is_software else _MOST_ON_GPU, rng)
        count = sum(each.count for each in views.seen)
        suns = _suns(scene)
        directions = 2 * PAIRS + suns
        incoming, outgoing = device.new_space(6 * directions * count), device.new_space(3 * count)
        has_emission = has_emission and not teacher.is_dark_and_opaque
        emission = scene.lighting.emission if has_emission else 0.0
        lighting = replace(scene.lighting, emission=emission, transmits=False)
        first, places, targets = 0, [], []
        for number, each in enumerate(views.seen):
            for own, fitted in both_frames(each, scene.first_set):
                light = light_on_device(teacher, own, lighting, 2 * PAIRS).light()
                light, paint = without_coverage(light, paint_of(own, views.weights, number))
                places.append(fitted.view.buffers["gUv"].to_numpy().view(np.float32))
                targets.append(np.concatenate([light, paint[:, None]], 1))
                given = {
                    **{name: own.view.buffers[name] for name in _READ},
                    "gOrigins": own.origins,
                    "gFittedFrames": fitted.view.buffers["gFrames"],
                    "gIncoming": incoming,
                    "gOutgoing": outgoing,
                }
                place = {"count": own.count, "first": first, "width": each.size, "suns": suns}
                _draw_incoming(scene, own.count, place, given)
                first += own.count
        buffers = {
            "gOrder": device.new_buffer(rng.permutation(count).astype(np.float32)),
            "gPlaces": device.new_buffer(np.concatenate(places)),
            "gIncoming": incoming,
            "gOutgoing": outgoing,
            "gTargets": device.new_buffer(np.concatenate(targets)),
        }
        return cls(count, directions, scene.exposure, buffers, has_emission)


def _suns(scene: Scene) -> int:
    """How many directions lead to the sun at each pixel."""
    sun = scene.lighting.environment.uniforms()["sun"]
    return PAIRS // _PAIRS_A_SUN if sun["height"] > 0 else 0


def _draw_incoming(
    scene: Scene, count: int, place: dict[str, int], buffers: dict[str, Any]
) -> None:
    """Draws directions of light and traces their shadows at so many pixels."""
    device, lighting = scene.teacher.device, scene.lighting
    kernel = device.shared_kernels({}, ()).get((_DRAW,), "drawIncoming")
    parameters = {
        **place,
        "pairs": PAIRS,
        "firstLeaf": lighting.occluders.first_leaf,
        **lighting.environment.uniforms(),
    }
    variables = {
        "gParameters": parameters, **buffers, **lighting.environment.buffers,
        **lighting.occluders.buffers,
    }  # fmt: skip
    device.dispatch(kernel, count, variables)
