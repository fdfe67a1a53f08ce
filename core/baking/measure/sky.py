"""Error of the light that a material reflects under a sky, as lighting in a game shows it.

The surface is turned at random under a sky with a sun, and seen from random directions. Samples and
pictures do not show a loss of light: it is in highlights, and in the sum of many small errors.
Directions follow the student's lobes, so that few show the light of a place: many places make the
sum of all light certain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.proxies.lobes import (
    LearnedFrames,
    draw_lights,
    learned_frames,
    light_counts,
)
from verdigris.core.bundle.proxies.make_proxies import numpy_respond_at
from verdigris.core.bundle.proxies.quadrature import find_shares
from verdigris.core.lighting.named_environments import sky_luminance
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.sides import density_of_passed, passed, passes
from verdigris.core.network.latents.texels import footprint_width
from verdigris.core.pictures.compare.metrics import SkyMetrics, light_bias, measure_light

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.base.device import Device
    from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.student import Student


# Least cosine of the viewer, who hardly sees flatter surfaces.
LEAST_COSINE = 0.15
_SEED = 49
_PLACES_FOR_SHARES = 256
# Evaluations at once: buffers of some ten megabytes.
_AT_ONCE = 1 << 18
SUN = np.array((0.5, 0.6, 0.8)) / np.linalg.norm((0.5, 0.6, 0.8))


@dataclass(frozen=True)
class SkyPlan:
    """The size of the measurement."""

    places: int
    """Random places whose errors count, each with its own viewer and rotation of the sky."""
    directions: int
    """Directions to the sky from each place."""
    more_places: int
    """Further places, for the sum of all light alone."""
    more_directions: int
    """Directions from each of them."""
    texel_places: int
    """Places of a texel that the response is averaged over, for each direction."""


# docs/BENCHMARKS.md gives their noise.
FULL_PLAN = SkyPlan(1_024, 256, 12_288, 24, texel_places=8)
SOFTWARE_PLAN = SkyPlan(128, 256, 2_048, 16, texel_places=4)


def plan_for(device: Device) -> SkyPlan:
    """The plan for a device: fewer evaluations if they take seconds."""
    return SOFTWARE_PLAN if device.is_software else FULL_PLAN


@profiled("measure under the sky")
def measure_sky(
    teacher: DeviceMaterial,
    student: Student | BundleMaterial,
    resolution: int,
    plan: SkyPlan | None = None,
) -> SkyMetrics:
    """Errors of the finest level, against the material's mean over one of its texels."""
    plan = plan or plan_for(teacher.device)
    random = np.random.default_rng(_SEED)
    lights = _Lights(student, random)
    footprint = Footprint(footprint_width(resolution, 0), plan.texel_places)
    light: list[tuple[FloatArray, FloatArray]] = []
    for places, directions in (
        (plan.places, plan.directions),
        (plan.more_places, plan.more_directions),
    ):
        at_once = max(1, _AT_ONCE // directions)
        parts = [
            (
                reflected_light(student, evaluated, Footprint()),
                reflected_light(teacher, evaluated, footprint),
            )
            for start in range(0, places, at_once)
            for evaluated in [lights.draw(min(at_once, places - start), directions)]
        ]
        first, second = (np.concatenate(each) for each in zip(*parts, strict=True))
        light.append((first, second))
    errors = measure_light(*light[0])
    bias, deviation = light_bias(*(np.concatenate(each) for each in zip(*light, strict=True)))
    return replace(errors, bias=bias, bias_deviation=deviation)


class Evaluated(NamedTuple):
    """Places under the sky, with directions that follow the response."""

    uv: FloatArray
    """[places, 2]"""
    wo: FloatArray
    """To the viewer, [places, 3]."""
    wi: FloatArray
    """To the light, [places, directions, 3]."""
    light: FloatArray
    """Radiance from there, divided by the density of the direction and by their number, [places,
    directions]."""


_OF_SIDES = "wi", "light"


class _Lights:
    """Draws places, and directions in proportion to what the student's lobes reflect. Of a surface
    that transmits, as many are drawn for light from below."""

    def __init__(self, student: Student | BundleMaterial, random: np.random.Generator) -> None:
        parameters = student.read_parameters()
        self._sides, self._random = parameters.sides, random
        self._index = parameters.index_below
        uv = views_of(random, _PLACES_FOR_SHARES).uv
        self._shares = [
            find_shares(numpy_respond_at(side)(0), _frames(side, uv), uv, random)
            for side in self._sides
        ]

    def draw(self, places: int, directions: int) -> Evaluated:
        uv, wo, rotations = views_of(self._random, places)
        found = []
        for side, shares in zip(self._sides, self._shares, strict=True):
            shift = self._random.random((2, places), np.float32)
            counts = light_counts(shares, directions // len(self._sides))
            wi, density = draw_lights(_frames(side, uv), wo.T, counts, shift)
            is_lit = wi[2] > 0
            if side is not self._sides[0]:
                wi, density = self._passed(wi, density, wo)
                is_lit &= wi[2] < 0
            wi = np.moveaxis(wi, 0, -1)
            radiance = sky(np.einsum("pij,pdj->pdi", rotations, wi)) / (density * density.shape[1])
            found.append(Evaluated(uv, wo, wi, radiance * is_lit))
        if len(found) == 1:
            return found[0]
        of_both = (np.concatenate([getattr(each, name) for each in found], 1) for name in _OF_SIDES)
        return Evaluated(uv, wo, *of_both)

    def _passed(
        self, mirrored: FloatArray, density: FloatArray, wo: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Directions of light from below, [3, places, directions], and their densities."""
        outwards = wo.T[:, :, None]
        wi = passed(mirrored, outwards, self._index)
        density = density * density_of_passed(wi, mirrored, outwards, self._index)
        return wi, np.where(passes(mirrored, outwards, self._index), density, np.inf)


def _frames(parameters: Parameters, uv: FloatArray) -> LearnedFrames:
    return learned_frames(parameters, uv, np.zeros(len(uv), np.float32))


def reflected_light(
    material: DeviceMaterial, evaluated: Evaluated, footprint: Footprint
) -> FloatArray:
    """Light [places, 3] towards the viewer of each place."""
    uv, wo, wi, light = evaluated
    count = wi.shape[1]
    response = material.response(
        np.repeat(uv, count, axis=0),
        np.ascontiguousarray(wi.reshape(-1, 3), np.float32),
        np.repeat(wo, count, axis=0),
        footprint=footprint,
    ).reshape(*wi.shape)
    return np.asarray(np.einsum("pdc,pd->pc", response.astype(float), light))


class Views(NamedTuple):
    """Random places with their viewers."""

    uv: FloatArray
    """[N, 2]"""
    wo: FloatArray
    """To the viewer, [N, 3]."""
    rotations: FloatArray
    """From the surface to the world, [N, 3, 3]."""


def views_of(random: np.random.Generator, places: int) -> Views:
    uv = random.random((places, 2), np.float32)
    cosine = random.uniform(LEAST_COSINE, 1, places)
    turn, sine = random.uniform(0, 2 * np.pi, places), np.sqrt(1 - cosine**2)
    wo = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], axis=1)
    return Views(uv, wo.astype(np.float32), random_rotations(random, places))


def sky(directions: FloatArray) -> FloatArray:
    """Grey radiance from unit vectors (..., 3) of the world, y up."""
    return sky_luminance(directions, SUN)


def random_rotations(random: np.random.Generator, count: int) -> FloatArray:
    """Matrices (count, 3, 3) of random unit quaternions: uniform among all rotations."""
    quaternions = random.standard_normal((4, count))
    w, x, y, z = quaternions / np.linalg.norm(quaternions, axis=0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)
