"""Live inputs against separate bakes, at values between those that are trained most.

    python docs/benchmarks/bench_living.py [FILE NAME=LOW..HIGH ...] [--preset standard]
        [--separate 5] [--values 31] [--device D] [--set NAME=VALUE ...]

For each FILE and input: a bake with the input open, `--separate` bakes of the material at some of
the values, and the ratio of their errors at these, and at all values with the errors between them
interpolated. Without FILE: the three examples with live inputs.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from runs import EXAMPLES, begin, describe

from verdigris.core.baking.bake import BakeOptions, bake
from verdigris.core.baking.measure.measure import draw_held_out, texel_footprint
from verdigris.core.base.colour import srgb_from_linear
from verdigris.core.base.device import Device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.cost.time_responses import time_material
from verdigris.core.bundle.files.read import Bundle, open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.material.live_inputs.live_input import LiveInput, WantedInput, parse_wanted
from verdigris.core.material.load.mtlx_document import Document, load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.student import Student
from verdigris.core.pictures.compare.metrics import INDISTINGUISHABLE_LOG_MAE, measure_samples
from verdigris.core.progress import Finished
from verdigris.core.settings.presets import Recipe, for_live_inputs

OWN = (("street_stone", "wetness=0..1"), ("rusting_paint", "age=0..1"), ("faded_cloth", "sun=0..1"))
_SAMPLES, _SAMPLES_ON_SOFTWARE = 1 << 17, 1 << 13
_RAMP, _PLACES = 64, 1000


def still(path: Path, live: LiveInput, share: float) -> Document:
    """The document with a live input at one value."""
    document = load_document(path)
    value = [low + (high - low) * share for low, high in zip(live.low, live.high, strict=True)]
    for each in live.paths:
        found = [one for one in document.root.traverseTree() if each.startswith(one.getNamePath())]
        element = max(found, key=lambda one: len(one.getNamePath()))
        text = ", ".join(map(str, value))
        if live.kind in ("time", "frame"):
            element.setCategory("constant")
            element.addInput("value", "float").setValueString(text)
        elif element.getNamePath() == each:
            element.setValueString(text)
        else:
            element.addInput(each.rpartition("/")[2], live.kind).setValueString(text)
    return document


def baked(teachers: Sequence[Teacher], recipe: Recipe) -> tuple[float, list[Bundle]]:
    """Seconds of training, and the bundles."""
    folder = Path(tempfile.mkdtemp())
    *_, event = bake(teachers, recipe, BakeOptions("result", folder))
    assert isinstance(event, Finished)
    return event.seconds, [open_bundle(Path(path)) for path in event.results]


def errors(teacher: Teacher, student: Student, side: int, share: float) -> float:
    """log MAE at one live value."""
    count = _SAMPLES_ON_SOFTWARE if teacher.device.is_software else _SAMPLES
    before = teacher.live, student.live
    teacher.live = (share,)
    if student.live:
        student.live = (share,)
    held_out = draw_held_out(
        _Still(teacher), count, seed=round(1e6 * share), footprint=texel_footprint(side)
    )
    found = measure_samples(
        student.response(held_out.uv, held_out.wi, held_out.wo), held_out.response
    )
    teacher.live, student.live = before
    return found.log_mae


def ratio(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Of errors; those that no eye sees count as equal."""
    least = INDISTINGUISHABLE_LOG_MAE
    found: np.ndarray = np.maximum(own, least) / np.maximum(other, least)
    return found


class _Still:
    """A teacher that draws held-out samples at its own live value."""

    live = ()

    def __init__(self, teacher: Teacher) -> None:
        self.response = teacher.response


def ramp(material: Teacher | Student, count: int) -> np.ndarray:
    """Responses over a ramp of the live value, [count, places, 3], far from the mirror."""
    random = np.random.default_rng(5)
    uv = random.random((_PLACES, 2)).astype(np.float32)
    wi = np.tile(np.array([[0.6, 0.2, 0.0]], np.float32), (_PLACES, 1))
    wo = np.tile(np.array([[0.3, -0.5, 0.0]], np.float32), (_PLACES, 1))
    for each in (wi, wo):
        each[:, 2] = np.sqrt(1 - (each[:, :2] ** 2).sum(1))
    before, found = material.live, []
    for share in np.linspace(0, 1, count):
        material.live = (float(share),)
        found.append(material.response(uv, wi, wo))
    material.live = before
    return np.array(found)


