"""Pixels of views with their directions of light, which a fit of glTF textures to pictures shades
again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import Source
from verdigris.core.ladder.reference import light_of, without_coverage
from verdigris.core.pictures.render import DeviceView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.rungs import Scene
    from verdigris.core.ladder.visibility import Seen
    from verdigris.core.pictures.views import View

    Floats = NDArray[np.float32]

_DRAW = Source("ladder/draw_incoming")
# As in shade_environment: directions to the sun, one for so many pairs.
_PAIRS_A_SUN = 4
PAIRS = 8
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

    @classmethod
    def draw(
        cls, scene: Scene, seen: Sequence[Seen], uv_set: str, seed: int,
        weights: Sequence[Floats] | None = None,
    ) -> LitPixels:  # fmt: skip
        """Draws directions and the teacher's light at some pixels of all views, without
        emission."""
        teacher = scene.teacher
        device = teacher.device
        uniforms = scene.lighting.environment.uniforms()
        suns = PAIRS // _PAIRS_A_SUN if uniforms["sun"]["height"] > 0 else 0
        directions = 2 * PAIRS + suns
        rng = np.random.default_rng(seed)
        total = sum(len(each.triangle) for each in seen)
        most = _MOST_ON_PROCESSOR if device.is_software else _MOST_ON_CARD
        chosen = []
        for each in seen:
            count = len(each.triangle)
            part = max(1, int(count * min(1.0, most / total)))
            chosen.append(np.sort(rng.permutation(count)[:part]))
        count = sum(len(each) for each in chosen)
        incoming = teacher.buffer(6 * directions * count, None)
        outgoing = teacher.buffer(3 * count, None)
        dark = replace(scene.lighting, emission=0.0)
        kernel = device.shared_kernels({}, ()).get((_DRAW,), "drawIncoming")
        first, places, targets = 0, [], []
        for number, each in enumerate(seen):
            picked = chosen[number]
            view = each.view.take(picked)
            fitted = each.on_set(scene.surface, uv_set).take(picked)
            light = light_of(teacher, view, dark, 2 * PAIRS)
            paint = np.ones(len(picked)) if weights is None else weights[number][picked]
            light, paint = without_coverage(light[:, :3], light[:, 3]), paint * light[:, 3]
            places.append(fitted.uv)
            targets.append(np.concatenate([light, paint[:, None]], 1))
            uploaded = DeviceView.upload(teacher, view, 1)
            rows = dict(zip(("shapeX", "shapeY", "shapeZ"), view.rotation.tolist(), strict=True))
            device.dispatch(
                kernel,
                len(picked),
                {
                    "gParameters": {
                        "count": len(picked),
                        "first": first,
                        "width": view.size,
                        "pairs": PAIRS,
                        "suns": suns,
                        "firstLeaf": scene.lighting.occluders.first_leaf,
                        **rows,
                        **uniforms,
                    },
                    "gPixel": uploaded.buffers["gPixel"],
                    "gFrames": uploaded.buffers["gFrames"],
                    "gToEye": uploaded.buffers["gToEye"],
                    "gOrigins": teacher.buffer(3 * len(picked), view.shadow_origin),
                    "gTurns": teacher.buffer(4 * len(picked), _turns(view, fitted)),
                    "gIncoming": incoming,
                    "gOutgoing": outgoing,
                    **scene.lighting.environment.buffers,
                    **scene.lighting.occluders.buffers,
                },
            )
            first += len(picked)
        buffers = {
            "gOrder": teacher.buffer(count, rng.permutation(count).astype(np.float32)),
            "gPlaces": teacher.buffer(2 * count, np.concatenate(places)),
            "gIncoming": incoming,
            "gOutgoing": outgoing,
            "gTargets": teacher.buffer(4 * count, np.concatenate(targets)),
        }
        return cls(count, directions, scene.exposure, buffers)


def _turns(view: View, fitted: View) -> Floats:
    """The axes of the fitted frame by those of the view's, (N, 4)."""
    axes = ((a * b).sum(1) for a in (fitted.tangent, fitted.bitangent)
            for b in (view.tangent, view.bitangent))  # fmt: skip
    return np.stack(list(axes), 1)
