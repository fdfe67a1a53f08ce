"""The easel of a view: frames, shape, light and places that all its pictures share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.worker.drawing.canvas import Canvas, heat_of
from verdigris.core.worker.drawing.frame import Frame, Shape, Tile
from verdigris.core.worker.drawing.live_network import LitView
from verdigris.core.worker.drawing.studio import Studio, few_lights
from verdigris.core.worker.protocol.commands import PIXELATED_FROM
from verdigris.core.worker.protocol.worker_events import Picture, Places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork
    from verdigris.core.worker.protocol.commands import View as ViewCommand

    Drawn = Teacher | Student | LiveNetwork
    Floats = NDArray[np.float32]

# uv by pixel is not needed any finer.
_PLACES_SIDE = 320
# Pixels per texel from which a texel is drawn as a square.
_PIXELS_A_TEXEL = 36


class Easel:
    """Frames of all sizes for one view."""

    def __init__(self, studio: Studio, command: ViewCommand, mesh: Mesh | None) -> None:
        self._studio = studio
        self.command = command
        """May change in what needs no redraw, such as the exposure."""
        self._mesh = mesh
        self._shape = Shape(command, mesh)
        self.frame = self.frame_of(command.size)
        self._behind: dict[tuple[int, int], Floats | None] = {}
        self.find_places()

    def find_places(self) -> None:
        """Finds the uv of each pixel: a place, or the centre of its texel."""
        self._places_frame = self.frame_of(min(_PLACES_SIDE, self.command.size))
        self._seen: GBuffer | None = None
        self.texels = 0
        """Texels per side if each is drawn as a square; otherwise 0."""
        if self.command.zoom >= PIXELATED_FROM:
            self.texels = self._count_texels(self._places_view())

    def _places_view(self) -> GBuffer:
        if self._seen is None:
            self._seen = self._places_frame.view(self._places_frame.whole())
        return self._seen

    @property
    def seen_uv(self) -> Floats:
        """The places in sight."""
        return self._places_view().uv

    def places(self) -> Places:
        """The uv of the pixels of a picture that may be smaller."""
        frame, seen = self._places_frame, self._places_view()
        uv = np.full((frame.count, 2), np.nan, np.float32)
        uv[seen.pixel] = seen.uv
        array = uv.reshape(frame.height, frame.width, 2)
        return Places(array, self.command.number, self.texels)

    def _count_texels(self, seen: GBuffer) -> int:
        texels = max(1, self._studio.resolution >> self.command.level)
        if not len(seen.uv):
            return 0
        shown = np.unique(np.floor(seen.uv * texels), axis=0)
        pixels = len(seen.uv) * (self.frame.count / self._places_frame.count)
        return texels if pixels >= _PIXELS_A_TEXEL * len(shown) else 0

    def frame_of(self, short: int) -> Frame:
        """A frame with so many pixels on its shorter side."""
        return Frame.of(self._shape, short, self.command.aspect)

    def new_canvas(self, frame: Frame) -> Canvas:
        size = (frame.width, frame.height)
        if size not in self._behind:
            self._behind[size] = self._studio.behind(self.command, frame)
        return Canvas(frame, self._studio.tone(self.command), self._behind[size])

    def view_of(self, frame: Frame, tile: Tile, shift: tuple[float, float] = (0.0, 0.0)) -> GBuffer:
        """A tile, with every pixel at the centre of its texel if texels are drawn as squares."""
        view = frame.view(tile, shift)
        if not self.texels:
            return view
        uv = (np.floor(view.uv * self.texels) + 0.5) / self.texels
        return replace(view, uv=uv.astype(np.float32))

    def light(self, material: Drawn, view: GBuffer, places: int = 4) -> Floats:
        """Light and coverage at the pixels of a view, by few lights."""
        if isinstance(material, DeviceMaterial):
            return self._studio.quick(material, view, self.command, self._mesh, places)
        lit = self.lit_view(material, view)
        return np.concatenate([lit.draw(material, number)[1] for number in range(lit.parts)])

    def fine_light(self, material: DeviceMaterial, view: GBuffer, number: int) -> Floats:
        """The same by a pass of the whole environment."""
        return self._studio.fine(material, view, self.command, number, self._mesh)

    def lit_view(self, network: LiveNetwork, view: GBuffer) -> LitView:
        live = self._studio.live_of(network, self.command)
        return LitView(network, view, few_lights(self.command), self.command.level, live)

    def heat(
        self, reference: Canvas, neural: Canvas, step: int, sharp: float, refined: float = 1.0
    ) -> Picture:
        """The picture of the difference."""
        values = heat_of(reference, neural, self._studio.exposure(self.command))
        return Picture(values, "heat", self.command.number, step, sharp, refined)
