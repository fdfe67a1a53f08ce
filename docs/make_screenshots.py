"""Makes screenshots of the panel in each of its states during a real bake.

python docs/make_screenshots.py [--out FOLDER]           # the pictures of the manual
python docs/make_screenshots.py --all --out FOLDER       # every state, size and palette
python docs/make_screenshots.py --all --scale 2 --out FOLDER
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPointF, QSettings, QSize
from PySide6.QtWidgets import QApplication

from verdigris.core.hosts.file_host import FilesHost
from verdigris.ui.memory import Memory
from verdigris.ui.paint.weight_map import Brush
from verdigris.ui.style.colours import DARK, THEMES, apply_theme
from verdigris.ui.window import Window

REPOSITORY = Path(__file__).parents[1]
SIZES = ((420, 900), (1280, 800), (1920, 1080))
# Pictures of the manual: the state, its size, and the file.
MANUAL = {("training", SIZES[1]): "panel", ("painting", SIZES[0]): "panel_docked_paint"}
BAKE = {"resolution": 128, "batch": 2048, "iterations": 20_000, "target_error": 0.005}
SHORT = {"resolution": 64, "batch": 1024, "iterations": 400, "target_error": 0.0}
PATIENCE = 240
WITHOUT = """<materialx version="1.39"><image name="i" type="color3">
<input name="file" type="filename" value="maps/oak_color.png"/></image>
<oren_nayar_diffuse_bsdf name="d" type="BSDF"><input name="color" type="color3" nodename="i"/>
</oren_nayar_diffuse_bsdf><surface name="s" type="surfaceshader">
<input name="bsdf" type="BSDF" nodename="d"/></surface><surfacematerial name="oak" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""


