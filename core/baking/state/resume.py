"""Writes checkpoints, finds the one that a bake resumes from, and tells why one does not fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.state import checkpoint
from verdigris.core.baking.state.checkpoint import (
    _listed,
    live_facts,
    material_facts,
    materials_of,
    source_digest,
)
from verdigris.core.baking.state.choices import Stage, StartChoice, stages_of
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.baking.state.run import Run
from verdigris.core.baking.state.sizes import SizeChoice
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.files import rename_file
from verdigris.core.base.process.profile import profiled
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.progress import Checkpointed, Event, Warning
from verdigris.core.settings.bake_settings import BakeSettings, unequal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.network.spec import LatentLayout

# Number of differences that a message names, and letters of each.
_MOST_NAMED, _LONGEST_SHOWN = 4, 100
_LOST_MAP = (
    "it had other weights, which an earlier version of Verdigris did not store in its checkpoint"
)


@dataclass(frozen=True)
class SavedState:
    """The contents of a checkpoint that a bake resumes from."""

    path: Path
    parameters: Parameters
    state: dict[str, NDArray[Any]]
    settings: BakeSettings
    stage: Stage
    start_choice: StartChoice | None
    seconds: float
    rounding: dict[str, Any]
    early: Mapping[str, Any]
    """Progress of early stopping."""
    guard: Mapping[str, Any]
    """What the guard of the loss has seen."""
    size_choice: SizeChoice | None = None
    importance: NDArray[Any] | None = None
    """The importance map to continue with."""
    has_other_weights: bool = False
    """This map is not the one of the request."""


def facts_of(run: Run) -> dict[str, Any]:
    """The facts of a checkpoint about the bake that writes it."""
    stage = run.learner.stage
    return {
        "materials": list(run.names),
        **material_facts(run.teachers),
        "source": run.saved.digest,
        "made_of": run.documents,
        "live": [live_facts(teacher) for teacher in run.teachers],
        "importance": run.saved.map_digest,
        "settings": run.settings.to_json(),
        "trainer": run.trainer_kind,
        "preset": run.options.preset,
        "step": run.step,
        "stage": int(run.settings.has_two_stages and stage.is_last),
        "stage_begun": stage.first_step,
        "seconds": run.clock.seconds,
        "rounding": run.rounding,
        "early": {
            "checked_step": run.checked_step,
            "good_checks": run.good_checks,
            "steps_saved": run.steps_saved,
            "stopped_by": run.stopped_early_by,
        },
        "time_limit": run.options.time_limit,
        "wanted_steps": run.requested_steps,
        "guard": run.guard.facts(),
        **({"start_choice": run.start_choice.facts()} if run.start_choice else {}),
        **({"size": run.size_choice.facts()} if run.size_choice else {}),
    }


def save_checkpoint(run: Run) -> Iterator[Event]:
    """Writes a checkpoint. If that fails, the bake continues, and warns once until one is written
    again."""
    try:
        written = _write(run)
    except CheckpointError as failure:
        if not run.saved.has_failed:
            step = run.saved.step
            resumed = f"continues from step {step}" if run.saved.find_file() else "starts again"
            yield Warning(f"{failure}; training continues, but a resumed bake {resumed}")
        run.saved.has_failed = True
        return
    run.saved.has_failed = False
    yield written


@profiled("write checkpoint")
def _write(run: Run) -> Checkpointed:
    trainer = run.learner.trainer
    state = {**trainer.state(), **(run.start_choice.arrays() if run.start_choice else {})}
    state |= run.guard.arrays()
    checkpoint.save(run.saved.path, trainer.parameters(), facts_of(run), state, run.pack_map())
    _note_step(run)
    return Checkpointed(run.reported_step, str(run.saved.path))


def _note_step(run: Run) -> None:
    """Notes that the checkpoint has the present step."""
    run.saved.step = run.reported_step
    run.saved.trainer_step = None if run.start_choice else run.step


def find_state(
    teachers: Sequence[Teacher], settings: BakeSettings, options: BakeOptions, trainer_kind: str
) -> SavedState | None:
    """The checkpoint to resume from, if that is requested and the same bake has one."""
    if not options.resume:
        return None
    importance = options.importance
    digest = source_digest(teachers, importance)
    path = _find_path(options, digest, teachers)
    if path is None:
        return None
    try:
        saved = checkpoint.load(path)
    except CheckpointError as failure:
        raise CheckpointError(f"{failure}: bake without resuming") from None
    facts = saved.facts
    if facts.get("source") != digest and options.keeps_weights:
        importance = saved.importance
        digest = source_digest(teachers, importance)
    if facts.get("source") != digest:
        difference = changed_source(facts, teachers, options)
        raise CheckpointError(f"{path}: {difference}: use the same, or bake without resuming")
    stored, seconds = _stored_settings(facts, path)
    _require_same(facts, stored, settings, options, trainer_kind, path)
    early, guard = facts.get("early"), facts.get("guard")
    try:
        stage = _stage(facts, stored, saved.parameters.layout)
        size_choice = SizeChoice.from_facts(facts.get("size"))
        choice = StartChoice.from_saved(facts, saved.state, saved.parameters, stored.starts)
    except CheckpointError as failure:
        raise CheckpointError(f"{path}: {failure}: bake without resuming") from None
    return SavedState(
        path=path,
        parameters=saved.parameters,
        state=saved.state,
        settings=stored,
        stage=stage,
        start_choice=choice,
        seconds=seconds,
        rounding=facts.get("rounding", {}),
        early=early if isinstance(early, Mapping) else {},
        guard=guard if isinstance(guard, Mapping) else {},
        size_choice=size_choice,
        importance=importance,
        has_other_weights=importance is not options.importance,
    )


def claim_name(run: Run, saved: SavedState | None) -> Iterator[Event]:
    """Renames a checkpoint of other materials with the bake's name, and takes back the bake's own,
    which may have been renamed. Names that were given one by one belong to this bake alone."""
    options, path = run.options, run.saved.path
    own = checkpoint.aside_path(options.folder, options.name, run.saved.digest)
    facts = None if options.names else checkpoint.find_facts(path)
    aside = None
    try:
        if facts is not None and _is_of_others(facts, run):
            aside = checkpoint.aside_path(options.folder, options.name, str(facts["source"]))
            rename_file(path, aside)
        if own.is_file():
            rename_file(own, path)
    except OSError as failure:
        raise CheckpointError(
            f"{path}: cannot be renamed ({failure.strerror}): choose another name"
        ) from None
    if facts is not None and aside is not None:
        yield Warning(
            f"{path}: is the checkpoint of {', '.join(materials_of(facts))}: it was renamed to "
            f"{aside.name}, where a bake of those materials finds it to resume"
        )
    if options.resume and saved is None:
        yield _nothing_to_resume(run)


def other_weights(run: Run, asked: NDArray[Any] | None) -> Iterator[Event]:
    """A line on the weights that a resumed bake continues with, which are not those asked for.
    Newer ones may be on their way."""
    if not run.control.has_new_importance:
        since = ": what was painted since then counts from the next stroke, or in the next bake"
        yield Warning(
            "the bake continues with the weights that it had when it stopped"
            + (since if asked is not None else "")
        )


def _find_path(options: BakeOptions, digest: str, teachers: Sequence[Teacher]) -> Path | None:
    """The renamed checkpoint of this source, or the one with the bake's name."""
    aside = checkpoint.aside_path(options.folder, options.name, digest)
    if aside.is_file():
        return aside
    path = checkpoint.state_path(options.folder, options.name)
    wanted = materials_of(material_facts(teachers))
    if options.keeps_weights and materials_of(checkpoint.find_facts(path) or {}) != wanted:
        # one that was renamed may have other weights
        for other, facts in checkpoint.states_in(options.folder):
            source = str(facts.get("source", ""))
            is_own = other == checkpoint.aside_path(options.folder, options.name, source)
            if is_own and materials_of(facts) == wanted:
                return other
    return path if path.is_file() else None


