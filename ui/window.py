"""`verdigris panel`: the panel in a window of its own."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, QMimeData, Qt
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QWidget

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.panel import OWN_WINDOW, Panel
from verdigris.ui.signals.notices import ERROR, WARNING

_SIZE = (1280, 800)
_DOCUMENTS = "MaterialX (*.mtlx)"


class Window(QMainWindow):
    """A window with a menu and the panel."""

    def __init__(
        self, host: FilesHost, memory: Memory | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._host = host
        self.panel = Panel(PanelModel(host), self, memory)
        self.setCentralWidget(self.panel)
        self.setProperty(OWN_WINDOW, True)
        self.setWindowTitle("Verdigris")
        self.resize(*_SIZE)
        self.setAcceptDrops(True)
        menu = self.menuBar().addMenu("&File")
        for text, keys, action in (
            ("&Open…", QKeySequence.StandardKey.Open, self._choose),
            ("&Quit", QKeySequence.StandardKey.Quit, self.close),
        ):
            entry = QAction(text, self)
            entry.setShortcut(QKeySequence(keys))
            entry.triggered.connect(lambda _=False, do=action: do())
            menu.addAction(entry)

    def open(self, path: Path) -> None:
        """Opens a document. If it cannot be read, the present one stays open."""
        model = self.panel.model
        if model.is_busy:
            # the result would be noted in the other document
            text = f"Finish or cancel the bake before you open {path.name}."
            model.notices.add(WARNING, text)
            return
        try:
            self._host.open_scene(path)
        except VerdigrisError as failure:
            model.notices.add(ERROR, str(failure))
            return
        model.notices.clear()
        self.setWindowTitle(f"{path.name} - Verdigris")
        model.refresh_materials()

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Open a MaterialX document", "", _DOCUMENTS)
        if path:
            self.open(Path(path))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802 - Qt's names, as below
        if _dropped_document(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        path = _dropped_document(event.mimeData())
        if path:
            event.acceptProposedAction()
            self.open(path)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        if not self.panel.closing.allows():
            event.ignore()
            return
        self.panel.shutdown()
        super().closeEvent(event)


def _dropped_document(dropped: QMimeData) -> Path | None:
    """The MaterialX document among dropped files. None unless there is exactly one."""
    paths = [Path(url.toLocalFile()) for url in dropped.urls() if url.isLocalFile()]
    documents = [path for path in paths if path.suffix.lower() == ".mtlx"]
    return documents[0] if len(documents) == 1 else None


def run(
    file: Path | None,
    mesh: Path | None = None,
    search: tuple[Path, ...] = (),
    confined: bool = False,
) -> int:
    """Shows the window and returns when it is closed."""
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
    host = FilesHost(mesh=mesh, search=search, confined=confined)
    window = Window(host)
    window.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose)
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
