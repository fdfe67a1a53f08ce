"""The effort of a bake's end, and the heads of sampler and split-sum lighting that it fits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.baking.finish.figures import HEADS, PreviewPlan, preview_plan
from verdigris.core.baking.finish.fit_heads import HeadsEffort, fit_heads, fit_sides
from verdigris.core.baking.finish.fit_sampler import effort_on
from verdigris.core.baking.finish.fit_split import SplitEffort, split_effort_on
from verdigris.core.baking.finish.sampler_examples import Effort
from verdigris.core.baking.measure.measure import sphere_to_compare
from verdigris.core.baking.measure.sky import SkyPlan, plan_for

if TYPE_CHECKING:
    from verdigris.core.baking.finish.fit_heads import Heads
    from verdigris.core.baking.finish.store import StoredStudents
    from verdigris.core.baking.state.run import Run
    from verdigris.core.base.device import Device
    from verdigris.core.pictures.gbuffer import GBuffer

    # Gives the heads once a thread has fitted them.
    WaitForHeads = Callable[[], Heads]

# The picture of a bundle that is written at once, and the pixels per side of its sphere.
_FIRST_PREVIEW, _FIRST_SPHERE = PreviewPlan(96, 2, 4), 96
# Trained samples for each evaluation of the proxies, which then take some hundredths of a bake; and
# the least and the most evaluations.
_TRAINED_A_PROXY, _PROXY_EVALUATIONS = 40, (1 << 14, 1 << 26)


@dataclass(frozen=True)
class FinishEffort:
    """How much is drawn, measured and fitted for a bundle."""

    heads: HeadsEffort
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
        HeadsEffort(effort_on(device, trained, texels), split_effort_on(device, trained, texels)),
        final_samples(device),
        sphere_to_compare(),
        plan_for(device),
        preview_plan(device, run.settings),
        int(np.clip(trained // _TRAINED_A_PROXY, *_PROXY_EVALUATIONS)),
    )


def first_effort() -> FinishEffort:
    """The effort for a bundle that is written at once, and again when it is refined."""
    return FinishEffort(
        HeadsEffort(
            Effort(surfaces=192, directions=64, steps=80), SplitEffort(surfaces=512, steps=160)
        ),
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
    """Fits the heads in a process, beside the work inside of the context. Gives a function that
    waits for them, or None if `finish` fits them: on a CPU both would take turns. The latents are
    the trained ones, near what blocks hold: fitting blocks takes as long as fitting heads."""
    if not fits_heads_beside(run):
        yield None
        return
    trained = replace(run.learner.filled_parameters().of_material(0), live=run.teachers[0].live)
    with ThreadPoolExecutor(1, "heads") as thread:
        fit = partial(HEADS.call, fit_sides, trained.sides, effort_of(run).heads)
        yield thread.submit(copy_context().run, fit).result


def fits_heads_beside(run: Run) -> bool:
    return len(run.teachers) == 1 and not run.teachers[0].device.is_software


def fit_all_heads(students: StoredStudents, effort: FinishEffort) -> Heads:
    """The heads of each side."""
    spec = students.trained.spec
    sides = students.each, students.each_below
    used = sides[: len(students.trained.sides)]
    return tuple(fit_heads(spec, each, effort.heads) for each in used)
