"""The pointer over one widget.

QTest's mouseMove moves the cursor of the whole application: without a window manager the event goes
to the window that lies on top, which is often that of another test.
"""

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

LEFT, NO_BUTTON = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
NO_KEY = Qt.KeyboardModifier.NoModifier


def move(widget, place: QPoint, pressed=NO_BUTTON, keys=NO_KEY):
    event = QMouseEvent(
        *(QEvent.Type.MouseMove, QPointF(place), QPointF(widget.mapToGlobal(place))),
        *(NO_BUTTON, pressed, keys),
    )
    QApplication.sendEvent(widget, event)


def drag(widget, *places: QPoint, keys=NO_KEY, releases=True):
    QTest.mousePress(widget, LEFT, keys, places[0])
    for place in places[1:]:
        move(widget, place, LEFT, keys)
    if releases:
        QTest.mouseRelease(widget, LEFT, keys, places[-1])