def _is_of_others(facts: Mapping[str, Any], run: Run) -> bool:
    """Whether a checkpoint has other materials, or the same in another order."""
    source = str(facts.get("source", ""))
    # the source becomes part of a file name
    if source == run.saved.digest or not source.isalnum():
        return False
    return materials_of(facts) != materials_of(material_facts(run.teachers))


def _nothing_to_resume(run: Run) -> Warning:
    """A warning that names checkpoints of the same materials, and why they cannot be resumed."""
    reasons = ["there is no checkpoint to resume: the bake starts from the beginning"]
    wanted = materials_of(material_facts(run.teachers))
    for path, facts in checkpoint.states_in(run.options.folder):
        found = materials_of(facts)
        if sorted(found) != sorted(wanted):
            continue
        if found != wanted:
            order = ", ".join(found)
            reason = f"has the same materials: give them in its order to resume ({order})"
        elif facts.get("source") == run.saved.digest:
            name = path.name.removesuffix(checkpoint.STATE_SUFFIX)
            reason = f"has the same materials: resume it with the name {name}"
        else:
            reason = changed_source(facts, run.teachers, run.options)
        reasons.append(f"{path} {reason}")
    return Warning(first_of(reasons))


def _stored_settings(facts: dict[str, Any], path: Path) -> tuple[BakeSettings, float]:
    """Settings and seconds of the bake that wrote the checkpoint."""
    try:
        return BakeSettings.from_json(facts["settings"]), float(facts.get("seconds", 0.0))
    except (SettingsError, LookupError, TypeError, ValueError, AttributeError) as failure:
        raise CheckpointError(
            f"{path}: another version wrote its settings ({failure}): bake without resuming"
        ) from None


