"""Finds the materials that a scene names: in folders, documents, stages, and summaries of
plug-ins."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import SceneError, SettingsError, VerdigrisError, why_no_folder
from verdigris.core.base.inputs import require_working_folder_for
from verdigris.core.base.json_fields import Fields, fields_of, read_json_file
from verdigris.core.base.outputs import resolved
from verdigris.core.base.text import why_invalid_name, why_not_unicode, with_plain_letters
from verdigris.core.batch.scene.entry import (
    DocumentCache,
    Entry,
    Rule,
    Source,
    fits_any,
    parse_rule,
    quoted,
    rule_fields,
)
from verdigris.core.hosts.host import find_application
from verdigris.core.material.live_inputs.live_input import WantedInput, parse_all_wanted
from verdigris.core.material.load.changes import NO_CHANGES, DocumentChanges
from verdigris.core.material.shader.expand import SUFFIXES, is_document

LARGEST_SCENE = 64 << 20
PACKAGE_SUFFIX = ".usdz"
STAGE_SUFFIXES = (".usd", ".usda", ".usdc", PACKAGE_SUFFIX)
_HANDED_OVER = "handed over"
# the list of the application's materials says why it cannot be baked
_LEFT_OUT = "left out"
_NO_FILE = "not a plain file: name another document, or remove it"


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading sources."""

    search: tuple[Path, ...] = ()
    """Further folders in which files may lie."""
    confined: bool = False
    """Whether files outside of these folders are refused."""
    documents: DocumentCache = field(default_factory=DocumentCache)
    """The documents that were loaded before."""
    to_here: Callable[[str], str] = str
    """Maps a path of the machine that wrote the source to this machine."""
    allowed: tuple[Path, ...] = ()
    """The only folders in which sources may name files; all may be named if it is empty."""
    changes: DocumentChanges = NO_CHANGES
    """Changes of the documents."""

    def place(self, base: Path, text: str, where: str) -> Path:
        """The path that a source means by a text."""
        path = base / self.to_here(text)
        self.require_allowed(path, where)
        return path

    def require_allowed(self, path: Path, where: str) -> None:
        """Refuses a path that is, or leads by links, outside of the allowed folders."""
        if self.allowed and not any(map(resolved(path).is_relative_to, self.allowed)):
            raise SceneError(
                f"{where}: {path} is outside of {', '.join(map(str, self.allowed))}: move it "
                "there, or allow its folder with --search"
            )


def entries_of(path: Path, reading: ReadOptions) -> list[Entry]:
    """The materials of a file or folder. A broken document becomes an entry with a problem, and
    does not stop the others."""
    try:
        is_there = path.exists()
    except OSError as failure:
        raise SceneError(f"{path}: cannot be read ({failure.strerror}): correct the path") from None
    if not is_there:
        require_working_folder_for(path)
        raise SceneError(f"{path}: there is no such file or folder")
    if path.is_dir():
        files = distinct(_documents_below(path))
        return [
            entry.with_links(links)
            for file, links in files.items()
            for entry in _of_document(file, reading)
        ]
    suffix = path.suffix.lower()
    if is_document(path):
        return list(_of_document(path, reading, is_named=True))
    if suffix in STAGE_SUFFIXES:
        if not reading.confined:
            return list(read_stage(path, reading))
        from verdigris.core.batch.scene.untrusted_stage import read_in_process

        return list(read_in_process(path, reading))
    if suffix == ".json":
        return list(_of_hand_over(path, read_json_file(path, SceneError, LARGEST_SCENE), reading))
    application = find_application(path)
    if application is not None:
        raise SceneError(
            f"{path}: is a scene of {application.name}: bake it with {application.interpreter} and "
            "the plug-in's batch.py, or on a farm with `verdigris farm host-template`"
        )
    known = ", ".join((DOCUMENT_SUFFIX, *SUFFIXES, *STAGE_SUFFIXES, ".json"))
    raise SceneError(f"{path}: not a scene: use a folder, or a file with the suffix {known}")


def is_hand_over(values: object) -> bool:
    """Whether a JSON value is the summary of a plug-in's batch program."""
    materials = values.get("materials") if isinstance(values, dict) else None
    return isinstance(materials, list) and any(
        isinstance(each, dict) and "status" in each for each in materials
    )


