"""A version of a bundle as a card: thumbnail, preset, verdict, size, seconds, and its actions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QToolButton,
    QWidget,
)

from verdigris.core.bundle.history.version import Version
from verdigris.core.pictures.verdict import judge
from verdigris.ui.cards.dots import Dots
from verdigris.ui.model.cards import when
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals.notices import capitalise
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.widgets.thumbnails import thumbnail
from verdigris.ui.widgets.wording import format_bytes, format_duration

THUMBNAIL = 64


class VersionCard(QFrame):
    """One version. The name is edited in place."""

    def __init__(self, model: PanelModel, version: Version) -> None:
        super().__init__()
        self._model, self.version = model, version
        history = model.history
        self.setFrameShape(QFrame.Shape.StyledPanel)
        title = capitalise(f"{version.preset or 'bake'}, {when(version)}")
        self.setAccessibleName(f"Version: {version.label or title}")
        verdict = judge(version.errors)
        picture = QLabel()
        picture.setFixedSize(THUMBNAIL, THUMBNAIL)
        picture.setPixmap(thumbnail(version.preview, THUMBNAIL))
        picture.setAccessibleName("Thumbnail")
        self.label = QLineEdit(version.label)
        self.label.setPlaceholderText(title)
        self.label.setFrame(False)
        self.label.setStyleSheet(
            "QLineEdit { padding: 0 }"
            "QLineEdit:!focus { background: transparent; border-color: transparent }"
        )
        self.label.setAccessibleName(f"Name of the version: {title}")
        self.label.setToolTip(f"{title}. Type a name for this version.\n{version.folder}")
        self.label.editingFinished.connect(self._rename)
        top = QHBoxLayout()
        top.setSpacing(GAP)
        top.addWidget(self.label, 1)
        if version.is_present:
            used = QLabel("in use")
            used.setToolTip("The result that engines load")
            top.addWidget(used)
        top.addWidget(Dots(verdict.dots if verdict else 0))
        self.verdict, self.facts = Line(), Line()
        self.verdict.setText(verdict.text if verdict else "Not measured")
        self.facts.setText(_facts(version, title if version.label else ""))
        self.buttons: dict[str, QToolButton] = {}
        row = QWidget()
        flow = FlowLayout(row)
        shown, against = history.shown
        is_shown = shown == version.key and not against
        first = history.find(shown) or history.present
        other = first if first is not None and first.key != version.key else None
        for name, text, tip, is_on, is_possible, do in (
            (
                "show",
                "Shown" if is_shown else "Show",
                "Shows this version beside the material",
                is_shown,
                True,
                self._show,
            ),
            (
                "compare",
                "A/B",
                "Compares this version, on the left, with the one in use or the one that is shown",
                against == version.key,
                other is not None,
                lambda: other and model.show_version(other, version),
            ),
            (
                "restore",
                "Restore",
                "Puts this version into use again; the present one is kept",
                None,
                not version.is_present,
                lambda: history.restore(version),
            ),
            (
                "pin",
                "Pinned" if version.is_pinned else "Pin",
                "Never removes this version to make room",
                version.is_pinned,
                True,
                lambda: history.pin(version, not version.is_pinned),
            ),
            (
                "delete",
                "Delete",
                "Moves this version to the trash",
                None,
                not version.is_present,
                lambda: history.delete(version),
            ),
        ):
            button = QToolButton(text=text)
            button.setToolTip(tip)
            button.setAccessibleName(f"{text}: {version.label or title}")
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            if is_on is not None:
                button.setCheckable(True)
                button.setChecked(is_on)
                font = button.font()
                font.setBold(is_on)
                button.setFont(font)
            can_change = not model.is_busy or name == "pin"
            button.setEnabled(is_possible and can_change)
            button.clicked.connect(lambda _=False, do=do: do())
            self.buttons[name] = button
            flow.addWidget(button)
        grid = QGridLayout(self)
        grid.setContentsMargins(GAP, GAP, GAP, GAP)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(HALF)
        grid.addWidget(picture, 0, 0, 3, 1, Qt.AlignmentFlag.AlignTop)
        grid.addLayout(top, 0, 1)
        grid.addWidget(self.verdict, 1, 1)
        grid.addWidget(self.facts, 2, 1)
        grid.addWidget(row, 3, 0, 1, 2)
        grid.setColumnStretch(1, 1)

    def _rename(self) -> None:
        self._model.history.rename(self.version, self.label.text())

    def _show(self) -> None:
        self._model.show_version(self.version)


def _facts(version: Version, title: str) -> str:
    parts = [
        title,
        f"{version.resolution} x {version.resolution}" if version.resolution else "",
        format_bytes(version.loaded_bytes) if version.loaded_bytes else "",
        format_duration(version.seconds) if version.seconds is not None else "",
        "stopped early" if version.stopped_by == "request" else "",
    ]
    return " · ".join(part for part in parts if part)
