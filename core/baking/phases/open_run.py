"""Opens a bake: checks the request, claims the folder, and opens the trainer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from verdigris.core.baking.finish.figures import preparing_finish
from verdigris.core.baking.finish.heads import final_samples
from verdigris.core.baking.measure.bundle_size import check_bytes
from verdigris.core.baking.measure.measure import classify
from verdigris.core.baking.measure.memory import check_memory
from verdigris.core.baking.phases.time_limit import fit_to_time
from verdigris.core.baking.state.choices import stages_of
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.baking.state.outputs import (
    bundle_paths,
    check_names,
    claim_folder,
    document_facts,
    unique_names,
)
from verdigris.core.baking.state.resume import SavedState, find_state
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.trainers import choose_trainer, open_learner
from verdigris.core.base.errors import SettingsError
from verdigris.core.material.evaluator import compile_material
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import Kind, Recipe


@contextlib.contextmanager
def opened_run(
    teachers: Sequence[Teacher],
    settings: BakeSettings | Recipe,
    options: BakeOptions,
    control: BakeControl,
) -> Iterator[tuple[Run, SavedState | None]]:
    """The bake, and the checkpoint that it continues from, if there is one. Inside the context its
    names are locked, and threads prepare its end."""
    if not teachers:
        raise SettingsError("there is nothing to bake: name at least one material")
    for teacher in teachers:
        compile_material(teacher)
    trainer_kind = options.trainer or choose_trainer(teachers[0].device)
    recipe = with_live_inputs(Recipe.of(settings), teachers)
    kind = classify(teachers, recipe)
    requested = recipe[kind]
    check_memory(teachers[0].device, requested, len(teachers), trainer_kind)
    check_bytes(requested)
    paths = bundle_paths(options, teachers)
    check_names(paths, teachers)
    with contextlib.ExitStack() as opened:
        claim_folder(opened, teachers, paths, options)
        saved = find_state(teachers, requested, options, trainer_kind)
        if saved is not None:
            options = replace(options, importance=saved.importance)
        run = _begin(teachers, kind, requested, saved, options, control, trainer_kind)
        samples = final_samples(teachers[0].device)
        opened.enter_context(preparing_finish(teachers, run.settings, samples))
        yield run, saved


def with_live_inputs(recipe: Recipe, teachers: Sequence[Teacher]) -> Recipe:
    """The recipe for decoders with as many live inputs as the materials have."""
    counts = {teacher.material.name: len(teacher.live_inputs) for teacher in teachers}
    if len({*counts.values()}) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in counts.items())
        raise SettingsError(
            "materials that share a decoder need the same number of live inputs, and "
            f"{listed}: bake them one by one"
        )
    (count,) = {*counts.values()}
    return recipe.map(lambda each: each.with_live_inputs(count)) if count else recipe


def _begin(
    teachers: Sequence[Teacher],
    kind: Kind,
    requested: BakeSettings,
    saved: SavedState | None,
    options: BakeOptions,
    control: BakeControl,
    trainer_kind: str,
) -> Run:
    """Opens the trainer for the first stage, or for the stage of the checkpoint."""
    settings = saved.settings if saved else requested
    if options.time_limit and not saved:
        settings = fit_to_time(teachers, settings, options.time_limit, options, trainer_kind)
    stage = saved.stage if saved else stages_of(settings)[0]
    run = Run(
        teachers=teachers,
        kind=kind,
        settings=settings,
        options=options,
        control=control,
        trainer_kind=trainer_kind,
        names=unique_names([teacher.material.name for teacher in teachers]),
        learner=open_learner(teachers, settings, stage, options.importance, trainer_kind),
        requested_steps=requested.iterations,
        documents=[document_facts(teacher) for teacher in teachers],
    )
    if control.watch:
        control.watch(run)
    return run
