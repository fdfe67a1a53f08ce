"""How close the sampler of bundles comes to the ideal, and what it costs.

    python docs/benchmarks/bench_sampling.py BUNDLE … [--device D] [--places N] [--directions N]
    python docs/benchmarks/bench_sampling.py --grazing BUNDLE … [--device D] [--places N]
    python docs/benchmarks/bench_sampling.py --times [--device D]

Samples that an estimate of reflected light needs for 1% of noise under the sky of bench_sky.py, by
random places, views and rotations, over those of the ideal: directions drawn in proportion to the
response. Each cell is the ratio of the medians over pixels, of the 90th percentiles, and of the
sums of all variances, which is that of the picture. Where the ideal needs fewer than 1,000 samples
in the median, as for mirrors, ratios say little: the counts of both follow. The second part puts a
sun of .53 degrees into the map, with half of the samples drawn in proportion to the environment and
combined by the balance heuristic, over the same with the ideal.

--grazing: under a white sky and for views of a few cosines, the relative standard deviation of a
single sample, and the largest sample over the mean: medians over places.

--times: nanoseconds of 16 evaluations, of prepare() and 16 shade(), and of prepare() and 16 drawn
directions with their densities, with untrained numbers: the median of many rounds in which all
kernels take turns, the 10th and 90th percentile, and the median of the ratios to the evaluations
of a round, which hold where other programs on the card make times three times as long. Plain layers
are read from a *buffer* or from *constants*.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from verdigris.core.baking.measure.sky import LEAST_COSINE, SUN, random_rotations, sky
from verdigris.core.base.colour import LUMINANCE
from verdigris.core.base.device import Device, open_device
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.cost.cost import untrained
from verdigris.core.bundle.cost.time_responses import time_dispatch
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.reference import hemisphere
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.runtime.device_materials import fastest_advised
from verdigris.core.bundle.runtime.network_module import fits_in_constants
from verdigris.core.lighting.named_environments import SUN_OVER_SKY, SUN_RADIUS
from verdigris.core.network.light.sampler import Lobes, draw, lobes_of, look_at, pdf
from verdigris.core.network.numpy_mlp import latents_at_lod
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import PRESETS
from verdigris.core.network.student import Student
from verdigris.core.settings.bake_settings import BakeSettings

if TYPE_CHECKING:
    import slangpy

Floats = NDArray[np.floating]

SEED = 51
# Relative deviation that samples are counted for, and the ideal's samples from which ratios count.
NOISE, FEW_SAMPLES = 0.01, 1000
# Where plain layers of a decoder are read from.
PLACES = ("buffer", "constants")
GRAZING_COSINES = (0.04, 0.02, 0.01, 0.005)
WARM_UP = 10


class Timed(NamedTuple):
    """A kernel with what it is bound to."""

    kernel: slangpy.ComputeKernel
    variables: dict[str, Any]


class Noise(NamedTuple):
    """Samples over those of the ideal."""

    median: float
    percentile_90: float
    picture: float
    samples: float
    """Median over pixels."""
    ideal_samples: float

    @classmethod
    def of(cls, found: Floats, ideal: Floats, light: Floats) -> Noise:
        medians, tails, sums = (
            [reduced(each) for each in (found, ideal)]
            for reduced in (
                np.median,
                lambda noise: np.percentile(noise, 90),
                lambda noise: (noise * light**2).sum(),
            )
        )
        ratios = [float(own / best) for own, best in (medians, tails, sums)]
        return cls(*ratios, *(float(each / NOISE**2) for each in medians))

    @property
    def counts(self) -> bool:
        return self.ideal_samples >= FEW_SAMPLES

    def __str__(self) -> str:
        ratios = " / ".join(f"{each:.2f}" for each in self[:3])
        return (
            ratios if self.counts else f"{ratios} ({self.samples:.0f} for {self.ideal_samples:.0f})"
        )


def stored(path: str) -> Parameters:
    """The numbers of a bundle; those before 4.2 have no sampler."""
    return open_bundle(Path(path)).parameters().of_material(0)


def broad_lobes(lobes: Lobes) -> Lobes:
    """A wide mixture in the same frames, whose directions every estimate is weighted from."""
    weights = np.full_like(lobes.weights, 0.25)
    weights[:-2] = 0.5 / (len(weights) - 2)
    return replace(lobes, weights=weights)


def measure(
    parameters: Parameters, device: Device, places: int, directions: int
) -> tuple[Noise, Noise]:
    """Without a sun, and with one by MIS."""
    random = np.random.default_rng(SEED)
    uv = random.random((places, 2)).astype(np.float32)
    wo = hemisphere(random, places, LEAST_COSINE).astype(np.float32)
    rotations = random_rotations(random, places)
    latents = latents_at_lod(parameters, uv.T, np.zeros(places, np.float32))
    lobes = lobes_of(parameters, look_at(parameters, latents, wo.T))
    student = Student(parameters, device)
    broad = broad_lobes(lobes)
    # a third each: the sampler, a wide mixture in its frames, the sun's disc
    third = directions // 3
    mixtures = [lobes, broad]
    wi = np.empty((3, 3 * third, places), np.float32)
    for index in range(2 * third):
        wi[:, index] = draw(mixtures[index % 2], random.random((2, places)).astype(np.float32))
    to_sun = np.einsum("pij,i->jp", rotations, SUN)
    wi[:, 2 * third :] = around(to_sun, random.random((2, third, places)))
    in_disc = np.einsum("isp,ip->sp", wi, to_sun) > np.cos(SUN_RADIUS)
    disc = 1 / (2 * np.pi * (1 - np.cos(SUN_RADIUS)))
    found = np.asarray(pdf(lobes, wi))
    # at the edge of the disc single floats can leave none
    density = np.maximum((found + pdf(broad, wi) + in_disc * disc) / 3, 1e-9)
    response = student.response(
        np.tile(uv, (3 * third, 1)),
        np.ascontiguousarray(wi.reshape(3, -1).T),
        np.tile(wo, (3 * third, 1)),
    )
    f = (response @ LUMINANCE).reshape(3 * third, places).astype(np.float64)
    light = sky(np.einsum("pij,jsp->spi", rotations, wi))
    # where a material is black there is nothing to sample
    shines = f.any(0)
    f, light, found, density, sun = (
        each[:, shines] for each in (f, light, found, density, in_disc * disc)
    )
    return _noise(f, light, found, density), _noise_with_sun(f, light, found, density, sun)


def measure_grazing(
    parameters: Parameters, device: Device, places: int, draws: int
) -> list[tuple[float, float]]:
    """Relative deviation and largest sample for each cosine."""
    random = np.random.default_rng(SEED)
    student = Student(parameters, device)
    result = []
    for cosine in GRAZING_COSINES:
        uv = random.random((places, 2)).astype(np.float32)
        turn, sine = 2 * np.pi * random.random(places), np.sqrt(1 - cosine**2)
        wo = np.stack([sine * np.cos(turn), sine * np.sin(turn), np.full(places, cosine)], 1)
        wo = wo.astype(np.float32)
        latents = latents_at_lod(parameters, uv.T, np.zeros(places, np.float32))
        lobes = lobes_of(parameters, look_at(parameters, latents, wo.T))
        wi = np.asarray(draw(lobes, random.random((2, draws, places)).astype(np.float32)))
        response = student.response(
            np.tile(uv, (draws, 1)),
            np.ascontiguousarray(wi.reshape(3, -1).T, np.float32),
            np.tile(wo, (draws, 1)),
        )
        weights = (response @ LUMINANCE).reshape(draws, places) / np.maximum(pdf(lobes, wi), 1e-9)
        mean = weights.mean(0)
        weights = weights[:, mean > 0] / mean[mean > 0]
        result.append((float(np.median(weights.std(0))), float(np.median(weights.max(0)))))
    return result


def around(axis: Floats, numbers: Floats) -> Floats:
    """Directions of a disc of the sun's size around each axis [3, N]."""
    cosine = 1 - numbers[0] * (1 - np.cos(SUN_RADIUS))
    sine, turn = np.sqrt(1 - cosine**2), 2 * np.pi * numbers[1]
    helper = np.where(np.abs(axis[2]) < 0.9, [[0.0], [0], [1]], [[1.0], [0], [0]])
    tangent = np.cross(helper, axis, axis=0)
    tangent /= np.linalg.norm(tangent, axis=0)
    bitangent = np.cross(axis, tangent, axis=0)
    return (
        tangent[:, None] * (sine * np.cos(turn))
        + bitangent[:, None] * (sine * np.sin(turn))
        + axis[:, None] * cosine
    )