def _documents_below(folder: Path) -> Iterator[Path]:
    """All documents in a folder and below, without folders whose names begin with a dot."""
    for path in sorted(folder.rglob(f"*{DOCUMENT_SUFFIX}")):
        if not any(part.startswith(".") for part in path.relative_to(folder).parts):
            yield path


def _is_no_file(path: Path) -> bool:
    """Whether a path is a pipe, a socket or a device. Missing files are reported by their
    reader."""
    try:
        return path.exists() and not (path.is_file() or path.is_dir())
    except OSError:
        return False


def _of_document(path: Path, reading: ReadOptions, is_named: bool = False) -> Iterator[Entry]:
    source = Source(str(path), None, reading.search, reading.confined, reading.changes)
    plain = plain_name(path.stem)
    if _is_no_file(path):
        # reading a pipe could take forever
        yield Entry(plain, source, problem=f"{path}: {_NO_FILE}")
        return
    try:
        reading.require_allowed(path, str(path))
        document = reading.documents.load(source)
        if not document.materials and is_named:
            document.require_material()
    except VerdigrisError as failure:
        yield Entry(plain, source, problem=str(failure))
        return
    problem = why_not_unicode(str(path))
    # documents without materials are meant to be included
    for material in document.materials:
        yield Entry(material.file_name, source, material.name, problem=problem)


def read_stage(path: Path, reading: ReadOptions) -> Iterator[Entry]:
    """The materials of a stage. A broken one becomes an entry with a problem."""
    try:
        import pxr  # noqa: F401
    except ImportError:
        raise SceneError(
            f"{path}: stages need pxr, which is not installed: pip install 'verdigris[usd]'"
        ) from None
    from verdigris.core.material.usd.faults import refusing_damage, said_by_usd
    from verdigris.core.material.usd.open_stage import open_stage
    from verdigris.core.material.usd.usd_package import unpack
    from verdigris.core.material.usd.usdshade import convert, list_materials

    if _is_no_file(path):
        yield Entry(plain_name(path.stem), Source(str(path)), problem=f"{path}: {_NO_FILE}")
        return
    try:
        reading.require_allowed(path, str(path))
        package = unpack(path) if path.suffix.lower() == PACKAGE_SUFFIX else None
        inside = () if package is None else package[:1]
        if reading.allowed:
            reading = replace(reading, allowed=(*reading.allowed, *inside))
        file = path if package is None else package[1]
        opened = open_stage(file, reading.search, reading.confined, reading.require_allowed)
        stage = opened.stage
    except SceneError as failure:
        yield Entry(plain_name(path.stem), Source(str(path)), problem=str(failure))
        return
    except Exception as failure:  # noqa: BLE001  pxr raises what it likes
        problem = f"{path}: cannot be opened: {said_by_usd(failure)}"
        yield Entry(plain_name(path.stem), Source(str(path)), problem=problem)
        return
    with refusing_damage(SceneError, path):
        there = list_materials(stage)
    for document, problem in opened.problems.items():
        yield Entry(plain_name(Path(document).stem), Source(document), problem=problem)
    if not there and not opened.problems:
        raise SceneError(f"{path}: has no material")
    # pxr resolves relative names from the folder of a link, not of its target
    own = *inside, resolved(path.parent), resolved(path).parent
    search = tuple(dict.fromkeys((*own, *reading.search)))
    read: dict[str, Entry] = {}
    for prim in there:
        name = plain_name(prim.rpartition("/")[2])
        where = f"{path}{prim}"
        try:
            found = convert(stage, prim)
        except VerdigrisError as failure:
            read[where] = Entry(name, Source(where), name, problem=str(failure))
            continue
        if found.text in read:
            # a material that is referenced to several places
            entry = read[found.text]
            read[found.text] = replace(entry, links=(*entry.links, where))
            continue
        source = Source(where, found.text, search, reading.confined)
        entry = Entry(name, source, found.name, notes=found.notes, stage=str(path))
        read[found.text] = entry
    yield from read.values()