def _require_same(
    facts: dict[str, Any],
    stored: BakeSettings,
    wanted: BakeSettings,
    options: BakeOptions,
    trainer_kind: str,
    path: Path,
) -> None:
    """Refuses a checkpoint with other settings. The steps that a time limit chose are kept."""
    limit = facts.get("time_limit", options.time_limit)
    if options.time_limit:
        if limit != options.time_limit:
            before = f"a time limit of {limit} s" if limit else "no time limit"
            raise CheckpointError(
                f"{path}: began with {before}, which decides its number of steps; the limit is now "
                f"{options.time_limit} s: use the same limit, or bake without resuming"
            )
        if facts.get("wanted_steps", wanted.iterations) == wanted.iterations:
            wanted = replace(wanted, iterations=stored.iterations)
        if stored.encode_from == 0:
            wanted = replace(wanted, encode_from=0)
    differing = changed_settings(stored, wanted)
    if facts.get("trainer") != trainer_kind:
        differing.insert(0, f"the trainer {facts.get('trainer')}, not {trainer_kind}")
    if not differing:
        return
    if limit and not options.time_limit:
        differing.insert(0, f"a time limit of {limit} s, not none")
    raise CheckpointError(
        f"{path}: began with {first_of(differing)}: use the same, or bake without resuming"
    )


def restore(run: Run, saved: SavedState) -> None:
    """Continues from a checkpoint."""
    try:
        run.learner.trainer.restore(saved.parameters, saved.state)
        run.guard.restore(saved.guard, saved.state, saved.parameters)
        run.checked_step = _whole(saved.early, "checked_step")
        run.good_checks = _whole(saved.early, "good_checks")
        run.steps_saved = _whole(saved.early, "steps_saved")
    except CheckpointError as failure:
        raise CheckpointError(f"{saved.path}: {failure}: bake without resuming") from None
    run.stopped_early_by = str(saved.early.get("stopped_by", ""))
    run.clock.seconds_before, run.rounding = saved.seconds, saved.rounding
    run.start_choice, run.size_choice = saved.start_choice, saved.size_choice
    _note_step(run)