def _noise(f: Floats, light: Floats, found: Floats, density: Floats) -> Noise:
    """Variances of single samples, from one set of weighted directions."""
    total, reflected = (np.mean(each / density, 0) for each in (f, f * light))
    ideal = np.mean(f * light**2 / density, 0) * total - reflected**2
    own = np.mean((f * light) ** 2 / np.maximum(found, 1e-12) / density, 0) - reflected**2
    return Noise.of(own / reflected**2, ideal / reflected**2, reflected)


def _noise_with_sun(
    f: Floats, sky_light: Floats, found: Floats, density: Floats, disc: Floats
) -> Noise:
    """Half of the samples in proportion to the environment, by the balance heuristic."""
    even = np.mean(sky_light / density, 0)
    # the sun lights a surface that faces it 4.5 times as much as the mean of the sky does
    radiance = sky_light + disc * SUN_OVER_SKY * even / 4
    whole, total, reflected = (np.mean(each / density, 0) for each in (radiance, f, f * radiance))
    own, ideal = (
        np.mean((f * radiance) ** 2 / (0.5 * each + 0.5 * radiance / whole) / density, 0)
        - reflected**2
        for each in (found, f / total)
    )
    return Noise.of(own / reflected**2, ideal / reflected**2, reflected)


def times(device: Device, rounds: int) -> None:
    columns = ("16 evaluations", "prepare, 16 shade", "prepare, 16 drawn with density")
    print(f"| decoder, its plain layers | {' | '.join(columns)} |\n{'| --- ' * 4}|")
    source = Source("bundle/cost/time_lights")
    threads = 1 << 12 if device.is_software else 1 << 22
    entries = ("timeEvaluations", "timePrepared", "timeSampler")
    choice = replace(fastest_advised(device, None), filter="sampler")
    kernels: dict[str, list[Timed]] = {}
    for name in PRESETS:
        stored = untrained(BakeSettings(network=name, resolution=1024))
        for place in PLACES[: 1 + fits_in_constants(stored.spec)]:
            material = BundleMaterial(
                stored, device, replace(choice, is_constant=place == "constants")
            )
            # kernels of time_responses.slang share the module, and its variables
            bound = {"gSum": device.new_space(threads), **material.bindings()}
            kernels[f"{name}, {choice.decoder}, {place}"] = [
                Timed(material.kernel(source, entry), bound) for entry in entries
            ]
    # the first rounds compile and bring the clock up
    taken: dict[str, list[list[float]]] = {name: [] for name in kernels}
    for _ in range(WARM_UP + rounds):
        for name, three in kernels.items():
            taken[name].append(
                [time_dispatch(device, each.kernel, threads, each.variables) for each in three]
            )
    for name, found in taken.items():
        nanoseconds = np.array(found[WARM_UP:]).T / threads * 1e9
        cells = []
        for own in nanoseconds:
            low, middle, high = np.percentile(own, [10, 50, 90])
            ratio = np.median(own / nanoseconds[0])
            cells.append(f"{middle:.3f} ({low:.3f} to {high:.3f}), {ratio:.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundles", nargs="*")
    parser.add_argument("--device")
    parser.add_argument("--places", type=int, default=300)
    parser.add_argument("--directions", type=int, default=6000)
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--grazing", action="store_true")
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    device = open_device(options.device)
    print(f"{device}\n")
    if options.times:
        times(device, options.rounds)
    if not options.bundles:
        return
    if options.grazing:
        print(f"| material | {' | '.join(map(str, GRAZING_COSINES))} |\n{'| --- ' * 5}|")
        for path in options.bundles:
            found = measure_grazing(stored(path), device, options.places, options.directions)
            cells = [f"{deviation:.2f}, {largest:.1f}" for deviation, largest in found]
            print(f"| {Path(path).stem} | {' | '.join(cells)} |", flush=True)
        return
    print("| material | sky: median / 90% / picture | with a sun, MIS |")
    print("| --- | --- | --- |")
    medians = []
    for path in options.bundles:
        plain, sun = measure(stored(path), device, options.places, options.directions)
        if plain.counts:
            medians.append(plain.median)
        print(f"| {Path(path).stem} | {plain} | {sun} |", flush=True)
    if medians:
        print(f"\nmedian of materials, mirrors left out: {np.median(medians):.2f}")


if __name__ == "__main__":
    main()
