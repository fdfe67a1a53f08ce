"""Photographs the panel in every state and joins the pictures to contact sheets.

python -m docs.make_state_sheets --out FOLDER                    # dark and light; 420, 1280, 1920
python -m docs.make_state_sheets --out FOLDER --scale 2          # with two pixels for one
python -m docs.make_state_sheets --out FOLDER --only 'done|heat' --sizes 420 --themes dark

The worker is a fake (`tests/ui/states.py`), so that all states take two minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from tests.ui.states import STATES, Scene, reach
from verdigris.ui.style.colours import DARK, THEMES, apply_theme

SIZES = {420: (420, 900), 1280: (1280, 800), 1920: (1920, 1080)}
# Pictures side by side and below each other, and the width of each on a sheet.
SHEETS = {420: (5, 2, 420), 1280: (2, 3, 1000), 1920: (2, 3, 1000)}
_TITLE, _GAP = 22, 6


def settle(seconds: float = 0.12) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        QApplication.processEvents()
        time.sleep(0.005)


def grab(scene: Scene) -> QImage:
    """The window, and a dialog in front of it."""
    image = scene.window.grab().toImage()
    for box in scene.window.findChildren(QMessageBox):
        if box.isVisible():
            _paint_over(image, box, scene.window)
    return image


def _paint_over(image: QImage, box: QWidget, window: QWidget) -> None:
    painter = QPainter(image)
    place = window.rect().center() - box.rect().center()
    painter.drawPixmap(place, box.grab())
    painter.end()


def shoot(name: str, options: argparse.Namespace) -> None:
    """Takes pictures of one state, in all sizes and palettes."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VERDIGRIS_CONFIG_DIR"] = folder
        scene = reach(name, Path(folder))
        for theme in options.themes:
            apply_theme(QApplication.instance(), theme)
            for width in options.sizes:
                scene.window.resize(QSize(*SIZES[width]))
                settle()
                scene.draw()
                settle()
                target = options.out / f"{name}_{width}_{theme}.png"
                if not grab(scene).save(str(target)):
                    raise SystemExit(f"{target} cannot be written")
        scene.panel.shutdown()
        scene.window.hide()
        scene.window.deleteLater()
        apply_theme(QApplication.instance(), DARK)
        settle(0.02)


def join(names: list[str], width: int, theme: str, out: Path) -> None:
    """Writes the sheets of one size and palette."""
    across, down, cell = SHEETS[width]
    height = round(cell * SIZES[width][1] / width)
    for number in range(0, len(names), across * down):
        page = names[number : number + across * down]
        rows = -(-len(page) // across)
        sheet = QImage(
            across * (cell + _GAP), rows * (height + _TITLE + _GAP), QImage.Format.Format_RGB32
        )
        sheet.fill(Qt.GlobalColor.black)
        painter = QPainter(sheet)
        painter.setPen(Qt.GlobalColor.white)
        for at, name in enumerate(page):
            left, top = at % across * (cell + _GAP), at // across * (height + _TITLE + _GAP)
            painter.drawText(left + 4, top + _TITLE - 6, name)
            found = QImage(str(out / f"{name}_{width}_{theme}.png"))
            found.setDevicePixelRatio(1)
            smooth = Qt.TransformationMode.SmoothTransformation
            found = found.scaled(cell, height, Qt.AspectRatioMode.KeepAspectRatio, smooth)
            painter.drawImage(left, top + _TITLE, found)
        painter.end()
        target = out / f"sheet_{width}_{theme}_{number // (across * down) + 1}.png"
        sheet.save(str(target))
        print(target, flush=True)


def make_screen(folder: str) -> None:
    """Makes Qt draw on a screen that holds the largest window: its own has 800 x 800 pixels."""
    width, height = (2 * max(sizes) for sizes in zip(*SIZES.values(), strict=True))
    screen = {"name": "sheets", "x": 0, "y": 0, "width": width, "height": height}
    config = Path(folder) / "screen.json"
    dots = {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    config.write_text(json.dumps({"screens": [screen | dots]}), "utf-8")
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={config}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="only states with such names (regex)")
    parser.add_argument("--scale", default="1", help="pixels of the screen for one of the window")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--themes", nargs="+", default=list(THEMES), choices=THEMES)
    options = parser.parse_args()
    os.environ["QT_SCALE_FACTOR"] = options.scale
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        make_screen(folder)
        QApplication([])
    apply_theme(QApplication.instance(), DARK)
    names = [name for name in STATES if re.search(options.only, name)]
    for name in names:
        shoot(name, options)
    for theme in options.themes:
        for width in options.sizes:
            join(names, width, theme, options.out)


if __name__ == "__main__":
    main()
