"""Whether the panel's pictures have one light: the first, those of training, and the last.

    python docs/benchmarks/bench_light.py FILE ... [--lights studio sky sunset] [--size 256]

Each row compares pictures with those of all passes, for a material and an environment, as screens
show them: how much more mean luminance they have, and FLIP of both after a blur of 4 pixels within
the shape. *training* is the live picture of a network after some steps, against all passes of the
same network. *grain* is the root mean square difference, in display values, between all passes and
four times as many other directions: of the material, and of the network.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

os.environ["VERDIGRIS_DEVICE"] = "software"

from verdigris.core.base.colour import LUMINANCE, linear_from_srgb
from verdigris.core.base.device import open_device
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import initialise
from verdigris.core.network.student import Student
from verdigris.core.pictures.canvas import Canvas
from verdigris.core.pictures.compare.metrics import load_flip
from verdigris.core.pictures.illumination import Effort, Illumination
from verdigris.core.pictures.picture_files import resized, srgb_from_linear
from verdigris.core.pictures.progressive import shift_of
from verdigris.core.pictures.renderer import Renderer
from verdigris.core.pictures.view import View
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.presets import require_recipe
from verdigris.core.training.numpy.numpy_trainer import NumpyTrainer
from verdigris.core.worker.drawing.live_drawing import LiveDrawing, new_renderer
from verdigris.core.worker.drawing.shown import PASSES_ON_CPU, ShownMaterials

_BLUR, _STEPS, _TIMES, _RESOLUTION = 4.0, 400, 4, 512


def blurred(picture: np.ndarray) -> np.ndarray:
    """After a Gaussian filter with this standard deviation in pixels."""
    reach = int(3 * _BLUR)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _BLUR) ** 2)
    weights /= weights.sum()
    for axis in (0, 1):
        padded = np.pad(picture, [(reach * (axis == a),) * 2 for a in (0, 1)] + [(0, 0)], "edge")
        length = picture.shape[axis]
        picture = sum(
            w * np.take(padded, np.arange(s, s + length), axis) for s, w in enumerate(weights)
        )
    return picture


def shown(canvas: Canvas, size: int) -> np.ndarray:
    """Display values, 0 to 1, in full size, as the panel scales a smaller picture."""
    return resized(canvas.pixels().astype(np.float32) / 255, size, size)


def luminance(canvas: Canvas) -> float:
    """Within the shape, in the canvas' own size: display values of a scaled picture are darker."""
    inside = canvas.covered > 0.99
    linear = linear_from_srgb(canvas.pixels().reshape(-1, 3)[inside].astype(np.float32) / 255)
    return float(linear.mean(0) @ LUMINANCE)


def apart(name: str, first: Canvas, last: Canvas, size: int) -> str:
    # without the edge, which lies elsewhere in a small picture
    inside = blurred(last.covered.reshape(size, size, 1))[..., 0] > 0.99
    errors, _, _ = load_flip().evaluate(
        *(blurred(shown(each, size)).astype(np.float32) for each in (last, first)),
        "LDR",
        inputsRGB=True,
        applyMagma=False,
    )
    bright = [luminance(each) for each in (first, last)]
    share = bright[0] / bright[1] - 1
    return f"{name} {share:+.1%}, FLIP {np.asarray(errors)[..., 0][inside].mean():.3f}"


def finished(renderer: Renderer, material: object) -> Canvas:
    while not renderer.is_complete(material):
        renderer.complete(material)
    side = renderer.neural if material is not None else renderer.reference
    return side.canvas(True)


def grain_of(
    renderer: Renderer, materials: ShownMaterials, material: object, last: Canvas
) -> float:
    """The root mean square difference to the same passes with more directions in each."""
    effort = Effort(PASSES_ON_CPU, _TIMES * Effort().pairs // 2)
    light = Illumination(materials.teacher.device, materials._prepare, effort)
    raster = renderer.raster
    halves = np.zeros((2, raster.count, 3))
    for number in range(PASSES_ON_CPU):
        gbuffer = renderer.gbuffer_of(raster, raster.whole(), shift_of(number))
        for half in (0, 1):
            # in the same places, but with other directions
            lit = light.fine(material, gbuffer, renderer.view, number + (half + 1) * PASSES_ON_CPU)
            halves[half, gbuffer.pixel] += lit.light[:, :3] / PASSES_ON_CPU
    inside = last.covered > 0.999

    def display(values: np.ndarray) -> np.ndarray:
        return srgb_from_linear(renderer.tone.linear(values[inside].astype(np.float32)))

    found = display(last.light[:, :3])
    # the grain of independent halves cancels out in the product
    square = ((found - display(halves[0])) * (found - display(halves[1]))).mean()
    return float(np.sqrt(max(square, 0)))


def trained(teacher: Teacher, steps: int) -> NumpyTrainer:
    settings = require_recipe("draft", "numpy").largest.changed({"resolution": _RESOLUTION})
    source = DrawnSamples([teacher], settings.layout(), settings.seed, settings.draw)
    start = initialise(settings.spec, settings.layout(), settings.seed)
    found = NumpyTrainer(start, source, settings.training(), teacher.device.threads)
    found.step_many(steps)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--lights", nargs="+", default=["studio", "sky", "sunset"])
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--turn", type=float, default=20.0)
    options = parser.parse_args()
    size = options.size
    device = open_device()
    for file in options.files:
        teacher = Teacher(load_document(file), device=device)
        trainer = trained(teacher, _STEPS)
        for lit_by in options.lights:
            view = View(size=size, lit_by=lit_by, turn=options.turn)
            materials = ShownMaterials(teacher, _RESOLUTION)
            renderer = new_renderer(materials, view, None)
            first = renderer.reference.coarse
            last = finished(renderer, None)
            cells = [apart("first", first, last, size)]
            grains = [grain_of(renderer, materials, teacher, last)]
            renderer.expect(has_neural=True)
            live = LiveDrawing(renderer, materials, time.perf_counter)
            live._begin(trainer.live(), size)
            while not live.advance():
                pass
            of_training = live._sized[size].neural
            student = Student(trainer.parameters(), device)
            renderer.draw_neural(student)
            last = finished(renderer, student)
            cells.append(apart("training", of_training, last, size))
            grains.append(grain_of(renderer, materials, student, last))
            cells.append("grain " + ", ".join(f"{each:.4f}" for each in grains))
            print(f"{file.stem} {lit_by}: {'; '.join(cells)}", flush=True)
        trainer.close()


if __name__ == "__main__":
    main()
