"""What the viewport paints, pixel by pixel."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtGui import QColor

from verdigris.core.hosts.files import FilesHost
from verdigris.ui.model import PanelModel, Shown
from verdigris.ui.widgets.viewport import MODES, Viewport


@pytest.fixture
def viewport(qtbot):
    shown = Viewport(PanelModel(FilesHost()))
    qtbot.addWidget(shown)
    shown.resize(400, 300)
    shown.show()
    shown.activateWindow()
    red = np.full((64, 64, 3), (200, 30, 30), np.uint8)
    for part in ("reference", "neural", "heat"):
        shown._model.pictures[part] = Shown(red, 0, 0, 1.0, 0.1)
    shown._model.picture_changed.emit()
    return shown


@pytest.mark.parametrize("mode", MODES)
def test_the_picture_is_there_whether_the_viewport_has_the_focus_or_not(mode, qtbot, viewport):
    viewport.set_mode(mode)
    across, down = viewport.width() // 2 - 30, viewport.height() // 2 + 20
    for has_focus in (False, True):
        viewport.setFocus() if has_focus else viewport.clearFocus()
        qtbot.waitUntil(lambda wanted=has_focus: viewport.hasFocus() == wanted)
        colour = viewport.grab().toImage().pixelColor(across, down)
        assert colour == QColor(200, 30, 30), f"focus {has_focus}"
