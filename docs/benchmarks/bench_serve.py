"""Seconds from the command to the prompt: cold, warm, by a resident worker, and of many materials.

    python docs/benchmarks/bench_serve.py [--parts cold warm panel many] [--count 20] [--jobs N ...]
        [--small] [--device D]

*cold*: a draft with empty caches of kernels (also the driver's), and one after the kernels of all
presets were compiled in the background, with the seconds that this takes. *warm*: bakes by the
command alone, and twice each by a resident worker. *panel*: a first and a second bake of other
materials in one worker of the panel, from the press to the bundle, with the seconds before the
training, of it, and after it. *many*: a scene of textured
materials by `standard`, once for each number of jobs (0: as many as fit). --small tries the script
itself: few steps, two materials.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from runs import EXAMPLES

from verdigris.core.base.device import CACHE_VARIABLE
from verdigris.core.base.process.vitals import cpu_seconds
from verdigris.core.worker.client.resident import find_address

# Reflect light, and have textures or patterns.
TEXTURED = (
    *("copper_tray", "glazed_tile", "enamel_badge", "brushed_steel", "painted_wood", "car_paint"),
    *("foil_stamp", "glowing_panel", "pearl_inlay", "two_tone_velvet", "faded_cloth"),
    *("rusting_paint", "street_stone", "worn_chrome"),
)
PLAIN = """<materialx version="1.39">
<standard_surface name="s" type="surfaceshader">
<input name="base_color" type="color3" value="0.6, 0.2, 0.1"/>
<input name="coat" type="float" value="1.0"/></standard_surface>
<surfacematerial name="plain" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""
TRAY = EXAMPLES / "copper_tray.mtlx"
# Seconds without news of a picture after which it is whole.
QUIET_PICTURE = 1.0
# Seconds without CPU time after which kernels are loaded, and the most.
QUIET, LOADING = 4.0, 100.0
COMMAND = [sys.executable, "-m", "verdigris.core"]


