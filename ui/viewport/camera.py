"""Turns, moves and zooms the view, and turns its light."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF

from verdigris.ui.model.panel_model import PanelModel

ZOOM_STEP = 1.25
_LEAST_ZOOM, _MAX_ZOOM = 0.25, 256.0
# The zoom to look at the worst spot.
SPOT_ZOOM = 5.0


class CameraControl:
    """Changes the view of a model."""

    def __init__(self, model: PanelModel) -> None:
        self._model = model

    def see_all(self) -> None:
        self._model.set_view(turn=0.0, pitch=0.0, zoom=1.0, x=0.0, y=0.0)

    def turn(self, across: float, down: float) -> None:
        view = self._model.state.view
        pitch = min(90.0, max(-90.0, view.pitch + down))
        self._model.set_view(turn=(view.turn + across + 180) % 360 - 180, pitch=pitch)

    def turn_light(self, across: float, down: float) -> None:
        """Turns the environment about the vertical axis, or moves the plain light."""
        view = self._model.state.view
        if view.lit_by:
            self._model.set_view(rotate=(view.rotate + across + 180) % 360 - 180)
            return
        x, y, z = view.light
        length = math.sqrt(x * x + y * y + z * z)
        height = math.asin(max(-1.0, min(1.0, y / length))) - math.radians(down)
        height = min(math.radians(89), max(math.radians(-89), height))
        turn = math.atan2(x, z) + math.radians(across)
        level = math.cos(height)
        light = (level * math.sin(turn), math.sin(height), level * math.cos(turn))
        self._model.set_view(light=light)

    def move(self, step: QPointF, cell: QRectF) -> None:
        """Moves the shape with the pointer."""
        view = self._model.state.view
        scale = 2 / min(cell.width(), cell.height()) / view.zoom
        self._model.set_view(x=view.x - step.x() * scale, y=view.y + step.y() * scale)

    def zoom(self, factor: float, cell: QRectF, place: QPointF | None = None) -> None:
        """Zooms around the pointer."""
        view = self._model.state.view
        zoom = min(_MAX_ZOOM, max(_LEAST_ZOOM, view.zoom * factor))
        x, y = view.x, view.y
        if place is not None:
            short = min(cell.width(), cell.height())
            away_x = 2 * (place.x() - cell.center().x()) / short
            away_y = -2 * (place.y() - cell.center().y()) / short
            x += away_x * (1 / view.zoom - 1 / zoom)
            y += away_y * (1 / view.zoom - 1 / zoom)
        self.look_at(x, y, zoom)

    def point_at(self, x: float, y: float, cell: QRectF) -> tuple[float, float]:
        """The point of the view at a point of the picture, 0 to 1 to the right and downwards."""
        view, short = self._model.state.view, min(cell.width(), cell.height())
        across = (2 * x - 1) * cell.width() / short / view.zoom
        down = (2 * y - 1) * cell.height() / short / view.zoom
        return view.x + across, view.y - down

    def fly_to(self, x: float, y: float) -> None:
        """Looks closely at a point of the view."""
        self.look_at(x, y, max(SPOT_ZOOM, self._model.state.view.zoom))

    def look_at(self, x: float, y: float, zoom: float) -> None:
        """Looks at a point of the view with this zoom."""
        limit = max(0.0, 1 - 1 / zoom) if zoom < 2 else 1.0
        x, y = (min(limit, max(-limit, each)) for each in (x, y))
        self._model.set_view(zoom=zoom, x=x, y=y)