def _of_hand_over(path: Path, values: object, reading: ReadOptions) -> Iterator[Entry]:
    """Reads the summary that a plug-in's batch program wrote beside its documents."""
    if not is_hand_over(values):
        raise SceneError(
            f"{path}: neither a scene file nor a summary of a batch program: see docs/SCENES.md"
        )
    assert isinstance(values, dict)
    for number, material in enumerate(values["materials"]):
        where = f"{path}: materials[{number}]"
        # other fields are ignored
        found = fields_of(material, str(path), f"materials[{number}]", SceneError)
        name = plain_name(found.typed("name", str, f"material_{number}"))
        status = found.typed("status", str, "")
        if status == _LEFT_OUT:
            continue
        if status != _HANDED_OVER:
            why = found.typed("error", str, "") or f"the status is {status!r}"
            yield Entry(name, Source(where), name, problem=why)
            continue
        file = found.typed("document", str, "")
        found.require(file != "", "document", "name the document's file")
        document = reading.place(path.parent, file, where)
        folders = (reading.place(Path(), folder, where) for folder in found.texts("search"))
        search = tuple(dict.fromkeys((*folders, *reading.search)))
        confined = found.typed("confined", bool, False) or reading.confined
        own = replace(reading, search=search, confined=confined)
        entries = list(_of_document(document, own, is_named=True))
        notes, request = found.texts("notes"), BakeRequest(live=_live_of(found, where))
        yield from (replace(entry, notes=notes, request=request) for entry in entries)


def _live_of(found: Fields, where: str) -> tuple[WantedInput, ...] | None:
    """The live inputs that the application's scene keeps open, if there are any."""
    try:
        return parse_all_wanted(found.texts("live")) or None
    except SettingsError as failure:
        raise SceneError(f"{where}: {failure}") from None


def unique(entries: Sequence[Entry], stems: bool = True) -> list[Entry]:
    """Makes names unique, also on file systems that ignore case. Equal names get the document's
    name as a prefix, and then a number."""
    lowered = [entry.name.lower() for entry in entries]
    named = []
    for entry, low in zip(entries, lowered, strict=True):
        stem = plain_name(Path(entry.source.name).stem)
        is_alone = lowered.count(low) == 1 or not stems or stem == entry.name
        named.append(entry if is_alone else replace(entry, name=f"{stem}-{entry.name}"))
    taken: set[str] = set()
    found = []
    for entry in named:
        name, number = entry.name, 2
        while name.lower() in taken:
            name, number = f"{entry.name}-{number}", number + 1
        taken.add(name.lower())
        found.append(replace(entry, name=name))
    return found


def plain_name(name: str) -> str:
    """A name for every file system."""
    return with_plain_letters(name.strip(".")) or "_"


DOCUMENT_SUFFIX = ".mtlx"


def identity(path: Path) -> Hashable:
    """A key that is equal for all paths of one document: the target of links, or the file of hard
    links in one folder. A hard link in another folder finds other textures."""
    whole = resolved(path)
    try:
        found = whole.stat()
    except (OSError, ValueError):
        # a broken link, or an invalid name
        return whole
    # file numbers are not reliable on all systems, and are used for hard links only
    return (whole.parent, found.st_dev, found.st_ino) if found.st_nlink > 1 else whole


def distinct(paths: Iterable[Path]) -> dict[Path, tuple[str, ...]]:
    """Each document once, by a path that is not a link if there is one, with its other paths.
    Stages stay separate, because their files lie beside the link."""
    names: dict[Hashable, list[Path]] = {}
    for path in paths:
        names.setdefault(identity(path) if is_document(path) else path, []).append(path)
    found = {}
    for several in names.values():
        chosen = next((each for each in several if not each.is_symlink()), several[0])
        found[chosen] = tuple(str(each) for each in several if each != chosen)
    return found


_FIELDS = ("source", "materials", "name", "search", "confined", "inputs", "defines")


@dataclass(frozen=True)
class Item:
    """The contents of one item of `sources`."""

    entries: tuple[Entry, ...]
    rule: Rule | None = None
    """A rule for these materials only, whatever names they get."""
    has_name: bool = False
    """Whether it renames its material."""


def search_folders(found: Fields, here: Callable[[str], Path]) -> list[Path]:
    """Folders of images. Each must exist, because with a wrong folder every image would fail."""
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
    changes = DocumentChanges.of(found.typed("inputs", dict, {}), found.typed("defines", dict, {}))
    own = replace(reading, search=search, confined=confined, changes=changes)
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
    """All materials with unique names, and the rules of the items. A material in several items is
    one entry, unless an item renames it. Later items override earlier ones."""
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
    return file, source.text, source.changes, entry.material, entry.name if has_name else None


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
    # only the text in the scene file is a pattern, not the folders above it
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
