"""Why a bake cannot resume from a checkpoint: other files, importance map or settings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.settings.bake_settings import unequal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.options import BakeOptions
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings

# Differences that a message names, and letters of each.
_MOST_NAMED, _LONGEST_SHOWN = 4, 100


def source_digest(teachers: Sequence[Teacher], importance: NDArray[Any] | None) -> str:
    """A digest of everything that a bake learns from."""
    digest = hashlib.sha256()
    for teacher in teachers:
        digest.update(teacher.generated.digest.encode())
        digest.update(teacher.texture_digest().encode())
        for each in live_facts(teacher):
            digest.update(each.encode())
    if importance is not None:
        digest.update(str(importance.shape).encode())
        digest.update(np.ascontiguousarray(importance, np.float32).tobytes())
    return digest.hexdigest()


def live_facts(teacher: Teacher) -> list[str]:
    """Each live input with range, default and density, as `--live` takes them."""
    return [str(each.wanted) for each in teacher.live_inputs]


def material_facts(teachers: Sequence[Teacher]) -> dict[str, list[str]]:
    """Names of the materials and their documents."""
    return {
        "sources": [teacher.material.name for teacher in teachers],
        "documents": [teacher.document.name for teacher in teachers],
    }


def materials_of(facts: Mapping[str, Any]) -> list[str]:
    """The materials of a bake in order, each with the name of its document."""
    pairs = zip(_listed(facts, "sources"), _listed(facts, "documents"), strict=False)
    return [f"{name} of {Path(str(document)).name}" for name, document in pairs]


def _listed(facts: Mapping[str, Any], name: str) -> list[Any]:
    found = facts.get(name)
    return found if isinstance(found, list) else []


def changed_source(
    facts: Mapping[str, Any], teachers: Sequence[Teacher], options: BakeOptions
) -> str:
    """What differs between the sources of a checkpoint and those of this bake."""
    before, now = materials_of(facts), materials_of(material_facts(teachers))
    if before and before != now:
        in_order = " in this order" if sorted(before) == sorted(now) else ""
        return f"is of {', '.join(before)}{in_order}, not of {', '.join(now)}"
    made_of = [each for each in _listed(facts, "made_of") if isinstance(each, Mapping)]
    changed = dict.fromkeys(
        reason
        for old, teacher in zip(made_of, teachers, strict=False)
        for reason in changed_sources(old, source_facts(teacher.document, teacher.material))
    )
    reasons = [*changed, *_changed_live(facts, teachers), *_changed_map(facts, options)]
    if reasons:
        return f"was begun with other sources: {first_of(reasons)}"
    if made_of:
        return "was begun with the same files by a version that generates other code from them"
    return "is of another material, texture or importance map than it is now"


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
