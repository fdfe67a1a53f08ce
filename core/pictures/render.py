"""Draws a material on a sphere, a plane or a mesh: evaluates it at each pixel on the device."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from verdigris.core.base.errors import SettingsError
from verdigris.core.geometry.mesh import normalized
from verdigris.core.geometry.shapes import ELEVATIONS, SHAPES, shape_mesh
from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP, POINT, Footprint
from verdigris.core.material.use_material import VIEW, use_material
from verdigris.core.pictures.picture_limits import LARGEST_SIZE, SUBPIXELS, largest_size
from verdigris.core.pictures.views import FRONT, Camera, View, mesh_view, plane_view, sphere_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import slangpy
    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]

VIEWS = ("sphere", "plane", *SHAPES, "mesh")
# With so many, the largest picture takes minutes on a fast GPU and hours on a processor.
MOST_STUDIO_SAMPLES = 4096
PIXELS_AT_ONCE = 1 << 19
# Drivers cancel a dispatch that takes seconds.
DIRECTIONS_AT_ONCE = 1 << 24
ALL = slice(None)


@dataclass(frozen=True)
class Lighting:
    """One directional light and a studio environment."""

    direction: tuple[float, float, float] = (-0.45, 0.6, 0.66)
    """Towards the light: x to the right, y up, z to the viewer; for a mesh, in its axes, y up."""
    colour: tuple[float, float, float] = (2.4, 2.3, 2.2)
    """Irradiance on a surface that faces the light, linear Rec.709."""
    environment: float = 0.8
    """Brightness of the studio; 0 leaves only the light."""
    emission: float = 1.0
    """Factor of the material's emission; 0 leaves only reflection."""
    samples: int = 32
    """Number of directions of the studio at each sub-pixel."""

    @property
    def pixels_at_once(self) -> int:
        """Number of a view's pixels in one dispatch."""
        return min(PIXELS_AT_ONCE, max(1, DIRECTIONS_AT_ONCE // max(1, self.samples)))


def make_view(kind: str, size: int, mesh: Mesh | None = None, camera: Camera = FRONT) -> View:
    """The view of this name at `size` pixels a side."""
    check_size(size, LARGEST_SIZE)
    if kind == "sphere":
        return sphere_view(size, camera)
    if kind == "plane":
        return plane_view(size, camera)
    if kind in SHAPES:
        return mesh_view(mesh or shape_mesh(kind), size, placed_camera(kind, camera))
    if kind == "mesh":
        if mesh is None:
            raise SettingsError("the view 'mesh' needs a mesh file: name it with --mesh")
        return mesh_view(mesh, size, camera)
    raise SettingsError(f"view {kind!r} is not known: choose one of {', '.join(VIEWS)}")


def placed_camera(kind: str, camera: Camera = FRONT) -> Camera:
    """A camera that sees a shape from its own elevation."""
    elevation = ELEVATIONS.get(kind, camera.elevation)
    return replace(camera, elevation=elevation)


def check_size(size: int, largest: int) -> None:
    if not 1 <= size <= largest:
        raise SettingsError(f"a picture {size} pixels wide: choose 1 to {largest}")


def render(
    material: DeviceMaterial,
    kind: str = "sphere",
    size: int = 512,
    mesh: Mesh | None = None,
    lighting: Lighting | None = None,
    subpixels: int = SUBPIXELS,
    is_flat: bool = False,
    footprint: Footprint = POINT,
) -> Floats:
    """Draws a picture in linear light with coverage, (size, size, 4).

    With `is_flat`, the material is evaluated on the flat unit square, as in a bake, and wrapped
    around the shape by uv. Without it, 3D patterns are evaluated on the shape itself.
    """
    check_size(size, largest_size(subpixels))
    view = make_view(kind, size * subpixels, mesh)
    return draw(material, view, lighting or Lighting(), subpixels, is_flat, footprint)


def draw(
    material: DeviceMaterial,
    view: View,
    lighting: Lighting,
    subpixels: int,
    is_flat: bool = False,
    footprint: Footprint = POINT,
    uploads: Uploads | None = None,
) -> Floats:
    """Draws an existing view; `subpixels` x `subpixels` of its pixels make one of the picture.
    `uploads` keeps the view on the device for other materials; without it, nothing is kept."""
    parts = draw_by_parts(material, view, lighting, subpixels, is_flat, footprint, uploads=uploads)
    *_, picture = parts
    assert picture is not None
    return picture


def draw_by_parts(
    material: DeviceMaterial,
    view: View,
    lighting: Lighting,
    subpixels: int,
    is_flat: bool = False,
    footprint: Footprint = POINT,
    most: int = PIXELS_AT_ONCE,
    uploads: Uploads | None = None,
) -> Iterator[Floats | None]:
    """The same, with a stop after each dispatch of at most so many pixels. The last item is the
    picture."""
    size = view.size // subpixels
    fine = np.zeros((view.size * view.size, 4), np.float32)
    at_once = min(most, lighting.pixels_at_once)
    for start in range(0, len(view.pixel), at_once):
        part = slice(start, start + at_once)
        lit = shade(material, view, lighting, is_flat, footprint, part, subpixels, uploads)
        fine[view.pixel[part]] = lit
        yield None
    blocks = fine.reshape(size, subpixels, size, subpixels, 4)
    yield np.asarray(blocks.mean((1, 3), dtype=np.float32))


def over_backdrop(picture: Floats) -> Floats:
    """Puts a picture, premultiplied by coverage, over a soft grey backdrop."""
    height = len(picture)
    shade = np.linspace(0.11, 0.035, height, dtype=np.float32)[:, None, None]
    return np.asarray(picture[..., :3] + (1.0 - picture[..., 3:]) * shade, np.float32)


@dataclass(frozen=True)
class DeviceView:
    """Pixels of a view in device buffers, uploaded once to draw them under several lights."""

    count: int
    width: int
    """Width of the view in pixels."""
    subpixels: int
    """Number of the view's pixels along a side of the picture's pixel."""
    buffers: Mapping[str, slangpy.Buffer]

    @classmethod
    def upload(
        cls, material: DeviceMaterial, view: View, subpixels: int, part: slice = ALL
    ) -> DeviceView:
        """Uploads pixels to a material's device."""
        uv = view.uv[part]
        new = material.device.new_buffer
        buffers = {
            "gPixel": new(view.pixel[part].astype(np.float32)),
            "gUv": new(uv),
            "gFrames": new(view.frames(part)),
            "gToEye": new(view.to_eye[part]),
        }
        return cls(len(uv), view.size, subpixels, buffers)

    def new_output(self, material: DeviceMaterial) -> slangpy.Buffer:
        """A buffer for light and coverage of each pixel."""
        return material.device.new_space(self.count, 16)


Uploads: TypeAlias = dict[int, DeviceView]
"""Parts of one view on one device, by their first pixel."""


def shade(
    material: DeviceMaterial,
    view: View,
    lighting: Lighting,
    is_flat: bool = False,
    footprint: Footprint = POINT,
    part: slice = ALL,
    subpixels: int = 1,
    uploads: Uploads | None = None,
) -> Floats:
    """Light towards the eye with coverage, (N, 4), at the pixels of a part of a view."""
    uploaded = None if uploads is None else uploads.get(part.start)
    if uploaded is None:
        uploaded = DeviceView.upload(material, view, subpixels, part)
    if uploads is not None:
        uploads[part.start] = uploaded
    lit = shade_on_device(material, uploaded, lighting, is_flat, footprint)
    return np.asarray(lit.to_numpy().view(np.float32).reshape(uploaded.count, 4))


def shade_on_device(
    material: DeviceMaterial,
    view: DeviceView,
    lighting: Lighting,
    is_flat: bool = False,
    footprint: Footprint = POINT,
) -> slangpy.Buffer:
    """The same for an uploaded view; the result stays on the device."""
    output = view.new_output(material)
    direction = normalized(np.array(lighting.direction, np.float32))
    buffers = dict(view.buffers)
    use_material(
        material,
        VIEW,
        view.count,
        DEFAULT_SLOPE_STEP,
        {
            "gLight": {
                "environmentSamples": lighting.samples if lighting.environment > 0 else 0,
                "width": view.width,
                "subpixels": view.subpixels,
                "lightDirection": direction.tolist(),
                "environmentScale": lighting.environment,
                "lightColour": list(lighting.colour),
                "emissionScale": lighting.emission,
            },
            "gOutgoing": buffers.pop("gToEye"),
            **buffers,
            "gLit": output,
        },
        hasFrames=int(not is_flat),
        footprint=footprint.uniform(),
    )
    return output
