"""The rungs that store light, each from its start to its fit."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.tone_curve import fit_curve
from verdigris.core.ladder.unlit.image_fit import (
    ImageFit,
    ImageFitSettings,
    Model,
    Records,
    fit_model,
)
from verdigris.core.ladder.unlit.mean_texture import mean_texture, start_from_means
from verdigris.core.ladder.unlit.records import records_of
from verdigris.core.ladder.unlit.unlit_models import (
    DetailAndColour,
    OneTexture,
    VertexColours,
    WithReflection,
    mirror_directions,
)
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.settings.rung_names import DETAIL, REFLECTION, UNLIT, VERTEX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.visibility import Seen

    Floats = NDArray[np.float32]
    Progress = Callable[[float], None]

# Sides of the reflection map, and how much smaller colours are than detail.
MIRROR_SIDE, COLOUR_DIVISOR = 64, 2
_START_SHARE = 0.15
# The part of the mean light that the texture of a reflection rung starts with.
_UNMOVED = 0.6


def _image_rung(
    name: str,
    scene: Scene,
    model: Model,
    records: Records,
    settings: ImageFitSettings,
    on_progress: Progress,
    begun: float,
    size: int,
) -> Rung:
    fit_model(model, records, settings, on_progress)

    def draw(each: Seen, _: int) -> Floats:
        light = np.zeros((each.count, 3), np.float32)
        return ImageFit(model, records_of([each], [light], scene.unique_set)).shade()

    count = sum(each.grid.values.size for each in model.reads)
    return Rung(name, size, count, time.monotonic() - begun, draw, {"model": model})


def fit_unlit_rung(
    scene: Scene, records: Records, size: int, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    begun = time.monotonic()
    model = OneTexture(mean_texture(records, records.curve, size), records.curve)
    return _image_rung(UNLIT, scene, model, records, settings, on_progress, begun, size)


def fit_reflection_rung(
    scene: Scene, records: Records, size: int, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    """The texture starts with the light that does not move, the map with the environment."""
    begun = time.monotonic()
    curve = records.curve
    environment = scene.lighting.environment.environment
    directions = mirror_directions(MIRROR_SIDE)
    around = environment.radiance(directions.T).T * scene.exposure
    sun = environment.turned_sun
    if sun is not None:
        # spread over a lobe, as a rough surface mirrors it
        lobe = 60 / (2 * np.pi) * np.maximum(np.array(sun.direction) @ directions, 0) ** 60
        around = around + np.outer(sun.irradiance, lobe) * scene.exposure
    mirror_curve = fit_curve(around)
    mirror = Grid(
        MIRROR_SIDE, MIRROR_SIDE,
        np.ascontiguousarray(mirror_curve.to_stored(around).T, np.float32),
    )  # fmt: skip
    texture = mean_texture(records, curve, size, _UNMOVED)
    share = Grid.of(size, size, np.full(3, _START_SHARE))
    model = WithReflection(texture, share, mirror, curve, mirror_curve)
    return _image_rung(REFLECTION, scene, model, records, settings, on_progress, begun, size)


def fit_detail_rung(
    scene: Scene, records: Records, size: int, settings: ImageFitSettings, on_progress: Progress
) -> Rung:
    """Colours start with the mean light, and detail with the rest."""
    begun = time.monotonic()
    curve = records.curve
    low = max(4, size // COLOUR_DIVISOR)
    colour = mean_texture(records, curve, low)
    size *= scene.tiles_a_side
    detail = Grid.of(size, size, np.full(1, 0.5))
    model = DetailAndColour(detail, colour, curve)
    start_from_means(detail, ImageFit(model, records).means())
    return _image_rung(DETAIL, scene, model, records, settings, on_progress, begun, size)


def fit_vertex_rung(
    scene: Scene,
    records: Records,
    triangle: NDArray[np.int64],
    settings: ImageFitSettings,
    on_progress: Progress,
) -> Rung:  # fmt: skip
    begun = time.monotonic()
    _, count = scene.surface.vertices
    curve = records.curve
    colours = Grid(count, 1, np.full((count, 3), 0.5, np.float32))
    model = VertexColours(colours, curve)
    means, weight = ImageFit(model, records).means()
    seen = weight > 1e-6
    colours.values[:] = np.where(seen[:, None], means, means[seen].mean(0))
    rung = _image_rung(VERTEX, scene, model, records, settings, on_progress, begun, count)
    unseen = int((~seen).sum())
    if unseen:
        rung.notes.append(f"{unseen} of {count} vertices are seen by no camera")
    total = len(scene.surface.mesh.position)
    rung.notes.append(advise_subdivision(model, records, triangle, total))
    return rung


def advise_subdivision(
    model: VertexColours, records: Records, triangle: NDArray[np.int64], total: int
) -> str:
    """Which part of the triangles has most of the error: these are worth splitting."""
    light = ImageFit(model, records).shade()
    error = np.abs(np.sqrt(np.maximum(light, 0)) - np.sqrt(np.maximum(records.light, 0))).sum(1)
    by_triangle = np.sort(np.bincount(triangle, error))[::-1]
    half = int(np.searchsorted(np.cumsum(by_triangle), by_triangle.sum() / 2)) + 1
    return (
        f"{half} of {total} triangles ({half / total:.0%}) have half of the error: "
        "split these to improve vertex colours"
    )
