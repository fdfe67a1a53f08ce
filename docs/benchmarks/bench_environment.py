"""Error of environment light as an engine computes it, against quadrature.

    python docs/benchmarks/bench_environment.py BUNDLE ... [--picture PATH] [--shown NAME ...]

The environment is the sky of bench_sky.py without the disc of its sun, as a cube
map of 128 texels a face. *Median*: of 300 places that are turned at random, the sum over channels
of the absolute difference by the light of brute force. *FLIP*: of a sphere under that sky in
colour, with the latents' level of its size. Brute force is 2,048 samples of the response a place,
1,024 a pixel, without a map. Directions that are spread evenly would miss a clear coat of alpha
.006 between them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from cube_map import CubeMap, directions_of_texels, solid_angles
from numpy.typing import NDArray

from verdigris.core.baking.measure.sky import SUN, sky, views_of
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
from verdigris.core.lighting.named_environments import sky_radiance
from verdigris.core.material.sides import mirrored
from verdigris.core.network.activations import response_of
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.light.environment_light import (
    GOLDEN_RATIO,
    environment_light,
    environment_light_proxies,
    environment_light_split,
)
from verdigris.core.network.light.environment_sides import (
    environment_light_of_sides,
    environment_light_split_of_sides,
    leave_solid,
)
from verdigris.core.network.light.sampler import draw, lobes_of, look_at, pdf
from verdigris.core.network.numpy_mlp import decode_latents, latents_at_lod
from verdigris.core.network.parameters import Parameters
from verdigris.core.pictures.compare.metrics import display, ldr_flip
from verdigris.core.pictures.picture_files import write_data

Floats = NDArray[np.floating]

SAMPLES = (16, 32, 64)
CUBE_WIDTH, IRRADIANCE_WIDTH = 128, 16
PICTURE_WIDTH, PICTURE_SAMPLES = 96, 1024
PLACES, PLACE_SAMPLES = 300, 2048
_SEED = 51


class Sky:
    """Cube maps of a sky, and the sky itself."""

    def __init__(self, radiance: Callable[[Floats], Floats]) -> None:
        self.exact = radiance
        self.map = CubeMap.of(radiance, CUBE_WIDTH)
        centres = directions_of_texels(2 * IRRADIANCE_WIDTH).reshape(-1, 3)
        weight = np.tile(solid_angles(2 * IRRADIANCE_WIDTH).reshape(-1), 6)[:, None]
        light = radiance(centres) * weight

        def irradiance(normals: Floats) -> Floats:
            return np.asarray(np.maximum(normals @ centres.T, 0) @ light)

        self.irradiance = CubeMap.of(irradiance, IRRADIANCE_WIDTH, samples=1)


@dataclass
class Turned:
    """A sky over surfaces of any direction: what a shader's INeuralEnvironment is."""

    sky: Sky
    rotations: Floats
    """From each surface to the world, (N, 3, 3)."""

    def world(self, directions: Floats) -> Floats:
        return np.einsum("nij,jn->ni", self.rotations, directions)

    def radiance(self, directions: Floats, solid_angle: Floats) -> Floats:
        return self.sky.map.radiance(self.world(directions), solid_angle).T

    def irradiance(self, normals: Floats) -> Floats:
        places = self.world(normals)
        return self.sky.irradiance.radiance(places, np.zeros(len(places))).T


@dataclass(frozen=True)
class Maps:
    """The textures that stand for a decoder."""

    proxies: Proxies
    transmitted: TransmittedAlbedo | None


