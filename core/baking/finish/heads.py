"""The effort of a bake's end, and the heads of sampler and split-sum lighting that it fits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.finish.figures import PreviewPlan, preview_plan
from verdigris.core.baking.finish.fit_sampler import effort_on, fit_sampler
from verdigris.core.baking.finish.fit_split import (
    SplitEffort,
    draw_split_examples,
    fit_split,
    join_split,
    split_effort_on,
)
from verdigris.core.baking.finish.sampler_examples import Effort
from verdigris.core.baking.measure.measure import sphere_to_compare
from verdigris.core.baking.measure.sky import SkyPlan, plan_for
from verdigris.core.base.process.profile import profiled
from verdigris.core.network.student import Student

if TYPE_CHECKING:
    from verdigris.core.baking.finish.store import StoredStudents
    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.base.device import Device
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import NetworkSpec
    from verdigris.core.pictures.gbuffer import GBuffer

    # Those of each side.
    Heads = tuple[FloatArray, ...]
    # Gives the heads once a thread has fitted them.
    WaitForHeads = Callable[[], Heads]
    # The numbers of every material, one after the other on the device.
    Materials = Callable[[], Iterator[tuple[Parameters, Student]]]

# The picture of a bundle that is written at once, and the pixels per side of its sphere.
_FIRST_PREVIEW, _FIRST_SPHERE = PreviewPlan(96, 2, 4), 96
# Trained samples for each evaluation of the proxies, which then take some hundredths of a bake; and
# the least and the most evaluations.
_TRAINED_A_PROXY, _PROXY_EVALUATIONS = 40, (1 << 14, 1 << 26)


@dataclass(frozen=True)
class FinishEffort:
    """How much is drawn, measured and fitted for a bundle."""

    sampler: Effort
    split: SplitEffort
    samples: int
    """Number of held-out samples."""
    sphere: GBuffer
    sky: SkyPlan
    preview: PreviewPlan
    proxies: int
    """Evaluations of the response for the proxies."""


def effort_of(run: Run) -> FinishEffort:
    """The effort for a result, which may take as long as a short bake."""
    device, trained = run.teachers[0].device, run.settings.iterations * run.settings.batch
    texels = run.settings.resolution**2
    return FinishEffort(
        effort_on(device, trained, texels),
        split_effort_on(device, trained, texels),
        final_samples(device),
        sphere_to_compare(),
        plan_for(device),
        preview_plan(device, run.settings),
        int(np.clip(trained // _TRAINED_A_PROXY, *_PROXY_EVALUATIONS)),
    )


def first_effort() -> FinishEffort:
    """The effort for a bundle that is written at once, and again when it is refined."""
    return FinishEffort(
        Effort(surfaces=192, directions=64, steps=80),
        SplitEffort(surfaces=512, steps=160),
        1 << 12,
        sphere_to_compare(_FIRST_SPHERE),
        SkyPlan(48, 128, 512, 16, texel_places=4),
        _FIRST_PREVIEW,
        _PROXY_EVALUATIONS[0],
    )


def final_samples(device: Device) -> int:
    """Number of held-out samples that a result is measured on: fewer if they take seconds."""
    return 1 << 15 if device.is_software else 1 << 18


@contextlib.contextmanager
def fitting_heads(run: Run) -> Iterator[WaitForHeads | None]:
    """Fits the heads in a thread, beside the work inside of the context. Gives a function that
    waits for them, or None if `finish` fits them: on a CPU both would take turns. The latents are
    the trained ones, near what blocks hold: fitting blocks takes half as long as fitting heads."""
    if not fits_heads_beside(run):
        yield None
        return
    teacher, effort = run.teachers[0], effort_of(run)
    trained = replace(run.learner.filled_parameters().of_material(0), live=teacher.live)

    def fit() -> Heads:
        return tuple(fit_one(side) for side in trained.sides)

    def fit_one(side: Parameters) -> FloatArray:
        student = Student(side, teacher.device)
        return fit_heads(side.spec, lambda: iter([(side, student)]), effort)

    with ThreadPoolExecutor(1, "heads") as thread:
        yield thread.submit(copy_context().run, fit).result


def fits_heads_beside(run: Run) -> bool:
    return len(run.teachers) == 1 and not run.teachers[0].device.is_software


def fit_all_heads(students: StoredStudents, effort: FinishEffort) -> Heads:
    """The heads of each side."""
    spec = students.trained.spec
    sides = students.each, students.each_below
    return tuple(fit_heads(spec, each, effort) for each in sides[: len(students.trained.sides)])


@profiled("fit heads")
def fit_heads(spec: NetworkSpec, materials: Materials, effort: FinishEffort) -> FloatArray:
    """The heads of sampler and split-sum lighting, for all materials that share the decoder."""
    head = fit_sampler(spec, materials, effort.sampler)
    return _fit_split(spec, materials, head, effort.split)


def _fit_split(
    spec: NetworkSpec, materials: Materials, head: FloatArray, effort: SplitEffort
) -> FloatArray:
    """The sampler's head with that of split-sum lighting."""
    examples = [
        draw_split_examples(replace(numbers, head=head), student, effort)
        for numbers, student in materials()
    ]
    return fit_split(spec, head, join_split(examples), effort)
