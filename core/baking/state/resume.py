"""Writes the state of a bake, and finds it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.state import checkpoint
from verdigris.core.baking.state.differences import (
    changed_settings,
    first_of,
    materials,
    named,
    other_source,
)
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.source import source_digest
from verdigris.core.baking.state.stages import Stage, stages_of
from verdigris.core.baking.state.trial import Trial
from verdigris.core.base.errors import SettingsError
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.progress.events import Checkpointed, Event, Warning
from verdigris.core.settings.bake_settings import BakeSettings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.network.spec import LatentLayout


# By which each material's places are drawn, beside what is painted.
_ERROR_WEIGHTS = "error_weights"


@dataclass(frozen=True)
class SavedState:
    """What a checkpoint holds for a bake to go on from."""

    parameters: Parameters
    state: dict[str, NDArray[Any]]
    settings: BakeSettings
    seconds: float
    rounding: dict[str, Any]
    trial: Trial | None
    stage: Stage
    path: Path


def facts_of(run: Run) -> dict[str, Any]:
    """What a file says of the bake that wrote it."""
    return {
        "materials": list(run.names),
        **named(run.teachers),
        "source": run.digest,
        "made_of": run.documents,
        "importance": run.map_digest,
        "settings": run.settings.to_json(),
        "trainer": run.trainer_kind,
        "step": run.step,
        "stage": int(run.settings.is_encoded and run.stage.is_last),
        "stage_begun": run.stage.first_step,
        "seconds": run.seconds,
        "rounding": run.rounding,
        "time_limit": run.options.time_limit,
        "wanted_steps": run.wanted_steps,
        **({"trial": run.trial.facts()} if run.trial else {}),
    }


def keep_state(run: Run) -> Iterator[Event]:
    """Writes a checkpoint. Where that cannot be, the bake goes on with the one before, and the next
    is tried when it is due: told once, until one is written again."""
    try:
        written = _write_state(run)
    except CheckpointError as failure:
        if not run.is_unkept:
            back = f"goes on from step {run.checkpoint_step}" if kept_in(run) else "begins anew"
            yield Warning(f"{failure}; training goes on, and what is cut off now {back}")
        run.is_unkept = True
        return
    run.is_unkept = False
    yield written


def _write_state(run: Run) -> Checkpointed:
    """Writes the checkpoint that a bake which is cut off goes on from."""
    path = checkpoint.state_path(run.options.folder, run.options.name)
    state = {**run.trainer.state(), **(run.trial.arrays() if run.trial else {})}
    if run.source.error_weights is not None:
        state[_ERROR_WEIGHTS] = run.source.error_weights
    checkpoint.save(path, run.trainer.parameters(), facts_of(run), state)
    _note_step(run)
    return Checkpointed(run.resumed_step, str(path))


def _note_step(run: Run) -> None:
    """There is a checkpoint of the run as it is."""
    run.checkpoint_step = run.resumed_step
    run.kept_step = None if run.trial else run.step


def kept_in(run: Run) -> Path | None:
    """The checkpoint that this bake has written, if it is still there."""
    path = checkpoint.state_path(run.options.folder, run.options.name)
    return path if run.checkpoint_step is not None and path.is_file() else None


def find_state(
    teachers: Sequence[Teacher], settings: BakeSettings, options: BakeOptions, kind: str
) -> SavedState | None:
    """The checkpoint to go on from, if that is wanted and there is one of the same bake."""
    if not options.resume:
        return None
    digest = source_digest(teachers, options.importance)
    path = _find_path(options, digest)
    if path is None:
        return None
    try:
        saved = checkpoint.load(path)
    except CheckpointError as failure:
        raise CheckpointError(f"{failure}: bake without --resume") from None
    facts = saved.facts
    if facts.get("source") != digest:
        told = other_source(facts, teachers, options)
        raise CheckpointError(f"{path}: {told}: use the same, or bake without --resume")
    stored, seconds = _begun_with(facts, path)
    _require_same(facts, stored, settings, options, kind, path)
    rounding = facts.get("rounding", {})
    try:
        stage = _stage(facts, stored, saved.parameters.layout)
        trial = Trial.from_saved(facts, saved.state, saved.parameters, stored.candidates)
    except CheckpointError as failure:
        raise CheckpointError(f"{path}: {failure}: bake without --resume") from None
    return SavedState(saved.parameters, saved.state, stored, seconds, rounding, trial, stage, path)


def take_name(run: Run, saved: SavedState | None) -> Iterator[Event]:
    """Before a bake writes: keeps the checkpoint of other materials aside that has its name, and
    takes back its own that was. Names that were given one by one are no other bake's."""
    options = run.options
    path = checkpoint.state_path(options.folder, options.name)
    own = checkpoint.aside_path(options.folder, options.name, run.digest)
    facts = None if options.names else checkpoint.find_facts(path)
    aside = None
    try:
        if facts is not None and _is_of_others(facts, run):
            aside = checkpoint.aside_path(options.folder, options.name, str(facts["source"]))
            path.replace(aside)
        if own.is_file():
            own.replace(path)
    except OSError as failure:
        raise CheckpointError(
            f"{path}: cannot be kept aside ({failure.strerror}): choose another --name"
        ) from None
    if facts is not None and aside is not None:
        yield Warning(
            f"{path}: is the checkpoint of {', '.join(materials(facts))}: it is kept as "
            f"{aside.name}, where a bake of the same with --resume finds it"
        )
    if options.resume and saved is None:
        yield _nothing_to_resume(run)


