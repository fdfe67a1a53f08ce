"""The verdict on a bake: words, dots, one suggestion, and the measured figures folded below."""

from __future__ import annotations

import html

from PySide6.QtCore import QEvent, Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.base.text import format_seconds
from verdigris.core.pictures.compare.verdict import CLOSE, EQUAL, FAIR, Verdict
from verdigris.ui.cards.worst_crop import WorstCrop
from verdigris.ui.estimates import compare
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.suggestion import Suggestion, suggest
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.text_widgets import Line, Note
from verdigris.ui.signals import capitalise
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF, small_font, title_font
from verdigris.ui.style.section import Fold
from verdigris.ui.style.sheet import PRIMARY
from verdigris.ui.widgets.dots import Dots


class VerdictBox(QWidget):
    """Shown when a bake has ended, and for a version in the pictures."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._suggestion: Suggestion | None = None
        self.dots = Dots()
        self.text = Line()
        self.text.setFont(title_font(self.text))
        self.crop = WorstCrop()
        self.time, self.effect = Note(), Line()
        self.effect.setToolTip(
            "The mean error of the painted places and of all others, measured on the same places "
            "and directions in both bakes"
        )
        self.advice = Line()
        self.attempt = QPushButton("&Try")
        self.attempt.setObjectName(PRIMARY)
        self.attempt.setToolTip("Makes this change and starts a bake. This result is kept.")
        self.attempt.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.attempt.clicked.connect(lambda _: self._try())
        self.fold = Fold("Figures")
        self.fold.setToolTip("The measured figures, each with its band")
        self.reveal = QPushButton("Show the &files")
        wear(self.reveal, "folder")
        self.reveal.setToolTip("Opens the folder of the result")
        self.reveal.clicked.connect(lambda _: self._reveal())
        self.figures = QLabel()
        self.figures.setFont(small_font(self.figures))
        self.figures.setTextFormat(Qt.TextFormat.RichText)
        self.figures.setWordWrap(True)
        self.figures.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.figures.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.fold.toggled.connect(self._fold)
        self._layout()
        self._fold(False)
        for signal in (
            model.state.bake.history_changed,
            model.state.bake.progress_changed,
            model.state.history.changed,
            model.link.state_changed,
            model.state.choices_changed,
        ):
            bind(self, signal, self._show)

        bind(self, model.state.pictures.changed, self._show_crop)

    def _layout(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        top = QGridLayout()
        top.setHorizontalSpacing(GAP)
        top.setVerticalSpacing(HALF)
        top.addWidget(self.dots, 0, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        top.addWidget(self.text, 1, 0)
        top.addWidget(self.crop, 0, 1, 2, 1, Qt.AlignmentFlag.AlignTop)
        top.setColumnStretch(0, 1)
        column.addLayout(top)
        column.addWidget(self.time)
        column.addWidget(self.effect)
        row = QHBoxLayout()
        row.addWidget(self.advice, 1)
        row.addWidget(self.attempt, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        row = QHBoxLayout()
        row.addWidget(self.fold)
        row.addStretch(1)
        row.addWidget(self.reveal)
        column.addLayout(row)
        column.addWidget(self.figures)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's names, here and below
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "fold"):
            self._show()

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Reserves the height of wrapped lines, which Qt's splitters ignore."""
        self.layout().invalidate()
        self.setMinimumHeight(max(0, self.layout().totalHeightForWidth(self.width())))

    def _fold(self, is_open: bool) -> None:
        self.figures.setVisible(is_open)
        self._fit()

    def _reveal(self) -> None:
        present = self._model.state.history.present
        if present is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(present.folder)))

    def _try(self) -> None:
        if self._suggestion is not None:
            self._model.set_choices(**self._suggestion.changes)
            self._model.start()

    def _show(self) -> None:
        model = self._model
        verdict = None if model.link.is_busy else model.state.verdict
        self.setVisible(verdict is not None)
        if verdict is None:
            return
        is_version = bool(model.state.history.shown[0])
        self.dots.show_dots(verdict.dots, verdict.is_draft)
        self.text.setText(verdict.text)
        time = ""
        if model.state.times.took and not is_version:
            time = f"Took {format_seconds(model.state.times.took)}"
            time += (
                f", {compare(model.state.times.predicted, model.state.times.took)}"
                if model.state.times.predicted
                else ""
            )
        # the words of a draft are what it is good for
        fault = capitalise(verdict.fault) if verdict.is_draft else ""
        lines = " · ".join(filter(None, (fault, time)))
        self.time.setText(lines)
        self.time.setVisible(bool(lines))
        effect = None if is_version else model.state.effects.found
        self.effect.setText(f"Paint: {effect.text[0].lower()}{effect.text[1:]}" if effect else "")
        self.effect.setVisible(effect is not None)
        self._suggestion = None if is_version else suggest(model, verdict)
        has_advice = self._suggestion is not None
        self.advice.setText(self._suggestion.text if self._suggestion else "")
        self.advice.setVisible(has_advice)
        self.attempt.setText((self._suggestion and self._suggestion.action) or "&Try")
        self.attempt.setVisible(has_advice)
        self.attempt.setEnabled(model.can("start"))
        self.reveal.setVisible(model.state.history.present is not None)
        self.figures.setText(self._table(verdict))
        self._show_crop()

    def _show_crop(self) -> None:
        """Beside the words, so that they can be seen."""
        if self.isVisible():
            self.crop.show_pictures(self._model.state.pictures)
        self._fit()

    def _table(self, verdict: Verdict) -> str:
        colours = colours_for(self)
        shown = {EQUAL: colours.good, CLOSE: colours.good, FAIR: colours.middling}
        rows = []
        for each in verdict.figures:
            colour = shown.get(each.grade, colours.bad).name()
            rows.append(
                f"<tr><td>{html.escape(capitalise(each.band.text))}&nbsp;&nbsp;</td>"
                f"<td align='right'>{each}&nbsp;&nbsp;</td>"
                f"<td style='color:{colour}'>{each.grade}</td></tr>"
            )
        return f"<table cellspacing='2'>{''.join(rows)}</table>"
