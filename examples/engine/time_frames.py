"""Times frames of the room: with graphs and with neural materials, with and without reordering.

    python examples/engine/time_frames.py --out times
    python examples/engine/time_frames.py --out times --pack room.vdg --hero hero/hero.mtlx

Without --pack the example materials are baked first. Each --hero is a document that everything in
the room is made of. It is baked, too. Writes frames.json, frames.md and pictures.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import room
import slangpy as spy
from graphs import load_graph
from neural_pack import NeuralPack
from render import slots, write_picture
from tracer import BOUNCES, Scene, Shaders, Tracer, create_sums, picture_of

from verdigris.core import api
from verdigris.core.base.device import SHADER_FOLDER, Device, open_device
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.pictures.metrics import ldr_flip

EXAMPLES = Path(__file__).parents[1]
KINDS = ("plain", "neural", "graph")


@dataclass
class Row:
    """One line of the table."""

    scene: str
    kind: str
    is_reordered: bool
    compile_seconds: float
    milliseconds: float = 0.0
    shading: float = 0.0
    """Milliseconds more than the frame without materials."""
    noise: float = 0.0
    """Standard deviation of a pixel with one sample, over the mean light: of all pixels."""
    median_noise: float = 0.0
    """The same of each pixel, over its own mean: the median."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--pack", type=Path, help="scene pack of example materials")
    parser.add_argument("--hero", type=Path, action="append", default=[], help="a document")
    parser.add_argument("--preset", default="standard", help="of the bakes")
    parser.add_argument("--size", type=int, nargs=2, default=(1920, 1080), help="of the frames")
    parser.add_argument("--frames", type=int, default=8, help="in a timed submission")
    parser.add_argument("--samples", type=int, default=64, help="of each pixel, to measure noise")
    parser.add_argument("--device", help="as for verdigris")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    device = open_device(arguments.device)
    print(f"{device}: {[each.name for each in device.gpu.features]}", flush=True)

    scenes = {"room": [EXAMPLES / f"{name}.mtlx" for name in room.SLOTS]}
    scenes |= {path.stem: [path] for path in arguments.hero}
    rows: list[Row] = []
    flips: dict[str, float] = {}
    for name, documents in scenes.items():
        given = arguments.pack if name == "room" else None
        folder = given or bake_scene(documents, arguments.out / name, arguments.preset)
        found, pictures = measure(device, name, folder, documents, arguments)
        rows += found
        if {"neural", "graph"} <= {*pictures}:
            flips[name] = float(ldr_flip(pictures["neural"], pictures["graph"])[0])
        report(arguments.out, device, rows, flips, tuple(arguments.size), arguments.samples)


def bake_scene(documents: list[Path], folder: Path, preset: str) -> Path:
    """Bakes each document, and joins the bundles."""
    start = time.perf_counter()
    bundles = []
    for path in documents:
        *_, finished = api.bake(api.load(path), preset=preset, folder=folder)
        bundles += [api.open_bundle(result) for result in finished.results]
        print(f"{path.stem}: baked, {time.perf_counter() - start:.0f} s", flush=True)
    return pack(bundles, folder / "scene.vdg").folder


def measure(
    device: Device, name: str, folder: Path, documents: list[Path], arguments: argparse.Namespace
) -> tuple[list[Row], dict[str, np.ndarray]]:
    gpu, size = device.gpu, tuple(arguments.size)
    loaded = NeuralPack(gpu, folder)
    count = len(loaded.names)
    scene = Scene(gpu, room.build(), slots(loaded.names))
    by_name = {path.stem: path for path in documents}
    # a bundle has the name of its material, which can differ from the file's
    paths = [by_name.get(each, documents[0]) for each in loaded.names]
    graphs = [load_graph(device, path, index) for index, path in enumerate(paths)]
    shaders = {
        "plain": Shaders.plain(count),
        "neural": Shaders.neural(count),
        "graph": Shaders.of_graphs(graphs),
    }
    offers = gpu.has_feature(spy.Feature.shader_execution_reordering)
    rows, pictures = [], {}
    for is_reordered in (False, True) if offers else (False,):
        plain = 0.0
        for kind in KINDS:
            start = time.perf_counter()
            try:
                tracer = Tracer(gpu, [SHADER_FOLDER], scene, loaded, shaders[kind], is_reordered)
                row = Row(name, kind, is_reordered, time.perf_counter() - start)
                picture = measure_frames(gpu, tracer, row, size, arguments)
            except RuntimeError as failure:
                print(f"{name}, {kind}, reordered {is_reordered}: {failure}", flush=True)
                continue
            plain = row.milliseconds if kind == "plain" else plain
            row.shading = row.milliseconds - plain
            rows.append(row)
            print(row, flush=True)
            if not is_reordered and kind != "plain":
                pictures[kind] = picture
                write_picture(arguments.out / f"{name}_{kind}.png", picture)
    return rows, pictures


def measure_frames(
    gpu: spy.Device, tracer: Tracer, row: Row, size: tuple[int, int], arguments: argparse.Namespace
) -> np.ndarray:
    """Fills the row, and returns the picture."""
    samples, frames = arguments.samples, arguments.frames
    sums = create_sums(gpu, size)
    for first in range(0, samples, frames):
        tracer.trace(sums, size, min(frames, samples - first), first=first)
    # the clock is up by now
    timed = create_sums(gpu, size)
    row.milliseconds = 1e3 * min(tracer.trace(timed, size, frames) for _ in range(3))
    picture = picture_of(sums, size, samples).astype(np.float64)
    luminance = picture[..., :3] @ (0.2126, 0.7152, 0.0722)
    variance = (picture[..., 3] - luminance**2).clip(0.0) * samples / max(samples - 1, 1)
    row.noise = float(np.sqrt(variance.mean()) / luminance.mean())
    lit = luminance > 0.0
    row.median_noise = float(np.median(np.sqrt(variance[lit]) / luminance[lit]))
    return picture[..., :3].astype(np.float32)


def report(
    out: Path,
    device: Device,
    rows: list[Row],
    flips: dict[str, float],
    size: tuple[int, int],
    samples: int,
) -> None:
    facts = {"device": str(device), "size": size, "bounces": BOUNCES, "samples": samples}
    data = {**facts, "rows": [asdict(row) for row in rows], "flip": flips}
    (out / "frames.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    lines = [
        "| scene | materials | reordered | frame, ms | shading, ms | noise | median noise |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row.scene} | {row.kind} | {'yes' if row.is_reordered else 'no'} "
        f"| {row.milliseconds:.2f} | {row.shading:.2f} | {row.noise:.3f} | {row.median_noise:.3f} |"
        for row in rows
    ]
    lines += [f"\n{name}: FLIP {value:.4f} between both" for name, value in flips.items()]
    text = f"{device}, {size[0]} x {size[1]}, {BOUNCES} bounces\n\n" + "\n".join(lines) + "\n"
    (out / "frames.md").write_text(text, encoding="utf-8")
    print(text, flush=True)


if __name__ == "__main__":
    main()
