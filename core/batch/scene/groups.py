"""Groups of materials that share a decoder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from verdigris.core.batch.scene.entry import DocumentCache, Entry
from verdigris.core.settings.bake_settings import TRAINERS

T = TypeVar("T")


class Grouping(StrEnum):
    """How materials are grouped."""

    NONE = "none"
    """No material shares a decoder."""
    BY_HAND = "hand"
    """The groups of the scene share a decoder."""
    BY_PLAN = "plan"
    """The groups of the scene, and groups of similar materials among the others."""


def group_of(
    entries: Sequence[Entry], grouping: Grouping, most: int, documents: DocumentCache
) -> dict[str, str]:
    """The group of each material that shares a decoder, by the material's name."""
    if grouping == Grouping.NONE:
        return {}
    names = {entry.name: entry.group for entry in entries if entry.group}
    if grouping == Grouping.BY_PLAN:
        left = [entry for entry in entries if not entry.group]
        names |= _group_similar(left, most, documents, {name.lower() for name in names.values()})
    sizes = [*names.values()]
    return {name: group for name, group in names.items() if sizes.count(group) > 1}


def members_by_group(fit: Iterable[T], names: Mapping[str, str]) -> dict[str, list[T]]:
    """The members of each group, in the order of the scene."""
    found: dict[str, list[T]] = {}
    for each in fit:
        group = names.get(each.entry.name)  # type: ignore[attr-defined]
        if group:
            found.setdefault(group, []).append(each)
    return found


def _group_similar(
    entries: Sequence[Entry], most: int, documents: DocumentCache, taken: Set[str]
) -> dict[str, str]:
    """Groups materials with one surface model and equal settings, up to a number. A material with
    an importance map keeps its own decoder, because the map belongs to it alone."""
    alike: dict[str, list[Entry]] = {}
    for entry in entries:
        request = entry.request
        if request.importance:
            continue
        # different requests can give the same settings
        settings = [request.recipe(trainer).text() for trainer in TRAINERS]
        rest = replace(request, changes={}, live=None).as_json()
        key = json.dumps([_surface(entry, documents), settings, rest, entry.folder])
        alike.setdefault(key, []).append(entry)
    names: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for key, same in alike.items():
        surface = json.loads(key)[0]
        for first in range(0, len(same), most):
            number = numbers.get(surface, 0) + 1
            while f"{surface}-{number}".lower() in taken:
                number += 1
            numbers[surface] = number
            names |= {each.name: f"{surface}-{number}" for each in same[first : first + most]}
    return names


def _surface(entry: Entry, documents: DocumentCache) -> str:
    document = documents.load(entry.source)
    material = document.require_material(entry.material or None)
    kinds = [
        node.getCategory()
        for node in document.nodes_of(material)
        if node.getType() == "surfaceshader"
    ]
    return "+".join(dict.fromkeys(kinds)) or "surface"