class Shooter:
    """A window, and the states that it goes through."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.application = QApplication.instance()
        memory = Memory(QSettings(f"{folder}/memory.ini", QSettings.Format.IniFormat))
        examples = folder / "examples"
        shutil.copytree(REPOSITORY / "examples", examples)
        self.document = examples / "copper_tray.mtlx"
        memory.add_recent(self.document)
        self.window = Window(FilesHost(), memory)
        self.panel, self.model = self.window.panel, self.window.panel.model
        self.model.set_choices(folder=str(folder / "neural"), preset="draft", **BAKE)
        self.window.show()

    def wait(self, holds: Callable[[], bool], seconds: float = PATIENCE) -> bool:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not holds():
            self.application.processEvents()
            time.sleep(0.005)
        return holds()

    def is_drawn(self) -> bool:
        """Whether the pictures show the present view, with the reference in full size."""
        parts = [self.model.state.pictures.parts.get(part) for part in ("reference", "neural")]
        if parts[0] is None or parts[0].view != self.model.state.view.number or parts[0].sharp < 1:
            return False
        return parts[1] is None or parts[1].view == self.model.state.view.number

    def shoot(self, state: str, pages: tuple[str, ...] = (), mode: str = "wipe") -> None:
        """Takes the present state in the sizes and palettes that were requested."""
        for theme in THEMES if self.options.all else (DARK,):
            for size in SIZES:
                name = MANUAL.get((state, size), "")
                if self.options.all:
                    name = f"{state}_{size[0]}_{theme}"
                if not name or not re.search(self.options.only, name):
                    continue
                apply_theme(self.application, theme)
                self.window.resize(QSize(*size))
                self.wait(lambda: False, 0.2)
                self.panel.viewport.set_mode(mode)
                self.panel.pages.show_only(list(pages))
                viewport = self.panel.viewport
                at = QPointF(0.62 * viewport.width(), 0.6 * viewport.height())
                viewport._pointer = at if viewport.paints else None
                if self.model.state.report is not None and not self.model.state.is_refused:
                    self.wait(self.is_drawn, self.options.seconds if self.options.all else 120)
                self.wait(lambda: False, 0.2)
                target = self.options.out / f"{name}.png"
                if not self.window.grab().save(str(target)):
                    raise SystemExit(f"{target} cannot be written")
                print(target, flush=True)

    def open(self) -> None:
        self.window.open(self.document)
        self.wait(lambda: self.model.can("start"))

    def bake(self, **choices: object) -> None:
        self.model.set_choices(**choices)
        self.model.start()
        self.wait(lambda: self.model.link.state == "done")

    def paint(self) -> None:
        self.model.state.weights.begin_stroke()
        for number in range(24):
            self.model.state.weights.dab(0.3 + 0.02 * number, 0.45 + 0.008 * number, Brush())
        self.model.state.weights.end_stroke()

    def live(self) -> None:
        """A live input is chosen, and moved after a bake."""
        model = self.model
        self.window.open(self.document.with_name("street_stone.mtlx"))
        self.wait(lambda: model.can("start"))
        model.set_choices(live=("wetness=0..1",))
        self.wait(lambda: model.state.live.pictures is not None)
        model.set_live("wetness", 0.6)
        self.shoot("live", ("Live",))
        self.bake(**SHORT)
        self.shoot("live_done", ("Bake", "Live"))

    def run(self) -> None:
        model, panel = self.model, self.panel
        self.shoot("welcome")
        self.open()
        self.shoot("ready", ("Bake", "Material"))
        if self.options.all:
            # a version for the history
            self.bake(**SHORT)
        model.set_choices(**BAKE)
        model.start()
        self.wait(lambda: len(model.state.bake.history.errors()[0]) >= self.options.errors)
        self.shoot("training", ("Bake", "Material"))
        self.paint()
        panel.pages.paint.in_view.setChecked(True)
        self.wait(lambda: model.state.pictures.places is not None, 20)
        self.shoot("painting", ("Paint",))
        panel.pages.paint.in_view.setChecked(False)
        if not self.options.all:
            return
        model.pause()
        self.wait(lambda: model.link.state == "paused")
        self.shoot("paused", ("Bake", "Settings"))
        self.shoot("difference", ("Bake",), "heat")
        self.shoot("compare", ("Bake",), "side by side")
        model.resume()
        self.wait(lambda: model.link.state == "training")
        model.finish()
        self.wait(lambda: model.link.state in ("refining", "done"))
        self.shoot("kept", ("Bake", "Shelf"))
        self.wait(lambda: model.link.state == "done")
        self.shoot("done", ("Bake",))
        self.shoot("shelf", ("Shelf",))
        hero = model.state.choices.with_values({"preset": "final", "target": "good"})
        model.state.own_presets.save("Hero props", hero)
        panel.pages.settings.more.setChecked(True)
        self.shoot("settings", ("Settings",))
        names = ("glazed_tile", "painted_wood", "car_paint")
        self.window.add_to_queue([self.document.with_name(f"{each}.mtlx") for each in names])
        self.wait(lambda: False, 0.2)
        self.shoot("queue", ("Shelf",))
        self.window.queue.items.clear()
        self.window.queue.changed.emit()
        self.live()
        broken = self.folder / "oak.mtlx"
        broken.write_text(WITHOUT)
        self.window.open(broken)
        self.wait(lambda: model.state.report is not None)
        self.shoot("errors", ("Bake", "Material"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "images")
    parser.add_argument("--all", action="store_true", help="every state, size and palette")
    parser.add_argument("--only", default="", help="only pictures with such names (regex)")
    parser.add_argument("--seconds", type=float, default=20, help="the most for each picture")
    parser.add_argument("--scale", default="1", help="pixels of the screen for one of the window")
    parser.add_argument("--errors", type=int, default=8, help="measurements to wait for")
    options = parser.parse_args()
    os.environ["QT_SCALE_FACTOR"] = options.scale
    options.out.mkdir(parents=True, exist_ok=True)
    QApplication([])
    apply_theme(QApplication.instance(), DARK)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VERDIGRIS_CONFIG_DIR"] = folder
        shooter = Shooter(options, Path(folder))
        shooter.run()
        # no question about the bake
        shooter.panel.shutdown()


if __name__ == "__main__":
    main()
