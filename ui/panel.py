"""The panel: one widget for Maya, Houdini and the stand-alone window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QTabWidget, QVBoxLayout, QWidget

from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import Host
from verdigris.ui.cards.closing import Closing
from verdigris.ui.cards.history_page import HistoryPage
from verdigris.ui.cards.learning import Learning
from verdigris.ui.cards.overlay import CardOverlay
from verdigris.ui.first_run.selftest_offer import SelftestOffer
from verdigris.ui.first_run.set_up_box import SetUpBox
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.colours import keep_readable
from verdigris.ui.qt.keys import Keys
from verdigris.ui.widgets.banner import Banner
from verdigris.ui.widgets.help_button import HelpButton
from verdigris.ui.widgets.material_picker import MaterialPage, MaterialPicker
from verdigris.ui.widgets.paint_page import PaintPage
from verdigris.ui.widgets.settings_form import SettingsForm
from verdigris.ui.widgets.transport import StatusBox
from verdigris.ui.widgets.view_bar import ViewBar
from verdigris.ui.widgets.viewport import MODES, WIPE, Viewport

TICK_MS = 40
# Set on a window that shows nothing but the panel.
OWN_WINDOW = "verdigris_own_window"
# A narrower panel has one column.
_WIDE_FROM = 760
_SIDE_WIDTH = 400
# The share of the viewport in the height of one column.
_VIEW_SHARE = 0.42


class Panel(QWidget):
    """The material list, the buttons and the viewport, with pages beside or below it."""

    def __init__(
        self,
        model: PanelModel,
        parent: QWidget | None = None,
        memory: Memory | None = None,
    ) -> None:
        super().__init__(parent)
        self.model = model
        self._memory = memory or Memory()
        model.set_choices(**vars(self._memory.choices()))
        model.predictions.read_json(self._memory.outcomes())
        self.setWindowTitle("Verdigris")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
        keep_readable(self)
        self._is_wide: bool | None = None
        self.picker = MaterialPicker(model)
        self.help = HelpButton(model)
        self.banner = Banner(model)
        self.set_up = SetUpBox(model)
        self.selftest = SelftestOffer(model)
        self.status = StatusBox(model)
        self.viewport = Viewport(model)
        self.view_bar = ViewBar(model, self.viewport)
        self.learning = Learning(model)
        self.report = MaterialPage(model)
        self.settings = SettingsForm(model)
        self.paint = PaintPage(model, self.viewport)
        self.history = HistoryPage(model)
        self.cards = CardOverlay(model, self.viewport)
        self.closing = Closing(model, self, self._close_window)
        self._compose()
        self._bind_keys()
        bind(self, model.state_changed, self._place_presets)
        bind(self, model.history.changed, self._store_outcomes)
        self._restore()
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(model.tick)
        self._timer.start()
        application = QCoreApplication.instance()
        if application is not None:
            application.aboutToQuit.connect(self.shutdown)
        self.destroyed.connect(lambda *_: model.close())
        QTimer.singleShot(0, self._begin)

    def _begin(self) -> None:
        host = self.model.host
        if isinstance(host, FilesHost) and host.scene_file() is None:
            # the window shows its welcome page
            return
        # the caller may have opened a document, or reported why it could not
        if self.model.current is None and not self.model.notices:
            self.model.refresh_materials()

    def _compose(self) -> None:
        view_box = QWidget()
        column = QVBoxLayout(view_box)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self.viewport, 1)
        column.addWidget(self.view_bar)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        for page, name in (
            (self.report, "Material"),
            (self.settings, "Settings"),
            (self.paint, "Paint"),
            (self.history, "History"),
        ):
            self.tabs.addTab(page, name)
        self.side = QSplitter(Qt.Orientation.Vertical)
        self.side.addWidget(self.learning)
        self.side.addWidget(self.tabs)
        self.side.setStretchFactor(0, 2)
        self.side.setStretchFactor(1, 3)
        self.splitter = QSplitter()
        self.splitter.addWidget(view_box)
        self.splitter.addWidget(self.side)
        self.splitter.setStretchFactor(0, 1)
        # only positions that the artist has chosen are stored
        self.splitter.splitterMoved.connect(lambda *_: self._store_layout())
        for splitter in (self.splitter, self.side):
            splitter.setChildrenCollapsible(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(6, 6, 6, 6)
        layout.setSpacing(5)
        top = QHBoxLayout()
        top.addWidget(self.picker, 1)
        top.addWidget(self.help)
        layout.addLayout(top)
        layout.addWidget(self.status)
        for box in (self.banner, self.set_up, self.selftest):
            layout.addWidget(box)
        layout.addWidget(self.splitter, 1)

    def _bind_keys(self) -> None:
        keys = Keys(self)
        for button, pressed_by in self.status.transport.keys.items():
            keys.press(button, pressed_by)
        keys.press(self.picker.reload, "F5")
        keys.press(self.banner.dismiss, "Esc")

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's names, here and below
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            keep_readable(self)

    def resizeEvent(self, event: object) -> None:  # noqa: N802
        super().resizeEvent(event)
        self._arrange(self.width() >= _WIDE_FROM)

    def _arrange(self, is_wide: bool) -> None:
        """Arranges the panel in two columns, or in one."""
        if is_wide == self._is_wide:
            return
        self._is_wide = is_wide
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        self.splitter.setOrientation(across if is_wide else down)
        page = self.tabs.currentWidget()
        if is_wide:
            self.side.insertWidget(0, self.learning)
            # it is hidden if another page was in front
            self.learning.show()
        else:
            self.tabs.insertTab(0, self.learning, "Learning")
        if page is not None:
            self.tabs.setCurrentWidget(page)
        self._place_presets()
        # after the widgets have their new size
        QTimer.singleShot(0, self._divide)

    def _place_presets(self) -> None:
        """Shows the presets once: in the place of the chart, or on the page of settings."""
        is_beside = bool(self._is_wide) and not self.learning.has_chart
        self.settings.presets.setHidden(is_beside)

    def _divide(self) -> None:
        """Restores the sizes that the artist has chosen, or sets defaults."""
        orientation = self.splitter.orientation()
        stored = self._memory.layout(self._layout_name())
        if stored is None or not self.splitter.restoreState(stored):
            is_wide = bool(self._is_wide)
            room = self.splitter.width() if is_wide else self.splitter.height()
            first = room - _SIDE_WIDTH if is_wide else round(_VIEW_SHARE * room)
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
        shape = self._memory.text("shape", "sphere")
        self.model.set_view(shape=shape if shape in ("sphere", "plane") else "sphere")
        page = self._memory.text("page", "Material")
        for index in range(self.tabs.count()):
            if self.tabs.tabText(index) == page:
                self.tabs.setCurrentIndex(index)
        self.settings.more.setChecked(self._memory.text("more", "no") == "yes")
        geometry = self._memory.layout("geometry")
        if geometry is not None and self.parent() is None:
            self.restoreGeometry(geometry)

    def _store(self) -> None:
        memory = self._memory
        memory.store_choices(self.model.choices)
        memory.store_text("mode", self.viewport.mode)
        memory.store_text("shape", self.model.view.shape)
        memory.store_text("page", self.tabs.tabText(self.tabs.currentIndex()))
        memory.store_text("more", "yes" if self.settings.more.isChecked() else "no")
        memory.store_layout("geometry", self.saveGeometry())

    def _store_outcomes(self) -> None:
        """At once, as a host may end without closing the panel."""
        self._memory.store_outcomes(self.model.predictions.as_json())

    def shutdown(self) -> None:
        """Ends the worker and stores the choices."""
        if self._timer.isActive():
            self._timer.stop()
            self._store()
        self.model.close()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        if not self.closing.allows():
            event.ignore()
            return
        self.shutdown()
        super().closeEvent(event)

    def _close_window(self) -> None:
        """Closes the window of its own, or the panel inside of a host's window."""
        window = self.window()
        (window if window.property(OWN_WINDOW) else self).close()


def open_panel(host: Host | None = None, parent: QWidget | None = None) -> Panel:
    """The panel of a host, as a child of one of its windows. Without a host, for plain files."""
    return Panel(PanelModel(host or FilesHost()), parent)
