"""The plan of a scene: the materials to bake, those that are up to date, and the estimated time. It
opens no device and decodes no image; files are compared by their digests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import BundleError, SettingsError, VerdigrisError, reason
from verdigris.core.base.json_fields import find_table
from verdigris.core.batch.plan.estimate import Estimate, bundle_bytes
from verdigris.core.batch.plan.inputs import (
    BundleInputs,
    DigestCache,
    collect_inputs,
    find_differences,
    with_group,
    with_live_of_bundle,
)
from verdigris.core.batch.plan.packs import require_packable
from verdigris.core.batch.plan.task import Member, Task
from verdigris.core.batch.scene.entry import DocumentCache, Entry
from verdigris.core.batch.scene.scene import Grouping, Scene, group_of
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.flatten.viewport import BASE_TEXTURES, texture_paths
from verdigris.core.settings.bake_settings import TRAINERS
from verdigris.core.settings.presets import Kind

# The time of a bake of a constant material, as a part of the estimate.
_OF_CONSTANT = 0.4


class State(StrEnum):
    """The state of a material's bundle."""

    CURRENT = "up to date"
    STALE = "stale"
    MISSING = "not baked"
    BROKEN = "cannot be baked"


@dataclass(frozen=True)
class Planned:
    """A material of the plan."""

    entry: Entry
    bundle: Path
    """The path of its bundle."""
    state: State
    reasons: tuple[str, ...] = ()
    """Why it is out of date, or cannot be baked."""
    inputs: BundleInputs | None = None
    """The inputs of a bake; None if it cannot be baked."""
    group: str = ""
    """The group that shares a decoder; empty for a decoder of its own."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """The sections `source`, `errors` and `cost` of the existing bundle's manifest."""

    @property
    def is_to_do(self) -> bool:
        return self.state in (State.STALE, State.MISSING)


@dataclass(frozen=True)
class Work:
    """One bake of the plan."""

    task: Task
    materials: tuple[Planned, ...]
    seconds: float
    """Estimated seconds."""
    bytes: int
    """Estimated bytes of the bundles on disk."""
    is_resumed: bool
    """Whether it continues from a checkpoint."""


@dataclass(frozen=True)
class Plan:
    """All materials of a scene, and the bakes to do."""

    scene: Scene
    materials: tuple[Planned, ...]
    works: tuple[Work, ...]
    estimate: Estimate = field(default_factory=Estimate)
    """Estimates of time, from the existing bundles."""

    def of(self, state: State) -> list[Planned]:
        return [each for each in self.materials if each.state == state]

    @property
    def seconds(self) -> float:
        """Estimated seconds of all bakes on one device."""
        return sum(work.seconds for work in self.works)

    @property
    def bytes(self) -> int:
        return sum(work.bytes for work in self.works)


@dataclass(frozen=True)
class Choices:
    """Options of a plan."""

    trainer: str | None = None
    """The trainer that bundles must come from; None for either."""
    likely: str = "numpy"
    """The trainer of time estimates, unless `trainer` is set."""
    device: str = ""
    """The device of the bakes."""
    grouping: Grouping = Grouping.NONE
    """Which materials share a decoder."""
    group_size: int = 8
    """The largest number of materials in an automatic group."""
    force: bool = False
    """Whether to bake materials that are up to date, too."""
    checkpoint_seconds: float = 5.0
    """Seconds between two checkpoints."""


def make_plan(
    scene: Scene,
    choices: Choices | None = None,
    hashes: DigestCache | None = None,
    documents: DocumentCache | None = None,
) -> Plan:
    """Compares every source of a scene with its bundle."""
    choices, hashes = choices or Choices(), hashes or DigestCache()
    documents = documents or DocumentCache()
    _is_there(scene.out)
    bundles = {
        each.name: bundle_of(each, scene.out) for each in scene.all_entries if not each.problem
    }
    require_packable(scene.packs, bundles, f"{scene.source}: packs")
    # selected materials can share their decoder with others
    entries = scene.entries if choices.grouping == Grouping.NONE else scene.all_entries
    looked = [_inspect(entry, scene.out, hashes, documents) for entry in entries]
    planned = _grouped(looked, choices, documents)
    estimate = Estimate()
    judged = [check_bundle(each, choices) for each in planned]
    for each in judged:
        estimate.learn(find_table(each.found, "source"))
    hashes.save()
    materials = _selected(_whole_groups(judged), scene)
    return Plan(scene, tuple(materials), tuple(_works(materials, choices, estimate)), estimate)


