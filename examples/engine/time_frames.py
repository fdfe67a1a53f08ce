"""Times frames of the room: with graphs and with neural materials, shaded by compute shaders, and
by hit shaders with and without reordering.

    python examples/engine/time_frames.py --out times
    python examples/engine/time_frames.py --out times --pack room.vdg --hero hero/diving_helmet.mtlx
    python examples/engine/time_frames.py --out times --rows 'room.*.own.*' 'room.plain.*'

Without --pack the example materials are baked first. Each --hero is a document that everything in
the room is made of. It is baked, too. A pack that an earlier run left in the output folder is used
again. Rows are SCENE.MATERIALS.SAMPLER.WAY: plain, neural or graph; own or simple; queues, hits or
reordered. Writes frames.json, frames.md and pictures; a row that fails says why, and others go on.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

import room
import slangpy as spy
from frame_table import HITS, QUEUES, ROWS_FILE, WAYS, Row, read_rows, report

from verdigris.core import api
from verdigris.core.base.device import open_device
from verdigris.core.bundle.scene.pack import pack

HERE = Path(__file__).parent
# (kind, whether its directions come from the simple sampler), the most important first
VARIANTS = (("plain", True), ("neural", False), ("graph", False), ("neural", True), ("graph", True))
_LEAST_SECONDS = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--pack", type=Path, help="scene pack of example materials: bakes none")
    parser.add_argument("--hero", type=Path, action="append", default=[], help="a document")
    parser.add_argument(
        "--rows", nargs="+", default=["*"], help="patterns, in order of measurement"
    )
    parser.add_argument("--preset", default="standard", help="of the bakes")
    parser.add_argument("--size", type=int, nargs=2, default=(1920, 1080), help="of the frames")
    parser.add_argument("--frames", type=int, default=8, help="in a timed submission")
    parser.add_argument("--samples", type=int, default=64, help="of each pixel, to measure noise")
    parser.add_argument("--limit", type=float, default=280.0, help="seconds for everything")
    parser.add_argument("--device", help="as for verdigris")
    arguments = parser.parse_args()
    end = time.monotonic() + arguments.limit
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    device = open_device(arguments.device)
    print(f"{device}: {[each.name for each in device.gpu.features]}", flush=True)
    facts = {"device": str(device), "size": arguments.size, "samples": arguments.samples}

    scenes = {"room": [HERE.parent / f"{name}.mtlx" for name in room.SLOTS]}
    scenes |= {path.stem: [path] for path in arguments.hero}
    wanted_scenes = {row.scene for row in chosen_rows(scenes, WAYS, arguments.rows)}
    scenes = {name: each for name, each in scenes.items() if name in wanted_scenes}
    packs = {}
    for name, documents in scenes.items():
        given = arguments.pack if name == "room" else None
        try:
            packs[name] = given or baked(documents, out / name, arguments)
        except Exception as failure:  # noqa: BLE001 (other scenes go on)
            print(f"{name}: no pack: {failure}", flush=True)
    offers = device.gpu.has_feature(spy.Feature.shader_execution_reordering)
    wanted = chosen_rows(packs, WAYS if offers else (QUEUES, HITS), arguments.rows)
    rows: list[Row] = []
    for name, group in groupby(wanted, lambda row: row.scene):
        rows += measured(list(group), packs[name], scenes[name], arguments, end)
        report(out, facts, rows)


def chosen_rows(scenes: Iterable[str], ways: Iterable[str], patterns: list[str]) -> list[Row]:
    """What the patterns match, in their order. Within a pattern all ways are measured of a variant
    before the next, in case that time runs out."""
    every = [Row(scene, *variant, way) for scene in scenes for variant in VARIANTS for way in ways]
    matches = [row for pattern in patterns for row in every if fnmatchcase(row.name, pattern)]
    if not matches:
        names = ", ".join(row.name for row in every)
        sys.exit(f"--rows is {' '.join(patterns)}: it matches none of {names}")
    return list(dict.fromkeys(matches))


def baked(documents: list[Path], folder: Path, arguments: argparse.Namespace) -> Path:
    """The scene pack of these documents. Bakes each, but for those that fail."""
    path = folder / "scene.vdg"
    if path.exists():
        return path
    start = time.perf_counter()
    bundles = []
    for document in documents:
        try:
            *_, finished = api.bake(
                api.load(document), folder, preset=arguments.preset, device=arguments.device
            )
            bundles += [api.open_bundle(result) for result in finished.results]
        except Exception as failure:  # noqa: BLE001 (the room can be without a material)
            print(f"{document}: not baked: {failure}", flush=True)
        print(f"{document.stem}: {time.perf_counter() - start:.0f} s", flush=True)
    return pack(bundles, path).folder


def measured(
    wanted: list[Row], folder: Path, documents: list[Path], arguments: argparse.Namespace,
    end: float,
) -> list[Row]:  # fmt: skip
    """The rows, filled. A process of its own measures them, because a driver can hang or fail for
    good. After a failure another process goes on with the next row."""
    rows: list[Row] = []
    while left := wanted[len(rows) :]:
        seconds = end - time.monotonic()
        if seconds < _LEAST_SECONDS:
            return rows + [row.failed("no time left, see --limit") for row in left]
        task = {
            "pack": str(folder.absolute()),
            "documents": [str(path.absolute()) for path in documents],
            "rows": [asdict(row) for row in left],
            "out": str(arguments.out.absolute()),
            "size": arguments.size,
            "frames": arguments.frames,
            "samples": arguments.samples,
            "device": arguments.device,
        }
        command = [sys.executable, str(HERE / "measure_frames.py"), json.dumps(task)]
        results = arguments.out / ROWS_FILE
        results.unlink(missing_ok=True)
        try:
            ended = f"ended with code {subprocess.run(command, timeout=seconds).returncode}"
        except subprocess.TimeoutExpired:
            ended = "had no time left, see --limit"
        found = read_rows(results)
        rows += found
        if len(found) < len(left) and not (found and found[-1].failure):
            rows.append(left[len(found)].failed(f"its process {ended}"))
    return rows


if __name__ == "__main__":
    main()
