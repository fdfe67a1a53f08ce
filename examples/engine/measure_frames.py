"""Measures rows of time_frames.py, in a process of its own. Ends at the first row that fails.

The only argument is a task in JSON, which time_frames.py writes.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import room
import slangpy as spy
from frame_table import QUEUES, REORDERED, ROWS_FILE, Row
from graphs import Graph, load_graph
from neural_pack import NeuralPack
from render import slots, write_picture
from tracer import Scene, Shaders, Tracer, create_sums, picture_of
from wavefront import WavefrontTracer

from verdigris.core.base.device import SHADER_FOLDER, open_device


def main() -> None:
    task = json.loads(sys.argv[1])
    out = Path(task["out"])
    rows = [Row(**each) for each in task["rows"]]
    try:
        bench = Bench(task)
    except Exception as failure:
        _write(out, rows[0].failed(str(failure)))
        raise
    for row in rows:
        try:
            _write(out, bench.measure(row, out))
        except Exception as failure:
            _write(out, row.failed(str(failure) or type(failure).__name__))
            raise


def _write(out: Path, row: Row) -> None:
    print(row, flush=True)
    with (out / ROWS_FILE).open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(row)) + "\n")


class Bench:
    """A scene on a device."""

    def __init__(self, task: dict[str, Any]) -> None:
        self._device = open_device(task["device"])
        self._pack = NeuralPack(self._device.gpu, Path(task["pack"]))
        self._documents = [Path(each) for each in task["documents"]]
        self._size = tuple(task["size"])
        self._samples, self._frames = task["samples"], task["frames"]
        self._scene = Scene(self._device.gpu, room.build(), slots(self._pack.names))

    @cache  # noqa: B019 (one object for a process)
    def _graphs(self) -> list[Graph]:
        by_name = {path.stem: path for path in self._documents}
        # a bundle has the name of its material, which can differ from the file's
        paths = [by_name.get(each, self._documents[0]) for each in self._pack.names]
        return [
            load_graph(self._device, path, index, self._pack) for index, path in enumerate(paths)
        ]

    def measure(self, row: Row, out: Path) -> Row:
        """The row, filled. Writes the picture."""
        if row.kind == "graph":
            shaders = Shaders.of_graphs(self._graphs())
        else:
            shaders = (
                Shaders.neural(self._pack) if row.kind == "neural" else Shaders.plain(self._pack)
            )
        gpu, size, samples = self._device.gpu, self._size, self._samples
        start = time.perf_counter()
        parts = gpu, [SHADER_FOLDER], self._scene, self._pack, shaders, row.has_simple_sampler
        if row.way == QUEUES:
            tracer = WavefrontTracer(*parts)
        else:
            tracer = Tracer(*parts, is_reordered=row.way == REORDERED)
        compile_seconds = time.perf_counter() - start
        sums = create_sums(gpu, size)
        for first in range(0, samples, self._frames):
            tracer.trace(sums, size, min(self._frames, samples - first), first=first)
        # the clock is up by now
        milliseconds = 1e3 * min(_time(gpu, tracer, size, self._frames) for _ in range(3))
        picture = picture_of(sums, size, samples).astype(np.float64)
        light = picture[..., :3].astype(np.float32)
        for suffix in (".exr", ".png"):
            write_picture(row.picture(out, suffix), light)
        luminance = picture[..., :3] @ (0.2126, 0.7152, 0.0722)
        variance = (picture[..., 3] - luminance**2).clip(0.0) * samples / max(samples - 1, 1)
        lit = luminance > 0.0
        return replace(
            row,
            compile_seconds=compile_seconds,
            milliseconds=milliseconds,
            noise=float(np.sqrt(variance.mean()) / luminance.mean()),
            median_noise=float(np.median(np.sqrt(variance[lit]) / luminance[lit])),
        )


def _time(
    gpu: spy.Device, tracer: Tracer | WavefrontTracer, size: tuple[int, int], frames: int
) -> float:
    return tracer.trace(create_sums(gpu, size), size, frames)


if __name__ == "__main__":
    main()