def bundle_of(entry: Entry, out: Path) -> Path:
    """The path of a material's bundle."""
    return out / entry.folder / f"{entry.name}{SUFFIX}"


def _selected(materials: Sequence[Planned], scene: Scene) -> list[Planned]:
    """The selected materials, and all that share a decoder with them."""
    names = {entry.name for entry in scene.entries}
    groups = {each.group for each in materials if each.group and each.entry.name in names}
    return [each for each in materials if each.entry.name in names or each.group in groups]


def _inspect(entry: Entry, out: Path, hashes: DigestCache, documents: DocumentCache) -> Planned:
    """The entry with its inputs, or with the reasons why it cannot be baked."""
    planned = Planned(entry, bundle_of(entry, out), State.MISSING)
    try:
        if entry.problem:
            return replace(planned, state=State.BROKEN, reasons=(entry.problem,))
        document = documents.load(entry.source)
        entry = with_live_of_bundle(entry, document, planned.bundle)
        inputs = collect_inputs(entry, document, hashes)
        for trainer in TRAINERS:
            entry.request.recipe(trainer)
        _is_there(planned.bundle)
    except VerdigrisError as failure:
        return replace(planned, state=State.BROKEN, reasons=(str(failure),))
    except OSError as failure:
        return replace(planned, state=State.BROKEN, reasons=(_describe_unreadable(failure),))
    return replace(planned, entry=entry, inputs=inputs)


def _describe_unreadable(failure: OSError) -> str:
    """The error of a file that the scene names, with the remedy."""
    why = reason(failure)
    return f"{failure.filename or 'a file'}: cannot be read ({why}): correct the path, or the file"


def _is_there(path: Path) -> bool:
    """Whether a path exists. Refuses one that cannot be created."""
    try:
        if path.exists():
            return True
        # systems check names only in existing folders
        base = next(folder for folder in path.absolute().parents if folder.exists())
        for part in path.absolute().relative_to(base).parts:
            (base / part).exists()
    except FileNotFoundError:
        # the working folder was removed, which is not an error of this path
        raise
    except OSError as failure:
        raise SettingsError(
            f"{path}: cannot be made ({failure.strerror}): choose another folder"
        ) from None
    return False


def _grouped(
    looked: Sequence[Planned], choices: Choices, documents: DocumentCache
) -> list[Planned]:
    """Assigns groups. Materials of a group depend on each other."""
    fit = [each for each in looked if each.state != State.BROKEN]
    names = group_of([each.entry for each in fit], choices.grouping, choices.group_size, documents)
    found = {each.entry.name: each for each in looked}
    for name, members in _members_by_group(fit, names).items():
        problem = _why_not_together(name, members)
        if problem:
            for each in members:
                found[each.entry.name] = replace(each, state=State.BROKEN, reasons=(problem,))
            continue
        together = with_group([_of(each) for each in members], name)
        for each, inputs in zip(members, together, strict=True):
            found[each.entry.name] = replace(each, inputs=inputs, group=name)
    return list(found.values())


def _members_by_group(
    materials: Iterable[Planned], groups: Mapping[str, str]
) -> dict[str, list[Planned]]:
    """The members of each group, in the order of the scene."""
    found: dict[str, list[Planned]] = {}
    for each in materials:
        if group := groups.get(each.entry.name):
            found.setdefault(group, []).append(each)
    return found


def _why_not_together(name: str, members: Sequence[Planned]) -> str:
    # only the number of live inputs belongs to the decoder
    entries = [each.entry for each in members]
    requests = [
        (replace(each.request, live=None), len(each.request.live or ()), each.folder)
        for each in entries
    ]
    if all(request == requests[0] for request in requests):
        return ""
    other = next(
        each for each, request in zip(members, requests, strict=True) if request != requests[0]
    )
    return (
        f"group {name}: {members[0].entry.name} and {other.entry.name} are to be baked "
        "differently: give materials that share a decoder the same settings, importance map, "
        "folder and number of live inputs"
    )


