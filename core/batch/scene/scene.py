"""A scene: the materials that are to be baked, read from a JSON, a folder, a stage or a list that
an application handed over. docs/SCENES.md describes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any

from verdigris.core.base.errors import SceneError
from verdigris.core.base.json_fields import Fields, fields_of, read_json_file
from verdigris.core.base.text import why_invalid_name
from verdigris.core.batch.scene.entry import DocumentCache, Entry
from verdigris.core.batch.scene.items import join_items, read_item, search_folders
from verdigris.core.batch.scene.rules import Rule, fits_any, parse_rule, resolve_request
from verdigris.core.batch.scene.sources import (
    LARGEST_SCENE,
    ReadOptions,
    entries_of,
    is_hand_over,
    unique,
)
from verdigris.core.bundle.files.manifest import SUFFIX

VERSION = 1
DEFAULT_FOLDER = Path("baked")
_FIELDS = ("scene", "out", "search", "allow_outside", "sources", "rules", "packs")


@dataclass(frozen=True)
class SceneOptions:
    """What a command line asks for on top of the scene itself."""

    out: Path | None = None
    """Folder of the bundles."""
    search: tuple[Path, ...] = ()
    """Further folders that files may lie in."""
    allow_outside: bool = False
    """Whether files may lie anywhere."""
    only: tuple[str, ...] = ()
    """Patterns of the names that are meant; all without."""
    rules: tuple[Rule, ...] = ()
    """Come after the scene's own."""
    to_here: Callable[[str], str] = str
    """Turns a path of the machine that wrote the scene into one of this machine."""


@dataclass(frozen=True)
class Scene:
    """The materials of a scene, each with a name of its own and how it is to be baked."""

    source: Path
    """What it was read from."""
    out: Path
    """Folder of the bundles."""
    entries: tuple[Entry, ...]
    """Those that are meant, in the order of the sources."""
    packs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Scene packs: the file's name, and patterns of the materials in it."""
    all_entries: tuple[Entry, ...] = ()
    """All materials, meant or not: packs and groups hold what the scene says."""


def read_scene(
    path: Path, options: SceneOptions | None = None, documents: DocumentCache | None = None
) -> Scene:
    """Every material of a scene. Documents that are broken are entries that say so."""
    options, documents = options or SceneOptions(), documents or DocumentCache()
    values = (
        read_json_file(path, SceneError, LARGEST_SCENE) if path.suffix.lower() == ".json" else None
    )
    if values is not None and not is_hand_over(values):
        return _parse(path, values, options, documents)
    reading = ReadOptions(options.search, options.allow_outside, documents, options.to_here)
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

    def here(text: str) -> Path:
        return base / options.to_here(text)

    search = (*search_folders(found, here), *options.search)
    outside = found.typed("allow_outside", bool, False) or options.allow_outside
    reading = ReadOptions(search, outside, documents, options.to_here)
    items = [
        read_item(_mapped(each, options.to_here), file, f"sources[{number}]", here, base, reading)
        for number, each in enumerate(found.typed("sources", list, []))
    ]
    if not items:
        raise SceneError(f"{path}: sources is empty: name documents, folders or stages")
    entries, own_rules = join_items(items)
    rules = [
        parse_rule(_mapped(each, options.to_here), file, f"rules[{number}]", base)
        for number, each in enumerate(found.typed("rules", list, []))
    ]
    rules += own_rules
    packs_found = Fields(file, "packs", found.typed("packs", dict, {}), SceneError)
    packs = {name: packs_found.texts(name) for name in packs_found.values}
    out = options.out or (here(found.typed("out", str)) if "out" in found else DEFAULT_FOLDER)
    return _finished(path, out, entries, rules, packs, options)


def _mapped(values: Any, to_here: Callable[[str], str]) -> Any:
    """A rule whose files are this machine's."""
    if not isinstance(values, dict):
        return values
    files = {
        name: to_here(values[name])
        for name in ("importance", "directions")
        if isinstance(values.get(name), str)
    }
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
            f"{path}: holds no material: name documents (.mtlx) that have some, or a folder of such"
        )
    all_entries = []
    for entry in entries:
        request = resolve_request(entry.name, [*rules, *options.rules])
        if request is not None:
            all_entries.append(
                replace(entry, request=request).with_problem(why_invalid_name(entry.name))
            )
    meant = [
        entry for entry in all_entries if not options.only or fits_any(entry.name, options.only)
    ]
    if not meant:
        there = ", ".join(entry.name for entry in entries)
        raise SceneError(f"{path}: no material is left to bake; it has: {there}")
    for number, rule in enumerate(rules):
        _require_fitting(entries, rule.match, f"{path}: rules[{number}]: match")
    for name, patterns in packs.items():
        for pattern in patterns:
            _require_fitting(all_entries, [pattern], f"{path}: packs.{name}")
    beside = [entry.name for entry in all_entries if not entry.request.folder]
    require_pack_names(packs, beside, f"{path}: packs")
    return Scene(path, out, tuple(meant), packs, tuple(all_entries))


def _require_fitting(entries: Sequence[Entry], patterns: Sequence[str], where: str) -> None:
    """Refuses patterns that fit no name, unless they may be for a document that is broken."""
    is_read = all(entry.material for entry in entries)
    if is_read and not any(fits_any(entry.name, patterns) for entry in entries):
        there = ", ".join(entry.name for entry in entries)
        raise SceneError(f"{where}: no bundle is called {', '.join(patterns)}; there: {there}")


def require_pack_names(packs: Iterable[str], bundles: Iterable[str], where: str) -> None:
    """Refuses names of scene packs that are none, or that bundles of the same folder have."""
    taken = {f"{name}{SUFFIX}".lower(): name for name in bundles}
    for pack in packs:
        if why_invalid_name(pack) or PurePath(pack).suffix != SUFFIX:
            raise SceneError(f"{where}: {pack!r} is no file: use NAME{SUFFIX}")
        if pack.lower() in taken:
            raise SceneError(
                f"{where}: {pack!r} is the bundle of the material {taken[pack.lower()]}: choose "
                "another name"
            )
