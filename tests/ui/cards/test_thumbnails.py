"""Lists of files show the picture of the newest bake."""

import json
import os

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QPoint, QRect, QSettings
from PySide6.QtGui import QColor, QImage, QPainter

from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.result_folders import find_result
from verdigris.ui.memory import Memory
from verdigris.ui.window import Window


def make_bundle(folder, name, colour, document="oak.mtlx", age=0):
    """What lists read of a bundle; its preview has the colour in the middle third."""
    bundle = folder / "neural" / f"{name}.vdg"
    bundle.mkdir(parents=True)
    manifest = bundle / "manifest.json"
    manifest.write_text(json.dumps({"source": {"document": document}}))
    os.utime(manifest, (1e9 - age, 1e9 - age))
    strip = QImage(192, 64, QImage.Format.Format_RGB32)
    strip.fill(QColor("black"))
    painter = QPainter(strip)
    painter.fillRect(QRect(64, 0, 64, 64), QColor(colour))
    painter.end()
    assert strip.save(str(bundle / "preview.png"))
    return bundle


def middle_of(icon):
    image = icon.pixmap(40, 40).toImage()
    return image.pixelColor(image.width() // 2, image.height() // 2).name()


def test_recent_files_show_their_newest_bundle_or_one_elsewhere(qtbot, tmp_path):
    oak, ash = tmp_path / "oak.mtlx", tmp_path / "ash.mtlx"
    make_bundle(tmp_path, "bark", "#ff0000", age=9)
    newest = make_bundle(tmp_path, "wood", "#00ff00")
    make_bundle(tmp_path, "ash", "#0000ff", "other.mtlx", age=-9)
    elsewhere = make_bundle(tmp_path / "far", "ash", "#ffff00", "ash.mtlx")
    assert find_result(oak) == newest and find_result(ash) is None
    assert find_result(oak, "bark").name == "bark.vdg" and find_result(oak, "none") is None

    for path in (oak, ash):
        path.write_text("<materialx/>")
    memory = Memory(QSettings(str(tmp_path / "m.ini"), QSettings.Format.IniFormat))
    for path in (ash, oak):
        memory.add_recent(path)
    memory.note_bundle(ash, elsewhere)
    window = Window(FilesHost(), memory)
    qtbot.addWidget(window)
    # one that waits shows the bake before, and one without a bake a page, whose middle is empty
    (tmp_path / "beech.mtlx").write_text("<materialx/>")
    window.queue.add([tmp_path / "beech.mtlx"])
    page = window.welcome.shelf
    drawn = page.list.grab().toImage()
    colours = {}
    for row, entry in enumerate(page.list.entries.all):
        middle = page.list.visualRect(page.list.entries.index(row)).topLeft() + QPoint(56, 56)
        colours[entry.name] = drawn.pixelColor(middle).name()
    assert (colours["oak"], colours["ash"]) == ("#00ff00", "#ffff00")
    assert colours["beech"] not in ("#00ff00", "#ffff00", "#ff0000")
    window.panel.shutdown()
