"""The offer to test the plug-in in this application, once on each machine."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QToolButton

from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.style.sheet import wear_card


class SelftestOffer(QFrame):
    """A line with a button. It is shown if the application was not tested or offered before."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self.setObjectName("offer")
        wear_card(self, "offer", colours_for(self).smooth)
        self.text = Line()
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.text.setText(
            f"Verdigris is new in {model.host.name}. A self-test checks in the background that it "
            "works here; it does not change this scene."
        )
        self.run = QPushButton("&Run the self-test")
        self.run.setToolTip("Starts a second instance without a window, which writes a report")
        self.dismiss = QToolButton()
        self.dismiss.setAutoRaise(True)
        self.dismiss.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.dismiss.setAccessibleName("Hide the offer")
        wear(self.dismiss, "cross")
        self.dismiss.setToolTip("Hides this offer. The self-test stays in the help menu.")
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP, GAP, HALF, GAP)
        row.addWidget(self.text, 1)
        row.addWidget(self.run)
        row.addWidget(self.dismiss, 0, Qt.AlignmentFlag.AlignTop)
        self.run.clicked.connect(lambda _=False: self._start(model))
        self.dismiss.clicked.connect(lambda _=False: self.hide())
        self.setVisible(model.selftest.claim_offer())

    def _start(self, model: PanelModel) -> None:
        self.hide()
        model.selftest.start(model.selftest.default_report)