class Bench:
    """The options, and a folder for all results."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.small = ["--set", "iterations=20", "--set", "resolution=32"] if options.small else []
        self.device = ["--device", options.device] if options.device else []
        self.plain = folder / "plain.mtlx"
        self.plain.write_text(PLAIN)

    def environment(self, caches: str, serves: bool = False) -> dict[str, str]:
        """Variables for a command with its own caches; empty for those of the user."""
        found = {**os.environ, "VERDIGRIS_SERVE": "on" if serves else "off"}
        if caches:
            for name, part in (
                (CACHE_VARIABLE, "verdigris"),
                ("__GL_SHADER_DISK_CACHE_PATH", "nvidia"),
                ("MESA_SHADER_CACHE_DIR", "mesa"),
            ):
                found[name] = str(self.folder / caches / part)
                (self.folder / caches / part).mkdir(parents=True, exist_ok=True)
        return found

    def run(self, what: str, words: list[str], environment: dict[str, str]) -> float:
        """Runs a command, and prints its seconds."""
        begun = time.perf_counter()
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - begun
        failed = f" failed: {done.stderr.strip()[-400:]}" if done.returncode else ""
        print(f"| {what} | {seconds:.1f} |{failed}", flush=True)
        return seconds

    def bake(self, what: str, file: Path, preset: str, environment: dict[str, str]) -> float:
        words = ["bake", str(file), "-q", "-p", preset, "-o", str(self.folder / "out")]
        return self.run(what, [*COMMAND, *words, *self.device, *self.small], environment)

    def cold(self) -> None:
        self.bake("draft, caches empty", TRAY, "draft", self.environment("cold"))
        environment = self.environment("warmed")
        words = [sys.executable, "-m", "verdigris.core.baking.warm_up"]
        self.run("kernels of all presets compiled", [*words, *self.device[1:]], environment)
        self.bake("draft after that", TRAY, "draft", environment)

    def warm(self) -> None:
        caches = "warmed" if "cold" in self.options.parts else ""
        alone = self.environment(caches)
        if not caches:
            self.bake("draft, once before", TRAY, "draft", alone)
        self.bake("draft, by the command", TRAY, "draft", alone)
        self.bake("standard, by the command", TRAY, "standard", alone)
        environment = self.environment(caches, serves=True)
        self.run("serve", [*COMMAND, "serve", *self.device], environment)
        self.wait_for_kernels()
        for preset, file in (
            *(("draft", TRAY), ("standard", TRAY)),
            *(("draft", self.plain), ("standard", self.plain)),
        ):
            for turn in ("first", "second"):
                self.bake(f"{file.stem} {preset}, {turn} by serve", file, preset, environment)
        self.run("serve --stop", [*COMMAND, "serve", "--stop", *self.device], environment)

    def wait_for_kernels(self) -> None:
        """Waits until the resident worker has loaded its kernels: it uses no CPU time."""
        address = find_address(self.options.device)
        begun = quiet = time.monotonic()
        spent = (cpu_seconds(address.process) if address else None) or 0.0
        while time.monotonic() - quiet < QUIET and time.monotonic() - begun < LOADING:
            time.sleep(0.5)
            now = (cpu_seconds(address.process) if address else None) or 0.0
            if now - spent > 0.1:
                spent, quiet = now, time.monotonic()
        print(f"| its kernels are loaded | {quiet - begun:.1f} |", flush=True)

    def panel(self) -> None:
        os.environ["VERDIGRIS_SERVE"] = "off"
        if self.options.device:
            os.environ["VERDIGRIS_DEVICE"] = self.options.device
        from verdigris.core.baking.bake_request import BakeRequest
        from verdigris.core.worker.client.client import WorkerClient
        from verdigris.core.worker.protocol import commands

        client = WorkerClient()

        def wait_for(event: str, **fields: str) -> float:
            """Waits for an event. Returns the time at which it comes."""
            end = time.monotonic() + 300
            while time.monotonic() < end:
                while arrived:
                    header = arrived.pop(0).header
                    if header.get("event") == "error":
                        sys.exit(str(header))
                    if header.get("event") == event and fields.items() <= header.items():
                        return time.perf_counter()
                arrived.extend(client.poll())
                time.sleep(0.005)
            sys.exit(f"no {event}")

        def look() -> None:
            """Waits until the picture of the material is there, as an artist does."""
            quiet = time.monotonic()
            while time.monotonic() - quiet < QUIET_PICTURE:
                time.sleep(0.05)
                if client.poll():
                    quiet = time.monotonic()

        changes = {"iterations": 20, "resolution": 32} if self.options.small else {}
        arrived: list[Any] = []
        client.send(commands.SetView(size=512, lit_by="studio"))
        for turn, name in (("first", "copper_tray"), ("second", "glazed_tile")):
            begun = time.perf_counter()
            client.send(commands.Open(path=str(EXAMPLES / f"{name}.mtlx")))
            opened = wait_for("opened")
            look()
            pressed = time.perf_counter()
            request = BakeRequest(preset="draft", changes=changes)
            client.send(commands.Start(str(self.folder / "panel"), request=request))
            trains, measures = (wait_for("phase", name=each) for each in ("training", "measuring"))
            ended = wait_for("finished")
            print(f"| panel: {turn} open | {opened - begun:.1f} |", flush=True)
            print(f"| its picture | {pressed - opened - QUIET_PICTURE:.1f} |", flush=True)
            parts = trains - pressed, measures - trains, ended - measures
            listed = ", ".join(f"{each:.1f}" for each in parts)
            print(f"| panel: {turn} bake, draft ({listed}) | {ended - pressed:.1f} |", flush=True)
        client.kill()

    def many(self) -> None:
        source = self.folder / "scene"
        shutil.copytree(EXAMPLES / "textures", source / "textures")
        count = 2 if self.options.small else self.options.count
        for number in range(count):
            name = TEXTURED[number % len(TEXTURED)]
            shutil.copy(EXAMPLES / f"{name}.mtlx", source / f"{name}_{number:02}.mtlx")
        caches = "warmed" if "cold" in self.options.parts else ""
        for jobs in self.options.jobs:
            out = self.folder / f"many{jobs}"
            words = ["scene", "run", str(source), "-o", str(out), "-p", "standard"]
            words += ["--jobs", str(jobs)] if jobs else []
            words += [*self.device, *self.small]
            where = self.options.device or "all GPUs"
            what = f"{count} materials, {jobs or 'default'} at a time, {where}"
            self.run(what, [*COMMAND, *words], self.environment(caches))
            written = len([*out.glob("*.vdg")])
            if written != count:
                print(f"only {written} of {count} bundles are there", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ("cold", "warm", "panel", "many")
    parser.add_argument("--parts", nargs="+", choices=known, default=list(known))
    parser.add_argument("--count", type=int, default=20, help="materials of the scene")
    parser.add_argument("--jobs", nargs="+", type=int, default=[0])
    parser.add_argument("--device")
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    print("| what | s |\n| --- | --- |")
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        bench = Bench(options, Path(folder))
        for part in options.parts:
            getattr(bench, part)()


if __name__ == "__main__":
    main()
