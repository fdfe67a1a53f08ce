"""The strip below the chart, with a fake worker."""

import numpy as np
import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, Qt

from ..pointer import LEFT, drag, move


def test_a_drag_over_the_film_shows_the_training_in_the_viewport(qtbot, fake_panel):
    session, panel = fake_panel
    session.training()
    strip, film = panel.pages.bake.film, session.model.state.film
    assert not strip.isVisible()
    for step in (10, 20, 30, 40):
        pixels = np.full((48, 48, 3), 5 * step, np.uint8)
        facts = {"shape": [48, 48, 3], "type": "|u1", "part": "neural", "view": 1, "step": step}
        session.receive("picture", payload=pixels.tobytes(), **facts)
    assert [each.step for each in film.frames] == [10, 20, 30, 40] and strip.isVisible()
    place = panel.viewport.area().center().toPoint()

    def seen():
        return panel.viewport.grab().toImage().pixelColor(place).red()

    at = [QPoint(round(share * strip.width()), 20) for share in (0.9, 0.3)]
    drag(strip, *at, releases=False)
    assert film.shown.step == 20 and seen() == 100
    move(strip, at[0], LEFT)
    assert film.shown.step == 40 and seen() == 200
    qtbot.mouseRelease(strip, LEFT, pos=at[0])
    assert film.shown is None
    strip.setFocus()
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    qtbot.keyClick(strip, Qt.Key.Key_Left)
    assert film.shown.step == 30 and seen() == 150
    qtbot.keyClick(strip, Qt.Key.Key_Escape)
    assert film.shown is None
    # another bake has another film
    session.receive("state", state="idle")
    session.model.start()
    assert film.frames == [] and not strip.isVisible()
