"""What an artist waits for in the window, how smoothly it responds, and whether it cries wolf.

    xvfb-run -a python docs/benchmarks/bench_panel.py examples/copper_tray.mtlx [--light sky]
        [--busy 10] [--set iterations=400]

Presses *Bake* on the welcome page. Prints the seconds from the press to the first picture of the
reference, to the first step of training, to the result, and until the light has converged; the gaps
of the event loop meanwhile, by the clock and by its own CPU time, which a busy machine does not
lengthen; and whether the window has called its worker silent.
--busy starts as many processes that only compute.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("VERDIGRIS_DEVICE", "software")

import numpy as np
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from runs import chosen_changes

from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.worker.client.client import SILENT
from verdigris.ui.memory import Memory
from verdigris.ui.window import Window, apply_theme, stored_theme

_TICK = 10
_SPIN = "while True: pass"


class Watched:
    """Notes when each thing is first seen, by the window's own event loop."""

    def __init__(self, window: Window, light: str) -> None:
        self._model, self._light = window.panel.model, light
        self.begun = self._last = time.perf_counter()
        self.seen: dict[str, float] = {}
        self.gaps: list[tuple[float, float]] = []
        self._worked = time.thread_time()
        self.alarms: list[str] = []
        self._is_converging = False
        self._model.link.health_changed.connect(self._note_health)
        self._timer = QTimer(window)
        self._timer.timeout.connect(self._look)
        self._timer.start(_TICK)

    def _note_health(self) -> None:
        if self._model.link.health.state == SILENT:
            self.alarms.append(self._model.link.health.reason)

    def _look(self) -> None:
        now = time.perf_counter()
        model, parts = self._model, self._model.state.pictures.parts
        if "press" in self.seen and "result" not in self.seen:
            self.gaps.append((now - self._last, time.thread_time() - self._worked))
        self._last, self._worked = now, time.thread_time()
        state = model.link.state
        if "reference" in parts:
            self._note("first reference")
        if "neural" in parts:
            self._note("first neural picture")
        if state == "training" and model.state.bake.progress.step:
            self._note("training")
        if state in ("done", "failed"):
            self._note("result")
            # the last picture of training has no passes
            self._is_converging |= parts["reference"].refined < 1
            if self._is_converging and parts["reference"].refined == 1:
                self._note("converged")

    def _note(self, name: str) -> None:
        self.seen.setdefault(name, time.perf_counter() - self.begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--light", default="sky")
    parser.add_argument("--busy", type=int, default=0)
    parser.add_argument("--most", type=float, default=600, help="seconds after which it ends")
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="NAME=VALUE")
    options = parser.parse_args()
    others = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in range(options.busy)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["VERDIGRIS_CONFIG_DIR"] = folder
        application = QApplication(sys.argv[:1])
        memory = Memory()
        apply_theme(application, stored_theme(memory))
        window = Window(FilesHost(), memory)
        window.show()
        model = window.panel.model
        model.set_choices(folder=folder, **chosen_changes(options))
        model.set_view(lit_by=options.light)
        while window.panel.isVisible():
            application.processEvents()
        watched = Watched(window, options.light)
        watched.seen["press"] = 0.0
        window._bake_at_once(options.file)
        model.set_view(lit_by=options.light)
        while "converged" not in watched.seen and model.link.state != "failed":
            application.processEvents()
            time.sleep(0.001)
            if time.perf_counter() - watched.begun > options.most:
                break
        window.panel.shutdown()
    for each in others:
        each.kill()
    print(", ".join(f"{name} {value:.1f} s" for name, value in watched.seen.items()))
    for name, gaps in zip(("clock", "own CPU time"), 1000 * np.array(watched.gaps).T, strict=True):
        within = (gaps < 100).mean()
        print(f"gaps by {name}: {within:.2%} below 100 ms, the longest {gaps.max():.0f} ms")
    print(f"called silent: {len(watched.alarms)} times {watched.alarms}")


if __name__ == "__main__":
    main()
