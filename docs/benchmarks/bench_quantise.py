"""What it costs to store latents in few bytes, by format and by how they are trained for it.

    python docs/benchmarks/bench_quantise.py FILE FILE ... [--preset draft] [--device D]
        [--shares 0.1 0.2] [--sharpness 2:16 ...] [--formats rgba8 bc7]
        [--set resolution=128 iterations=3000 ...]

Trains each document once until a share of the steps is left, and from there to the end in each way:
not rounded (and stored only after training), softly, and hard with straight-through gradients. For
blocks of BC7 the first half of these steps moves latents to what blocks can hold. All take the same
steps on the same samples. The errors are on held-out samples, as stored; each number after a bar is
the ratio to the one that was not rounded.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runs import EXAMPLES, begin, describe

from verdigris.core.baking.measure.classify import classify
from verdigris.core.baking.measure.measure import draw_held_out, measure_student, texel_footprint
from verdigris.core.baking.state.trainers import choose_trainer, open_trainer
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.latents.block_lines import compressed_copy
from verdigris.core.network.latents.quantise import fit_ranges, quantised_copy
from verdigris.core.network.parameters import Parameters, initialise
from verdigris.core.network.student import Student
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.recipe import Recipe
from verdigris.core.settings.schedule import BlockLines, Quantisation

SAMPLES = 1 << 17
DEFAULT = [EXAMPLES / f"{name}.mtlx" for name in ("copper_tray", "brushed_steel", "glazed_tile")]


@dataclass(frozen=True)
class Way:
    """One way to get to few bits."""

    name: str
    quantisation: Quantisation | None
    texel_format: str | None


class Example:
    """A document with its held-out samples, trained in several ways."""

    def __init__(self, path: Path, recipe: Recipe, device: Any) -> None:
        self.teacher = Teacher(load_document(path), device=device)
        self.settings = recipe[classify([self.teacher], recipe)]
        footprint = texel_footprint(self.settings.resolution)
        self.held_out = draw_held_out(self.teacher, SAMPLES, footprint=footprint)

    def train(self, steps: int, quantisation: Quantisation | None, start: Any = None) -> Any:
        """Parameters, state, ranges and mean squares of gradients at the end."""
        settings, layout = self.settings, self.settings.layout()
        source = DrawnSamples([self.teacher], layout, settings.seed, settings.draw)
        parameters = initialise(settings.spec, layout, settings.seed)
        training = replace(settings.training(), quantisation=quantisation)
        kind = choose_trainer(self.teacher.device)
        trainer = open_trainer(kind, parameters, source, training, self.teacher.device)
        if start:
            trainer.restore(*start)
        trainer.step_many(steps)
        ranges, squares = trainer.latent_ranges(), trainer.latent_squares()
        found = trainer.parameters(), trainer.state(), ranges, squares
        trainer.close()
        return found

    def error(self, parameters: Parameters) -> float:
        return measure_student(Student(parameters, self.teacher.device), self.held_out).log_mae


def ways(first_step: int, steps: int, options: argparse.Namespace) -> list[Way]:
    found = [Way("not rounded", None, None)]
    for name in options.formats:
        lines, first = None, first_step
        if name == "bc7":
            first = first_step + steps // 2
            lines = BlockLines(first_step, first)
        length = first_step + steps - first
        found.append(Way(f"{name}, after training", None, name))
        for text in options.sharpness:
            softest, hardest = map(float, text.split(":"))
            phase = Quantisation(first, length, lines, softest, hardest)
            found.append(Way(f"{name}, soft {text}", phase, name))
        phase = Quantisation(first, length, lines, is_straight=True)
        found.append(Way(f"{name}, straight through", phase, name))
    return found


def measure(example: Example, share: float, options: argparse.Namespace) -> dict[str, float]:
    steps = max(1, round(share * example.settings.iterations))
    first_step = example.settings.iterations - steps
    start = example.train(first_step, None)[:2]
    errors: dict[str, float] = {}
    plain, _, _, plain_squares = example.train(steps, None, start)
    for way in ways(first_step, steps, options):
        parameters, ranges, squares = plain, fit_ranges(plain), plain_squares
        if way.quantisation:
            parameters, _, ranges, squares = example.train(steps, way.quantisation, start)
        if way.texel_format == "bc7":
            parameters = compressed_copy(parameters, ranges, squares)
        elif way.texel_format:
            parameters = quantised_copy(parameters, ranges)
        errors[way.name] = example.error(parameters)
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, default=DEFAULT)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.1])
    parser.add_argument("--sharpness", nargs="+", default=["1:16"], metavar="FROM:TO")
    parser.add_argument("--formats", nargs="+", choices=["rgba8", "bc7"], default=["rgba8", "bc7"])
    options, device, recipe = begin(parser)
    print(f"{device}: {describe(options)}")
    examples = [Example(path, recipe, device) for path in options.files]
    names = [example.teacher.material.name for example in examples]
    for share in options.shares:
        print(f"\n| last {share:.0%} of the steps | {' | '.join(names)} | mean ratio |")
        print("| --- " * (len(names) + 2) + "|")
        found = [measure(example, share, options) for example in examples]
        plain = [errors["not rounded"] for errors in found]
        for name in found[0]:
            ratios = [errors[name] / base for errors, base in zip(found, plain, strict=True)]
            cells = [
                f"{errors[name]:.5f} / {ratio:.3f}"
                for errors, ratio in zip(found, ratios, strict=True)
            ]
            mean = statistics.geometric_mean(ratios)
            print(f"| {name} | {' | '.join(cells)} | {mean:.3f} |", flush=True)


if __name__ == "__main__":
    main()
