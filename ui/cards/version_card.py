"""A version of a bundle as a card: thumbnail, preset, verdict, size, seconds, and its actions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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

from verdigris.core.base.text import format_seconds
from verdigris.core.bundle.history import Version
from verdigris.core.pictures.compare.verdict import judge
from verdigris.ui.cards.dots import Dots
from verdigris.ui.model.cards import when
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals import capitalise
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.widgets.thumbnails import thumbnail

THUMBNAIL = 64


@dataclass(frozen=True)
class _Action:
    """A button of a card. With a state, it stays pressed while the state holds."""

    name: str
    text: str
    tip: str
    run: Callable[[], object]
    is_possible: bool = True
    is_on: bool | None = None


class VersionCard(QFrame):
    """One version. The name is edited in place."""

    def __init__(self, model: PanelModel, version: Version) -> None:
        super().__init__()
        self._model, self.version = model, version
        self._title = capitalise(f"{version.preset or 'bake'}, {when(version)}")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAccessibleName(f"Version: {version.label or self._title}")
        verdict = judge(version.errors, version.preset)
        self.label = self._name_field()
        self.verdict, self.facts = Line(), Line()
        self.verdict.setText(verdict.text if verdict else "Not measured")
        self.facts.setText(_facts(version, self._title if version.label else ""))
        self.buttons = {each.name: self._button(each) for each in self._actions()}
        self._lay_out(Dots(verdict.dots, verdict.is_draft) if verdict else Dots())

    def _lay_out(self, dots: Dots) -> None:
        picture = QLabel()
        picture.setFixedSize(THUMBNAIL, THUMBNAIL)
        picture.setPixmap(thumbnail(self.version.preview, THUMBNAIL))
        picture.setAccessibleName("Thumbnail")
        top = QHBoxLayout()
        top.setSpacing(GAP)
        top.addWidget(self.label, 1)
        if self.version.is_present:
            used = QLabel("in use")
            used.setToolTip("The result that engines load")
            top.addWidget(used)
        top.addWidget(dots)
        row = QWidget()
        flow = FlowLayout(row)
        for button in self.buttons.values():
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

    def _name_field(self) -> QLineEdit:
        field, title = QLineEdit(self.version.label), self._title
        field.setPlaceholderText(title)
        field.setFrame(False)
        field.setStyleSheet(
            "QLineEdit { padding: 0 }"
            "QLineEdit:!focus { background: transparent; border-color: transparent }"
        )
        field.setAccessibleName(f"Name of the version: {title}")
        field.setToolTip(f"{title}. Type a name for this version.\n{self.version.folder}")
        field.editingFinished.connect(self._rename)
        return field

    def _actions(self) -> tuple[_Action, ...]:
        model, version, history = self._model, self.version, self._model.state.history
        shown, against = history.shown
        is_shown = shown == version.key and not against
        first = history.find(shown) or history.present
        other = first if first is not None and first.key != version.key else None
        return (
            _Action(
                "show",
                "Shown" if is_shown else "Show",
                "Shows this version beside the material",
                lambda: model.show_version(version),
                is_on=is_shown,
            ),
            _Action(
                "compare",
                "A/B",
                "Compares this version, on the left, with the one in use or the one that is shown",
                lambda: other and model.show_version(other, version),
                is_possible=other is not None,
                is_on=against == version.key,
            ),
            _Action(
                "restore",
                "Restore",
                "Puts this version into use again; the present one is kept",
                lambda: history.restore(version),
                is_possible=not version.is_present,
            ),
            _Action(
                "pin",
                "Pinned" if version.is_pinned else "Pin",
                "Never removes this version to make room",
                lambda: history.pin(version, not version.is_pinned),
                is_on=version.is_pinned,
            ),
            _Action(
                "delete",
                "Delete",
                "Moves this version to the trash",
                lambda: history.delete(version),
                is_possible=not version.is_present,
            ),
        )

    def _button(self, action: _Action) -> QToolButton:
        button = QToolButton(text=action.text)
        button.setToolTip(action.tip)
        button.setAccessibleName(f"{action.text}: {self.version.label or self._title}")
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        if action.is_on is not None:
            button.setCheckable(True)
            button.setChecked(action.is_on)
            font = button.font()
            font.setBold(action.is_on)
            button.setFont(font)
        can_change = not self._model.link.is_busy or action.name == "pin"
        button.setEnabled(action.is_possible and can_change)
        button.clicked.connect(lambda: action.run())
        return button

    def _rename(self) -> None:
        self._model.state.history.rename(self.version, self.label.text())


def _facts(version: Version, title: str) -> str:
    parts = [
        title,
        *version.facts,
        format_seconds(version.seconds) if version.seconds is not None else "",
    ]
    return " · ".join(part for part in parts if part)
