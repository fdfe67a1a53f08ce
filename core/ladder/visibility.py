"""Views around a mesh, and what each camera sees of it: the visibility buffer that rungs shade."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.geometry.mesh import Mesh, normalized
from verdigris.core.geometry.raster import rasterize
from verdigris.core.importance.camera import Camera, look_at
from verdigris.core.lighting.bvh import shadow_origins
from verdigris.core.pictures.views import FRONT, Background, View, frame_from

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.surface import Surface

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

_FIELD_OF_VIEW = 24.0
_MARGIN = 1.06
_GOLDEN = (1 + 5**0.5) / 2
# Of shadow rays, away from the surface, as a part of the mesh's radius.
_STEP_AWAY = 1e-4
# A camera that sees more of the inside than this stands in the mesh, or the mesh is inside out.
_MOST_INSIDE = 0.7


@dataclass(frozen=True)
class Seen:
    """What a camera sees: the pixels of a view, and where each lies on the mesh."""

    view: View
    triangle: Ints
    weights: Floats
    """Barycentric weights (N, 3) in the triangle, correct in perspective."""
    distance: float
    """From the eye to the centre of the mesh."""

    def mixed(self, values: Floats) -> Floats:
        """Values (T, 3, channels) of corners at each pixel, (N, channels)."""
        return np.asarray(np.einsum("nij,ni->nj", values[self.triangle], self.weights), np.float32)

    def on_set(self, surface: Surface, name: str) -> View:
        """The view with the uv and the frames of another uv set."""
        if name == surface.first_set:
            return self.view
        uv = surface.sets[name]
        part = Mesh(
            surface.mesh.position[self.triangle], surface.mesh.normal[self.triangle],
            uv[self.triangle],
        )  # fmt: skip
        frames = frame_from(self.view.normal, *part.tangents())
        return replace(self.view, uv=self.mixed(uv), tangent=frames[0], bitangent=frames[1])

    def picture(self, light: Floats) -> Floats:
        """Light (N, channels) of the pixels as a square picture, black beside the mesh."""
        size = self.view.size
        found = np.zeros((size * size, light.shape[1]), np.float32)
        found[self.view.pixel] = light
        return found.reshape(size, size, -1)


def cameras_around(surface: Surface, count: int, size: int, seed: int) -> list[Camera]:
    """Cameras on a sphere around a mesh, evenly spread and rotated at random by the seed."""
    rng = np.random.default_rng(seed)
    spin, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    index = np.arange(count)
    height = 1 - 2 * (index + 0.5) / max(1, count)
    angle = 2 * np.pi * index / _GOLDEN
    ring = np.sqrt(1 - height**2)
    towards = np.stack([ring * np.cos(angle), height, ring * np.sin(angle)], 1) @ spin
    return [camera_from(surface, each, size) for each in towards]


def camera_from(surface: Surface, towards: NDArray[np.float64], size: int) -> Camera:
    """A camera in this direction from the mesh, which fills the picture."""
    # from any distance that is outside, towards the middle of what is seen, and closer
    target, distance = np.asarray(surface.centre, np.float64), 4 * surface.radius
    slope = np.tan(np.radians(_FIELD_OF_VIEW / 2)) / _MARGIN
    for _ in range(3):
        camera = _camera_at(towards, distance, target, size)
        x, y, depth = camera.to_camera(surface.mesh.position.reshape(-1, 3)).T
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


def see(surface: Surface, camera: Camera, number: int = 0) -> Seen:
    """What a camera sees. `number` is named in errors."""
    width, height = camera.resolution
    size = max(width, height)
    camera = replace(camera, resolution=(size, size))
    mesh = surface.mesh
    seen = camera.to_camera(mesh.position)
    z = seen[..., 2]
    # triangles through the near plane are left out: cameras stand outside of the mesh
    ahead = np.flatnonzero((z > camera.near).all(1))
    screen = camera.project(seen[ahead])
    nearness = (-1 / z[ahead]).astype(np.float32)
    cover = rasterize(screen.astype(np.float32), nearness, size, size)
    pixel = np.flatnonzero(cover.triangle >= 0)
    if not len(pixel):
        raise SettingsError(
            f"camera {number} sees nothing of {surface.name}: check its position, direction and fov"
        )
    triangle = ahead[cover.triangle.reshape(-1)[pixel]]
    flat = cover.weights.reshape(-1, 3)[pixel] / z[triangle]
    weights = np.asarray(flat / flat.sum(1, keepdims=True), np.float32)

    def mixed(values: Floats) -> Floats:
        return np.asarray(np.einsum("nij,ni->nj", values[triangle], weights), np.float32)

    position = mixed(mesh.position)
    eye = _eye(camera)
    to_eye = normalized((eye - position).astype(np.float32))
    face = np.cross(
        *(mesh.position[triangle, corner] - mesh.position[triangle, 0] for corner in (1, 2))
    )
    outwards = np.where(
        (face * mesh.normal[triangle].sum(1)).sum(1, keepdims=True) < 0, -face, face
    )
    is_back = (outwards * to_eye).sum(1, keepdims=True) < 0
    away = float(np.linalg.norm(eye - surface.centre))
    if away < surface.radius and is_back.mean() > _MOST_INSIDE:
        raise SettingsError(
            f"camera {number} stands inside of {surface.name} ({is_back.mean():.0%} of what it "
            "sees are back sides): move it outside"
        )
    normal = normalized(mixed(mesh.normal))
    normal = np.where(is_back, -normal, normal)
    towards = normalized(np.where(is_back, -outwards, outwards).astype(np.float32))
    part = Mesh(mesh.position[triangle], mesh.normal[triangle], mesh.uv[triangle])
    tangent, bitangent = frame_from(normal, *part.tangents())
    step = _STEP_AWAY * surface.radius
    view = View(
        size, pixel, mixed(mesh.uv), position, tangent, bitangent, normal, to_eye,
        np.eye(3),
        shadow_origins(position, part.position, part.normal, weights, towards, step),
        Background(FRONT, np.eye(3)),
    )  # fmt: skip
    return Seen(view, triangle, weights, away)


def _eye(camera: Camera) -> NDArray[np.float64]:
    return np.asarray(np.asarray(camera.matrix, np.float64)[3, :3])
