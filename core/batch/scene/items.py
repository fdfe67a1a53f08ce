"""Reads the items of a scene's `sources`: their materials, and the requests for their bakes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import SceneError, why_no_folder
from verdigris.core.base.json_fields import Fields, fields_of
from verdigris.core.base.text import why_invalid_name
from verdigris.core.batch.scene.entry import Entry
from verdigris.core.batch.scene.rules import Rule, fits_any, parse_rule, quoted, rule_fields
from verdigris.core.batch.scene.sources import ReadOptions, distinct, entries_of, identity, unique

_FIELDS = ("source", "materials", "name", "search", "confined")


@dataclass(frozen=True)
class Item:
    """The contents of one item of `sources`."""

    entries: tuple[Entry, ...]
    rule: Rule | None = None
    """A rule for these materials only, by whatever names they get."""
    has_name: bool = False
    """Whether it renames its material."""


def search_folders(found: Fields, here: Callable[[str], Path]) -> list[Path]:
    """Folders of images. Each must exist: a wrong one would make every image fail."""
    folders = [here(each) for each in found.texts("search")]
    for folder in folders:
        why = why_no_folder(folder)
        if why:
            field = found.name_of("search")
            raise SceneError(f"{found.file}: {field}: {why}: correct it, or leave it out")
    return folders


def read_item(
    item: Any, file: str, path: str, here: Callable[[str], Path], base: Path, reading: ReadOptions
) -> Item:
    """Reads one item: a path, a pattern of paths, or an object."""
    where = f"{file}: {path}"
    if isinstance(item, str):
        return Item(tuple(_of_pattern(item, where, here, base, reading)))
    found = fields_of(item, file, path, SceneError)
    found.require_known((*_FIELDS, *rule_fields()))
    search = (*search_folders(found, here), *reading.search)
    confined = found.typed("confined", bool, False) or reading.confined
    own = replace(reading, search=search, confined=confined)
    entries = _of_pattern(found.typed("source", str, ""), where, here, base, own)
    patterns = found.texts("materials")
    if patterns:
        there = ", ".join(entry.material or entry.name for entry in entries)
        entries = [
            entry for entry in entries if entry.problem or fits_any(entry.material, patterns)
        ]
        if not entries:
            raise SceneError(
                f"{where}: no material is called {', '.join(patterns)}: use one of {there}"
            )
    name = found.typed("name", str, "")
    if name:
        if len(entries) != 1:
            raise SceneError(
                f"{where}: name is {name!r} and there are {len(entries)} materials: select one "
                "with materials"
            )
        if why_invalid_name(name):
            raise SceneError(f"{where}: {why_invalid_name(name)}")
        entries = [replace(entries[0], name=name)]
    requests = {key: value for key, value in found.values.items() if key in rule_fields()}
    rule = parse_rule(requests, file, path, base, ("*",)) if requests else None
    return Item(tuple(entries), rule, bool(name))


def join_items(items: Sequence[Item]) -> tuple[list[Entry], list[Rule]]:
    """All materials with unique names, and the rules of the items. A material of several items is
    one entry, unless the items rename it; later items override earlier ones."""
    entries: dict[Hashable, Entry] = {}
    item_rules: list[tuple[Rule, list[Hashable]]] = []
    for item in items:
        keys = [_key(entry, item.has_name) for entry in item.entries]
        for key, entry in zip(keys, item.entries, strict=True):
            before = entries.get(key)
            entries[key] = entry.with_links((*before.links, before.source.name) if before else ())
        if item.rule:
            item_rules.append((item.rule, keys))
    named = dict(zip(entries, unique([*entries.values()]), strict=True))
    rules = [
        replace(rule, match=tuple(quoted(named[key].name) for key in keys))
        for rule, keys in item_rules
    ]
    return [*named.values()], rules


def _key(entry: Entry, has_name: bool) -> Hashable:
    source = entry.source
    file = identity(Path(source.name)) if source.text is None else source.name
    return file, source.text, entry.material, entry.name if has_name else None


def _of_pattern(
    text: str, where: str, here: Callable[[str], Path], base: Path, reading: ReadOptions
) -> list[Entry]:
    if not text:
        raise SceneError(f"{where}: source is empty: name a document, a folder or a stage")
    path = here(text)
    has_signs = any(sign in text for sign in "*?[")
    try:
        is_there = path.exists()
    except OSError:
        is_there = False
    if is_there or not has_signs:
        return entries_of(path, reading)
    # only text of the scene file is a pattern, not the folders above it
    start = base if path.is_relative_to(base) else Path(path.anchor)
    pattern = path.relative_to(start)
    if any("**" in part and part != "**" for part in pattern.parts):
        raise SceneError(
            f"{where}: {path}: ** matches whole folders: write it alone between /, or use *"
        )
    try:
        found = sorted(start.glob(str(pattern)))
    except OSError as failure:
        raise SceneError(
            f"{where}: {path} cannot be searched ({failure.strerror}): correct it"
        ) from failure
    if not found:
        raise SceneError(f"{where}: {path} matches no file: correct it")
    return [
        entry.with_links(links)
        for each, links in distinct(found).items()
        for entry in entries_of(each, reading)
    ]
