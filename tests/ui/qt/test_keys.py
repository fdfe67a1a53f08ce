"""Shortcuts of a panel that is docked in an application with shortcuts of its own."""

import sys
from operator import attrgetter

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QLineEdit, QMainWindow

from verdigris.core.worker.protocol.messages import Message
from verdigris.core.worker.protocol.worker_events import PAUSED, TRAINING

CONTROL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def application(qtbot, make_panel, document):
    """A main window with a field, the menu entry Save, and the docked panel."""
    window = QMainWindow()
    window.panel = make_panel(document, [sys.executable, "-c", "import time; time.sleep(60)"])
    window.saved = 0

    def save():
        window.saved += 1

    action = QAction("Save", window, shortcut="Ctrl+S", triggered=save)
    window.menuBar().addMenu("File").addAction(action)
    window.field = QLineEdit()
    window.setCentralWidget(window.field)
    dock = QDockWidget()
    dock.setWidget(window.panel)
    window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    window.panel.model.state.bake.handle({"event": "step", "step": 1, "steps": 10, "loss": 0.5})
    window.panel.model.link.set_state(TRAINING)
    return window


def press(qtbot, widget, key, modifier=CONTROL):
    widget.setFocus()
    qtbot.waitUntil(widget.hasFocus)
    qtbot.keyClick(widget, key, modifier)


def test_shortcuts_reach_the_application_outside_the_panel(qtbot, application):
    press(qtbot, application.field, Qt.Key.Key_S)
    assert (application.saved, application.panel.model.link.pending) == (1, "")
    press(qtbot, application.field, Qt.Key.Key_P)
    assert application.panel.model.link.pending == ""


@pytest.mark.parametrize("inside", ["viewport", "view_bar.shape", "help"])
def test_shortcuts_reach_the_panel_inside_it(inside, qtbot, application):
    model = application.panel.model
    for key, modifier, action in (
        (Qt.Key.Key_S, CONTROL, "finish"),
        (Qt.Key.Key_K, ALT, "finish"),
        (Qt.Key.Key_P, CONTROL, "pause"),
        (Qt.Key.Key_Period, CONTROL, "cancel"),
    ):
        press(qtbot, attrgetter(inside)(application.panel), key, modifier)
        assert (application.saved, model.link.pending) == (0, action)
        # the next action is possible again
        model._events.handle(Message({"event": "error", "command": action, "text": "nothing yet"}))
        assert model.link.pending == ""


def test_shortcuts_of_impossible_actions_reach_the_application(qtbot, application):
    application.panel.model.link.set_state("idle")
    press(qtbot, application.panel.viewport, Qt.Key.Key_S)
    assert application.saved == 1


def test_shortcuts_undo_and_redo_a_stroke(qtbot, application):
    paint, weights = application.panel.pages.paint, application.panel.model.state.weights
    application.panel.pages.open(paint)
    weights.fill(3.0)
    press(qtbot, paint.texture, Qt.Key.Key_Z)
    assert weights.values.max() == 1.0
    press(qtbot, paint.texture, Qt.Key.Key_Z, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    assert weights.values.min() == 3.0


def test_a_refused_action_can_be_requested_again(qtbot, application):
    model, transport = application.panel.model, application.panel.status.transport
    press(qtbot, application.panel.viewport, Qt.Key.Key_S)
    assert not transport.finish.isEnabled() and not transport.cancel.isEnabled()
    model._events.handle(Message({"event": "error", "command": "finish", "text": "nothing yet"}))
    assert transport.finish.isEnabled() and transport.cancel.isEnabled()


def test_the_shortcut_of_pause_resumes(qtbot, application):
    application.panel.model.link.set_state(PAUSED)
    press(qtbot, application.panel.viewport, Qt.Key.Key_P)
    assert application.panel.model.link.pending == "resume"