def check_bundle(planned: Planned, choices: Choices) -> Planned:
    """Whether the existing bundle is up to date."""
    try:
        manifest = open_bundle(planned.bundle).manifest
    except BundleError as failure:
        if planned.state == State.BROKEN or not _is_there(planned.bundle):
            return planned
        return replace(planned, state=State.STALE, reasons=(f"cannot be read: {failure}",))
    found = {"source": manifest.source, "errors": manifest.errors, "cost": manifest.cost}
    if planned.state == State.BROKEN:
        return replace(planned, found=found)
    reasons = find_differences(_of(planned), planned.entry, manifest.source, choices.trainer)
    textures = texture_paths(planned.bundle)
    if planned.entry.request.viewport_textures and not all(
        textures[kind].is_file() for kind in BASE_TEXTURES
    ):
        reasons.append("its textures for viewports are missing")
    if choices.force:
        reasons = reasons or ["all materials are to be baked again"]
    state = State.STALE if reasons else State.CURRENT
    return replace(planned, state=state, reasons=tuple(reasons), found=found)


def _whole_groups(materials: Sequence[Planned]) -> list[Planned]:
    """A group is baked as one: if one member needs a bake, all do."""
    unfinished = {each.group for each in materials if each.group and each.is_to_do}
    return [
        replace(each, state=State.STALE, reasons=(f"its group {each.group} is to be baked",))
        if each.group in unfinished and each.state == State.CURRENT
        else each
        for each in materials
    ]


def _works(materials: Sequence[Planned], choices: Choices, estimate: Estimate) -> Iterable[Work]:
    """The bakes to do, in the order of the scene."""
    done: set[str] = set()
    for each in materials:
        if not each.is_to_do or each.group in done:
            continue
        members = [each]
        if each.group:
            done.add(each.group)
            members = [other for other in materials if other.group == each.group]
        yield make_work(members, choices, estimate)


def longest_first(works: Iterable[Work]) -> list[Work]:
    """The order in which bakes begin on this machine: a long one at the end would run alone."""
    return sorted(works, key=lambda work: -_likely_seconds(work))


def _likely_seconds(work: Work) -> float:
    """The estimate, which knows settings alone, and less for constant materials. Before the first
    bake, those without images are taken for constant."""
    is_constant = True
    for each in work.materials:
        kind = find_table(each.found, "source").get("kind")
        images = each.inputs.sources.get("textures") if each.inputs else None
        is_constant &= kind == Kind.CONSTANT.value if kind else not images
    return work.seconds * (_OF_CONSTANT if is_constant else 1.0)


def make_work(
    members: Sequence[Planned], choices: Choices, estimate: Estimate | None = None
) -> Work:
    """One bake of these materials. Several materials share a decoder."""
    first, request = members[0], members[0].entry.request
    task = Task(
        bake_name(first),
        first.bundle.parent,
        tuple(
            Member(
                each.entry.name,
                each.entry.source,
                _of(each).material,
                _of(each).asked,
                each.entry.request.live or (),
            )
            for each in members
        ),
        replace(request, checkpoint_seconds=choices.checkpoint_seconds),
        choices.device,
    )
    trainer = choices.trainer or choices.likely
    estimate, settings = estimate or Estimate(), request.recipe(trainer, len(members)).largest
    seconds = estimate.seconds(settings, trainer, request.time_limit)
    on_disk = bundle_bytes(settings)[1] * len(members)
    return Work(task, tuple(members), seconds, on_disk, task.checkpoint.is_file())


def bakes_of(materials: Iterable[Planned]) -> list[tuple[Path, str]]:
    """Folder and name of the bakes of these materials. A group has one bake, with a lock for each
    bundle."""
    return [
        (each.bundle.parent, name)
        for each in materials
        for name in (each.entry.name, *([bake_name(each)] if each.group else []))
    ]


def bake_name(planned: Planned) -> str:
    """The name of the bake of a material, and of its checkpoint."""
    return f"{planned.group}.group" if planned.group else planned.entry.name


def _of(planned: Planned) -> BundleInputs:
    assert planned.inputs is not None, planned.entry.name
    return planned.inputs
