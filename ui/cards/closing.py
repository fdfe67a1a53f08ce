"""The question when the panel is closed during a bake."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from verdigris.core.base.text import format_share
from verdigris.core.worker.client.client import GONE
from verdigris.ui.model import states
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind


class Closing:
    """Asks what to do with a bake, and calls `close` when that is done."""

    def __init__(self, model: PanelModel, parent: QWidget, close: Callable[[], None]) -> None:
        self._model, self._parent, self._close = model, parent, close
        self._is_settled = False
        self._waits_for = ""
        self.box: QMessageBox | None = None
        bind(parent, model.link.state_changed, self._follow)

    def allows(self) -> bool:
        """Whether the panel can close now. If not, the question is shown."""
        model = self._model
        if self._is_settled or not model.link.is_busy or model.link.health.state == GONE:
            return True
        if self.box is None and not self._waits_for:
            self._ask()
        return False

    def _ask(self) -> None:
        model = self._model
        box = QMessageBox(self._parent)
        box.setWindowTitle("A bake is running")
        share = model.state.bake.progress.share
        box.setText(f"The bake is at {format_share(share)}. What should happen to it?")
        role = QMessageBox.ButtonRole
        self.keep = box.addButton("&Keep the result so far", role.AcceptRole)
        self.later = box.addButton("&Resume later", role.AcceptRole)
        self.discard = box.addButton("&Discard", role.DestructiveRole)
        stay = box.addButton("Go &on baking", role.RejectRole)
        self.keep.setEnabled(model.can(states.FINISH))
        self.keep.setToolTip("Ends the training, writes the result, and then closes")
        self.later.setToolTip("Closes now. The panel offers the bake again with this material.")
        self.discard.setToolTip("Closes without a result. Earlier bakes stay.")
        box.setDefaultButton(self.later)
        box.setEscapeButton(stay)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.buttonClicked.connect(self._decide)
        box.finished.connect(lambda _: setattr(self, "box", None))
        self.box = box
        # not exec(): the bake and its pictures go on
        box.open()

    def _decide(self, button: object) -> None:
        if button is self.keep:
            self._waits_for = states.FINISH
            self._model.finish()
        elif button is self.discard:
            self._waits_for = states.CANCEL
            self._model.cancel()
        elif button is self.later:
            self._settle()

    def _follow(self) -> None:
        """Closes when the bake has ended as requested. A bake that failed stays in view."""
        if self._waits_for and not self._model.link.is_busy:
            waited, self._waits_for = self._waits_for, ""
            if waited == states.CANCEL:
                self._model.state.history.refresh()
                self._model.state.history.discard_checkpoint()
            if self._model.link.state != states.FAILED:
                self._settle()
        elif self.box is not None and not self._model.link.is_busy:
            # it has ended by itself
            self.box.reject()

    def _settle(self) -> None:
        self._is_settled = True
        self._close()
