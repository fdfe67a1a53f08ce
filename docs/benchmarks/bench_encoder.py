"""Whether an encoder pays for large textures: fresh latents, enlarged ones, and encoded ones.

    python docs/benchmarks/bench_encoder.py FILE ... [--device D] [--large 2048] [--small 256]
        [--steps 4000] [--share 0.4] [--rest-rate 1e-2] [--batch 4096] [--samples 65536]

All three take as many steps. *Fresh* trains the large texture from nothing. The others spend the
share of the steps on the small texture and go on with its decoder: *enlarged* with its latents,
filtered; *encoded* with latents that an encoder makes of what the material answers at each texel of
the large one. The encoder is fitted to the small texture, by ridge regression on random features of
the cube roots of twelve responses: the values that feed the surface shader, seen from outside.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from verdigris.core.device import Device, open_device
from verdigris.core.material.document import load_document
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.teacher import Teacher
from verdigris.core.network.parameters import Parameters, initialise
from verdigris.core.network.spec import PRESETS, LatentLayout
from verdigris.core.network.student import Student
from verdigris.core.sampling.draw_samples import DrawnSamples, DrawSettings
from verdigris.core.training.measure import draw_held_out, measure_student, texel_footprint
from verdigris.core.training.schedule import Schedule, TrainingSettings
from verdigris.core.training.trainers import choose_trainer, open_trainer

Floats = NDArray[np.float32]
SPEC = PRESETS["2x32"]
PROBES, FEATURES, CHUNK = 12, 512, 1 << 19
DRAW = DrawSettings(pairs=2, coarse_share=0.1, coarse_places=4, finest_places=2)


def layout_of(size: int) -> LatentLayout:
    return LatentLayout(size, size, size.bit_length())


def train(
    teacher: Teacher, start: Parameters, steps: int, batch: int, latent_rate: float = 1e-2
) -> Parameters:
    device = teacher.device
    source = DrawnSamples([teacher], start.layout, 0, DRAW)
    schedule = Schedule(steps=steps, decoder_rate=2e-2, latent_rate=latent_rate)
    settings = TrainingSettings(batch=batch, schedule=schedule)
    trainer = open_trainer(choose_trainer(device), start, source, settings, device)
    trainer.step_many(steps)
    result = trainer.parameters()
    trainer.close()
    return result


def probe(teacher: Teacher, size: int) -> Floats:
    """What the material answers at each texel of a level, (texels, 3 PROBES)."""
    random = np.random.default_rng(5)
    z = random.uniform(0.3, 1, (PROBES, 2))
    turn = 2 * np.pi * random.random((PROBES, 2))
    across = np.sqrt(1 - z * z)
    pairs = np.stack([across * np.cos(turn), across * np.sin(turn), z], 2).astype("f4")
    # half of them where mirrors answer
    pairs[::2, 1] = pairs[::2, 0] * np.float32([-1, -1, 1])
    centres = (np.arange(size, dtype="f4") + 0.5) / size
    uv = np.stack(np.meshgrid(centres, centres), 2).reshape(-1, 2)
    result = np.empty((len(uv), PROBES, 3), np.float32)
    for first in range(0, len(uv), CHUNK):
        places = uv[first : first + CHUNK]
        for number, pair in enumerate(pairs):
            wi, wo = (np.broadcast_to(each, (len(places), 3)).copy() for each in pair)
            answer = teacher.response(places, wi, wo, footprint=Footprint(1 / size, 2))
            result[first : first + CHUNK, number] = np.cbrt(answer)
    return result.reshape(len(uv), -1)


class Encoder:
    """Fitted to the finest latents of a small texture."""

    def __init__(self, seen: Floats, latents: Floats) -> None:
        random = np.random.default_rng(6)
        self._middle, self._spread = seen.mean(0), seen.std(0) + 1e-6
        self._mix = random.standard_normal((seen.shape[1], FEATURES)).astype("f4")
        self._mix /= np.sqrt(seen.shape[1])
        self._shift = random.standard_normal(FEATURES).astype("f4")
        features = self._features(seen)
        square = features.T @ features + 1e-3 * len(seen) * np.eye(features.shape[1])
        self._fit = np.linalg.solve(square, features.T @ latents).astype("f4")

    def _features(self, seen: Floats) -> Floats:
        even = (seen - self._middle) / self._spread
        bent = np.maximum(even @ self._mix + self._shift, 0)
        return np.concatenate([np.ones((len(seen), 1), "f4"), even, bent], 1)

    def __call__(self, seen: Floats) -> Floats:
        parts = range(0, len(seen), CHUNK // 8)
        return np.concatenate(
            [self._features(seen[first : first + CHUNK // 8]) @ self._fit for first in parts]
        )


def grown(small: Parameters, large: int, finest: dict[int, Floats]) -> Parameters:
    """The small texture's decoder and levels below finer levels of these latents, by size."""
    result = initialise(SPEC, layout_of(large), 0)
    result.decoder[:] = small.decoder
    above = len(finest)
    for level in range(result.layout.levels):
        size = result.layout.level_size(level)[0]
        if level < above:
            result.level(level)[0] = finest[size].reshape(size, size, -1)
        else:
            result.level(level)[0] = small.level(level - above)[0]
    return result