def _find_path(options: BakeOptions, digest: str) -> Path | None:
    """Where the checkpoint of this source is kept, or the one that has the bake's name."""
    paths = (
        checkpoint.aside_path(options.folder, options.name, digest),
        checkpoint.state_path(options.folder, options.name),
    )
    return next((path for path in paths if path.is_file()), None)


def _is_of_others(facts: Mapping[str, Any], run: Run) -> bool:
    """Whether a checkpoint is of a bake of other materials, or of these in another order."""
    source = str(facts.get("source", ""))
    # it becomes part of a file's name
    if source == run.digest or not source.isalnum():
        return False
    return materials(facts) != materials(named(run.teachers))


def _nothing_to_resume(run: Run) -> Warning:
    """It names checkpoints of the same materials, and what keeps each from being gone on from."""
    told = ["there is no checkpoint to go on from: the bake starts afresh"]
    wanted = materials(named(run.teachers))
    for path, facts in checkpoint.states_in(run.options.folder):
        found = materials(facts)
        if sorted(found) != sorted(wanted):
            continue
        if found != wanted:
            order = ", ".join(found)
            how = f"is of the same materials: give them in its order to go on ({order})"
        elif facts.get("source") == run.digest:
            name = path.name.removesuffix(checkpoint.STATE_SUFFIX)
            how = f"is of the same materials: go on from it with --name {name}"
        else:
            how = other_source(facts, run.teachers, run.options)
        told.append(f"{path} {how}")
    return Warning(first_of(told))


def _begun_with(facts: dict[str, Any], path: Path) -> tuple[BakeSettings, float]:
    """The settings of the bake that wrote the checkpoint, and the seconds that it took."""
    try:
        return BakeSettings.from_json(facts["settings"]), float(facts.get("seconds", 0.0))
    except (SettingsError, LookupError, TypeError, ValueError, AttributeError) as failure:
        raise CheckpointError(
            f"{path}: its settings are not those of this version ({failure}): bake without --resume"
        ) from None


def _require_same(
    facts: dict[str, Any],
    stored: BakeSettings,
    wanted: BakeSettings,
    options: BakeOptions,
    kind: str,
    path: Path,
) -> None:
    """Refuses a checkpoint of other settings than are wanted now, but for what its bake has chosen
    by itself: that is taken over."""
    wanted = wanted.with_places(stored.draw.finest_places, stored.is_crowded)
    if wanted.resolution == stored.resolution:
        # however many were asked for
        wanted = replace(wanted, uniform_instead_of=stored.uniform_instead_of)
    limit = facts.get("time_limit", options.time_limit)
    if options.time_limit:
        if limit != options.time_limit:
            begun = f"a time limit of {limit} s" if limit else "no time limit"
            raise CheckpointError(
                f"{path}: was begun with {begun}, which its steps were chosen for, not with "
                f"{options.time_limit} s: use the same, or bake without --resume"
            )
        if facts.get("wanted_steps", wanted.iterations) == wanted.iterations:
            wanted = replace(wanted, iterations=stored.iterations)
        if stored.encode_from == 0:
            wanted = replace(wanted, encode_from=0)
    differing = changed_settings(stored, wanted)
    if facts.get("trainer") != kind:
        differing.insert(0, f"the trainer {facts.get('trainer')}, not {kind}")
    if not differing:
        return
    if limit and not options.time_limit:
        differing.insert(0, f"a time limit of {limit} s, not none")
    raise CheckpointError(
        f"{path}: was begun with {first_of(differing)}: use the same, or bake without --resume"
    )


def restore(run: Run, saved: SavedState) -> None:
    """Goes on from a checkpoint."""
    try:
        run.trainer.restore(saved.parameters, saved.state)
        if _ERROR_WEIGHTS in saved.state:
            weights = _checked_weights(saved.state[_ERROR_WEIGHTS], len(run.teachers))
            run.source.set_error_weights(weights)
    except CheckpointError as failure:
        raise CheckpointError(f"{saved.path}: {failure}: bake without --resume") from None
    run.seconds_before, run.rounding = saved.seconds, saved.rounding
    run.trial = saved.trial
    _note_step(run)


def _checked_weights(weights: NDArray[Any], materials: int) -> NDArray[np.float32]:
    """Maps that a bake may have written; raises CheckpointError for others."""
    are_numbers = weights.dtype.kind == "f" and weights.size > 0
    are_maps = weights.ndim == 3 and len(weights) == materials
    if not (are_numbers and are_maps and np.isfinite(weights).all() and weights.min() > 0):
        raise CheckpointError(f"{_ERROR_WEIGHTS}: are no weights of {materials} latent texture(s)")
    return weights.astype(np.float32)


def _stage(facts: dict[str, Any], settings: BakeSettings, layout: LatentLayout) -> Stage:
    """The stage that wrote the checkpoint; raises CheckpointError for one that cannot have."""
    stages, number = stages_of(settings), facts.get("stage", 0)
    if isinstance(number, bool) or not isinstance(number, int) or number not in range(len(stages)):
        raise CheckpointError(f"stage is {number!r}: it must be below {len(stages)}")
    wanted = stages[number].settings.layout(layout.materials)
    if layout != wanted:
        raise CheckpointError(
            f"latents are {layout.width} x {layout.height}, and those of stage {number} are "
            f"{wanted.width} x {wanted.height}"
        )
    # a small texture may have been good enough sooner
    begun = facts.get("stage_begun", stages[number].first_step)
    if type(begun) is not int or not 0 <= begun <= stages[number].first_step:
        raise CheckpointError(f"stage_begun is {begun!r}: use 0 to {stages[number].first_step}")
    return replace(stages[number], first_step=begun)
