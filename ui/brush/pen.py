"""The pressure of a pen on a tablet, and the keys of the brush."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QPointingDevice
from PySide6.QtWidgets import QWidget

from verdigris.ui.paint.brush_tools import BrushTools

_SIZE_KEYS = {Qt.Key.Key_BracketLeft: -1, Qt.Key.Key_BracketRight: 1}


class Pen(QObject):
    """Watches a widget that is painted on. The events of a tablet pass on: Qt makes those of a
    mouse of them."""

    def __init__(self, widget: QWidget, tools: BrushTools) -> None:
        super().__init__(widget)
        self._tools = tools
        self.pressure, self.erases = 1.0, False
        widget.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        kind = event.type()
        if kind in (QEvent.Type.TabletPress, QEvent.Type.TabletMove):
            self.pressure = float(event.pressure())
            self.erases = event.pointerType() == QPointingDevice.PointerType.Eraser
            event.ignore()
        elif kind == QEvent.Type.TabletRelease:
            event.ignore()
        elif kind == QEvent.Type.MouseButtonRelease:
            # the next stroke may be that of a mouse
            self.pressure, self.erases = 1.0, False
        elif kind == QEvent.Type.KeyPress and event.key() in _SIZE_KEYS:
            self._tools.resize(_SIZE_KEYS[event.key()])
            return True
        return False