def enlarged(texels: Floats, size: int) -> Floats:
    """Filtered between texels, around the edges."""
    for axis in (0, 1):
        count = texels.shape[axis]
        at = (np.arange(size) + 0.5) / size * count - 0.5
        low = np.floor(at).astype(int)
        part = (at - low).astype("f4").reshape(-1, *[1] * (2 - axis))
        first, second = (np.take(texels, (low + k) % count, axis) for k in (0, 1))
        texels = first * (1 - part) + second * part
    return texels


def compare(path: Path, device: Device, options: argparse.Namespace) -> list[str]:
    teacher = Teacher(load_document(path, allow_outside=True), device=device)
    large, small = options.large, options.small
    held_out = draw_held_out(teacher, options.samples, footprint=texel_footprint(large))
    sizes = [large >> k for k in range(large.bit_length()) if large >> k > small]
    first = int(options.share * options.steps)

    def fresh() -> Parameters:
        start = initialise(SPEC, layout_of(large), 0)
        return train(teacher, start, options.steps, options.batch)

    def from_small(is_encoded: bool) -> Parameters:
        start = initialise(SPEC, layout_of(small), 0)
        trained = train(teacher, start, first, options.batch)
        finest = trained.level(0)[0]
        if is_encoded:
            encoder = Encoder(probe(teacher, small), finest.reshape(-1, finest.shape[-1]))
            levels = {size: encoder(probe(teacher, size)) for size in sizes}
        else:
            levels = {size: enlarged(finest, size) for size in sizes}
        start, rest = grown(trained, large, levels), options.steps - first
        return train(teacher, start, rest, options.batch, options.rest_rate)

    cells = []
    for make in (fresh, lambda: from_small(False), lambda: from_small(True)):
        begun = time.perf_counter()
        parameters = make()
        took = time.perf_counter() - begun
        found = measure_student(Student(parameters, device), held_out)
        cells.append(f"{found.log_mae:.4f} / {found.smape:.3f}, {took:.0f} s")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--device")
    parser.add_argument("--large", type=int, default=2048)
    parser.add_argument("--small", type=int, default=256)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--share", type=float, default=0.4)
    parser.add_argument("--rest-rate", type=float, default=1e-2, help="of the grown latents")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--samples", type=int, default=1 << 16)
    options = parser.parse_args()
    device = open_device(options.device)
    print(f"{device}, {options.large} from {options.small}, {options.steps} steps")
    print("| material | fresh | enlarged | encoded |\n| --- | --- | --- | --- |")
    for path in options.files:
        print(f"| {path.stem} | {' | '.join(compare(path, device, options))} |", flush=True)


if __name__ == "__main__":
    main()
