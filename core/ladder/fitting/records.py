"""Pixels of views as records that fits of textures and colours read, and the mean light at texels,
with which these fits start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.fitting.image_fit import RECORD, ImageFit, OneTexture, Records
from verdigris.core.ladder.texels.grid import Grid, fill_holes
from verdigris.core.ladder.texels.tone_curve import ToneCurve
from verdigris.core.ladder.views.reference import lights_of, without_coverage

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.views.scene import FitViews
    from verdigris.core.ladder.views.visibility import Seen


# Pixels of the largest buffer: a software device can bind 128 MiB.
_MOST_ON_CPU, _MOST_ON_GPU = 1_500_000, 4_000_000


def records_of(
    seen: Sequence[Seen],
    lights: Sequence[FloatArray],
    unique_set: str | None,
    weights: Sequence[FloatArray] | None = None,
    first_set: str | None = None,
) -> Records:
    """Records of the pixels of views with their exposed light (N, 3). `first_set` is the uv set of
    detail, by default the mesh's first."""
    geometry = seen[0].geometry
    device, total = geometry.device, sum(each.count for each in seen)
    buffer = device.new_space(RECORD * total)
    first = 0
    for number, (each, light) in enumerate(zip(seen, lights, strict=True)):
        paint = np.ones(each.count) if weights is None else weights[number]
        given = {
            "gHits": device.new_buffer(each.hits()),
            "gLight": device.new_buffer(np.asarray(light[:, :3], np.float32)),
            "gPaint": device.new_buffer(np.asarray(paint, np.float32)),
            "gRecords": buffer,
        }
        place = {"eye": each.eye.tolist(), "first": first}
        geometry.run("recordPixels", each.count, place, given, unique_set, first_set)
        first += each.count
    return Records(device, total, buffer, np.concatenate([each.triangle for each in seen]))


def reference_records(
    views: FitViews, samples: int, on_progress: Callable[[float], None] = lambda _: None
) -> Records:
    """Records of the pixels of all views, or of as many as a buffer can hold, with the teacher's
    light."""
    scene = views.scene
    most = _MOST_ON_CPU if scene.teacher.device.is_software else _MOST_ON_GPU
    if sum(each.count for each in views.seen) > most:
        views = views.some(most, np.random.default_rng(0))
    seen = views.seen
    lights = lights_of(scene.teacher, seen, scene.lighting, samples, on_progress)
    paints = views.weights or [np.ones(each.count, np.float32) for each in seen]
    bare = [without_coverage(*each) for each in zip(lights, paints, strict=True)]
    exposed = [light * np.float32(scene.exposure) for light, _ in bare]
    found = [paint for _, paint in bare]
    return records_of(seen, exposed, scene.unique_set, found, scene.first_set)


def mean_texture(records: Records, curve: ToneCurve, size: int, factor: float = 1.0) -> Grid:
    """A square texture with the mean stored light of each texel. Holes are filled."""
    grid = Grid.of(size, size, np.full(3, 0.5))
    start_from_means(grid, ImageFit(OneTexture(grid, curve), records).means(factor))
    return grid


def start_from_means(grid: Grid, found: tuple[FloatArray, FloatArray]) -> None:
    """Sets texels to means, and fills texels that no pixel touched."""
    means, weight = found
    seen = weight > 1e-6
    grid.values[seen] = means[seen, : grid.channels]
    fill_holes(grid, seen)
