"""Pixels of views with their directions of light, which a fit of glTF textures to pictures shades
again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Source
from verdigris.core.ladder.views.reference import (
    both_frames,
    light_on_device,
    paint_of,
    without_coverage,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.fit_views import FitViews

    Floats = NDArray[np.float32]

_DRAW = Source("ladder/views/draw_incoming")
# As in shade_environment: directions to the sun, one for so many pairs.
_PAIRS_A_SUN = 4
PAIRS = 8
_READ = ("gPixel", "gFrames", "gToEye")
# Of the largest buffer: what a software device can bind is 128 MiB.
_MOST_ON_PROCESSOR, _MOST_ON_CARD = 100_000, 3_000_000


@dataclass(frozen=True)
class LitPixels:
    """Device buffers of pixels and their directions of light."""

    count: int
    directions: int
    """At each pixel."""
    exposure: float
    buffers: dict[str, Any]
    has_emission: bool = False
    """Whether the light is with what the material emits."""

    @classmethod
    def draw(
        cls, views: FitViews, seed: int, has_emission: bool = False
    ) -> LitPixels:  # fmt: skip
        """Draws directions and the teacher's light at some pixels of all views, without
        emission by default."""
        scene, seen, weights = views.scene, views.seen, views.weights
        teacher = scene.teacher
        device = teacher.device
        uniforms = scene.lighting.environment.uniforms()
        suns = PAIRS // _PAIRS_A_SUN if uniforms["sun"]["height"] > 0 else 0
        directions = 2 * PAIRS + suns
        rng = np.random.default_rng(seed)
        total = sum(each.count for each in seen)
        most = _MOST_ON_PROCESSOR if device.is_software else _MOST_ON_CARD
        chosen = []
        for each in seen:
            part = max(1, int(each.count * min(1.0, most / total)))
            chosen.append(np.sort(rng.permutation(each.count)[:part]))
        count = sum(len(each) for each in chosen)
        incoming = device.new_space(6 * directions * count)
        outgoing = device.new_space(3 * count)
        has_emission = has_emission and not teacher.is_dark_and_opaque
        lighting = scene.lighting if has_emission else replace(scene.lighting, emission=0.0)
        kernel = device.shared_kernels({}, ()).get((_DRAW,), "drawIncoming")
        first, places, targets = 0, [], []
        for number, (each, picked) in enumerate(zip(seen, chosen, strict=True)):
            of_picked = None if weights is None else [weights[number][picked]]
            for own, fitted in both_frames(each.take(picked), scene.first_set):
                light = light_on_device(teacher, own, lighting, 2 * PAIRS).light()
                light, paint = without_coverage(light, paint_of(own, of_picked, 0))
                places.append(fitted.view.buffers["gUv"].to_numpy().view(np.float32))
                targets.append(np.concatenate([light, paint[:, None]], 1))
                parameters = {
                    "count": own.count,
                    "first": first,
                    "width": each.size,
                    "pairs": PAIRS,
                    "suns": suns,
                    "firstLeaf": scene.lighting.occluders.first_leaf,
                    **uniforms,
                }
                device.dispatch(
                    kernel,
                    own.count,
                    {
                        "gParameters": parameters,
                        **{name: own.view.buffers[name] for name in _READ},
                        "gOrigins": own.origins,
                        "gFittedFrames": fitted.view.buffers["gFrames"],
                        "gIncoming": incoming,
                        "gOutgoing": outgoing,
                        **scene.lighting.environment.buffers,
                        **scene.lighting.occluders.buffers,
                    },
                )
                first += own.count
        buffers = {
            "gOrder": device.new_buffer(rng.permutation(count).astype(np.float32)),
            "gPlaces": device.new_buffer(np.concatenate(places)),
            "gIncoming": incoming,
            "gOutgoing": outgoing,
            "gTargets": device.new_buffer(np.concatenate(targets)),
        }
        return cls(count, directions, scene.exposure, buffers, has_emission)
