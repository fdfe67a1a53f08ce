"""Maps beside the fits: opacity and emission of a material, and occlusion of a mesh.

Fits compare light without coverage: they learn what the surface reflects where there is one. The
opacity is a map of its own, as in glTF. Occlusion is the red channel of glTF's
occlusion-roughness-metalness. Pictures of rungs trace shadows and do not read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.kernels import Source
from verdigris.core.geometry.mesh import Mesh, normalized
from verdigris.core.geometry.raster import rasterize
from verdigris.core.ladder.fitting.image_fit import (
    BY_FIRST_UV,
    BY_VERTEX,
    ImageFit,
    Model,
    OneTexture,
    VertexColours,
)
from verdigris.core.ladder.fitting.records import mean_texture, records_of, start_from_means
from verdigris.core.ladder.texels.grid import Grid, fill_holes, quantise
from verdigris.core.ladder.texels.tone_curve import CLAMP
from verdigris.core.ladder.views.reference import emission_at, without_coverage
from verdigris.core.lighting.bvh import shadow_origins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen
    from verdigris.core.lighting.device_lighting import DeviceBvh
    from verdigris.core.material.evaluator import DeviceMaterial


MASK, BLEND = "MASK", "BLEND"
CUTOFF = 0.5
# A material is a cutout if fewer pixels than this are neither opaque nor holes.
_MOST_BETWEEN, _OPAQUE, _HOLE = 0.05, 0.98, 0.02
_SHADER = Source("ladder/fitting/bake_occlusion")
# Islands that share texels take turns: each pass puts another one on top.
_PASSES, _RAYS = 4, 32
# Occlusion is smooth: larger textures are interpolated from this size.
_MOST_ON_CPU, _MOST_ON_GPU = 256, 1024
# The distance from the surface at which rays start, as a part of the mesh's radius.
_STEP = 1e-4
_RAYS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class Opacity:
    """The opacity of a rung."""

    grid: Grid
    """Texels, or one row of vertices, with one channel in steps of a byte."""
    mode: str
    """MASK or BLEND, as in glTF."""
    uv_set: str | None = None
    """The uv set of the texels; None for vertices."""

    def at(self, seen: Seen) -> Floats:
        """The share of light (N,) that engines draw at the pixels of a view."""
        surface = seen.geometry.surface
        if self.uv_set is None:
            vertex, _ = surface.vertices
            values = (self.grid.values[vertex[seen.triangle], 0] * seen.weights).sum(1)
        else:
            values = self.grid.sample(seen.mixed(surface.sets[self.uv_set]).T)[0]
        return np.asarray(values >= CUTOFF, np.float32) if self.mode == MASK else values


@dataclass
class Coverage:
    """The coverage of a material at the pixels of views: 1 is opaque, 0 a hole."""

    scene: Scene
    seen: Sequence[Seen]
    parts: Sequence[Floats]
    """The coverage (N,) at the pixels of each view."""
    mode: str
    _grids: dict[tuple[str, int], Grid] = field(default_factory=dict)

    @classmethod
    def find(cls, scene: Scene, seen: Sequence[Seen]) -> Coverage | None:
        """The coverage of the scene's material; None if the material is opaque at every pixel."""
        if scene.teacher.is_dark_and_opaque:
            return None
        parts = [_coverage_at(scene.teacher, each) for each in seen]
        coverage = np.concatenate(parts)
        if (coverage >= _OPAQUE).all():
            return None
        between = (coverage > _HOLE) & (coverage < _OPAQUE)
        return cls(scene, seen, parts, MASK if between.mean() < _MOST_BETWEEN else BLEND)

    def opacity(self, place: int, size: int) -> Opacity:
        """The opacity that a rung with this size stores at a place, which is one of the `BY_`
        numbers."""
        scene = self.scene
        if place == BY_VERTEX:
            return Opacity(self._of_vertices(), self.mode)
        uv_set = scene.first_set if place == BY_FIRST_UV else scene.unique_set or scene.first_set
        # rungs with the same size read the same texels of a uv set
        if (uv_set, size) not in self._grids:
            self._grids[uv_set, size] = self._of_texels(uv_set, size)
        return Opacity(self._grids[uv_set, size], self.mode, uv_set)

    def _of_texels(self, uv_set: str, size: int) -> Grid:
        grid = Grid.of(size, size, np.ones(1))
        start_from_means(grid, self._means(OneTexture(grid, CLAMP), uv_set))
        grid.values[:] = quantise(grid.values)
        return grid

    def _of_vertices(self) -> Grid:
        grid = Grid.of(self.scene.surface.vertices[1], 1, np.ones(1))
        means, weight = self._means(VertexColours(grid, CLAMP), self.scene.first_set)
        grid.values[:] = quantise(np.where(weight[:, None] > 0, means[:, :1], 1))
        return grid

    def _means(self, model: Model, uv_set: str) -> tuple[Floats, Floats]:
        lights = [np.repeat(each[:, None], 3, 1) for each in self.parts]
        return ImageFit(model, records_of(self.seen, lights, uv_set)).means()