class Surfaces:
    """Places of a material under views."""

    def __init__(
        self, parameters: Parameters, maps: Maps, uv: Floats, lod: Floats, wo: Floats
    ) -> None:
        self.parameters, self.wo = parameters, wo.T.astype(np.float32)
        self.latents = latents_at_lod(parameters, uv.T.astype(np.float32), lod.astype(np.float32))
        self.lobes = lobes_of(parameters, look_at(parameters, self.latents, self.wo))
        self.proxies = maps.proxies.at(uv, lod)
        self.passing = maps.transmitted.at(uv, lod) if maps.transmitted else None

    def shade(self, wi: Floats) -> Floats:
        return self.shade_of(self.parameters, wi)

    def shade_of(self, parameters: Parameters, wi: Floats) -> Floats:
        wi = wi.astype(np.float32)
        raw = decode_latents(parameters.spec, parameters, self.latents, wi, self.wo)
        response = response_of(parameters.spec, raw)
        response[:, wi[2] <= 0] = 0
        return np.asarray(response)

    def sampled(self, environment: Turned, samples: int, random: Floats) -> Floats:
        return environment_light(self.lobes, self.shade, environment, samples, random).T

    def split(self, environment: Turned) -> Floats:
        parameters, lobes, wo = self.parameters, self.lobes, self.wo
        return environment_light_split(parameters, lobes, self.shade, environment, wo).T

    def of_proxies(self, environment: Turned) -> Floats:
        found = self.proxies
        columns = found.diffuse.T, found.albedo(self.wo[2]).T, found.normal.T, found.roughness
        passing = None if self.passing is None else self.passing.T
        return environment_light_proxies(*columns, self.wo, environment, passing).T

    def brute_force(self, environment: Turned, samples: int, random: Floats) -> Floats:
        """Unfiltered samples, without a map."""
        total = np.zeros((3, random.shape[1]))
        for index in range(samples):
            point = np.array([[(index + 0.5) / samples], [index * GOLDEN_RATIO]])
            wi = draw(self.lobes, ((point + random) % 1).astype(np.float32))
            density = np.where(wi[2] > 0, pdf(self.lobes, wi), np.inf)
            light = environment.sky.exact(environment.world(wi)).T
            total += self.shade(wi) / density * light
        return (total / samples).T


class BothSides(Surfaces):
    """Places of a material that transmits. Light below a solid comes from where it leaves it."""

    def __init__(
        self, parameters: Parameters, maps: Maps, uv: Floats, lod: Floats, wo: Floats
    ) -> None:
        super().__init__(parameters.sides[0], maps, uv, lod, wo)
        self.both = parameters
        self.sampler = SphereSampler.at(parameters, self.latents, self.wo)

    def shade(self, wi: Floats) -> Floats:
        above, below = self.both.sides
        wi = wi.astype(np.float32)
        passed = self.shade_of(below, mirrored(wi, self.wo, self.sampler.index))
        return np.where(wi[2] < 0, passed, self.shade_of(above, wi))

    def sampled(self, environment: Turned, samples: int, random: Floats) -> Floats:
        found = environment_light_of_sides(self.sampler, self.shade, environment, samples, random)
        return found.T

    def split(self, environment: Turned) -> Floats:
        above, below = (partial(self.shade_of, side) for side in self.both.sides)
        shades = above, below
        return environment_light_split_of_sides(self.both, self.sampler, shades, environment).T

    def brute_force(self, environment: Turned, samples: int, random: Floats) -> Floats:
        total = np.zeros((3, random.shape[1]))
        for index in range(samples):
            point = np.array([[(index + 0.5) / samples], [index * GOLDEN_RATIO]])
            wi = self.sampler.draw(((point + random) % 1).astype(np.float32))
            is_lit = wi.any(0)
            wi = np.where(is_lit, wi, np.array([[0.0], [0.0], [1.0]]))
            density = np.where(is_lit, np.maximum(self.sampler.pdf(wi), 1e-6), np.inf)
            outside, share, _ = leave_solid(wi, self.sampler.index)
            light = share * environment.sky.exact(environment.world(outside)).T
            total += self.shade(wi) / density * light
        return (total / samples).T


def surfaces_of(
    parameters: Parameters, maps: Maps, uv: Floats, lod: Floats, wo: Floats
) -> Surfaces:
    kind = Surfaces if parameters.transmitted is None else BothSides
    return kind(parameters, maps, uv, lod, wo)


def grey_sky(directions: Floats) -> Floats:
    return np.repeat(sky(directions)[..., None], 3, axis=-1)


