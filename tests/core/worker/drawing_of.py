"""What a session draws with, without its session."""

import time

from verdigris.core.worker.drawing.live_drawing import LiveDrawing, new_renderer
from verdigris.core.worker.drawing.shown import ShownMaterials


class Drawing:
    def __init__(self, teacher, view, resolution, clock=time.perf_counter):
        self.materials = ShownMaterials(teacher, resolution)
        self.renderer = new_renderer(self.materials, view, None)
        self.live = LiveDrawing(self.renderer, self.materials, clock)