def _coverage_at(teacher: DeviceMaterial, seen: Seen) -> Floats:
    """The coverage (N,) at the pixels of a view: 1 is opaque, 0 a hole."""
    if teacher.is_dark_and_opaque:
        return np.ones(seen.count, np.float32)
    return emission_at(teacher, seen)[:, 3]


def emission_grid(scene: Scene, seen: Sequence[Seen], size: int) -> Grid:
    """The mean linear emission at the texels, (texels, 3)."""
    lights = [
        without_coverage(emission_at(scene.teacher, each), np.ones(each.count, np.float32))[0]
        for each in seen
    ]
    largest = max(float(each.max()) for each in lights) or 1.0
    grid = mean_texture(records_of(seen, lights, scene.first_set), CLAMP, size, 1 / largest)
    grid.values *= np.float32(largest)
    return grid


def mean_coverage(scene: Scene, seen: Sequence[Seen], size: int) -> Floats | None:
    """The mean coverage at the texels, (texels, 1); None if the material is opaque."""
    covers = [_coverage_at(scene.teacher, each) for each in seen]
    if min(each.min() for each in covers) >= _OPAQUE:
        return None
    thrice = [np.repeat(each[:, None], 3, 1) for each in covers]
    found = mean_texture(records_of(seen, thrice, scene.first_set), CLAMP, size)
    return np.asarray(found.values[:, :1], np.float32)


def bake_occlusion(
    surface: Surface, uv_set: str, size: int, device: Device, occluders: DeviceBvh
) -> Grid:
    """The open part of the hemisphere at each texel of a uv set, (texels, 1), weighted by the
    cosine. Overlapping islands get their mean."""
    side = min(size, _MOST_ON_CPU if device.is_software else _MOST_ON_GPU)
    uv = _in_unit_square(surface.sets[uv_set])
    rng = np.random.default_rng(0)
    total, count = np.zeros(side * side), np.zeros(side * side)
    for number in range(_PASSES):
        on_top = np.repeat(rng.random((len(uv), 1), np.float32), 3, 1)
        cover = rasterize(np.asarray(uv * side, np.float32), on_top, side, side)
        owner = cover.triangle.reshape(-1)
        texel = np.flatnonzero(owner >= 0)
        weights = cover.weights.reshape(-1, 3)[texel]
        total[texel] += _open(
            surface.mesh, owner[texel], weights, texel, number * _RAYS, device, occluders,
            _STEP * surface.radius,
        )  # fmt: skip
        count[texel] += 1
    grid = Grid.of(side, side, np.ones(1))
    is_seen = count > 0
    grid.values[is_seen, 0] = total[is_seen] / count[is_seen]
    fill_holes(grid, is_seen)
    return grid if side == size else grid.resized(size, size)


def _in_unit_square(uv: Floats) -> Floats:
    """Triangles moved by whole units, so that the middle of each is in the unit square."""
    return np.asarray(uv - np.floor(uv.mean(1, keepdims=True)), np.float32)


def _open(
    mesh: Mesh, owner: NDArray[np.int64], weights: Floats, texel: NDArray[np.int64], first: int,
    device: Device, occluders: DeviceBvh, step: float,
) -> Floats:  # fmt: skip
    corners, normals = mesh.position[owner], mesh.normal[owner]
    position = np.einsum("nij,ni->nj", corners, weights).astype(np.float32)
    normal = normalized(np.einsum("nij,ni->nj", normals, weights).astype(np.float32))
    origins = shadow_origins(position, corners, normals, weights, normal, step)
    kernel = device.shared_kernels({}, ()).get((_SHADER,), "bakeOcclusion")
    found = np.empty(len(owner), np.float32)
    at_once = min(MOST_THREADS, _RAYS_AT_ONCE // _RAYS) if device.is_software else MOST_THREADS
    for start in range(0, len(owner), at_once):
        part = slice(start, min(len(owner), start + at_once))
        count = part.stop - start
        result = device.new_buffer(np.zeros(count, np.float32))
        device.dispatch(
            kernel,
            count,
            {
                "gParameters": {
                    "count": count, "rays": _RAYS, "first": first,
                    "firstLeaf": occluders.first_leaf,
                },
                "gOrigins": device.new_buffer(np.ascontiguousarray(origins[part])),
                "gNormals": device.new_buffer(np.ascontiguousarray(normal[part])),
                "gTexels": device.new_buffer(texel[part].astype(np.float32)),
                "gOpen": result,
                **occluders.buffers,
            },
        )  # fmt: skip
        found[part] = result.to_numpy().view(np.float32)
    return found
