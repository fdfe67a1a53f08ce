"""The page of the shelf: its list, a search, and what can be done with the chosen entries."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QKeyEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.history import MOST_KEPT, Version, keep_versions, kept_versions
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.scrub import WholeBox
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.shelf.compare_window import CompareWindow
from verdigris.ui.shelf.entries import Entry
from verdigris.ui.shelf.shelf import Action, Shelf
from verdigris.ui.shelf.shelf_list import ShelfList
from verdigris.ui.signals import ERROR
from verdigris.ui.style.metrics import GAP, HALF, bold

# A shorter list is seen as a whole.
SEARCHED_FROM = 7
_NOTE_LINES = 2
_NOTHING = "Nothing was baked yet. Each bake is kept here, and a new one does not replace it."


class ShelfPage(QWidget):
    """Binds the list to the shelf."""

    def __init__(self, shelf: Shelf, keeps: bool = True) -> None:
        """`keeps`: whether the number of versions to keep can be set here."""
        super().__init__()
        self.shelf = shelf
        shelf.reveal = _reveal
        self.destroyed.connect(lambda *_: shelf.close())
        self._shown: object = None
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search")
        self.search.setAccessibleName("Search the shelf")
        self.search.setToolTip("Shows entries with these words in name, state, note or folder")
        self.list = ShelfList(shelf)
        self.list.setAccessibleDescription(
            "Drag what waits to another place. A double click opens, a right click shows actions."
        )
        self.nothing = Line()
        self.details = _Details(shelf)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self._row_of_queue())
        column.addWidget(self.search)
        column.addWidget(self.nothing)
        column.addWidget(self.list)
        column.addWidget(self._row_of_undo())
        column.addWidget(self.details)
        self.kept_row = self._row_of_kept()
        self.kept_row.setVisible(keeps)
        column.addWidget(self.kept_row)
        self.search.textChanged.connect(lambda _: self._show())
        self.list.selectionModel().selectionChanged.connect(lambda *_: self._show_details())
        self.list.activated.connect(lambda index: shelf.open(self.list.entries.all[index.row()]))
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._open_menu)
        bind(self, shelf.changed, self._show)
        self.compared: CompareWindow | None = None
        shelf.compare = self._compare
        shelf.publish = self._publish
        bind(self, shelf.model.link.state_changed, self._show_details)

    def _row_of_queue(self) -> QWidget:
        self.queue_row = QWidget()
        flow = FlowLayout(self.queue_row)
        self.run = QPushButton("&Bake all")
        self.run.setToolTip("Bakes all that wait, with the settings of the panel")
        self.report = QPushButton("Open the &report")
        self.report.setToolTip("Shows the pictures and figures of all bakes in the browser")
        self.run.clicked.connect(lambda _=False: self._run())
        self.report.clicked.connect(lambda _=False: self.shelf.reveal_report())
        for button in (self.run, self.report):
            flow.addWidget(button)
        return self.queue_row

    def _row_of_undo(self) -> QWidget:
        self.undo_row = QWidget()
        row = QHBoxLayout(self.undo_row)
        row.setContentsMargins(0, 0, 0, 0)
        self.undo_text = Line()
        self.undo = QPushButton("&Undo delete")
        self.undo.setToolTip("Brings back what was removed last")
        self.undo.clicked.connect(lambda _=False: self.shelf.undo())
        row.addWidget(self.undo_text, 1)
        row.addWidget(self.undo)
        return self.undo_row

    def _row_of_kept(self) -> QWidget:
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(0, 0, 0, 0)
        keep = QLabel("&Keep")
        self.kept = WholeBox()
        self.kept.setRange(1, MOST_KEPT)
        self.kept.setValue(kept_versions())
        self.kept.setSuffix(" versions")
        self.kept.setKeyboardTracking(False)
        self.kept.setToolTip(
            "Older versions are removed after the next bake. The best one and kept ones stay. "
            "The number applies to all materials on this machine."
        )
        keep.setBuddy(self.kept)
        self.kept.valueChanged.connect(self._keep)
        row.addWidget(keep)
        row.addWidget(self.kept)
        row.addStretch(1)
        return made

    def _keep(self, count: int) -> None:
        try:
            keep_versions(count)
        except VerdigrisError as failure:
            self.shelf.model.state.notices.add(ERROR, str(failure))

    def _compare(self, entries: list[Entry]) -> None:
        """Opens a window with these entries."""
        self.compared = CompareWindow(self.shelf.model, entries, self.window())
        self.compared.show()

    def _publish(self, bundles: list[Path]) -> None:
        """Asks for the page, beside the first bundle at first."""
        proposed = bundles[0].with_suffix(".html" if len(bundles) == 1 else "")
        if len(bundles) > 1:
            proposed = proposed.with_name("materials.html")
        found, _ = QFileDialog.getSaveFileName(self, "Publish", str(proposed), "Web page (*.html)")
        if found:
            page = Path(found)
            self.shelf.model.publish(bundles, page if page.suffix else page.with_suffix(".html"))

    def _run(self) -> None:
        if self.shelf.documents is not None:
            queue = self.shelf.documents.queue
            (queue.stop if queue.is_running else queue.start)()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        moves = {Qt.Key.Key_Up: "up", Qt.Key.Key_Down: "down"}
        is_alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        name = moves.get(event.key(), "") if is_alt else ""
        name = "delete" if event.key() == Qt.Key.Key_Delete else name
        if not name or not self._do(name):
            super().keyPressEvent(event)

    def _do(self, name: str) -> bool:
        """Does the action with this name, if the chosen entries allow it."""
        for action in self.shelf.actions(self.list.chosen):
            if action.name == name and action.is_possible:
                action.run()
                return True
        return False

    def _open_menu(self, place: QPoint) -> None:
        menu = self.menu()
        if not menu.isEmpty():
            menu.popup(self.list.viewport().mapToGlobal(place))

    def menu(self) -> QMenu:
        """The menu of the chosen entries."""
        menu = QMenu(self.list)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setToolTipsVisible(True)
        for action in self.shelf.actions(self.list.chosen):
            entry = menu.addAction(action.text)
            entry.setToolTip(action.tip)
            entry.setEnabled(action.is_possible)
            entry.triggered.connect(lambda _=False, action=action: action.run())
        return menu

    def _show(self) -> None:
        entries, shelf = self.shelf.entries, self.shelf
        words = self.search.text().lower().split()
        self.search.setVisible(len(entries) >= SEARCHED_FROM or bool(words))
        found = [each for each in entries if all(word in each.text.lower() for word in words)]
        self.list.show_entries(found)
        self.nothing.setText(_NOTHING if not entries else "Nothing has these words.")
        self.nothing.setVisible(not found)
        self.undo_text.setText(shelf.undo_text)
        self.undo_row.setVisible(bool(shelf.undo_text))
        queue = shelf.documents.queue if shelf.documents is not None else None
        has_waiting = any(each.is_waiting for each in entries)
        is_running = queue is not None and queue.is_running
        self.run.setText("&Stop after this one" if is_running else "&Bake all")
        self.run.setVisible(is_running or has_waiting)
        self.report.setVisible(queue is not None and queue.report is not None)
        has_row = is_running or has_waiting or not self.report.isHidden()
        self.queue_row.setVisible(has_row)
        self._show_details()

    def _show_details(self) -> None:
        self.details.show_entries(self.list.chosen)


class _Details(QWidget):
    """The chosen entry: its name and note, if it is a version, and buttons."""

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf
        self._version: Version | None = None
        self.buttons: dict[str, QToolButton] = {}
        self._actions: dict[str, Action] = {}
        self.title, self.facts = Line(), Line()
        self.title.setFont(bold(self.title))
        self.label = QLineEdit()
        self.label.setAccessibleName("Name of the version")
        self.label.setToolTip("A name for this version")
        self.label.setPlaceholderText("Name")
        self.note = _NoteField()
        self.note.setAccessibleName("Note on the version")
        self.note.setToolTip("A line or a paragraph, which is kept with this version")
        self.note.setPlaceholderText("Note")
        self.note.setTabChangesFocus(True)
        lines = self.note.fontMetrics().lineSpacing() * _NOTE_LINES
        self.note.setFixedHeight(lines + 2 * GAP)
        self._row = QWidget()
        self._flow = FlowLayout(self._row)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(HALF)
        for widget in (self.title, self.facts, self.label, self.note, self._row):
            column.addWidget(widget)
        self.label.editingFinished.connect(self._rename)
        self.note.finished = self._write

    def show_entries(self, entries: list[Entry]) -> None:
        one = entries[0] if len(entries) == 1 else None
        version = one.source if one is not None and isinstance(one.source, Version) else None
        if self._version is not None and (version is None or version.key != self._version.key):
            # what was typed belongs to the entry that was chosen
            self._rename()
            self._write()
        before = self._version.key if self._version is not None else ""
        is_same = version is not None and version.key == before
        self._version = version
        self.title.setText(one.name if one else f"{len(entries)} chosen" if entries else "")
        facts = one.detail if one is not None else ""
        self.facts.setText(facts)
        self.facts.setVisible(bool(facts))
        self.label.setVisible(version is not None)
        self.note.setVisible(version is not None)
        if version is not None and not (is_same and self.label.hasFocus()):
            self.label.setText(version.label)
        if version is not None and not (is_same and self.note.hasFocus()):
            self.note.setPlainText(version.note)
        self._show_buttons(entries)
        self.setVisible(bool(entries))

    def _show_buttons(self, entries: list[Entry]) -> None:
        actions = self._shelf.actions(entries)
        self._actions = {each.name: each for each in actions}
        if [each.name for each in actions] != [*self.buttons]:
            for button in self.buttons.values():
                self._flow.removeWidget(button)
                button.hide()
                button.deleteLater()
            self.buttons = {each.name: QToolButton() for each in actions}
            for name, button in self.buttons.items():
                button.clicked.connect(lambda _=False, name=name: self._actions[name].run())
                button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
                self._flow.addWidget(button)
                button.show()
        subject = self.title.text()
        for action in actions:
            button = self.buttons[action.name]
            button.setText(action.text)
            button.setToolTip(action.tip)
            button.setAccessibleName(f"{action.text}: {subject}")
            button.setEnabled(action.is_possible)
            button.setCheckable(action.is_on)
            button.setChecked(action.is_on)

    def _rename(self) -> None:
        history = self._shelf.model.state.history
        if self._version is not None and (known := history.find(self._version.key)):
            history.rename(known, self.label.text())

    def _write(self) -> None:
        history = self._shelf.model.state.history
        if self._version is not None and (known := history.find(self._version.key)):
            history.write_note(known, self.note.toPlainText())


class _NoteField(QPlainTextEdit):
    """A field that is finished when it loses the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.finished = lambda: None

    def focusOutEvent(self, event: object) -> None:  # noqa: N802 - Qt's name
        super().focusOutEvent(event)
        self.finished()


def _reveal(path: object) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
