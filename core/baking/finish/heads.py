"""The heads of the sampler and of split-sum lighting, and where they are fitted."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.baking.finish.effort import FinishEffort, effort_of
from verdigris.core.baking.finish.fit_sampler import fit_sampler
from verdigris.core.baking.finish.fit_split import (
    SplitEffort,
    draw_split_examples,
    fit_split,
    join_split,
)
from verdigris.core.base.process.profile import profiled
from verdigris.core.network.student import Student

if TYPE_CHECKING:
    from verdigris.core.baking.state.run import Run
    from verdigris.core.network.parameters import FloatArray, Parameters
    from verdigris.core.network.spec import NetworkSpec

    # The numbers of every material, one after the other on the device.
    Materials = Callable[[], Iterator[tuple[Parameters, Student]]]


@contextlib.contextmanager
def fitting_heads(run: Run) -> Iterator[Callable[[], FloatArray] | None]:
    """Fits the heads in a thread, beside all else inside of the context; what waits for them, or
    None where `finish` fits them: on a processor both would take turns. The latents are those that
    were trained, near what blocks hold: fitting blocks takes half as long as fitting heads."""
    if not fits_heads_beside(run):
        yield None
        return
    teacher, effort = run.teachers[0], effort_of(run)
    trained = replace(run.learner.filled_parameters().of_material(0), live=teacher.live)

    def fit() -> FloatArray:
        student = Student(trained, teacher.device)
        return fit_heads(trained.spec, lambda: iter([(trained, student)]), effort)

    with ThreadPoolExecutor(1, "heads") as thread:
        yield thread.submit(copy_context().run, fit).result


def fits_heads_beside(run: Run) -> bool:
    return len(run.teachers) == 1 and not run.teachers[0].device.is_software


@profiled("fit heads")
def fit_heads(spec: NetworkSpec, materials: Materials, effort: FinishEffort) -> FloatArray:
    """The heads of the sampler and of split-sum lighting, of all materials that share the
    decoder."""
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
