"""Error of the light that a material reflects under a sky, as lighting in a game shows it.

The surface is turned at random under a sky with a sun, and seen from random directions. Samples and
pictures do not show a loss of light: it is in highlights, and in the sum of many small errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.measure.measure import once
from verdigris.core.base.process.profile import profiled
from verdigris.core.lighting.named_environments import sky_luminance
from verdigris.core.material.evaluator import Footprint
from verdigris.core.network.latents.texels import footprint_width
from verdigris.core.pictures.compare.metrics import SkyMetrics, measure_light

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.base.device import Device
    from verdigris.core.material.evaluator import DeviceMaterial


# Least cosine of the viewer, who hardly sees flatter surfaces.
LEAST_COSINE = 0.15
_SEED = 49
SUN = np.array((0.5, 0.6, 0.8)) / np.linalg.norm((0.5, 0.6, 0.8))


@dataclass(frozen=True)
class SkyPlan:
    """The size of the measurement."""

    places: int
    """Random places, each with its own viewer and rotation of the sky."""
    directions: int
    """Directions to the sky from each place."""
    texel_places: int
    """Places of a texel that the response is averaged over, for each direction."""


FULL_PLAN = SkyPlan(places=300, directions=4_096, texel_places=64)
# docs/BENCHMARKS.md gives its noise.
SOFTWARE_PLAN = SkyPlan(places=128, directions=1_024, texel_places=4)


def plan_for(device: Device) -> SkyPlan:
    """The plan for a device: fewer evaluations if they take seconds."""
    return SOFTWARE_PLAN if device.is_software else FULL_PLAN


@profiled("measure under the sky")
def measure_sky(
    teacher: DeviceMaterial, student: DeviceMaterial, resolution: int, plan: SkyPlan | None = None
) -> SkyMetrics:
    """Errors of the finest level, against the material's mean over one of its texels."""
    plan = plan or plan_for(teacher.device)
    wanted = light_of_teacher(teacher, resolution, plan)
    return measure_light(reflected_light(student, plan, Footprint()), wanted)


def light_of_teacher(teacher: DeviceMaterial, resolution: int, plan: SkyPlan) -> FloatArray:
    """The light that a student's light is compared with, measured once."""
    footprint = Footprint(footprint_width(resolution, 0), plan.texel_places)
    key = ("sky", resolution, plan)
    return once(teacher, key, lambda: reflected_light(teacher, plan, footprint))


def reflected_light(material: DeviceMaterial, plan: SkyPlan, footprint: Footprint) -> FloatArray:
    """Light (places, 3) towards the viewer of each place."""
    response = material.response(*_evaluated(plan), footprint=footprint)
    response = response.reshape(plan.places, plan.directions, 3)
    light = np.einsum("pdc,pd->pc", response.astype(float), _radiance(plan, sky))
    return np.asarray(2 * np.pi / plan.directions * light)


def prepare_sky(teacher: DeviceMaterial, resolution: int) -> None:
    """Computes the part that does not depend on the student."""
    light_of_teacher(teacher, resolution, plan_for(teacher.device))


@cache
def _evaluated(plan: SkyPlan) -> tuple[FloatArray, FloatArray, FloatArray]:
    """uv, directions to the light and to the viewer of each evaluation."""
    uv, wo, _ = views_of(plan)
    return (
        np.repeat(uv.astype(np.float32), plan.directions, axis=0),
        np.tile(fibonacci_hemisphere(plan.directions).astype(np.float32), (plan.places, 1)),
        np.repeat(wo.astype(np.float32), plan.directions, axis=0),
    )


@cache
def _radiance(plan: SkyPlan, of: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Radiance of a sky in each direction of each place: the same for teacher and student."""
    _, _, rotations = views_of(plan)
    return of(np.einsum("pij,dj->pdi", rotations, fibonacci_hemisphere(plan.directions)))


def views_of(plan: SkyPlan) -> tuple[FloatArray, FloatArray, FloatArray]:
    """uv, directions to the viewer, and rotations from the surface to the world. Every call gives
    the same."""
    random = np.random.default_rng(_SEED)
    uv = random.random((plan.places, 2))
    cosine = random.uniform(LEAST_COSINE, 1, plan.places)
    turn, sine = random.uniform(0, 2 * np.pi, plan.places), np.sqrt(1 - cosine**2)
    wo = np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], axis=1)
    return uv, wo, random_rotations(random, plan.places)


def sky(directions: FloatArray) -> FloatArray:
    """Grey radiance from unit vectors (..., 3) of the world, y up."""
    return sky_luminance(directions, SUN)


def fibonacci_hemisphere(count: int) -> FloatArray:
    """Unit vectors (count, 3) around z, each for an equal part of the hemisphere."""
    index = np.arange(count)
    cosine, turn = (index + 0.5) / count, np.pi * (3 - np.sqrt(5)) * index
    sine = np.sqrt(1 - cosine**2)
    return np.stack([sine * np.cos(turn), sine * np.sin(turn), cosine], axis=1)


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
