"""A scene: the materials that are to be baked, read from a JSON, a folder, a stage or a list that
an application handed over. docs/SCENES.md describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from verdigris.core.batch.documents import Documents
from verdigris.core.batch.entry import Entry
from verdigris.core.batch.fields import SceneError, Values, read_json
from verdigris.core.batch.rules import WISHES, Rule, find_wish, parse_rule
from verdigris.core.batch.sources import Reading, entries_of, is_hand_over, unique

VERSION = 1
DEFAULT_FOLDER = Path("baked")
_FIELDS = ("scene", "out", "search", "allow_outside", "sources", "rules", "packs")
_SOURCE_FIELDS = ("source", "materials", "name", "search", "allow_outside")


@dataclass(frozen=True)
class Asked:
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
    """In the order of the sources."""
    packs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Scene packs: the file's name, and patterns of the materials in it."""


def read_scene(path: Path, asked: Asked | None = None, documents: Documents | None = None) -> Scene:
    """Every material of a scene. Documents that are broken are entries that say so."""
    asked, documents = asked or Asked(), documents or Documents()
    values = read_json(path) if path.suffix.lower() == ".json" else None
    if values is not None and not is_hand_over(values):
        return _parse(path, values, asked, documents)
    reading = Reading(asked.search, asked.allow_outside, documents)
    entries = unique(entries_of(path, reading))
    return _finished(path, asked.out or DEFAULT_FOLDER, entries, [], {}, asked)


def _parse(path: Path, values: Any, asked: Asked, documents: Documents) -> Scene:
    found = Values(values, str(path), _FIELDS)
    if found.values.get("scene") != VERSION:
        raise SceneError(
            f"{path}: scene is {found.values.get('scene')!r}: this reads version {VERSION}"
        )
    base = path.parent

    def here(text: str) -> Path:
        return base / asked.to_here(text)

    search = (*(here(each) for each in found.texts("search")), *asked.search)
    outside = found.flag("allow_outside") or asked.allow_outside
    reading = Reading(search, outside, documents)
    entries: list[Entry] = []
    own_rules: list[tuple[Rule, slice]] = []
    for number, each in enumerate(found.list("sources")):
        where = f"{path}: sources[{number}]"
        new, rule = _of_item(_mapped(each, asked.to_here), where, here, base, reading)
        if rule:
            own_rules.append((rule, slice(len(entries), len(entries) + len(new))))
        entries += new
    if not found.list("sources"):
        raise SceneError(f"{path}: sources is empty: name documents, folders or stages")
    renamed = unique(entries)
    rules = [
        parse_rule(_mapped(each, asked.to_here), f"{path}: rules[{number}]", base)
        for number, each in enumerate(found.list("rules"))
    ]
    # what a source says is for the names that its materials have in the end
    rules += [
        replace(rule, match=tuple(_quoted(entry.name) for entry in renamed[of]))
        for rule, of in own_rules
    ]
    packs = {
        name: Values({"of": of}, f"{path}: packs.{name}", ("of",)).texts("of")
        for name, of in found.table("packs").items()
    }
    for name in packs:
        if Path(name).name != name or Path(name).suffix != ".vdg":
            raise SceneError(f"{path}: packs: {name!r} is no file: use NAME.vdg")
    out = asked.out or (here(found.text("out")) if "out" in found else DEFAULT_FOLDER)
    return _finished(path, out, renamed, rules, packs, asked)


def _of_item(
    item: Any, where: str, here: Callable[[str], Path], base: Path, reading: Reading
) -> tuple[list[Entry], Rule | None]:
    """The materials of one item of `sources`, and what it says of how to bake them."""
    if isinstance(item, str):
        return _of_pattern(item, where, here, reading), None
    found = Values(item, where, (*_SOURCE_FIELDS, *WISHES))
    search = (*(here(each) for each in found.texts("search")), *reading.search)
    outside = found.flag("allow_outside") or reading.allow_outside
    own = replace(reading, search=search, allow_outside=outside)
    entries = _of_pattern(found.text("source"), where, here, own)
    wanted = found.texts("materials")
    if wanted:
        there = ", ".join(entry.material or entry.name for entry in entries)
        entries = [
            entry
            for entry in entries
            if entry.problem or any(fnmatchcase(entry.material, each) for each in wanted)
        ]
        if not entries:
            raise SceneError(f"{where}: no material is called {', '.join(wanted)}; there: {there}")
    name = found.text("name")
    if name:
        if len(entries) != 1:
            raise SceneError(
                f"{where}: name is {name!r} and there are {len(entries)} materials: name the one "
                "that is meant with materials"
            )
        if Path(name).name != name:
            raise SceneError(f"{where}: name is {name!r}: leave out folders")
        entries = [replace(entries[0], name=name)]
    wishes = {key: value for key, value in found.values.items() if key in WISHES}
    rule = parse_rule(wishes, where, base, ("*",)) if wishes else None
    return entries, rule


def _of_pattern(
    text: str, where: str, here: Callable[[str], Path], reading: Reading
) -> list[Entry]:
    path = here(text)
    if not any(sign in text for sign in "*?["):
        return entries_of(path, reading)
    start = Path(path.anchor)
    found = sorted(start.glob(str(path.relative_to(start))))
    if not found:
        raise SceneError(f"{where}: {path} fits no file")
    return [entry for each in found for entry in entries_of(each, reading)]


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


def _quoted(name: str) -> str:
    """A name as a pattern that fits nothing else."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _finished(
    path: Path,
    out: Path,
    entries: Sequence[Entry],
    rules: Sequence[Rule],
    packs: Mapping[str, tuple[str, ...]],
    asked: Asked,
) -> Scene:
    kept = []
    for entry in entries:
        wish = find_wish(entry.name, [*rules, *asked.rules])
        is_meant = not asked.only or any(fnmatchcase(entry.name, each) for each in asked.only)
        if wish is not None and is_meant:
            kept.append(replace(entry, wish=wish))
    if not kept:
        there = ", ".join(entry.name for entry in entries) or "none"
        raise SceneError(f"{path}: no material is left to bake; it has: {there}")
    return Scene(path, out, tuple(kept), packs)