def median_errors(parameters: Parameters, maps: Maps, above: Sky) -> Iterator[float]:
    uv, wo, rotations = views_of(np.random.default_rng(_SEED), PLACES)
    surfaces = surfaces_of(parameters, maps, uv, np.zeros(len(uv)), wo)
    environment = Turned(above, rotations)
    random = np.random.default_rng(_SEED)
    shift = random.random((2, len(uv)), np.float32)
    wanted = surfaces.brute_force(environment, PLACE_SAMPLES, shift)

    def error(found: Floats) -> float:
        total = np.maximum(wanted.sum(1), 1e-6)
        return float(np.median(np.abs(found - wanted).sum(1) / total))

    shift = random.random((2, len(uv)), np.float32)
    for samples in SAMPLES:
        yield error(surfaces.sampled(environment, samples, shift))
    yield error(surfaces.split(environment))
    yield error(surfaces.of_proxies(environment))


def sphere(width: int) -> tuple[NDArray[np.bool_], Floats, Floats, Floats]:
    """Of a sphere seen from far: pixels on it, uv, directions to the viewer, rotations."""
    at = (2 * np.arange(width) + 1) / width - 1
    x, y = np.meshgrid(1.04 * at, -1.04 * at)
    is_hit = x * x + y * y < 0.995
    x, y = x[is_hit], y[is_hit]
    normal = np.stack([x, y, np.sqrt(1 - x * x - y * y)], 1)
    tangent = np.stack([normal[:, 2], np.zeros_like(x), -x], 1)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    rotations = np.stack([tangent, np.cross(normal, tangent), normal], 2)
    uv = np.stack([np.arctan2(x, normal[:, 2]) / np.pi + 0.5, np.arcsin(y) / np.pi + 0.5], 1)
    return is_hit, uv, rotations[:, 2], rotations


def pictures(parameters: Parameters, maps: Maps, above: Sky) -> dict[str, Floats]:
    """Radiance of spheres: brute force, and each of an engine's ways."""
    is_hit, uv, wo, rotations = sphere(PICTURE_WIDTH)
    # half of the sphere's girth shows uv from 0 to 1
    texels = max(parameters.layout.width, parameters.layout.height) / (PICTURE_WIDTH * np.pi / 2)
    lod = np.log2(texels / np.maximum(wo[:, 2], 0.2))
    surfaces = surfaces_of(parameters, maps, uv, np.maximum(lod, 0), wo)
    environment = Turned(above, rotations)
    random = np.random.default_rng(_SEED).random((2, len(uv)), np.float32)
    lights = {
        "brute": surfaces.brute_force(environment, PICTURE_SAMPLES, random),
        "samples": surfaces.sampled(environment, SAMPLES[0], random),
        "split": surfaces.split(environment),
        "proxies": surfaces.of_proxies(environment),
    }
    shown = {}
    for name, light in lights.items():
        shown[name] = np.zeros((*is_hit.shape, 3), np.float32)
        shown[name][is_hit] = light
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundles", nargs="+", type=Path)
    parser.add_argument("--picture", type=Path, help="write spheres of --shown there")
    parser.add_argument("--shown", nargs="*", default=[])
    options = parser.parse_args()
    columns = [*map(str, SAMPLES), "split", "proxies", "FLIP 16", "FLIP split", "FLIP proxies"]
    print(f"| material | {' | '.join(columns)} |\n{'| --- ' * (len(columns) + 1)}|")
    grey, coloured = Sky(grey_sky), Sky(lambda directions: sky_radiance(directions, SUN))
    rows = []
    for path in options.bundles:
        bundle = open_bundle(path)
        parameters, proxies = bundle.parameters().of_material(0), bundle.proxies()
        assert proxies is not None, f"{path}: bundles before 4.2 have no proxies: bake it again"
        maps = Maps(proxies, bundle.transmitted_albedo())
        errors = " | ".join(f"{error:.3f}" for error in median_errors(parameters, maps, grey))
        shown = pictures(parameters, maps, coloured)
        brute = shown["brute"]
        flips = [ldr_flip(shown[name], brute)[0] for name in ("samples", "split", "proxies")]
        cells = " | ".join(f"{flip:.3f}" for flip in flips)
        print(f"| {path.stem} | {errors} | {cells} |", flush=True)
        if path.stem in options.shown:
            rows.append(np.concatenate(list(shown.values()), axis=1))
    if options.picture and rows:
        write_data(options.picture, display(np.concatenate(rows)))


if __name__ == "__main__":
    main()
