"""Lists of files show the picture of the newest bake."""

import json
import os

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QRect, QSettings
from PySide6.QtGui import QColor, QImage, QPainter

from verdigris.core.hosts.result_folders import find_result
from verdigris.ui.cards.welcome import Welcome
from verdigris.ui.memory import Memory
from verdigris.ui.queue.bake_queue import Item
from verdigris.ui.queue.queue_box import Ring


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
    welcome = Welcome(lambda: None, lambda _: None, lambda _: None)
    qtbot.addWidget(welcome)
    welcome.show_recent(memory.recent(), lambda path: memory.bundle_of(path) or find_result(path))
    assert [middle_of(each.icon()) for each in welcome.recent] == ["#00ff00", "#ffff00"]


def test_a_material_that_waits_in_the_queue_shows_the_bake_before(qtbot, tmp_path):
    make_bundle(tmp_path, "bark", "#ff0000")
    ring = Ring(Item(tmp_path / "oak.mtlx"))
    qtbot.addWidget(ring)
    image = ring.grab().toImage()
    assert image.pixelColor(image.width() // 2, image.height() // 2).name() == "#ff0000"
    # one without shows a page, whose middle is empty
    ring = Ring(Item(tmp_path / "beech.mtlx"))
    qtbot.addWidget(ring)
    image = ring._picture.toImage()
    assert image.pixelColor(22, 22).alpha() == 0 and image.pixelColor(15, 22).alpha() > 100
