"""Opacity of rungs: what their textures and vertices store beside colours.

Fits compare light without coverage: they learn what the surface reflects where it is, and the
opacity is a map of its own, as glTF has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.rung import BLEND, MASK, Opacity, Rung
from verdigris.core.ladder.texels.grid import Grid, quantise
from verdigris.core.ladder.texels.tone_curve import CLAMP
from verdigris.core.ladder.unlit.image_fit import ImageFit, Model
from verdigris.core.ladder.unlit.records import records_of, start_from_means
from verdigris.core.ladder.unlit.unlit_models import OneTexture, VertexColours
from verdigris.core.ladder.views.reference import emission_at
from verdigris.core.settings.rung_names import DETAIL, NEURAL, PBR, SURFACE, VERTEX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen
    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]

# A material is a cutout if fewer pixels than this are neither opaque nor holes.
_MOST_BETWEEN, OPAQUE, _HOLE = 0.05, 0.98, 0.02


def coverage_at(teacher: DeviceMaterial, seen: Seen) -> Floats:
    """The coverage (N,) at the pixels of a view: 1 is opaque, 0 a hole."""
    if teacher.is_dark_and_opaque:
        return np.ones(seen.count, np.float32)
    return emission_at(teacher, seen)[:, 3]


def add_opacity(rungs: Sequence[Rung], scene: Scene, seen: Sequence[Seen]) -> None:
    """Gives rungs an opacity, if the material is not opaque at every pixel."""
    if scene.teacher.is_dark_and_opaque:
        return
    parts = [coverage_at(scene.teacher, each) for each in seen]
    coverage = np.concatenate(parts)
    if (coverage >= OPAQUE).all():
        return
    between = (coverage > _HOLE) & (coverage < OPAQUE)
    mode = MASK if between.mean() < _MOST_BETWEEN else BLEND
    # rungs of one size read the same texels of a uv set
    grids: dict[tuple[str, int], Grid] = {}
    for rung in rungs:
        if rung.name in (NEURAL, SURFACE):
            # their materials have it
            continue
        key = uv_set, size = _set_of(rung, scene), rung.size
        if rung.name == VERTEX:
            grid = _of_vertices(scene, seen, parts)
        elif key in grids:
            grid = grids[key]
        else:
            grid = grids[key] = _of_texels(seen, parts, uv_set, size)
        _attach(rung, scene, Opacity(grid, mode))


def _attach(rung: Rung, scene: Scene, opacity: Opacity) -> None:
    drawn, uv_set = rung.draw, _set_of(rung, scene)

    def draw(each: Seen, directions: int) -> Floats:
        # blocks replace it
        opacity = rung.opacity
        assert opacity is not None
        if rung.name == VERTEX:
            vertex, _ = scene.surface.vertices
            values = (opacity.grid.values[vertex[each.triangle], 0] * each.weights).sum(1)
        else:
            values = opacity.grid.sample(each.mixed(scene.surface.sets[uv_set]).T)[0]
        return np.asarray(drawn(each, directions) * opacity.shown(values)[:, None], np.float32)

    rung.draw = draw
    rung.opacity = opacity
    rung.byte_size += opacity.grid.values.size


def _set_of(rung: Rung, scene: Scene) -> str:
    if rung.name in (PBR, DETAIL):
        return scene.first_set
    return scene.unique_set or scene.first_set


def _of_texels(seen: Sequence[Seen], coverage: Sequence[Floats], uv_set: str, size: int) -> Grid:
    grid = Grid.of(size, size, np.ones(1))
    start_from_means(grid, _means(OneTexture(grid, CLAMP), seen, coverage, uv_set))
    grid.values[:] = quantise(grid.values)
    return grid


def _of_vertices(scene: Scene, seen: Sequence[Seen], coverage: Sequence[Floats]) -> Grid:
    grid = Grid.of(scene.surface.vertices[1], 1, np.ones(1))
    means, weight = _means(VertexColours(grid, CLAMP), seen, coverage, scene.first_set)
    grid.values[:] = quantise(np.where(weight[:, None] > 0, means[:, :1], 1))
    return grid


def _means(
    model: Model, seen: Sequence[Seen], coverage: Sequence[Floats], uv_set: str
) -> tuple[Floats, Floats]:
    lights = [np.repeat(each[:, None], 3, 1) for each in coverage]
    return ImageFit(model, records_of(seen, lights, uv_set)).means()
