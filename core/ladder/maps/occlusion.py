"""Ambient occlusion of a mesh, for the red channel of glTF's occlusion-roughness-metalness."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.kernels import Source
from verdigris.core.geometry.mesh import Mesh, normalized
from verdigris.core.geometry.raster import rasterize
from verdigris.core.ladder.texels.grid import Grid, fill_holes
from verdigris.core.ladder.texels.pbr_model import PbrTextures
from verdigris.core.lighting.bvh import shadow_origins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.ladder.rung import Rung
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.lighting.device_lighting import DeviceBvh

    Floats = NDArray[np.float32]

_SHADER = Source("ladder/maps/bake_occlusion")
# Islands that share texels take turns: each pass has another one on top.
PASSES, RAYS = 4, 32
# Occlusion is smooth: more texels than these are interpolated.
_MOST_ON_PROCESSOR, _MOST_ON_CARD = 256, 1024
# Away from the surface, as a part of the mesh's radius.
_STEP = 1e-4
_RAYS_AT_ONCE = 1 << 21


def add_occlusion(rungs: Sequence[Rung], scene: Scene) -> None:
    """Gives glTF textures the occlusion of their mesh. Pictures of rungs have traced shadows, and
    do not read it."""
    for rung in rungs:
        if isinstance(rung.stored, PbrTextures):
            rung.stored.occlusion = bake_occlusion(
                scene.surface, scene.first_set, rung.size, scene.teacher.device,
                scene.lighting.occluders,
            )  # fmt: skip


def bake_occlusion(
    surface: Surface, uv_set: str, size: int, device: Device, occluders: DeviceBvh, seed: int = 0
) -> Grid:
    """The open part of the hemisphere at each texel of a uv set, (texels, 1), weighted by the
    cosine. Where islands overlap it is their mean."""
    side = min(size, _MOST_ON_PROCESSOR if device.is_software else _MOST_ON_CARD)
    uv = _in_unit_square(surface.sets[uv_set])
    rng = np.random.default_rng(seed)
    total, count = np.zeros(side * side), np.zeros(side * side)
    for number in range(PASSES):
        on_top = np.repeat(rng.random((len(uv), 1), np.float32), 3, 1)
        cover = rasterize(np.asarray(uv * side, np.float32), on_top, side, side)
        owner = cover.triangle.reshape(-1)
        texel = np.flatnonzero(owner >= 0)
        weights = cover.weights.reshape(-1, 3)[texel]
        total[texel] += _open(
            surface.mesh, owner[texel], weights, texel, number * RAYS, device, occluders,
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
    at_once = min(MOST_THREADS, _RAYS_AT_ONCE // RAYS) if device.is_software else MOST_THREADS
    for start in range(0, len(owner), at_once):
        part = slice(start, min(len(owner), start + at_once))
        count = part.stop - start
        result = device.new_buffer(np.zeros(count, np.float32))
        device.dispatch(
            kernel,
            count,
            {
                "gParameters": {
                    "count": count, "rays": RAYS, "first": first,
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
