"""What keeps a bake from going on from a checkpoint, in words: the files, the map or the settings
that it was begun with and that are others now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.state.source import source_digest
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.settings.bake_settings import unequal

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

# Of what differs, that a message names, and letters of each.
_MOST_NAMED, _LONGEST_TOLD = 4, 100


def named(teachers: Sequence[Teacher]) -> dict[str, list[str]]:
    """The materials, and the documents that they are of."""
    return {
        "sources": [teacher.material.name for teacher in teachers],
        "documents": [teacher.document.name for teacher in teachers],
    }


def materials(facts: Mapping[str, Any]) -> list[str]:
    """The materials of a bake in their order, each with the name of its document."""
    pairs = zip(_listed(facts, "sources"), _listed(facts, "documents"), strict=False)
    return [f"{name} of {Path(str(document)).name}" for name, document in pairs]


def _listed(facts: Mapping[str, Any], name: str) -> list[Any]:
    found = facts.get(name)
    return found if isinstance(found, list) else []


def other_source(
    facts: Mapping[str, Any], teachers: Sequence[Teacher], options: BakeOptions
) -> str:
    """What a bake has learnt from that is not what it is given now."""
    before, now = materials(facts), materials(named(teachers))
    if before and before != now:
        in_order = " in this order" if sorted(before) == sorted(now) else ""
        return f"is of {', '.join(before)}{in_order}, not of {', '.join(now)}"
    made_of = [each for each in _listed(facts, "made_of") if isinstance(each, Mapping)]
    changed = dict.fromkeys(
        reason
        for old, teacher in zip(made_of, teachers, strict=False)
        for reason in changed_sources(old, source_facts(teacher.document, teacher.material))
    )
    if reasons := [*changed, *_changed_map(facts, options)]:
        return f"was begun with other sources: {first_of(reasons)}"
    if made_of:
        return "was begun with the same files by a version that compiles them otherwise"
    return "is of another material, texture or importance map than it is now"


def _changed_map(facts: Mapping[str, Any], options: BakeOptions) -> list[str]:
    none, now = source_digest((), None), source_digest((), options.importance)
    before = facts.get("importance", now)
    if before == now:
        return []
    if before == none:
        return ["it had no importance map"]
    return ["it had an importance map" if now == none else "the importance map has changed"]


def changed_settings(before: BakeSettings, now: BakeSettings) -> list[str]:
    """Each setting that differs, as it was and as it is."""
    found = []
    for name, new, old in unequal(before.to_json(), now.to_json()):
        told = f"{name} {old}, not {new}"
        found.append(told if len(told) <= _LONGEST_TOLD else f"another {name}")
    return found


def first_of(reasons: Sequence[str]) -> str:
    """As many as one reads, and how many more there are."""
    more = len(reasons) - _MOST_NAMED
    return "; ".join([*reasons[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])
