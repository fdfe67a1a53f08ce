"""Reads a scene from a scene file, a folder, a document, a stage, or the summary of a plug-in, and
groups its materials. See docs/SCENES.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any

from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import Fields, fields_of, read_json_file
from verdigris.core.base.outputs import resolved
from verdigris.core.base.text import why_invalid_name
from verdigris.core.batch.scene.entry import (
    DocumentCache,
    Entry,
    Rule,
    apply_rules,
    fits_any,
    parse_rule,
)
from verdigris.core.batch.scene.sources import (
    LARGEST_SCENE,
    ReadOptions,
    entries_of,
    is_hand_over,
    join_items,
    read_item,
    search_folders,
    unique,
)
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.settings.bake_settings import TRAINERS

VERSION = 1
DEFAULT_FOLDER = Path("baked")
_FIELDS = ("scene", "out", "search", "confined", "sources", "rules", "packs")


@dataclass(frozen=True)
class SceneOptions:
    """Options of the command line for a scene."""

    out: Path | None = None
    """The folder of the bundles."""
    search: tuple[Path, ...] = ()
    """Further folders in which files may lie."""
    confined: bool = False
    """Whether files must lie in these folders or in those of their documents."""
    only: tuple[str, ...] = ()
    """Patterns of the selected names. Without patterns, all are selected."""
    rules: tuple[Rule, ...] = ()
    """Rules that follow those of the scene."""
    to_here: Callable[[str], str] = str
    """Maps a path of the machine that wrote the scene to this machine."""

    def allowed_for(self, path: Path) -> tuple[Path, ...]:
        """The only folders in which a scene may name files; empty if it may name all files."""
        folders = (*self.own_folders(path), *map(resolved, self.search))
        return tuple(dict.fromkeys(folders)) if self.confined else ()

    def own_folders(self, path: Path) -> tuple[Path, ...]:
        """The folder of a scene and, if the scene is a link, that of its target."""
        return (
            (resolved(path),) if path.is_dir() else (resolved(path.parent), resolved(path).parent)
        )


@dataclass(frozen=True)
class Scene:
    """The materials of a scene, with unique names and requests."""

    source: Path
    """The path of the scene."""
    out: Path
    """The folder of the bundles."""
    entries: tuple[Entry, ...]
    """The selected materials, in the order of the sources."""
    packs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Scene packs: file names, and patterns of their materials."""
    all_entries: tuple[Entry, ...] = ()
    """All materials, also those that are not selected: packs and groups refer to the whole
    scene."""


def read_scene(
    path: Path, options: SceneOptions | None = None, documents: DocumentCache | None = None
) -> Scene:
    """Reads a scene. A broken document becomes an entry with a problem."""
    options, documents = options or SceneOptions(), documents or DocumentCache()
    values = (
        read_json_file(path, SceneError, LARGEST_SCENE) if path.suffix.lower() == ".json" else None
    )
    if values is not None and not is_hand_over(values):
        return _parse(path, values, options, documents)
    reading = ReadOptions(
        options.search, options.confined, documents, options.to_here, options.allowed_for(path)
    )
    entries = unique(entries_of(path, reading))
    return _finished(path, options.out or DEFAULT_FOLDER, entries, [], {}, options)


def _parse(path: Path, values: Any, options: SceneOptions, documents: DocumentCache) -> Scene:
    file = str(path)
    found = fields_of(values, file, "", SceneError)
    found.require_known(_FIELDS)
    version = found.values.get("scene")
    if version != VERSION or isinstance(version, bool):
        found.refuse("scene", f"this reads version {VERSION}")
    base = path.parent
    allowed = options.allowed_for(path)
    reading = ReadOptions((), options.confined, documents, options.to_here, allowed)

    def here(text: str) -> Path:
        return reading.place(base, text, file)

    search = (*search_folders(found, here), *options.search)
    confined = found.typed("confined", bool, False) or options.confined
    reading = replace(reading, search=search, confined=confined)
    items = [
        read_item(
            _mapped(each, base, reading, file), file, f"sources[{number}]", here, base, reading
        )
        for number, each in enumerate(found.typed("sources", list, []))
    ]
    if not items:
        raise SceneError(f"{path}: sources is empty: name documents, folders or stages")
    entries, own_rules = join_items(items)
    rules = [
        parse_rule(_mapped(each, base, reading, file), file, f"rules[{number}]", base)
        for number, each in enumerate(found.typed("rules", list, []))
    ]
    rules += own_rules
    packs_found = Fields(file, "packs", found.typed("packs", dict, {}), SceneError)
    packs = {name: packs_found.texts(name) for name in packs_found.values}
    out = options.out or DEFAULT_FOLDER
    if "out" in found and not options.out:
        out = base / options.to_here(found.typed("out", str))
        own = options.own_folders(path)
        if options.confined and not any(map(resolved(out).is_relative_to, own)):
            found.refuse("out", "with --confined it must be below the scene's folder: use --out")
    return _finished(path, out, entries, rules, packs, options)


