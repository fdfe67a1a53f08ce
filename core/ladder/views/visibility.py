"""Views around a mesh, and what each camera sees of it: the visibility buffer that rungs shade.

Rays find the nearest triangle in the tree that is also traced for shadows, on GPUs and CPUs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.kernels import Source
from verdigris.core.importance.camera import Camera, look_at
from verdigris.core.ladder.texels.pbr_model import CONSTANTS
from verdigris.core.lighting.bvh import build_bvh
from verdigris.core.lighting.device_lighting import DeviceBvh
from verdigris.core.pictures.environment_render import pixels_at_once
from verdigris.core.pictures.render import DeviceGBuffer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats, Ints
    from verdigris.core.ladder.mesh.mesh_surface import Surface


_SHADER = Source("ladder/views/see_mesh")
_FIELD_OF_VIEW = 24.0
_MARGIN = 1.06
_MOST_FRAMED = 200_000
_GOLDEN = (1 + 5**0.5) / 2
# The distance from the surface at which shadow rays start, as a part of the mesh's radius.
_STEP_AWAY = 1e-4
# A camera that sees more of the inside than this stands in the mesh, or the mesh is inside out.
_MOST_INSIDE = 0.7
# Pixels at an outline may show the back of a triangle of a closed mesh.
_MOST_STRAY = 0.005


class DeviceSurface:
    """A surface on a device, with the tree of its triangles."""

    def __init__(self, device: Device, surface: Surface) -> None:
        self.device, self.surface = device, surface
        tree = build_bvh(surface.mesh.position)
        self.occluders = DeviceBvh.upload(device, tree)
        vertex, _ = surface.vertices
        self._buffers = {
            "gPositions": self._new(surface.mesh.position),
            "gNormals": self._new(surface.mesh.normal),
            "gNumbers": self._new(tree.numbers),
            "gVertices": self._new(vertex),
        }
        self._sets = {name: self._new(uv) for name, uv in surface.sets.items()}
        self._nothing = self._new(np.zeros(4))

    def run(
        self, entry: str, count: int, parameters: dict[str, Any], buffers: dict[str, Any],
        uv_set: str | None = None, first_set: str | None = None,
    ) -> None:  # fmt: skip
        """Runs a kernel of see_mesh.slang. Its `gSet` and `gFirstSet` are the uv sets with these
        names."""
        given = {
            "count": count, "size": 1, "firstLeaf": self.occluders.first_leaf, "least": 0.0,
            "pixelWidth": 0.0, "step": _STEP_AWAY * self.surface.radius, "first": 0,
            "eye": [0.0] * 3, "right": [0.0] * 3, "up": [0.0] * 3, "ahead": [0.0] * 3,
        }  # fmt: skip
        of_mesh = self.surface.first_set
        variables = {
            **dict.fromkeys(_BOUND, self._nothing),
            **self._buffers,
            **self.occluders.buffers,
            "gSet": self._sets[uv_set or of_mesh],
            "gFirstSet": self._sets[first_set or of_mesh],
            **buffers,
            "gParameters": {**given, **parameters},
        }
        kernel = self.device.shared_kernels({}, CONSTANTS).get((_SHADER,), entry)
        self.device.dispatch(kernel, count, variables)

    def add_set(self, name: str, uv: Floats) -> None:
        """Uploads one more uv set (T, 3, 2)."""
        self._sets[name] = self._new(uv)

    def _new(self, values: Any) -> Any:
        return self.device.new_buffer(np.asarray(values, np.float32))


_BOUND = (
    "gHits", "gLight", "gPaint", "gRays", "gUv", "gFrames", "gToEye", "gOrigins", "gRecords",
)  # fmt: skip


@dataclass(frozen=True)
class ViewPixels:
    """Some pixels of a view on a device, with the tangent frames of a uv set."""

    part: slice
    """Which pixels of the view."""
    view: DeviceGBuffer
    origins: Any
    """The origins of shadow rays."""

    @property
    def count(self) -> int:
        return self.view.count


@dataclass(frozen=True)
class Seen:
    """What a camera sees: pixels of its picture, and where each lies on the mesh."""

    geometry: DeviceSurface
    eye: NDArray[np.float64]
    size: int
    pixel: Ints
    triangle: Ints
    weights: Floats
    """Barycentric weights (N, 3) in the triangle, correct in perspective."""
    distance: float
    """The distance from the camera to the centre of the mesh."""
    back_share: float = 0.0
    """The part of the pixels that shows the back of a triangle."""

    @property
    def count(self) -> int:
        return len(self.pixel)

    def mixed(self, values: Floats) -> Floats:
        """Values (T, 3, channels) of corners at each pixel, (N, channels)."""
        return np.asarray(np.einsum("nij,ni->nj", values[self.triangle], self.weights), np.float32)

    def take(self, chosen: Ints) -> Seen:
        """The view with some of its pixels."""
        return replace(
            self, pixel=self.pixel[chosen], triangle=self.triangle[chosen],
            weights=self.weights[chosen],
        )  # fmt: skip

    def hits(self, part: slice = slice(None)) -> Floats:
        """The pixels as see_mesh.slang reads them, (N, 4)."""
        found = np.zeros((len(self.triangle[part]), 4), np.float32)
        found[:, 0], found[:, 1:3] = self.triangle[part], self.weights[part, 1:]
        return found

    def parts(self, uv_set: str | None = None) -> Iterator[ViewPixels]:
        """All pixels as kernels shade them, in parts that fit into a dispatch."""
        device = self.geometry.device
        at_once = pixels_at_once(device)
        for start in range(0, self.count, at_once):
            part = slice(start, min(self.count, start + at_once))
            count = part.stop - start
            buffers = {
                name: device.new_space(width * count)
                for name, width in (("gUv", 2), ("gFrames", 12), ("gToEye", 3), ("gOrigins", 3))
            }
            uploaded = device.new_buffer(self.hits(part))
            parameters = {"eye": self.eye.tolist()}
            self.geometry.run("fillView", count, parameters, {"gHits": uploaded, **buffers}, uv_set)
            origins = buffers.pop("gOrigins")
            pixel = device.new_buffer(self.pixel[part].astype(np.float32))
            view = DeviceGBuffer(count, self.size, 1, {"gPixel": pixel, **buffers})
            yield ViewPixels(part, view, origins)

    def picture(self, light: Floats) -> Floats:
        """Light (N, channels) of the pixels as a square picture, black beside the mesh."""
        found = np.zeros((self.size * self.size, light.shape[1]), np.float32)
        found[self.pixel] = light
        return found.reshape(self.size, self.size, -1)


def cameras_around(surface: Surface, count: int, size: int, seed: int) -> list[Camera]:
    """Cameras on a sphere around a mesh, evenly spread and rotated at random by the seed."""
    rng = np.random.default_rng(seed)
    spin, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    index = np.arange(count)
    height = 1 - 2 * (index + 0.5) / max(1, count)
    angle = 2 * np.pi * index / _GOLDEN
    ring = np.sqrt(1 - height**2)
    towards = np.stack([ring * np.cos(angle), height, ring * np.sin(angle)], 1) @ spin
    return [_camera_from(surface, each, size) for each in towards]


def _camera_from(surface: Surface, towards: NDArray[np.float64], size: int) -> Camera:
    """A camera in this direction from the mesh. The mesh fills the picture."""
    # begins outside, and moves closer to the middle of what it sees
    target, distance = np.asarray(surface.centre, np.float64), 4 * surface.radius
    corners = surface.mesh.position.reshape(-1, 3)
    # some corners of a fine mesh suffice: the margin holds those between them
    corners = corners[:: max(1, len(corners) // _MOST_FRAMED)]
    slope = np.tan(np.radians(_FIELD_OF_VIEW / 2)) / _MARGIN
    for _ in range(3):
        camera = _camera_at(towards, distance, target, size)
        x, y, depth = camera.to_camera(corners).T
        right, up = np.asarray(camera.matrix, np.float64)[:2, :3]
        sideways, upwards = _middle(x / depth) * distance, _middle(y / depth) * distance
        target = target + right * sideways + up * upwards
        reach = np.maximum(np.abs(x - sideways), np.abs(y - upwards))
        distance = float((reach / slope - (depth - distance)).max())
    return _camera_at(towards, distance, target, size)


def _middle(values: NDArray[np.float64]) -> float:
    return float(values.min() + values.max()) / 2


def _camera_at(
    towards: NDArray[np.float64], distance: float, target: NDArray[np.float64], size: int
) -> Camera:
    (a, b, c), (x, y, z) = (target + towards * distance).tolist(), target.tolist()
    return look_at((a, b, c), (x, y, z), fov=_FIELD_OF_VIEW, resolution=(size, size),
                   near=distance / 100)  # fmt: skip


def see(geometry: DeviceSurface, camera: Camera, number: int = 0) -> Seen:
    """Casts the rays of a camera. Errors name its `number`."""
    surface, size = geometry.surface, max(camera.resolution)
    camera = replace(camera, resolution=(size, size))
    matrix = np.asarray(camera.matrix, np.float64)
    right, up, back = matrix[:3, :3] / np.linalg.norm(matrix[:3, :3], axis=1, keepdims=True)
    eye = matrix[3, :3]
    found = geometry.device.new_space(size * size, 16)
    parameters = {
        "size": size,
        "least": camera.near,
        "pixelWidth": 1 / camera.pixels_per_unit,
        "eye": eye.tolist(),
        "right": right.tolist(),
        "up": up.tolist(),
        "ahead": (-back).tolist(),
    }
    for first in range(0, size * size, MOST_THREADS):
        count = min(MOST_THREADS, size * size - first)
        geometry.run("castRays", count, {**parameters, "first": first}, {"gRays": found})
    rays = found.to_numpy().view(np.float32).reshape(-1, 4)
    pixel = np.flatnonzero(rays[:, 3])
    if not len(pixel):
        raise SettingsError(
            f"camera {number} sees nothing of {surface.name}: check its position, direction and fov"
        )
    rays = rays[pixel]
    is_back = float((rays[:, 3] > 1).mean())
    away = float(np.linalg.norm(eye - surface.centre))
    if away < surface.radius and is_back > _MOST_INSIDE:
        raise SettingsError(
            f"camera {number} stands inside {surface.name} ({is_back:.0%} of what it "
            "sees are back sides): move it outside"
        )
    weights = np.stack([1 - rays[:, 1] - rays[:, 2], rays[:, 1], rays[:, 2]], 1)
    return Seen(geometry, eye, size, pixel, rays[:, 0].astype(np.int64), weights, away, is_back)


def shows_backs(seen: Sequence[Seen]) -> bool:
    """Whether views see the back of a mesh, such as a sheet, and not only the back of a few thin
    triangles."""
    return max((each.back_share for each in seen), default=0.0) > _MOST_STRAY


def back_warnings(seen: Sequence[Seen]) -> list[str]:
    """A warning if the mesh seems to be inside out."""
    share = sum(each.back_share * each.count for each in seen) / sum(each.count for each in seen)
    if share <= _MOST_INSIDE:
        return []
    name = seen[0].geometry.surface.name
    return [
        f"{share:.0%} of what views see of {name} are back sides, which engines may hide: reverse "
        "the faces if they point inwards"
    ]
