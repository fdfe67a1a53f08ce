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
from verdigris.core.ladder.unlit.records import mean_texture, records_of, start_from_means
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

# Sides of the reflection map, and how much smaller colours are than detail.
MIRROR_SIDE, COLOUR_DIVISOR = 64, 2
# The sun is as wide as a rough surface mirrors it: a lobe of this power of the cosine.
_SUN_POWER = 60
_START_SHARE = 0.15
# The part of the mean light that the texture of a reflection rung starts with.
_UNMOVED = 0.6


def fit_unlit_rung(
    name: str,
    scene: Scene,
    records: Records,
    size: int,
    settings: ImageFitSettings,
    on_progress: Callable[[float], None],
) -> Rung:
    """Fits the rung of this name, with textures of this size, to the light of pixels."""
    begun = time.monotonic()
    model = _STARTS[name](scene, records, size)
    fit_model(model, records, settings, on_progress)

    def draw(each: Seen, _: int) -> Floats:
        light = np.zeros((each.count, 3), np.float32)
        places = records_of([each], [light], scene.unique_set, first_set=scene.first_set)
        return ImageFit(model, places).shade()

    count = sum(each.grid.values.size for each in model.reads)
    seconds = time.monotonic() - begun
    rung = Rung(name, model.reads[0].grid.width, count, seconds, draw, model)
    if isinstance(model, VertexColours):
        rung.notes = _notes_of_vertices(model, records, len(scene.surface.mesh.position))
    return rung


def _start_texture(scene: Scene, records: Records, size: int) -> OneTexture:
    return OneTexture(mean_texture(records, records.curve, size), records.curve)


def _start_reflection(scene: Scene, records: Records, size: int) -> WithReflection:
    """The texture starts with the light that does not move, the map with the environment."""
    environment = scene.lighting.environment.environment
    directions = mirror_directions(MIRROR_SIDE)
    around = environment.radiance(directions.T).T * scene.exposure
    sun = environment.turned_sun
    if sun is not None:
        towards = np.maximum(np.array(sun.direction) @ directions, 0)
        lobe = _SUN_POWER / (2 * np.pi) * towards**_SUN_POWER
        around = around + np.outer(sun.irradiance, lobe) * scene.exposure
    mirror_curve = fit_curve(around)
    stored = np.ascontiguousarray(mirror_curve.to_stored(around).T, np.float32)
    return WithReflection(
        mean_texture(records, records.curve, size, _UNMOVED),
        Grid.of(size, size, np.full(3, _START_SHARE)),
        Grid(MIRROR_SIDE, MIRROR_SIDE, stored),
        records.curve,
        mirror_curve,
    )


def _start_detail(scene: Scene, records: Records, size: int) -> DetailAndColour:
    """Colours start with the mean light, and detail with the rest."""
    colour = mean_texture(records, records.curve, max(4, size // COLOUR_DIVISOR))
    size *= scene.tiles_a_side
    detail = Grid.of(size, size, np.full(1, 0.5))
    model = DetailAndColour(detail, colour, records.curve)
    start_from_means(detail, ImageFit(model, records).means())
    return model


def _start_vertices(scene: Scene, records: Records, size: int) -> VertexColours:
    _, count = scene.surface.vertices
    colours = Grid(count, 1, np.full((count, 3), 0.5, np.float32))
    model = VertexColours(colours, records.curve)
    means, weight = ImageFit(model, records).means()
    seen = weight > 1e-6
    colours.values[:] = np.where(seen[:, None], means, means[seen].mean(0))
    return model


_STARTS: dict[str, Callable[[Scene, Records, int], Model]] = {
    UNLIT: _start_texture,
    REFLECTION: _start_reflection,
    DETAIL: _start_detail,
    VERTEX: _start_vertices,
}


def _notes_of_vertices(model: VertexColours, records: Records, triangles: int) -> list[str]:
    """How many vertices no camera sees, and which part of the triangles has most of the error:
    these are worth splitting."""
    fit = ImageFit(model, records)
    _, weight = fit.means()
    unseen, found = int((weight <= 1e-6).sum()), []
    if unseen:
        found.append(f"{unseen} of {len(weight)} vertices are seen by no camera")
    roots = (np.sqrt(np.maximum(each, 0)) for each in (fit.shade(), records.light))
    error = np.abs(np.subtract(*roots)).sum(1)
    by_triangle = np.sort(np.bincount(records.triangle, error))[::-1]
    half = int(np.searchsorted(np.cumsum(by_triangle), by_triangle.sum() / 2)) + 1
    found.append(
        f"{half} of {triangles} triangles ({half / triangles:.0%}) have half of the error: "
        "split these to improve vertex colours"
    )
    return found
