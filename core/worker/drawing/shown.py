"""What the panel's pictures show: the material on its meshes, with its live inputs."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry.mesh import Mesh, in_atlas, load_mesh
from verdigris.core.geometry.shapes import SHAPES, shape_mesh
from verdigris.core.material.evaluator import Footprint
from verdigris.core.network.latents.texels import footprint_width
from verdigris.core.pictures.canvas import Canvas, PlacedShape, Raster
from verdigris.core.pictures.gbuffer import make_gbuffer
from verdigris.core.pictures.illumination import Effort, Illumination
from verdigris.core.pictures.light_of_view import file_key
from verdigris.core.pictures.view import GREY, View

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from verdigris.core.base.array_types import Bytes
    from verdigris.core.material.domain import Tiles
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.worker.protocol.commands import Range


TEXTURE_SIZE = 256
_COARSE_LEVEL_PLACES = 16
# Passes of a picture under an environment until it has no grain.
PASSES_ON_CPU, PASSES_ON_GPU = 24, 96


class ShownMeshes:
    """The meshes of views: shapes, meshes of the host's scene, and files. Keeps the file that is
    shown, until it changes."""

    def __init__(self, of_scene: Mapping[str, Mesh] | None, tiles: Tiles | None) -> None:
        """`of_scene` are the meshes of the host, by name."""
        self._of_scene = {} if of_scene is None else of_scene
        self._tiles = tiles
        self._of_file: dict[tuple[str, int], Mesh] = {}

    def of(self, view: View) -> Mesh | None:
        """The mesh of a view; None for the plane and the sphere, which are no meshes."""
        if view.shape in SHAPES:
            return shape_mesh(view.shape)
        if view.shape != "mesh":
            return None
        mesh = self._of_scene.get(view.mesh)
        if mesh is not None:
            return in_atlas(mesh, self._tiles)
        key = file_key(view.mesh)
        if key not in self._of_file:
            self._of_file = {key: in_atlas(load_mesh(Path(view.mesh)), self._tiles)}
        return self._of_file[key]

    def is_current(self, view: View) -> bool:
        """Whether the file of the mesh is unchanged."""
        if view.shape != "mesh" or view.mesh in self._of_scene:
            return True
        return file_key(view.mesh) in self._of_file


class ShownMaterials:
    """Prepares the teacher and students for the level and the live inputs of a view."""

    def __init__(self, teacher: Teacher, resolution: int) -> None:
        self.teacher = teacher
        self.resolution = resolution
        """Texels per side of the student's texture."""
        self.inputs_of: Mapping[int, Sequence[LiveInput]] = {}
        """Live inputs of bundles, by the identity of their students: others have the teacher's."""
        effort = Effort(PASSES_ON_CPU if teacher.device.is_software else PASSES_ON_GPU)
        self.illumination = Illumination(teacher.device, self._prepare, effort)

    def _prepare(
        self, material: DeviceMaterial, view: View, places: int
    ) -> tuple[DeviceMaterial, Footprint]:
        # the bake measures with the same materials meanwhile, on the finest level and at defaults
        shown = copy(material)
        shown.live = self.live_of(material, view)
        level = int(view.level)
        if material is self.teacher:
            return shown, footprint_of_level(self.resolution, level, places)
        student: Student = shown  # type: ignore[assignment]
        student.level = float(view.level)
        return student, Footprint()

    def live_of(self, material: object, view: View) -> tuple[float, ...]:
        """Values of a material's live inputs in a view, from 0 to 1."""
        inputs, values = self.teacher.live_inputs, view.live
        if len(values) != len(inputs):
            # the view is still that of the material that was open before
            values = self.teacher.live
        own = self.inputs_of.get(id(material), inputs)
        if own == inputs:
            return tuple(values)
        known = {each.name: each.value_of(at) for each, at in zip(inputs, values, strict=True)}
        return tuple(_share(each, known.get(each.name)) for each in own)

    def texture(self) -> Bytes:
        """The teacher on the unit square, v upwards, to paint on."""
        view = View(shape="plane", size=TEXTURE_SIZE)
        raster = Raster.of(PlacedShape(view, None), TEXTURE_SIZE, 1.0)
        canvas = Canvas(raster, self.illumination.tone(view))
        gbuffer = make_gbuffer("plane", TEXTURE_SIZE)
        canvas.put(gbuffer.pixel, self.illumination.quick(self.teacher, gbuffer, view))
        return canvas.pixels()

    def range_pictures(self, material: Teacher | Student, seen: View, wanted: Range) -> Bytes:
        """Spheres from the low end of a live input's range to the high one, side by side, in the
        light of the view. The other live inputs have their values of the view."""
        values = list(self.live_of(self.teacher, seen))
        view = View(
            light=seen.light,
            environment=seen.environment,
            exposure=seen.exposure,
            size=wanted.size,
            lit_by=seen.lit_by,
            rotate=seen.rotate,
            blur=seen.blur,
            backdrop=GREY,
            tone=seen.tone,
        )
        raster = Raster.of(PlacedShape(view, None), wanted.size, 1.0)
        gbuffer = raster.gbuffer(raster.whole())
        pictures = []
        for number in range(wanted.count):
            values[wanted.input] = number / (wanted.count - 1)
            at = replace(view, live=tuple(values))
            canvas = Canvas(raster, self.illumination.tone(at))
            canvas.put(gbuffer.pixel, self.illumination.quick(material, gbuffer, at, places=1))
            pictures.append(canvas.pixels())
        return np.concatenate(pictures, 1)


def footprint_of_level(resolution: int, level: int, places: int) -> Footprint:
    """The detail that a texel of a neural material can have on a level."""
    places = max(places, _COARSE_LEVEL_PLACES) if level else places
    return Footprint(footprint_width(max(1, resolution >> level), level), places)


def _share(live: LiveInput, value: float | None) -> float:
    """A value as a share of the range, or the nearest of it; without one the default."""
    if value is None:
        return live.default
    low, high = live.value_of(0.0), live.value_of(1.0)
    return live.share_of(min(high, max(low, value)))
