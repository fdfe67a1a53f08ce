"""The panel: one widget for Maya, Houdini and the stand-alone window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.cards.closing import Closing
from verdigris.ui.cards.overlay import CardOverlay
from verdigris.ui.dropping import Drops, DropTarget
from verdigris.ui.live.live_bar import LiveBar
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.pages import OPEN_AT_FIRST, Pages
from verdigris.ui.qt.binding import bind, order_tabs
from verdigris.ui.qt.keys import Keys
from verdigris.ui.session import Session
from verdigris.ui.status.status_strip import StatusStrip
from verdigris.ui.style.later import later
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.style.sheet import wear_sheet
from verdigris.ui.viewport.view_bar import ViewBar
from verdigris.ui.viewport.viewport import MODES, WIPE, Viewport
from verdigris.ui.widgets.help_menu import HelpButton
from verdigris.ui.widgets.key_sheet import OPENS, KeySheet
from verdigris.ui.widgets.link_switch import LinkBar, LinkSwitch
from verdigris.ui.widgets.material_picker import MaterialPicker

# Set on a window that shows nothing but the panel.
OWN_WINDOW = "verdigris_own_window"
# A narrower panel has one column.
_WIDE_FROM = 760
# The width of the second column: a share of the whole, within limits.
_SIDE_SHARE, _SIDE_WIDTHS = 0.32, (400, 560)
# The share of the viewport in the height of one column.
_VIEW_SHARE = 0.45


class Panel(QWidget):
    """The viewport, and beside or below it the list of materials, the buttons and the pages."""

    def __init__(
        self,
        model: PanelModel,
        parent: QWidget | None = None,
        memory: Memory | None = None,
        session: Session | None = None,
    ) -> None:
        """A view of a session, which goes on without it. Without a session, the panel has one of
        its own, which ends with it."""
        super().__init__(parent)
        self.model, self.session = model, session or Session(model, memory)
        self._is_lasting = session is not None
        self._memory = self.session.memory
        self.session.add_view(self)
        self.setWindowTitle("Verdigris")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        self._is_wide: bool | None = None
        self._wear()
        self.picker = MaterialPicker(model)
        self.help = HelpButton(model)
        self.link, self.link_bar = LinkSwitch(model), LinkBar(model)
        self.status = StatusStrip(model)
        self.viewport = Viewport(model)
        self.view_bar = ViewBar(model, self.viewport)
        self.live_bar = LiveBar(model)
        self.pages = Pages(model, self.viewport)
        self.cards = CardOverlay(model, self.viewport)
        self.status.transport.yield_to(self.pages.bake.verdict.attempt, self.cards.banner.recover)
        self.closing = Closing(model, self, self._close_window)
        self._compose()
        self.key_sheet = KeySheet(self)
        self.help.keys.triggered.connect(lambda _: self.key_sheet.toggle())
        self._bind_keys()
        bind(self, self.live_bar.built, self._order_tabs)
        self._restore()
        if not self._is_lasting:
            own = self.session
            self.destroyed.connect(lambda *_: own.close())
        later(self, self._begin)

        # a window of its own takes what is dropped anywhere on it
        self.drops = (
            None
            if parent is not None and parent.property(OWN_WINDOW)
            else DropTarget(self, Drops(model, self.pages.shelf.shelf))
        )

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's names
        if self.drops is not None:
            self.drops.enter(event)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:  # noqa: N802
        if self.drops is not None:
            self.drops.leave()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        if self.drops is not None:
            self.drops.drop(event)

    def _begin(self) -> None:
        host = self.model.host.host
        if isinstance(host, FilesHost) and host.scene_file() is None:
            # the window shows its welcome page
            return
        # the caller may have opened a document, or reported why it could not
        if self.model.state.current is None and not self.model.state.notices:
            self.model.refresh_materials()
        else:
            self.model.wake()

    def _wear(self) -> None:
        """Takes the colours of the present palette. A window of its own already has them, and
        styling all widgets twice takes a second."""
        if not self.window().property(OWN_WINDOW):
            wear_sheet(self)

    def _compose(self) -> None:
        view_box = QWidget()
        column = QVBoxLayout(view_box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self.viewport, 1)
        column.addWidget(self.live_bar)
        column.addWidget(self.view_bar)
        self.head = QWidget()
        rows = QVBoxLayout(self.head)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(HALF)
        row = QHBoxLayout()
        row.setSpacing(HALF)
        row.addWidget(self.picker, 1)
        row.addWidget(self.link)
        row.addWidget(self.help)
        rows.addLayout(row)
        rows.addWidget(self.link_bar)
        self.side = QWidget()
        self._column = QVBoxLayout(self.side)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP)
        self._column.addWidget(self.status)
        self._column.addWidget(self.pages, 1)
        self.splitter = QSplitter()
        self.splitter.setHandleWidth(GAP)
        self.splitter.addWidget(view_box)
        self.splitter.addWidget(self.side)
        self.splitter.setStretchFactor(0, 1)
        # only positions that the artist has chosen are stored
        self.splitter.splitterMoved.connect(lambda *_: self._store_layout())
        self.splitter.setChildrenCollapsible(False)
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(GAP, GAP, GAP, GAP)
        self._outer.setSpacing(GAP)
        self._outer.addWidget(self.splitter, 1)
        self._arrange(is_wide=True)

    def _bind_keys(self) -> None:
        keys = Keys(self)
        self.status.transport.bind_keys(keys)
        keys.press(self.picker.reload, "F5")
        keys.press(self.cards.banner.dismiss, "Esc")
        self.status.sparkline.clicked.connect(lambda _=False: self.pages.open(self.pages.bake))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's names, here and below
        # what no widget inside has used, as a field of text does
        if event.text() == OPENS:
            self.key_sheet.toggle()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._wear()

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange(self.width() >= _WIDE_FROM)
        if self._memory.layout(self._layout_name()) is None:
            self._divide()

    def minimumSizeHint(self) -> QSize:  # noqa: N802
        """The hint for one column, which a narrow panel has."""
        hint = super().minimumSizeHint()
        return QSize(
            min(hint.width(), self.side.minimumSizeHint().width() + 2 * GAP), hint.height()
        )

    def _arrange(self, is_wide: bool) -> None:
        """Arranges the panel in two columns, or in one."""
        if is_wide == self._is_wide:
            return
        self._is_wide = is_wide
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self.splitter.setOrientation(across if is_wide else down)
        (self._column if is_wide else self._outer).insertWidget(0, self.head)
        self._order_tabs()
        # after the widgets have their new size
        later(self, self._divide)

    def _order_tabs(self) -> None:
        view = (self.viewport, self.live_bar, self.view_bar)
        order_tabs(self, (*view, self.head, self.status, *self.pages.all.values()))

    def focusNextPrevChild(self, is_next: bool) -> bool:  # noqa: N802 - Qt's name
        # sections may have made their rows anew, which Qt puts last
        self._order_tabs()
        return super().focusNextPrevChild(is_next)

    def _divide(self) -> None:
        """Restores the sizes that the artist has chosen, or sets defaults."""
        orientation = self.splitter.orientation()
        stored = self._memory.layout(self._layout_name())
        if stored is None or not self.splitter.restoreState(stored):
            is_wide = bool(self._is_wide)
            room = self.splitter.width() if is_wide else self.splitter.height()
            least, most = _SIDE_WIDTHS
            side = round(min(most, max(least, _SIDE_SHARE * room)))
            first = room - side if is_wide else round(_VIEW_SHARE * room)
            self.splitter.setSizes([first, room - first])
        self.splitter.setOrientation(orientation)

    def _layout_name(self) -> str:
        return "layout/wide" if self._is_wide else "layout/narrow"

    def _store_layout(self) -> None:
        if self._is_wide is not None:
            self._memory.store_layout(self._layout_name(), self.splitter.saveState())

    def _restore(self) -> None:
        mode = self._memory.text("mode", WIPE)
        self.viewport.mode = mode if mode in MODES else WIPE
        # the section had this name before
        stored = self._memory.text("pages", OPEN_AT_FIRST).replace("History", "Shelf")
        self.pages.show_only(stored.split(","))
        self.pages.settings.more.setChecked(self._memory.text("more", "no") == "yes")

    def store(self) -> None:
        """Stores what is open in this view. A host destroys it without an event."""
        memory = self._memory
        memory.store_text("mode", self.viewport.mode)
        memory.store_text("pages", ",".join(self.pages.open_names))
        memory.store_text("more", "yes" if self.pages.settings.more.isChecked() else "no")

    def shutdown(self) -> None:
        """Stores the choices. Ends the worker, unless the session goes on without this panel."""
        self.store()
        if not self._is_lasting:
            self.session.close()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        if not self._is_lasting and not self.closing.allows():
            event.ignore()
            return
        self.shutdown()
        super().closeEvent(event)

    def _close_window(self) -> None:
        """Closes the panel's own window, or the panel inside a host's window."""
        window = self.window()
        (window if window.property(OWN_WINDOW) else self).close()
