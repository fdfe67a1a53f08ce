"""Opacity of rungs: what their textures and vertices store beside colours.

Fits compare light without coverage: they learn what the surface reflects where it is, and the
opacity is a map of its own, as glTF has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.texels import Grid, fill_holes, quantise
from verdigris.core.ladder.unlit_models import mean_at
from verdigris.core.material.evaluator import Frames
from verdigris.core.settings.rung_names import DETAIL, NEURAL, PBR, VERTEX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.rungs import Rung, Scene
    from verdigris.core.ladder.visibility import Seen
    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]

MASK, BLEND = "MASK", "BLEND"
CUTOFF = 0.5
# A material is a cutout if fewer pixels than this are neither opaque nor holes.
_MOST_BETWEEN, _OPAQUE, _HOLE = 0.05, 0.98, 0.02


@dataclass(frozen=True)
class Opacity:
    """The opacity of a rung."""

    grid: Grid
    """Texels, or one row of vertices; one channel in steps of a byte."""
    mode: str
    """MASK or BLEND, of glTF's alpha modes."""

    def shown(self, values: Floats) -> Floats:
        """The share of light that engines draw for stored values."""
        if self.mode == MASK:
            return np.asarray(values >= CUTOFF, np.float32)
        return values


def coverage_at(teacher: DeviceMaterial, seen: Seen) -> Floats:
    """The coverage (N,) at the pixels of a view: 1 is opaque, 0 a hole."""
    if teacher.is_dark_and_opaque:
        return np.ones(len(seen.triangle), np.float32)
    view = seen.view
    frames = Frames(view.position, view.tangent, view.bitangent, view.normal)
    own = np.stack([view.tangent, view.bitangent, view.normal], 1)
    wo = np.einsum("nij,nj->ni", own, view.to_eye).astype(np.float32)
    return np.asarray(teacher.unlit(view.uv, wo, frames)[:, 3])


def add_opacity(rungs: Sequence[Rung], scene: Scene, seen: Sequence[Seen]) -> None:
    """Gives rungs an opacity, if the material is not opaque at every pixel."""
    if scene.teacher.is_dark_and_opaque:
        return
    parts = [coverage_at(scene.teacher, each) for each in seen]
    coverage = np.concatenate(parts)
    if (coverage >= _OPAQUE).all():
        return
    between = (coverage > _HOLE) & (coverage < _OPAQUE)
    mode = MASK if between.mean() < _MOST_BETWEEN else BLEND
    for rung in rungs:
        if rung.name == NEURAL:
            continue
        grid = (
            _of_vertices(scene, seen, coverage)
            if rung.name == VERTEX
            else _of_texels(scene, seen, coverage, _set_of(rung, scene), rung.size)
        )
        _attach(rung, scene, Opacity(grid, mode))


def _attach(rung: Rung, scene: Scene, opacity: Opacity) -> None:
    drawn, uv_set = rung.draw, _set_of(rung, scene)

    def draw(each: Seen, directions: int) -> Floats:
        if rung.name == VERTEX:
            vertex, _ = scene.surface.vertices
            values = (opacity.grid.values[vertex[each.triangle], 0] * each.weights).sum(1)
        else:
            values = opacity.grid.sample(each.mixed(scene.surface.sets[uv_set]).T)[0]
        return np.asarray(drawn(each, directions) * opacity.shown(values)[:, None], np.float32)

    rung.draw = draw
    rung.stored["opacity"] = opacity
    rung.byte_size += opacity.grid.values.size


def _set_of(rung: Rung, scene: Scene) -> str:
    if rung.name in (PBR, DETAIL):
        return scene.first_set
    return scene.unique_set or scene.first_set


def _of_texels(
    scene: Scene, seen: Sequence[Seen], coverage: Floats, uv_set: str, size: int
) -> Grid:
    grid = Grid.of(size, size, np.ones(1))
    uv = np.concatenate([each.mixed(scene.surface.sets[uv_set]) for each in seen]).T
    grid.values[:], weight = mean_at(coverage[None], *grid.corners(uv), len(grid.values))
    fill_holes(grid, weight > 0)
    grid.values[:] = quantise(grid.values)
    return grid


def _of_vertices(scene: Scene, seen: Sequence[Seen], coverage: Floats) -> Grid:
    vertex, count = scene.surface.vertices
    corners = np.concatenate([vertex[each.triangle] for each in seen]).T
    shares = np.concatenate([each.weights for each in seen]).T
    means, weight = mean_at(coverage[None], corners, shares, count)
    return Grid(count, 1, quantise(np.where(weight[:, None] > 0, means, 1)))
