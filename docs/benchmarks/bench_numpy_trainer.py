"""What the processor's trainer spends its time on: drawing, training, and both together.

    python docs/benchmarks/bench_numpy_trainer.py FILE ... [--preset standard] [--turns 5]
        [--set draw.pairs=4 ...]

In turns: drawing alone, training alone on batches drawn beforehand, and both as a bake does them.
Rates are the best turn's. Processor time is that of all threads, the least of any turn; it tells
more than the rates where other work takes a part of the machine. Errors are not measured.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from runs import begin, describe

from verdigris.core.baking.measure.measure import classify
from verdigris.core.base.device import Device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import initialise
from verdigris.core.sampling.draw_samples import NUMPY_CHUNK_STEPS, DrawnSamples, SampleArray
from verdigris.core.settings.presets import Recipe
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.training.trainer import SampleSource

_STEPS = 25 * NUMPY_CHUNK_STEPS


@dataclass
class Pool:
    """Batches that were drawn beforehand, over and over."""

    pairs: int
    batches: list[SampleArray]

    def draw(self, step: int, count: int) -> SampleArray:
        return self.batches[step % len(self.batches)]


def measured(work: Callable[[], object], turn: list[tuple[float, float]]) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    turn.append((time.perf_counter() - wall, time.process_time() - processor))


def run(path: Path, recipe: Recipe, device: Device, turns: int) -> str:
    teacher = Teacher(load_document(path), device=device)
    settings = recipe[classify([teacher], recipe)]

    def source() -> DrawnSamples:
        return DrawnSamples([teacher], settings.layout(), settings.seed, settings.draw)

    def trainer(of: SampleSource) -> NumpyTrainer:
        start = initialise(settings.spec, settings.layout(), settings.seed)
        return NumpyTrainer(start, of, settings.training(), device.threads)

    alone = source()
    batches = [alone.draw(step, settings.batch).copy() for step in range(8 * NUMPY_CHUNK_STEPS)]
    trained = trainer(Pool(settings.draw.pairs, batches))
    both = trainer(source())
    next_step = len(batches)

    def draw() -> None:
        nonlocal next_step
        for step in range(next_step, next_step + _STEPS, NUMPY_CHUNK_STEPS):
            alone.draw(step, settings.batch)
        next_step += _STEPS

    found: dict[str, list[tuple[float, float]]] = {"draw": [], "train": [], "both": []}
    for _ in range(1 + turns):
        measured(draw, found["draw"])
        measured(lambda: trained.step_many(_STEPS), found["train"])
        measured(lambda: both.step_many(_STEPS), found["both"])
    trained.close()
    both.close()
    cells = []
    for turn in found.values():
        wall, processor = (min(each) for each in zip(*turn[1:], strict=True))
        samples = _STEPS * settings.batch
        cells += [f"{samples / wall / 1e6:.2f}", f"{1e9 * processor / samples:.0f}"]
    return f"| {path.stem} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")
    names = [f"{part}: {what}" for part in ("draw", "train", "both") for what in ("M/s", "ns")]
    print(f"| material | {' | '.join(names)} |\n{'| --- ' * (len(names) + 1)}|")
    for path in options.files:
        print(run(path, recipe, device, options.turns), flush=True)


if __name__ == "__main__":
    main()
