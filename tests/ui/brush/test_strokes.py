"""Strokes of a fast pointer, which reports few positions."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint

from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.brush.texture_view import TextureView
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.paint.brush_tools import BrushTools
from verdigris.ui.viewport.picture_area import FOOTER
from verdigris.ui.viewport.viewport import Viewport

from .. import pointer


def shown(qtbot, widget, height=200):
    qtbot.addWidget(widget)
    widget.resize(200, height)
    widget.show()
    return widget


def test_a_stroke_on_the_texture_has_no_gaps_and_one_undo_step(qtbot):
    model = PanelModel(FilesHost())
    texture = shown(qtbot, TextureView(model, BrushTools(model.state.weights, lambda: None)))
    pointer.drag(texture, QPoint(20, 180), QPoint(180, 100))
    # the texture's v goes up: from (0.1, 0.1) to (0.9, 0.5)
    share = np.linspace(0, 1, 200)
    column, row = ((start + share * way) * 128 for start, way in ((0.1, 0.8), (0.1, 0.4)))
    assert model.state.weights.values[row.astype(int), column.astype(int)].min() > 2
    model.state.weights.undo()
    assert model.state.weights.is_constant and not model.state.weights.can_undo


def test_a_stroke_on_the_viewport_has_no_gaps(qtbot):
    viewport = shown(qtbot, Viewport(PanelModel(FilesHost())), 200 + FOOTER)
    viewport.set_mode("reference")
    viewport.paints = True
    touched = []
    viewport.painted.connect(lambda *place: touched.append(place))
    pointer.drag(viewport, QPoint(50, 50), QPoint(150, 120))
    assert touched[0] == (0.25, 0.25) and touched[-1] == (0.75, 0.6)
    steps = np.linalg.norm(np.diff(touched, axis=0), axis=1)
    assert steps.max() < 0.04


def test_a_second_quick_click_paints_too(qtbot):
    viewport = shown(qtbot, Viewport(PanelModel(FilesHost())), 200 + FOOTER)
    viewport.set_mode("reference")
    viewport.paints = True
    touched = []
    viewport.painted.connect(lambda *place: touched.append(place))
    qtbot.mouseDClick(viewport, pointer.LEFT, pos=QPoint(100, 100))
    assert touched == [(0.5, 0.5)]
