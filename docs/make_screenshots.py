"""Makes the screenshots of the panel during a real bake.

python docs/make_screenshots.py [--out FOLDER] [--dark]
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.memory import Memory
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.paint.weight_map import Brush
from verdigris.ui.panel import Panel
from verdigris.ui.qt.colours import dark_palette

REPOSITORY = Path(__file__).parents[1]
# Name, size, page and layout of the viewport.
SHOTS = (
    ("panel", (1280, 800), "Material", "wipe"),
    ("panel_compare", (1280, 800), "Paint", "side by side"),
    ("panel_docked", (420, 900), "Learning", "wipe"),
    ("panel_docked_paint", (420, 900), "Paint", "wipe"),
    ("panel_docked_settings", (420, 900), "Settings", "heat"),
)
BAKE = {"resolution": 128, "batch": 2048, "iterations": 20_000, "target_error": 0.005}
PATIENCE = 240


def wait(application: QApplication, holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not holds():
        application.processEvents()
        time.sleep(0.01)


def is_drawn(model: PanelModel) -> bool:
    """Whether the pictures show the present view, with the reference in full size."""
    reference, neural = (model.pictures.parts[part] for part in ("reference", "neural"))
    is_new = reference.view == neural.view == model.view.number
    return is_new and reference.sharp == 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "images")
    parser.add_argument("--dark", action="store_true", help="in the dark palette")
    parser.add_argument("--errors", type=int, default=8, help="measurements to wait for")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    application.setStyle("Fusion")
    if options.dark:
        application.setPalette(dark_palette())
    with tempfile.TemporaryDirectory() as folder:
        memory = Memory(QSettings(f"{folder}/memory.ini", QSettings.Format.IniFormat))
        host = FilesHost(REPOSITORY / "examples" / "copper_tray.mtlx")
        panel = Panel(PanelModel(host), None, memory)
        model = panel.model
        model.set_choices(folder=folder, **BAKE)
        panel.show()
        wait(application, lambda: model.can("start"))
        model.start()
        wait(application, lambda: len(model.bake.history.errors()[0]) >= options.errors)
        model.weights.begin_stroke()
        for number in range(24):
            model.weights.dab(0.3 + 0.02 * number, 0.45 + 0.008 * number, Brush())
        model.weights.end_stroke()
        wait(application, lambda: model.pictures.error_map is not None)
        for name, size, page, mode in SHOTS:
            panel.resize(*size)
            wait(application, lambda: False, 0.3)
            panel.viewport.set_mode(mode)
            pages = [panel.tabs.tabText(each) for each in range(panel.tabs.count())]
            panel.tabs.setCurrentIndex(pages.index(page))
            wait(application, lambda: is_drawn(model), 60)
            target = options.out / f"{name}{'_dark' if options.dark else ''}.png"
            if not panel.grab().save(str(target)):
                parser.exit(1, f"{target} cannot be written\n")
            print(target)
        # no question about the bake
        panel.shutdown()


if __name__ == "__main__":
    main()