def _mapped(values: Any, base: Path, reading: ReadOptions, file: str) -> Any:
    """A rule with its files mapped to this machine, each checked."""
    if not isinstance(values, dict):
        return values
    files = {
        name: reading.to_here(values[name])
        for name in ("importance", "directions")
        if isinstance(values.get(name), str)
    }
    for name, text in files.items():
        reading.require_allowed(base / text, f"{file}: {name}")
    return {**values, **files}


def _finished(
    path: Path,
    out: Path,
    entries: Sequence[Entry],
    rules: Sequence[Rule],
    packs: Mapping[str, tuple[str, ...]],
    options: SceneOptions,
) -> Scene:
    if not entries:
        raise SceneError(
            f"{path}: has no material: name documents (.mtlx) with materials, or a folder of these"
        )
    all_entries = []
    for entry in entries:
        asked = apply_rules(entry, [*rules, *options.rules])
        if asked is not None:
            all_entries.append(asked.with_problem(why_invalid_name(asked.name)))
    selected = [
        entry for entry in all_entries if not options.only or fits_any(entry.name, options.only)
    ]
    if not selected:
        there = ", ".join(entry.name for entry in entries)
        raise SceneError(f"{path}: no material is selected: its materials are {there}")
    for number, rule in enumerate(rules):
        _require_fitting(entries, rule.match, f"{path}: rules[{number}]: match")
    for name, patterns in packs.items():
        for pattern in patterns:
            _require_fitting(all_entries, [pattern], f"{path}: packs.{name}")
    beside = [entry.name for entry in all_entries if not entry.folder]
    require_pack_names(packs, beside, f"{path}: packs")
    return Scene(path, out, tuple(selected), packs, tuple(all_entries))


def _require_fitting(entries: Sequence[Entry], patterns: Sequence[str], where: str) -> None:
    """Refuses patterns that match no name, unless a broken document may have the name."""
    is_read = all(entry.material for entry in entries)
    if is_read and not any(fits_any(entry.name, patterns) for entry in entries):
        there = ", ".join(entry.name for entry in entries)
        raise SceneError(
            f"{where}: no bundle matches {', '.join(patterns)}: its bundles are {there}"
        )


def require_pack_names(packs: Iterable[str], bundles: Iterable[str], where: str) -> None:
    """Refuses invalid names of scene packs, and names of bundles in the same folder."""
    taken = {f"{name}{SUFFIX}".lower(): name for name in bundles}
    for pack in packs:
        if why_invalid_name(pack) or PurePath(pack).suffix != SUFFIX:
            raise SceneError(f"{where}: {pack!r} is not a valid file name: use NAME{SUFFIX}")
        if pack.lower() in taken:
            raise SceneError(
                f"{where}: {pack!r} is the bundle of the material {taken[pack.lower()]}: choose "
                "another name"
            )


class Grouping(StrEnum):
    """Which materials share a decoder."""

    NONE = "none"
    """None."""
    BY_HAND = "hand"
    """Those of each group in the scene."""
    BY_PLAN = "plan"
    """Those of each group in the scene, and similar ones among the others."""


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


def _group_similar(
    entries: Sequence[Entry], most: int, documents: DocumentCache, taken: Set[str]
) -> dict[str, str]:
    """Groups materials with one surface model and equal settings, at most so many each. A material
    with an importance map keeps its own decoder, because the map belongs to it alone."""
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