def shown(response: np.ndarray) -> np.ndarray:
    """Bytes of a screen, not rounded, in light that shows white paper as white. Steps of less than
    one count as one: a screen does not show them."""
    found: np.ndarray = 255 * srgb_from_linear(np.clip(np.pi * response, 0, 1))
    return found


def rows(
    path: Path, wanted: WantedInput, recipe: Recipe, device: Device, options: argparse.Namespace
) -> Iterator[str]:
    teacher = Teacher(load_document(path), device=device, live=[wanted])
    (live,) = teacher.live_inputs
    begun = time.perf_counter()
    seconds, (bundle,) = baked([teacher], for_live_inputs(recipe, 1))
    student, side = Student(bundle.parameters(), device), bundle.nominal_side
    shares = (np.arange(options.values) + 0.5) / options.values
    own = np.array([errors(teacher, student, side, float(share)) for share in shares])
    size = f"{bundle.layout.width} x {bundle.layout.height}"
    yield f"  living: {seconds:.1f} s, {size}, log MAE median {np.median(own):.5f}, " + " ".join(
        f"{each:.5f}" for each in own
    )
    graph, learnt = ramp(teacher, _RAMP), ramp(student, _RAMP)
    steps = [np.abs(np.diff(np.log1p(each), axis=0)).max() for each in (graph, learnt)]
    seen = [np.abs(np.diff(shown(each), axis=0)).max() for each in (graph, learnt)]
    darker = [np.diff(each.mean(2), axis=0).max(0) for each in (graph, learnt)]
    monotone = darker[0] <= 1e-6
    brighter = darker[1][monotone].max(initial=0)
    yield (
        f"  ramp: largest step {steps[1]:.4f}, of the graph {steps[0]:.4f}, ratio "
        f"{steps[1] / steps[0]:.2f}; on a screen {seen[1]:.2f} and {seen[0]:.2f} of 255, ratio "
        f"{max(seen[1], 1) / max(seen[0], 1):.2f}; at {monotone.sum()} of {_PLACES} places the "
        f"graph only darkens, the student brightens there by at most {brighter:.5f}"
    )
    chosen = np.linspace(0, len(shares) - 1, options.separate + 2)[1:-1].round().astype(int)
    ratios, times, sizes, clocks, apart_errors = [], [], [], [], []
    for index in chosen:
        share = float(shares[index])
        alone, (other,) = baked([Teacher(still(path, live, share), device=device)], recipe)
        apart = Student(other.parameters(), device)
        found = errors(teacher, apart, side, share)
        apart_errors.append(found)
        ratios.append(float(ratio(own[index], found)))
        times.append(seconds / alone)
        sizes.append(bundle.manifest.cost["loaded_bytes"] / other.manifest.cost["loaded_bytes"])
        now = [time_material(BundleMaterial(each, device)).nanoseconds for each in (bundle, other)]
        clocks.append(now[0] / now[1])
        yield (
            f"  at {share:.3f}: living {own[index]:.5f}, separate {found:.5f}, ratio "
            f"{ratios[-1]:.2f}; {alone:.1f} s, {other.layout.width} x {other.layout.height}, "
            f"{now[1]:.3f} ns against {now[0]:.3f}"
        )
    yield (
        f"  error: median {np.median(ratios):.2f}, largest {max(ratios):.2f}; seconds "
        f"{np.median(times):.2f}, bytes {np.median(sizes):.2f}, decoder {np.median(clocks):.2f}"
        f"  [{time.perf_counter() - begun:.0f} s]"
    )
    others = ratio(own, np.interp(shares, shares[chosen], apart_errors))
    yield (
        f"  at all {len(shares)} values, separate errors interpolated: median "
        f"{np.median(others):.2f}, largest {others.max():.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="*", metavar="FILE NAME=LOW..HIGH")
    parser.add_argument("--separate", type=int, default=5)
    parser.add_argument("--values", type=int, default=31)
    options, device, recipe = begin(parser)
    given = [(Path(file), text) for file, text in zip(*[iter(options.pairs)] * 2, strict=True)]
    print(f"{device}: {describe(options)}", flush=True)
    for path, text in given or [(EXAMPLES / f"{name}.mtlx", text) for name, text in OWN]:
        print(f"{path.stem} {text}", flush=True)
        try:
            for row in rows(path, parse_wanted(text), recipe, device, options):
                print(row, flush=True)
        except (VerdigrisError, RuntimeError) as failure:  # the others still count
            print(f"  {type(failure).__name__}: {failure}", flush=True)


if __name__ == "__main__":
    main()
