"""G-buffers of a sphere, a plane or a mesh: position, frame and view direction of each pixel."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.geometry.mesh import Mesh, normalized
from verdigris.core.geometry.raster import rasterize
from verdigris.core.geometry.shapes import ELEVATIONS, SHAPES, shape_mesh
from verdigris.core.lighting.bvh import shadow_origins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.pictures.relief import DeviceHeights


_X_AXIS, _Y_AXIS = np.eye(3, dtype=np.float32)[:2]
_MARGIN = 1.06
_MESH_TURN = np.radians(20.0)
# How far shadow rays start from the surface, as a share of the mesh's radius.
_STEP_AWAY = 1e-4


@dataclass(frozen=True)
class Camera:
    """Rotation of the shape under the light, and the visible part of the picture."""

    turn: float = 0.0
    """Rotation in degrees around the vertical axis; the front moves to the right."""
    pitch: float = 0.0
    """Rotation in degrees around the horizontal axis; the front moves down."""
    zoom: float = 1.0
    """Magnification of the whole picture."""
    x: float = 0.0
    """Centre of the visible part: -1 is the left edge of the whole picture, 1 the right edge."""
    y: float = 0.0
    """Centre of the visible part: -1 is the bottom edge, 1 the top edge."""
    elevation: float = 40.0
    """Degrees from which a mesh is seen from above."""
    field_of_view: float = 24.0
    """Degrees that the whole picture spans. A wide view is from near."""

    @property
    def slope(self) -> float:
        """The tangent of half the field of view."""
        return float(np.tan(np.radians(self.field_of_view / 2)))

    @property
    def distance(self) -> float:
        """The distance from which a sphere of radius 1 fits the picture."""
        return float(_MARGIN / np.sin(np.radians(self.field_of_view / 2)))

    @property
    def placing(self) -> NDArray[np.float64]:
        """Rotation from the axes of light to the picture's, for meshes."""
        return _about_x(np.radians(self.elevation)) @ _about_y(_MESH_TURN)

    def rotation(self) -> NDArray[np.float64]:
        """Rotation from the shape's axes to the picture's."""
        return _about_x(np.radians(self.pitch)) @ _about_y(np.radians(self.turn))


FRONT = Camera()
LARGEST_SIZE = 4096
ALL_SHAPES = ("sphere", "plane", *SHAPES, "mesh")
_OF_ALL_PIXELS = ("size", "rotation", "background", "heights")


@dataclass(frozen=True)
class Background:
    """The rays of a picture."""

    camera: Camera
    to_world: NDArray[np.float64]
    """Rotation from the picture's axes to those of light."""

    def rays(self, size: int) -> NDArray[np.float64]:
        """Unit directions (size * size, 3) from the eye through each pixel, row 0 at the top."""
        x, y = _pixel_grid(size, self.camera.slope, self.camera)
        rays = np.stack([x, y, np.full_like(x, -1.0)], 1) @ self.to_world
        return np.asarray(rays / np.linalg.norm(rays, axis=1, keepdims=True))


@dataclass(frozen=True)
class GBuffer:
    """The pixels that show the shape, by their index in the picture, row 0 at the top."""

    size: int
    pixel: NDArray[np.int64]
    uv: Floats
    position: Floats
    tangent: Floats
    bitangent: Floats
    normal: Floats
    to_eye: Floats
    rotation: NDArray[np.float64]
    """Rotation from the axes of `position` to those of the frames and of light."""
    shadow_origin: Floats
    """Where shadow rays start, in the axes of `position`."""
    background: Background
    """What is seen beside the shape."""
    extent: Floats | None = None
    """Lengths of a unit of u and of v, (N, 2); without them, a surface shows no relief."""
    base: Floats | None = None
    """The points of the base surface through which relief is seen: see relief.py."""
    heights: DeviceHeights | None = None
    """The relief, if it is seen."""

    def frames(self, part: slice = slice(None)) -> Floats:
        """Position, tangent, bitangent and normal of some pixels, (N, 12)."""
        axes = (self.position, self.tangent, self.bitangent, self.normal)
        return np.concatenate([axis[part] for axis in axes], axis=1).astype(np.float32)

    def take(self, chosen: NDArray[np.int64]) -> GBuffer:
        """A G-buffer with some of the pixels."""
        names = [item.name for item in fields(self) if item.name not in _OF_ALL_PIXELS]
        given = {name: getattr(self, name) for name in names}
        arrays = {name: each[chosen] for name, each in given.items() if each is not None}
        return replace(self, **arrays)