def _whole(facts: Mapping[str, Any], name: str) -> int:
    value = facts.get(name, 0)
    if type(value) is not int or value < 0:
        raise CheckpointError(f"{name} is {value!r}: it must be a whole number from 0")
    return value


def _stage(facts: dict[str, Any], settings: BakeSettings, layout: LatentLayout) -> Stage:
    """The stage that wrote the checkpoint. Raises CheckpointError for an impossible one."""
    stages, number = stages_of(settings), facts.get("stage", 0)
    if isinstance(number, bool) or not isinstance(number, int) or number not in range(len(stages)):
        raise CheckpointError(f"stage is {number!r}: it must be below {len(stages)}")
    choice = SizeChoice.from_facts(facts.get("size"))
    stage = stages[number].with_size(choice.size) if choice else stages[number]
    wanted = stage.layout(layout.materials)
    if layout != wanted:
        raise CheckpointError(
            f"its latents have {layout.width} x {layout.height} texels, and stage {number} has "
            f"{wanted.width} x {wanted.height}"
        )
    # a bake may have been stopped while the small texture was trained
    begun = facts.get("stage_begun", stages[number].first_step)
    if type(begun) is not int or not 0 <= begun <= stages[number].first_step:
        raise CheckpointError(f"stage_begun is {begun!r}: use 0 to {stages[number].first_step}")
    return replace(stage, first_step=begun)


def changed_source(
    facts: Mapping[str, Any], teachers: Sequence[Teacher], options: BakeOptions
) -> str:
    """The difference between the sources of a checkpoint and those of this bake."""
    before, now = materials_of(facts), materials_of(material_facts(teachers))
    if before and before != now:
        in_order = " in this order" if sorted(before) == sorted(now) else ""
        return f"has {', '.join(before)}{in_order}, not {', '.join(now)}"
    made_of = [each for each in _listed(facts, "made_of") if isinstance(each, Mapping)]
    changed = dict.fromkeys(
        reason
        for old, teacher in zip(made_of, teachers, strict=False)
        for reason in changed_sources(old, source_facts(teacher.document, teacher.material))
    )
    reasons = [*changed, *_changed_live(facts, teachers), *_changed_map(facts, options)]
    if reasons:
        return f"began with other sources: {first_of(reasons)}"
    if made_of:
        return "began with the same files, in a version that generates other code from them"
    return "began with another material, texture or importance map"


def _changed_live(facts: Mapping[str, Any], teachers: Sequence[Teacher]) -> list[str]:
    before, now = _listed(facts, "live"), [live_facts(teacher) for teacher in teachers]
    if before == now or not (before or any(now)):
        return []
    shown = (
        ", ".join(dict.fromkeys(str(each) for inputs in materials for each in inputs)) or "none"
        for materials in (now, before)
    )
    return ["its live inputs were {1}, and are now {0}".format(*shown)]


def _changed_map(facts: Mapping[str, Any], options: BakeOptions) -> list[str]:
    none, now = source_digest((), None), source_digest((), options.importance)
    before = facts.get("importance", now)
    if before == now:
        return []
    if options.keeps_weights:
        # the map of the checkpoint was used, if it is there
        return [] if before == none or checkpoint.MAP_SHAPE in facts else [_LOST_MAP]
    if before == none:
        return ["it had no importance map"]
    return ["it had an importance map" if now == none else "the importance map has changed"]


def changed_settings(before: BakeSettings, now: BakeSettings) -> list[str]:
    """Each setting that differs: old and new value."""
    found = []
    for name, new, old in unequal(before.to_json(), now.to_json()):
        shown = f"{name} {old}, not {new}"
        found.append(shown if len(shown) <= _LONGEST_SHOWN else f"another {name}")
    return found


def first_of(reasons: Sequence[str]) -> str:
    """The first reasons, and the number of the others."""
    more = len(reasons) - _MOST_NAMED
    return "; ".join([*reasons[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
