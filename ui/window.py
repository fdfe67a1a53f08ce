"""`verdigris panel`: the panel in a window of its own."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QLibraryInfo, Qt
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QCloseEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QKeySequence,
    QShowEvent,
)
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QStackedWidget, QWidget

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.result_folders import find_result
from verdigris.ui.cards.welcome import Welcome
from verdigris.ui.dropping import Drops, DropTarget
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.panel import OWN_WINDOW, Panel
from verdigris.ui.qt.binding import bind
from verdigris.ui.shelf.bake_queue import BakeQueue
from verdigris.ui.shelf.shelf import Documents
from verdigris.ui.shelf.shelf_page import ShelfPage
from verdigris.ui.signals import ERROR, WARNING
from verdigris.ui.style.colours import DARK, THEMES, apply_theme
from verdigris.ui.style.later import later
from verdigris.ui.style.metrics import ICON
from verdigris.ui.style.sheet import wear_sheet
from verdigris.ui.widgets.thumbnails import icon_of

_SIZE = (1280, 800)
_DOCUMENTS = "Materials (*.mtlx *.slang *.hlsl *.binary *.bsdf lights.json)"


class Window(QMainWindow):
    """A window with a menu and the panel."""

    def __init__(
        self, host: FilesHost, memory: Memory | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setProperty(OWN_WINDOW, True)
        self._host = host
        self._memory = memory or Memory()
        self.panel = Panel(PanelModel(host), self, self._memory)
        model = self.panel.model
        self.queue = BakeQueue(model, self.open)
        self.shelf = self.panel.pages.shelf.shelf
        ways = (self._memory.recent, self.open, self.add_to_queue, self._forget, self._find_bundle)
        self.shelf.use(Documents(self.queue, *ways))
        self.welcome = Welcome(self._choose, self._bake_at_once, ShelfPage(self.shelf, keeps=False))
        bind(self, self.shelf.changed, self._show_shelf)
        wear_sheet(self)
        self.pages = QStackedWidget()
        self.pages.addWidget(self.welcome)
        self.pages.addWidget(self.panel)
        self.setCentralWidget(self.pages)
        self._show_page()
        self._bakes_next = False
        for change in (
            model.state.materials_changed,
            model.state.notices.changed,
            model.link.health_changed,
        ):
            change.connect(self._show_page)
        model.link.state_changed.connect(self._bake_if_ready)
        model.link.state_changed.connect(self._note_bundle)
        self.setWindowTitle("Verdigris")
        self._restore_place()
        self.drops = DropTarget(self, Drops(model, self.shelf))
        self._make_menus()

    def _show_shelf(self) -> None:
        self.welcome.show_shelf(bool(self.shelf.entries))

    def _forget(self, document: Path) -> Callable[[], None]:
        """Takes a document out of the recent ones. Returns what brings it back."""
        self._memory.forget_recent(document)
        return lambda: self._memory.add_recent(document)

    def _find_bundle(self, document: Path) -> Path | None:
        """The bundle for the picture of a document."""
        noted = self._memory.bundle_of(document)
        return noted if noted is not None and noted.is_dir() else find_result(document)

    def _note_bundle(self) -> None:
        result, scene = self.panel.model.state.bake.result, self._host.scene_file()
        if result is not None and scene is not None and not self.panel.model.link.is_busy:
            self._memory.note_bundle(scene.absolute(), result.bundle)

    def _fill_recent(self) -> None:
        """Lists the documents that were open before, each with its picture."""
        self.recent.clear()
        for path in self._memory.recent():
            icon = icon_of(self._find_bundle(path), 2 * ICON)
            entry = self.recent.addAction(icon, path.name.replace("&", "&&"))
            entry.setToolTip(str(path))
            entry.triggered.connect(lambda _=False, path=path: self.open(path))

    def _restore_place(self) -> None:
        """Restores size and place of the last session, on a screen that is connected now."""
        stored = self._memory.layout("window")
        if stored is None or not self.restoreGeometry(stored):
            self.resize(*_SIZE)
        self._keep_on_screen()

    def _keep_on_screen(self) -> None:
        """Makes the window no larger than the screen, and moves it inside the screen."""
        room, place = self.screen().availableGeometry(), self.geometry()
        frame = self.frameGeometry()
        room.adjust(
            place.left() - frame.left(),
            place.top() - frame.top(),
            place.right() - frame.right(),
            place.bottom() - frame.bottom(),
        )
        if room.contains(place):
            return
        place.setSize(place.size().boundedTo(room.size()))
        place.moveLeft(max(room.left(), min(place.left(), room.right() + 1 - place.width())))
        place.moveTop(max(room.top(), min(place.top(), room.bottom() + 1 - place.height())))
        self.setGeometry(place)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's names, as below
        super().showEvent(event)
        # the desktop has given it a frame now
        later(self, self._keep_on_screen)

    def _make_menus(self) -> None:
        menu = self.menuBar().addMenu("&File")
        for text, keys, action in (
            ("&Open…", QKeySequence.StandardKey.Open, self._choose),
            ("Bake a &folder…", "Ctrl+Shift+O", self._choose_folder),
            ("&Quit", QKeySequence.StandardKey.Quit, self.close),
        ):
            entry = QAction(text, self)
            entry.setShortcut(QKeySequence(keys))
            entry.triggered.connect(lambda _=False, do=action: do())
            menu.addAction(entry)
            if action == self._choose:
                self.recent = menu.addMenu("Open &recent")
                self.recent.setToolTipsVisible(True)
                self.recent.aboutToShow.connect(self._fill_recent)
        looks = self.menuBar().addMenu("&View")
        self.themes = QActionGroup(self)
        for theme in THEMES:
            entry = QAction(theme.capitalize(), self.themes, checkable=True)
            entry.setChecked(theme == stored_theme(self._memory))
            entry.triggered.connect(lambda _=False, theme=theme: self._set_theme(theme))
            looks.addAction(entry)

    def _set_theme(self, theme: str) -> None:
        self._memory.store_text("theme", theme)
        apply_theme(QApplication.instance(), theme)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's names, as below
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            wear_sheet(self)

    def _show_page(self) -> None:
        """Shows the welcome page until there is something to show in the panel."""
        model = self.panel.model
        has_something = model.state.current is not None or self._host.scene_file() is not None
        is_panel = has_something or bool(model.state.notices)
        self.pages.setCurrentWidget(self.panel if is_panel else self.welcome)

    def _bake_at_once(self, path: Path, live: tuple[str, ...] = ()) -> None:
        """Opens a document with live inputs, and bakes it as soon as that is possible."""
        self._bakes_next = self.open(path, live)
        self._bake_if_ready()

    def _bake_if_ready(self) -> None:
        model = self.panel.model
        if self._bakes_next and model.state.report is not None and not model.link.doing:
            self._bakes_next = False
            model.start()

    def add_to_queue(self, paths: list[Path]) -> None:
        """Adds documents and folders to the queue, and shows it."""
        self.queue.add(paths)
        self.panel.pages.open(self.panel.pages.shelf)
        if not self.queue.items:
            text = f"{paths[0]}: contains no MaterialX documents (.mtlx)"
            self.panel.model.state.notices.add(WARNING, text)

    def open(self, path: Path, live: tuple[str, ...] = ()) -> bool:
        """Opens a document. Returns whether it could be read. If not, the present one stays
        open. Materials without a choice of live inputs get `live`."""
        model = self.panel.model
        if model.link.is_busy:
            # the result would be noted in the other document
            text = f"Finish or cancel the bake before you open {path.name}."
            model.state.notices.add(WARNING, text)
            return False
        try:
            self._host.open_scene(path)
            for each in self._host.materials() if live else ():
                model.state.living.setdefault(self._host.identity(each), live)
        except VerdigrisError as failure:
            model.state.notices.add(ERROR, str(failure))
            return False
        model.state.notices.clear()
        self.setWindowTitle(f"{path.name} - Verdigris")
        self._memory.add_recent(path.absolute())
        self.shelf.refresh()
        model.refresh_materials()
        self._show_page()
        return True

    def _choose_folder(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Bake all documents in a folder")
        if path:
            self.add_to_queue([Path(path)])

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open a material", "", _DOCUMENTS)
        if path:
            self.open(Path(path))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        self.drops.enter(event)

    def dragLeaveEvent(self, _event: QDragLeaveEvent) -> None:  # noqa: N802
        self.drops.leave()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        self.drops.drop(event)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        if not self.panel.closing.allows():
            event.ignore()
            return
        self._memory.store_layout("window", self.saveGeometry())
        # a bake that ends now would start the next one
        self.queue.stop()
        self.panel.shutdown()
        super().closeEvent(event)


def stored_theme(memory: Memory) -> str:
    """The theme that the artist has chosen; dark without a choice."""
    theme = memory.text("theme", DARK)
    return theme if theme in THEMES else DARK


def run(
    file: Path | None,
    mesh: Path | None = None,
    search: tuple[Path, ...] = (),
    confined: bool = False,
    is_linked: bool = False,
) -> int:
    """Shows the window and returns when it is closed. `is_linked` switches the live link on."""
    if sys.platform == "linux" and not _has_display():
        raise VerdigrisError(
            "the panel needs a display, and DISPLAY and WAYLAND_DISPLAY are not set: use "
            "'verdigris bake', or set QT_QPA_PLATFORM"
        )
    missing = _missing_x11_library() if sys.platform == "linux" else ""
    if missing:
        raise VerdigrisError(
            f"Qt cannot open a window: the library {missing} is missing. Install it. On Debian "
            "and Ubuntu, install libxcb-cursor0, libxcb-icccm4, libxcb-image0, libxcb-keysyms1, "
            "libxcb-render-util0, libxcb-xkb1 and libxkbcommon-x11-0."
        )
    application = QApplication.instance() or QApplication(sys.argv[:1])
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    memory = Memory()
    apply_theme(application, stored_theme(memory))
    host = FilesHost(mesh=mesh, search=search, confined=confined)
    window = Window(host, memory)
    window.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose)
    if is_linked:
        window.panel.model.switch_link(is_on=True)
    if file is not None:
        window.open(file)
    window.show()
    return int(application.exec())


def _missing_x11_library() -> str:
    """The library without which Qt would end the process when it opens an X11 window."""
    if not os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        return ""
    if os.environ.get("QT_QPA_PLATFORM", "xcb") != "xcb":
        return ""
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    plugin = plugins / "platforms" / "libqxcb.so"
    try:
        # a Qt without this plug-in reports the problem itself
        if plugin.is_file():
            ctypes.CDLL(str(plugin))
    except OSError as failure:
        return str(failure).partition(":")[0]
    return ""


def _has_display() -> bool:
    return any(os.environ.get(n) for n in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))