def make_gbuffer(
    kind: str,
    size: int,
    mesh: Mesh | None = None,
    camera: Camera = FRONT,
    relief: DeviceHeights | Mesh | None = None,
) -> GBuffer:
    """The G-buffer of the shape with this name, `size` pixels a side. With `relief` its heights are
    seen, or a displaced mesh in its place, by the same camera."""
    check_size(size, LARGEST_SIZE)
    if isinstance(relief, Mesh):
        camera = placed_camera(kind, camera) if kind in SHAPES else camera
        placing = _placing_of(kind, mesh, camera)
        return PlacedMesh(relief, camera, placing).gbuffer(size, camera)
    gbuffer = _base_gbuffer(kind, size, mesh, camera)
    return relief.seen(gbuffer) if relief else gbuffer


def _base_gbuffer(kind: str, size: int, mesh: Mesh | None, camera: Camera) -> GBuffer:
    if kind == "sphere":
        return sphere_gbuffer(size, camera)
    if kind == "plane":
        return plane_gbuffer(size, camera)
    if kind in SHAPES:
        return mesh_gbuffer(mesh or shape_mesh(kind), size, placed_camera(kind, camera))
    if kind == "mesh":
        if mesh is None:
            raise SettingsError("the shape 'mesh' needs a mesh file: name one")
        return mesh_gbuffer(mesh, size, camera)
    raise SettingsError(f"shape {kind!r} is not known: choose one of {', '.join(ALL_SHAPES)}")


def check_size(size: int, largest: int) -> None:
    if not 1 <= size <= largest:
        raise SettingsError(f"a picture cannot be {size} pixels wide: choose 1 to {largest}")


def placed_camera(kind: str, camera: Camera = FRONT) -> Camera:
    """A camera that sees a shape from its own elevation."""
    elevation = ELEVATIONS.get(kind, camera.elevation)
    return replace(camera, elevation=elevation)


def plane_gbuffer(size: int, camera: Camera = FRONT) -> GBuffer:
    """The unit square, seen from above, filling the picture. From behind, its normal is turned
    over, as that of a mesh."""
    x, y = _pixel_grid(size, 0.5, camera)
    eye = np.array([0.0, 0.0, 0.5 / camera.slope])
    ray = np.stack([x, y, np.zeros_like(x)], 1) - eye
    tangent, bitangent, normal = camera.rotation().T
    if eye @ normal < 0:
        normal = -normal
    along = ray @ normal
    t = -(eye @ normal) / np.where(np.abs(along) < 1e-9, 1e-9, along)
    place = eye + ray * t[:, None]
    position = place @ camera.rotation()
    # with a tolerance: seen from the front, the square's rim is the picture's rim
    on_square = (np.abs(position[:, :2]) <= 0.5 + 1e-9).all(1)
    hit = np.flatnonzero(on_square & (along < 0) & (t > 0))
    position, place = position[hit], place[hit]
    count = len(hit)
    return GBuffer(
        size,
        hit,
        (position[:, :2] + 0.5).astype(np.float32),
        position.astype(np.float32),
        np.tile(tangent.astype(np.float32), (count, 1)),
        np.tile(bitangent.astype(np.float32), (count, 1)),
        np.tile(normal.astype(np.float32), (count, 1)),
        normalized((eye - place).astype(np.float32)),
        camera.rotation(),
        position.astype(np.float32),
        Background(camera, np.eye(3)),
        np.ones((count, 2), np.float32),
    )


