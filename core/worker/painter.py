"""Draws what the panel shows: the reference, the student, and how far they are apart.

A picture is too dear to draw anew several times a second while a processor trains. So a coarse one
comes at once, and then a few pixels at a time, spread over the whole, are drawn in earnest; of the
student, which changes, over and over again.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import Footprint
from verdigris.core.pictures.mesh import Mesh, load_mesh
from verdigris.core.pictures.render import Lighting, make_view, shade
from verdigris.core.pictures.views import Camera
from verdigris.core.worker.canvas import Canvas, heat_of
from verdigris.core.worker.commands import View as Wanted
from verdigris.core.worker.events import Picture, Places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.views import View

    Floats = NDArray[np.float32]

# Pixels that are drawn together: about 10 ms of a processor, or hidden behind a launch on a GPU.
_GROUP = {True: 512, False: 16_384}
_COARSE = 3
_STUDIO_SAMPLES = 8
_PLACES = 4
_COARSE_LEVEL_PLACES = 16
_TEXTURE_SIZE = 256
TEXTURE = "texture"


class Painter:
    """Pictures of one teacher, and of the student that learns from it."""

    wanted: Wanted
    reference: Canvas
    neural: Canvas

    def __init__(self, teacher: Teacher, wanted: Wanted, resolution: int) -> None:
        self.teacher = teacher
        self.resolution = resolution
        self._group = _GROUP[teacher.device.is_software]
        self._meshes: dict[str, Mesh] = {}
        self._sent: set[str] = set()
        self._show(wanted)

    def look(self, wanted: Wanted) -> None:
        """Takes another view: everything is drawn again, but for a mere change of exposure."""
        if _shape_of(self.wanted) == _shape_of(wanted):
            self.reference.expose(wanted.exposure)
            self.neural.expose(wanted.exposure)
            self.wanted = wanted
            self._sent = set()
        else:
            self._show(wanted)

    def _show(self, wanted: Wanted) -> None:
        self.view = self._make_view(wanted, wanted.size)
        self.wanted = wanted
        self.reference = Canvas(wanted.size, wanted.exposure)
        self.neural = Canvas(wanted.size, wanted.exposure)
        count = len(self.view.pixel)
        # the same groups for both, so that both have the same noise and it cancels in the heat map
        order = np.random.default_rng(0).permutation(count)
        self._groups = [
            self.view.take(part) for part in np.array_split(order, -(-count // self._group) or 1)
        ]
        self._reference_done = 0
        self._neural_done = self._neural_fresh = 0
        self._has_neural = False
        self._sent = set()
        self._coarse(self.teacher, self.reference)

    def rescale(self, resolution: int) -> None:
        """Shows the reference as texels of another size see it."""
        if resolution != self.resolution:
            self.resolution = resolution
            self._reference_done = 0

    @property
    def is_reference_whole(self) -> bool:
        return self._reference_done >= len(self._groups)

    @property
    def is_neural_whole(self) -> bool:
        """Every pixel shows the student as it has been since the last `learn`."""
        return self._has_neural and self._neural_fresh >= len(self._groups)

    def learn(self) -> None:
        """The student is another than it was: what is drawn of it is out of date."""
        self._neural_fresh = 0

    def draw_reference(self) -> None:
        """The next few pixels of the reference."""
        group = self._groups[self._reference_done]
        self._reference_done += 1
        self._put(self.teacher, self.reference, group)
        self._sent.discard("reference")

    def draw_neural(self, student: Student) -> None:
        """The next few pixels of the student; after the last come the first again."""
        student.level = float(self.wanted.level)
        try:
            if self._has_neural:
                group = self._groups[self._neural_done % len(self._groups)]
                self._neural_done += 1
                self._neural_fresh += 1
                self._put(student, self.neural, group)
            else:
                self._coarse(student, self.neural)
                self._has_neural = True
        finally:
            # the bake measures with the same student, on its finest level
            student.level = 0.0
        self._sent.discard("neural")

    def forget_neural(self) -> None:
        """There is no student any more, or a new one."""
        self._has_neural = False
        self._neural_done = self._neural_fresh = 0

    def news(self, step: int) -> list[Picture]:
        """The pictures that have changed since they were last asked for."""
        number, groups = self.wanted.number, len(self._groups)
        found = []
        changed = {"reference", "neural"} - self._sent
        if "reference" in changed:
            sharp = min(1.0, self._reference_done / groups)
            found.append(Picture(self.reference.pixels(), "reference", number, step, sharp))
        if self._has_neural and changed:
            sharp = min(1.0, self._neural_done / groups)
            found.append(Picture(self.neural.pixels(), "neural", number, step, sharp))
            heat, top = heat_of(self.reference, self.neural, self.view.pixel)
            found.append(Picture(heat, "heat", number, step, sharp, top))
        self._sent = {"reference", "neural"}
        return found

    def texture(self) -> Picture:
        """The material on the unit square, to paint on; v grows upwards."""
        canvas = Canvas(_TEXTURE_SIZE, 0.0)
        view = make_view("plane", _TEXTURE_SIZE)
        lighting = Lighting(emission=0.0, samples=_STUDIO_SAMPLES)
        canvas.put(view.pixel, shade(self.teacher, view, lighting, is_flat=True))
        return Picture(canvas.pixels(), TEXTURE, self.wanted.number, 0, 1.0)

    def places(self) -> Places:
        """The uv of every pixel."""
        size = self.wanted.size
        uv = np.full((size * size, 2), np.nan, np.float32)
        uv[self.view.pixel] = self.view.uv
        return Places(uv.reshape(size, size, 2), self.wanted.number)

    def _make_view(self, wanted: Wanted, size: int) -> View:
        camera = Camera(wanted.turn, wanted.pitch, wanted.zoom, wanted.x, wanted.y)
        mesh = self._mesh(wanted.mesh) if wanted.shape == "mesh" else None
        return make_view(wanted.shape, size, mesh, camera)

    def _mesh(self, path: str) -> Mesh:
        if path not in self._meshes:
            self._meshes = {path: load_mesh(Path(path))}
        return self._meshes[path]

    def _coarse(self, material: DeviceMaterial, canvas: Canvas) -> None:
        small = Canvas(max(1, canvas.size // _COARSE), 0.0)
        view = self._make_view(self.wanted, small.size)
        light = np.zeros((small.size**2, 4), np.float32)
        light[view.pixel] = self._shade(material, view)
        canvas.fill_from(light.reshape(small.size, small.size, 4))

    def _put(self, material: DeviceMaterial, canvas: Canvas, group: View) -> None:
        canvas.put(group.pixel, self._shade(material, group))

    def _shade(self, material: DeviceMaterial, view: View) -> Floats:
        lighting = Lighting(
            direction=self.wanted.light,
            environment=self.wanted.environment,
            emission=0.0,
            samples=_STUDIO_SAMPLES,
        )
        if not len(view.pixel):
            return np.zeros((0, 4), np.float32)
        if material is not self.teacher:
            return shade(material, view, lighting, is_flat=True)
        level = self.wanted.level
        places = _COARSE_LEVEL_PLACES if level else _PLACES
        width = min(1.0, 2.0**level / self.resolution)
        return shade(self.teacher, view, lighting, is_flat=True, footprint=Footprint(width, places))


def _shape_of(wanted: Wanted) -> Wanted:
    """A view without what needs no drawing to change."""
    return replace(wanted, exposure=0.0, number=0, wants_places=False)
