"""Makes the picture of the live link: a panel bakes on the left, a game draws on the right.

    .venv/bin/python docs/make_link_picture.py [--out docs/images/link.webp] [--iterations 1500]

Needs node, Chromium, three.js (`npm install --prefix web`) and the extras `panel` and `link`. Both
halves are real: each picture shows what the window and the page show at the same moment. They are
taken about every two seconds, and played eight times as fast.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QSettings, QSize
from PySide6.QtWidgets import QApplication

from verdigris.core.base.images import open_image, resized
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.link.protocol import TOKEN_VARIABLE
from verdigris.core.pictures.moving_files import write_webp
from verdigris.ui.memory import Memory
from verdigris.ui.style.colours import DARK, apply_theme
from verdigris.ui.window import Window

REPOSITORY = Path(__file__).parents[1]
PANEL, GAME = (800, 800), (430, 400)
INTERVAL, SPEED = 2.0, 8.0
LAST = 4
"""Pictures after the end."""


class Film:
    """A window with a bake, a game, and their pictures."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.folder, self.options = folder, options
        self.frames: list[np.ndarray[Any, Any]] = []
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        os.environ[TOKEN_VARIABLE] = "film"
        command = ["node", REPOSITORY / "docs" / "link_game.mjs"]
        command += [f"ws://127.0.0.1:{port}/?token=film", *map(str, GAME)]
        self.game = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        memory = Memory(QSettings(f"{folder}/memory.ini", QSettings.Format.IniFormat))
        self.window = Window(FilesHost(), memory)
        self.model = self.window.panel.model
        self.model.state.game.at = f"127.0.0.1:{port}"
        self.model.switch_link(is_on=True)
        self.window.show()
        self.window.resize(QSize(*PANEL))

    def wait(self, holds: Callable[[], bool], seconds: float = 600) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end and not holds():
            QApplication.processEvents()
            time.sleep(0.005)

    def shoot(self) -> None:
        """Takes the window and the game at this moment."""
        names = [str(self.folder / f"{name}.png") for name in ("panel", "game")]
        assert self.game.stdin and self.game.stdout
        self.game.stdin.write(f"{names[1]}\n")
        self.game.stdin.flush()
        self.window.grab().save(names[0])
        told = self.game.stdout.readline().strip()
        if told != "drawn":
            raise SystemExit(f"the game: {told or 'has ended'}")
        panel, game = (read(Path(name)) for name in names)
        height = len(game)
        panel = resized(panel, round(panel.shape[1] * height / panel.shape[0]), height)
        self.frames.append(np.concatenate([panel, game], 1)[..., :3])

    def run(self) -> None:
        model = self.model
        assert self.game.stdout
        self.game.stdout.readline()
        self.window.open(REPOSITORY / "examples" / "copper_tray.mtlx")
        self.wait(lambda: model.can("start"))
        self.window.panel.pages.show_only(["Bake"])
        model.set_choices(
            folder=str(self.folder / "neural"),
            preset="draft",
            resolution=self.options.resolution,
            iterations=self.options.iterations,
        )
        self.shoot()
        model.start()
        while model.link.state != "done" and len(self.frames) < self.options.most:
            begun = time.monotonic()
            self.shoot()
            self.wait(lambda: False, max(0.05, begun + INTERVAL - time.monotonic()))
        for _ in range(LAST):
            self.wait(lambda: False, INTERVAL)
            self.shoot()
        write_webp(self.options.out, iter(self.frames), SPEED / INTERVAL)
        print(f"{self.options.out}: {len(self.frames)} pictures")


def read(path: Path) -> np.ndarray[Any, Any]:
    with open_image(path) as image:
        texels = image.texels(3, "uint8")
    return np.concatenate([texels, np.full_like(texels[..., :1], 255)], -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "docs" / "images" / "link.webp")
    parser.add_argument("--iterations", type=int, default=1500)
    parser.add_argument("--resolution", type=int, default=256)
    parser.add_argument("--most", type=int, default=60, help="pictures of the bake")
    options = parser.parse_args()
    QApplication([])
    apply_theme(QApplication.instance(), DARK)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VERDIGRIS_CONFIG_DIR"] = folder
        film = Film(options, Path(folder))
        try:
            film.run()
        finally:
            film.window.panel.shutdown()
            film.game.terminate()


if __name__ == "__main__":
    main()