def sphere_gbuffer(size: int, camera: Camera = FRONT) -> GBuffer:
    """A unit sphere. u wraps around it twice, so that texels are about square."""
    distance = camera.distance
    x, y = _pixel_grid(size, camera.slope, camera)
    # |eye + t ray| = 1 with the eye at (0, 0, distance) and rays (x, y, -1) of unit length
    inverse = 1 / np.sqrt(x * x + y * y + 1)
    discriminant = (distance * inverse) ** 2 - (distance**2 - 1.0)
    hit = np.flatnonzero(discriminant > 0)
    inverse = inverse[hit]
    t = distance * inverse - np.sqrt(discriminant[hit])
    # one row for each component, which is faster in numpy than one row for each vector
    ray = np.stack([x[hit] * inverse, y[hit] * inverse, -inverse])
    normal = ray * t
    normal[2] += distance
    normal /= np.sqrt((normal * normal).sum(0))
    rotation = camera.rotation()
    # in the sphere's own axes
    position = rotation.T @ normal
    u = np.arctan2(position[0], position[2]) / np.pi + 0.5
    v = 0.5 + np.arcsin(np.clip(position[1], -1, 1)) / np.pi
    along_u = np.stack([position[2], np.zeros_like(u), -position[0]])
    length = np.hypot(along_u[0], along_u[2])
    at_pole = length == 0
    along_u[0, at_pole] = length[at_pole] = 1.0
    tangent = rotation @ (along_u / length)
    bitangent = np.cross(normal, tangent, axis=0)
    arrays = (np.stack([u, v]), position, tangent, bitangent, normal, -ray)
    uv, place, *others = (np.ascontiguousarray(each.T, np.float32) for each in arrays)
    background = Background(camera, np.eye(3))
    frames, to_eye = (others[0], others[1], others[2]), others[3]
    # u grows by 2 around the equator, and v by 1 from pole to pole
    extent = np.stack([np.pi * length, np.full_like(length, np.pi)], 1).astype(np.float32)
    return GBuffer(size, hit, uv, place, *frames, to_eye, rotation, place, background, extent)


def mesh_gbuffer(mesh: Mesh, size: int, camera: Camera = FRONT) -> GBuffer:
    """A whole mesh, seen from above and slightly from the side."""
    return PlacedMesh(mesh, camera).gbuffer(size, camera)


class Placing(NamedTuple):
    """Where a camera sees a shape."""

    turn: NDArray[np.float64]
    """Rotation from the axes of light to the picture's."""
    centre: Floats
    radius: float
    distance: float


def _placing_of(kind: str, mesh: Mesh | None, camera: Camera) -> Placing:
    zero = np.zeros(3, np.float32)
    if kind == "plane":
        return Placing(np.eye(3), zero, 0.5, 0.5 / camera.slope)
    if kind == "sphere":
        return Placing(np.eye(3), zero, 1.0, camera.distance)
    centre, radius = _bounds(mesh or shape_mesh(kind))
    return Placing(camera.placing, centre, radius, radius * camera.distance)


class PlacedMesh:
    """A mesh that a camera's turn and pitch have rotated, to draw parts of it quickly."""

    def __init__(self, mesh: Mesh, camera: Camera = FRONT, placing: Placing | None = None) -> None:
        self._mesh = mesh
        found = placing or _placing_of("mesh", mesh, camera)
        self._turn, self._centre, self._radius, self._distance = found
        self._rotation = rotation = self._turn.T @ camera.rotation() @ self._turn
        # in the picture's axes, from the mesh's own
        placed = (mesh.position - self._centre).reshape(-1, 3) @ (rotation.T @ self._turn.T)
        placed = placed.reshape(-1, 3, 3)
        self._z = self._distance - placed[..., 2]
        self._plane = placed[..., :2] / self._z[..., None] / camera.slope

    def gbuffer(self, size: int, camera: Camera) -> GBuffer:
        """The part that a camera with the same turn and pitch sees."""
        mesh, rotation, z = self._mesh, self._rotation, self._z
        moved = (self._plane - (camera.x, camera.y)) * (size / 2 * camera.zoom)
        screen = moved * (1, -1) + size / 2
        cover = rasterize(screen.astype(np.float32), z.astype(np.float32), size, size)
        pixel = np.flatnonzero(cover.triangle >= 0)
        owner = cover.triangle.reshape(-1)[pixel]
        flat = cover.weights.reshape(-1, 3)[pixel]
        weights = flat / z[owner]  # perspective-correct interpolation
        weights = weights / (weights[:, :1] + weights[:, 1:2] + weights[:, 2:])
        seen = Mesh(mesh.position[owner], mesh.normal[owner], mesh.uv[owner])

        def mixed(values: Floats) -> Floats:
            return np.asarray(np.einsum("nij,ni->nj", values, weights), np.float32)

        own_position = mixed(seen.position)
        position = (own_position - self._centre) @ rotation.T + self._centre
        eye = self._centre + np.array([0.0, 0.0, self._distance]) @ self._turn
        to_eye = normalized((eye - position).astype(np.float32))
        normal = normalized((mixed(seen.normal) @ rotation.T).astype(np.float32))
        own_face = _outwards(seen)
        is_back = ((own_face @ rotation.T) * to_eye).sum(1, keepdims=True) < 0
        normal = np.where(is_back, -normal, normal)
        towards = normalized(np.where(is_back, -own_face, own_face).astype(np.float32))
        along_u, along_v = ((along @ rotation.T).astype(np.float32) for along in seen.tangents())
        tangent, bitangent = frame_from(normal, along_u, along_v)
        corners = seen.position, seen.normal
        step = _STEP_AWAY * self._radius
        return GBuffer(
            size,
            pixel,
            mixed(seen.uv),
            own_position,
            tangent,
            bitangent,
            normal,
            to_eye,
            rotation,
            shadow_origins(own_position, *corners, weights, towards, step),
            Background(camera, self._turn),
            seen.extents(),
        )


