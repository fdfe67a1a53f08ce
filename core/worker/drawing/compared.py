"""Pictures of several bundles, and of their source, with one camera and one light."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.material.evaluator import Footprint
from verdigris.core.pictures.illumination import Effort, Illumination
from verdigris.core.pictures.renderer import Renderer
from verdigris.core.worker.drawing.live_drawing import COARSE
from verdigris.core.worker.drawing.shown import (
    PASSES_ON_CPU,
    PASSES_ON_GPU,
    ShownMeshes,
    footprint_of_level,
)
from verdigris.core.worker.protocol.worker_events import Picture

if TYPE_CHECKING:
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.pictures.view import View
    from verdigris.core.progress import Event
    from verdigris.core.worker.protocol.commands import SetView

PART = "compared"
"""The pictures are the parts `compared 0`, `compared 1` and so on."""
# Seconds of drawing between commands, and between pictures.
_SLICE, _INTERVAL = 0.05, 0.3


class ComparedPictures:
    """Draws each bundle coarsely at once, then all of them in turn, as a single view is drawn."""

    must_compile = False

    def __init__(
        self,
        paths: Sequence[str],
        view: SetView,
        post: Callable[[Event], None],
        meshes: Mapping[str, Mesh],
        source: Teacher | None = None,
    ) -> None:
        """`source` is drawn before the bundles."""
        device = source.device if source is not None else open_device()
        self._post, self._view = post, view
        self._meshes = ShownMeshes(meshes, None)
        passes = PASSES_ON_CPU if device.is_software else PASSES_ON_GPU
        light = Illumination(device, self._prepare, Effort(passes))
        mesh = self._meshes.of(view)
        bundles = [open_bundle(Path(path)) for path in paths]
        self._finest = max(each.layout.width for each in bundles)
        drawn: list[tuple[DeviceMaterial, int]] = [
            (BundleMaterial(each, device), each.layout.width) for each in bundles
        ]
        if source is not None:
            drawn.insert(0, (source, self._finest))
        self._renderers = [
            Renderer(light, material, view, mesh, COARSE, width) for material, width in drawn
        ]
        self._sent = 0.0
        self._send()

    @property
    def is_complete(self) -> bool:
        return all(each.is_complete(None) for each in self._renderers)

    def look(self, view: SetView, is_new: bool = False) -> None:
        """Shows another view, with first pictures at once. `is_new`: the mesh was replaced."""
        is_new = is_new or not self._meshes.is_current(view)
        self._view = view
        for each in self._renderers:
            each.look(view, self._meshes.of(view), is_new)
        self._send()

    def complete(self) -> None:
        """Draws missing parts for a moment: of all bundles alike, so that they stay comparable."""
        until = time.perf_counter() + _SLICE
        while time.perf_counter() < until and not self.is_complete:
            for each in self._renderers:
                if not each.is_complete(None):
                    each.complete(None)
        if self.is_complete or time.perf_counter() - self._sent > _INTERVAL:
            self._send()

    def _send(self) -> None:
        for number, each in enumerate(self._renderers):
            for shown in each.news():
                part, seen = f"{PART} {number}", self._view.number
                self._post(Picture(shown.pixels, part, seen, 0, shown.sharp, shown.refined))
        self._sent = time.perf_counter()

    def _prepare(
        self, material: DeviceMaterial, view: View, places: int
    ) -> tuple[DeviceMaterial, Footprint]:
        shown = copy(material)
        if isinstance(shown, BundleMaterial):
            shown.lod = float(view.level)
            return shown, Footprint()
        return shown, footprint_of_level(self._finest, int(view.level), places)