def ground_gbuffer(
    mesh: Mesh, size: int, camera: Camera = FRONT, placing: NDArray[np.float64] | None = None
) -> GBuffer:
    """The level plane on which a mesh lies, as far as it is seen. uv is the place in radii of the
    mesh. `placing` is the rotation from the axes of light to the picture's, if not the camera's."""
    placing = camera.placing if placing is None else placing
    rotation = placing.T @ camera.rotation() @ placing
    centre, radius = _bounds(mesh)
    lowest = float(((mesh.position - centre) @ rotation.T)[..., 1].min())
    background = Background(camera, placing)
    eye = np.array([0.0, 0.0, radius * camera.distance]) @ placing
    rays = background.rays(size)
    hit = np.flatnonzero((rays[:, 1] < -1e-6) & (eye[1] > lowest))
    rays = rays[hit]
    place = eye + rays * ((lowest - eye[1]) / rays[:, 1:2])
    # in the mesh's own axes, in which its shadow rays are
    own = (place + np.array([0, _STEP_AWAY * radius, 0])) @ rotation + centre
    axes = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]], np.float32)
    tangent, bitangent, normal = (np.tile(axis, (len(hit), 1)) for axis in axes)
    uv, position, origin = (
        np.asarray(each, np.float32) for each in (place[:, ::2] / radius, place, own)
    )
    to_eye = np.asarray(-rays, np.float32)
    frames = tangent, bitangent, normal
    return GBuffer(size, hit, uv, position, *frames, to_eye, rotation, origin, background)


def _bounds(mesh: Mesh) -> tuple[Floats, float]:
    """The centre of a mesh's box, and the largest distance from it."""
    centre = np.asarray((mesh.position.min((0, 1)) + mesh.position.max((0, 1))) / 2, np.float32)
    return centre, float(np.linalg.norm(mesh.position - centre, axis=-1).max()) or 1.0


def _outwards(mesh: Mesh) -> NDArray[np.float64]:
    """The normal (T, 3) of each face, on the side of its vertex normals. It decides which side is
    visible, because smooth normals at a silhouette can point away from the eye."""
    edge1, edge2 = (
        (mesh.position[:, corner] - mesh.position[:, 0]).astype(np.float64) for corner in (1, 2)
    )
    face = np.cross(edge1, edge2)
    return np.where((face * mesh.normal.sum(1)).sum(1, keepdims=True) < 0, -face, face)


def frame_from(normal: Floats, along_u: Floats, along_v: Floats) -> tuple[Floats, Floats]:
    """Orthonormal tangent and bitangent; mirrored uvs keep their handedness."""
    tangent = along_u - normal * (normal * along_u).sum(1, keepdims=True)
    lost = (tangent**2).sum(1) < 1e-12
    axis = np.where(np.abs(normal[:, :1]) < 0.9, _X_AXIS, _Y_AXIS)
    tangent[lost] = np.cross(axis, normal)[lost]
    tangent = normalized(tangent)
    bitangent = np.cross(normal, tangent)
    flip = (bitangent * along_v).sum(1, keepdims=True) < 0
    return tangent.astype(np.float32), np.where(flip, -bitangent, bitangent).astype(np.float32)


def _pixel_grid(
    size: int, half: float, camera: Camera
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    centre = ((np.arange(size) + 0.5) / size * 2 - 1) * half / camera.zoom
    x, y = np.meshgrid(centre + camera.x * half, -centre + camera.y * half)
    return x.reshape(-1), y.reshape(-1)


def _about_x(angle: float) -> NDArray[np.float64]:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def _about_y(angle: float) -> NDArray[np.float64]:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
