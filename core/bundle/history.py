"""Keeps earlier bakes of a material, and brings them back.

NAME.vdg is always a plain folder that engines load, and the versions before it are folders in
NAME.versions. Every change is a rename: nothing is copied, a full disk or a killed process leaves
each version whole, and Windows needs no right to make links.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import BundleError, VerdigrisError, reason
from verdigris.core.base.files import Folder, PlantedError, is_link, rename_file, temporary_name
from verdigris.core.base.json_fields import find_number, find_table, find_whole, load_json
from verdigris.core.base.lock import locked
from verdigris.core.base.outputs import MANIFEST_FILE, is_bundle_or_scene, resolved
from verdigris.core.base.process.worker_environment import read_setting, store_setting
from verdigris.core.base.text import format_bytes
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST, SUFFIX
from verdigris.core.bundle.files.read import find_bundle_folder
from verdigris.core.bundle.files.replace_folder import (
    backup_path,
    clear_leftovers,
    leftovers_of,
    swap_in,
)

VERSIONS_SUFFIX = ".versions"
TRASH_FOLDER = "trash"
NOTES_FILE = "notes.json"
# The tables of errors in a manifest that a verdict needs.
_ERRORS = ("samples", "sphere", "sky")
# Number of versions that are kept, beside the bundle and the pinned ones.
KEPT, MOST_KEPT = 10, 1000
_KEPT_SETTING = "versions_kept"
_KEPT_IN_TRASH = 5
_LARGEST_NOTES = 1 << 20
_LONGEST_NOTE = 2000
# The name that `keep` gives, and the file by which a folder of versions is known as ours. Only what
# has both is ever removed.
_KEPT_NAME = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d(_\w+)?(-\d+)?" + re.escape(SUFFIX))
_MARKER = ".verdigris_versions"


@dataclass(frozen=True)
class Version:
    """A bake of a material that is kept."""

    folder: Path
    key: str
    """The digest of its manifest, which stays when the folder is moved."""
    baked: datetime
    is_present: bool
    """Whether it is the bundle itself, which engines load."""
    preset: str = ""
    resolution: int | None = None
    """The side that the settings allow: a bake may choose a smaller texture."""
    size: tuple[int, int] | None = None
    """Width and height of its texture."""
    network: str = ""
    steps: int | None = None
    stopped_by: str = ""
    seconds: float | None = None
    loaded_bytes: int | None = None
    errors: Mapping[str, Mapping[str, Any]] | None = None
    """The measured errors: tables `samples`, `sphere`, `sky`."""
    live: tuple[str, ...] = ()
    """Its live inputs, as `bake --live` takes them."""
    limits: tuple[str, ...] = ()
    """What ended the bake early or made it smaller: `at most 1.4 MB`, `ended by a time limit`."""
    sources: Mapping[str, Any] = field(default_factory=dict)
    """The digests of its document and images, as `changed_sources` compares them."""
    label: str = ""
    """A name that the artist gave."""
    note: str = ""
    """What the artist wrote about it: a line or a paragraph."""
    is_pinned: bool = False
    """Whether it is never removed to make room."""

    @property
    def name(self) -> str:
        """The folder's name without its suffix, for commands."""
        return self.folder.name.removesuffix(SUFFIX)

    @property
    def preview(self) -> Path:
        return self.folder / "preview.png"

    @property
    def facts(self) -> tuple[str, ...]:
        """Its texture, bytes, live inputs and limits in words."""
        width, height = self.size or (self.resolution, self.resolution)
        live = ", ".join(each.partition("=")[0] for each in self.live)
        found = (
            f"{width} x {height}" if width and height else "",
            format_bytes(self.loaded_bytes) if self.loaded_bytes else "",
            f"live {live}" if live else "",
            *self.limits,
        )
        return tuple(filter(None, found))

    @property
    def error(self) -> float | None:
        """The log MAE on held-out samples."""
        return find_number((self.errors or {}).get("samples", {}), "log_mae")


_SOURCES = "document_sha256", "text_sha256", "textures"


def versions_folder(bundle: Path) -> Path:
    """The folder of a bundle's versions: NAME.versions beside NAME.vdg."""
    return bundle.with_name(bundle.name.removesuffix(SUFFIX) + VERSIONS_SUFFIX)


def read_version(
    folder: Path, notes: Mapping[str, Any], is_present: bool = False
) -> Version | None:
    """A version from its manifest; None for a folder without a readable manifest. It is untrusted:
    a list must not fail because one entry is damaged."""
    path = folder / MANIFEST_FILE
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_MANIFEST)
        written = path.stat().st_mtime
        manifest = load_json(data, str(path), BundleError)
    except (OSError, VerdigrisError):
        return None
    if not isinstance(manifest, dict):
        return None
    key = hashlib.sha256(data).hexdigest()
    source, note = find_table(manifest, "source"), find_table(notes, key)
    settings, errors = find_table(source, "settings"), find_table(manifest, "errors")
    latents = find_table(manifest, "latents")
    width, height = find_whole(latents, "width"), find_whole(latents, "height")
    return Version(
        folder=folder,
        key=key,
        baked=datetime.fromtimestamp(written, UTC),
        is_present=is_present,
        preset=_text(source, "preset"),
        resolution=find_whole(settings, "resolution"),
        size=(width, height) if width and height else None,
        network=_text(settings, "network"),
        steps=find_whole(source, "step"),
        stopped_by=_text(source, "stopped_by"),
        seconds=find_number(source, "seconds"),
        loaded_bytes=find_whole(find_table(manifest, "cost"), "loaded_bytes"),
        errors={name: find_table(errors, name) for name in _ERRORS},
        live=_texts(source, "live"),
        limits=_limits(source, settings),
        sources={name: source[name] for name in _SOURCES if name in source},
        label=_text(note, "label"),
        note=_text(note, "note"),
        is_pinned=note.get("is_pinned") is True,
    )


_ENDS = {
    "request": "stopped early",
    "time limit": "ended by a time limit",
    "quality": "ended at its target",
    "target error": "ended at its target",
}


def _limits(source: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The limits of a bake in words, from an untrusted manifest."""
    budget = find_whole(find_table(settings, "size"), "most_bytes")
    found = (
        f"at most {format_bytes(budget)}" if budget else "",
        _ENDS.get(_text(source, "stopped_by"), ""),
    )
    return tuple(filter(None, found))


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = values.get(name)
    return tuple(map(str, found)) if isinstance(found, list) else ()


class History:
    """The versions of one bundle."""

    def __init__(self, bundle: Path) -> None:
        # a link stays: the bundle behind it is replaced
        with contextlib.suppress(OSError):
            bundle = resolved(bundle) if bundle.is_symlink() else bundle
        self.bundle = bundle
        self.folder = versions_folder(bundle)

    def versions(self) -> list[Version]:
        """The present bundle, then the other versions from the newest to the oldest."""
        notes = self._notes()
        folder = find_bundle_folder(self.bundle)
        present = read_version(folder, notes, is_present=True) if folder else None
        found = [read_version(folder, notes) for folder in _bundles_in(self.folder)]
        others = [each for each in found if each is not None]
        others.sort(key=lambda each: (each.baked, each.name), reverse=True)
        return [present, *others] if present else others

    def find(self, name: str) -> Version | None:
        """The version with this name."""
        return next((each for each in self.versions() if each.name == name), None)

    def require(self, name: str) -> Version:
        found = self.find(name)
        if found is None:
            known = ", ".join(each.name for each in self.versions()) or "none"
            raise BundleError(f"{self.bundle}: has no version {name!r}: use one of {known}")
        return found

    # changes

    def keep(self, folder: Path) -> None:
        """Moves a replaced bundle to the versions. If that fails, it stays where it is: a later
        call of `recover` moves it."""
        with contextlib.suppress(OSError):
            version = read_version(folder, {})
            if version is None:
                # damaged, or another kind of folder: only its name is known
                self._move(folder, folder.name.strip("."))
                return
            stamp = version.baked.strftime("%Y-%m-%d_%H-%M-%S")
            self._move(folder, f"{stamp}_{version.preset}" if version.preset else stamp)

    def require_own_folder(self) -> None:
        """Refuses a link in the place of the versions: it may lead to bundles of others."""
        if is_link(self.folder):
            raise BundleError(
                f"{self.folder}: is a link, but old versions of {self.bundle.name} are kept and "
                "removed there: remove the link, or choose another folder"
            )

    def recover(self) -> None:
        """Moves the bundles of a killed process to the versions, unless it still runs."""
        has_aside = backup_path(self.bundle).is_dir()
        if has_aside or leftovers_of(self.bundle):
            with contextlib.suppress(VerdigrisError, OSError), self._changing():
                clear_leftovers(self.bundle, self.keep)

    def restore(self, version: Version) -> None:
        """Makes a version the present bundle. The bundle before is kept as a version."""
        if version.is_present:
            return
        with self._changing():
            clear_leftovers(self.bundle, self.keep)
            new = self.bundle.with_name(temporary_name(self.bundle.name))
            # a process that is killed from here on leaves what `recover` finds
            rename_file(version.folder, new)
            try:
                old = swap_in(new, self.bundle)
            except OSError:
                rename_file(new, version.folder)
                raise
            if old is not None:
                self.keep(old)

    def delete(self, version: Version) -> Path:
        """Moves a version to the trash. Returns its new path, for `undelete`."""
        if version.is_present:
            raise BundleError(
                f"{self.bundle}: is the present bundle: restore another version before you delete "
                "this one"
            )
        with self._changing(), self._opened() as own, own.folder(TRASH_FOLDER, makes=True) as trash:
            target = _free_name(trash.path, version.name)
            # the trash is cleared in the order of deletion
            with own.folder(version.folder.name) as deleted:
                deleted.touch()
            own.rename(version.folder.name, target.name, to=trash)
            for folder in self.trash()[_KEPT_IN_TRASH:]:
                trash.remove_tree(folder.name, MANIFEST_FILE)
        return target

    def undelete(self, folder: Path) -> None:
        """Moves a version back from the trash."""
        with self._changing():
            self._move(folder, folder.name.removesuffix(SUFFIX))

    def trash(self) -> list[Path]:
        """Deleted versions, the last one first."""
        found = _bundles_in(self.folder / TRASH_FOLDER)
        return sorted(found, key=lambda each: each.stat().st_mtime_ns, reverse=True)

    def rename(self, version: Version, label: str) -> None:
        """Gives a version a name for people."""
        self._note(version, label=" ".join(label.split())[:80])

    def write_note(self, version: Version, text: str) -> None:
        """Keeps what an artist writes about a version."""
        lines = (line.rstrip() for line in text.strip().splitlines())
        self._note(version, note="\n".join(lines)[:_LONGEST_NOTE])

    def pin(self, version: Version, is_pinned: bool = True) -> None:
        """Keeps a version from being removed to make room."""
        self._note(version, is_pinned=is_pinned)

    def tidy(self, kept: int) -> None:
        """Removes the oldest versions beyond this number. Pinned versions stay, and so does that
        with the smallest error: many drafts must not push out a final bake."""
        others = [each for each in self.versions() if not each.is_present]
        best = min(others, key=lambda each: inf if each.error is None else each.error, default=None)
        loose = [each for each in others if not (each.is_pinned or each is best)]
        with contextlib.suppress(OSError), self._opened() as own:
            is_ours = _MARKER in own.names()
            for version in loose[max(0, kept - 1) :]:
                if is_ours and _KEPT_NAME.fullmatch(version.folder.name):
                    own.remove_tree(version.folder.name, MANIFEST_FILE)

    def _move(self, folder: Path, name: str) -> None:
        with self._opened():
            rename_file(folder, _free_name(self.folder, name))

    def _note(self, version: Version, **values: Any) -> None:
        with self._changing(), self._opened() as own:
            notes = dict(self._notes())
            known = {each.key for each in self.versions()}
            notes[version.key] = {**find_table(notes, version.key), **values}
            # a version in the trash may come back, with its notes
            known |= {found.key for each in self.trash() if (found := read_version(each, {}))}
            notes = {key: note for key, note in notes.items() if key in known}
            own.replace(NOTES_FILE, json.dumps(notes, indent=1).encode())

    def _notes(self) -> Mapping[str, Any]:
        path = self.folder / NOTES_FILE
        try:
            if path.stat().st_size > _LARGEST_NOTES:
                return {}
            found = load_json(path.read_bytes(), str(path))
        except (OSError, VerdigrisError):
            return {}
        return found if isinstance(found, dict) else {}

    @contextmanager
    def _opened(self) -> Iterator[Folder]:
        """The folder of the versions, which is made if there is none. One of before the marker is
        ours if everything in it has names of ours."""
        with (
            Folder.at(self.bundle.parent) as parent,
            parent.folder(self.folder.name, makes=True) as own,
        ):
            names = {*own.names()} - {NOTES_FILE, TRASH_FOLDER}
            if _MARKER not in names and all(map(_KEPT_NAME.fullmatch, names)):
                own.replace(_MARKER, f"Versions of {self.bundle.name}\n".encode())
            yield own

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Holds the lock of the bundle, and explains failures of the file system."""
        try:
            with locked(self.bundle.parent, self.bundle.name):
                yield
        except PlantedError as failure:
            raise BundleError(f"{self.bundle}: {reason(failure)}") from None
        except OSError as failure:
            raise BundleError(
                f"{self.bundle}: its versions cannot be changed ({reason(failure)}): close "
                "programs that use them, and try again"
            ) from None


def keeper(bundle: Path) -> Callable[[Path], None]:
    """Keeps a replaced bundle as a version, and makes room. For `write_bundle`."""
    history = History(bundle)

    def keep(folder: Path) -> None:
        history.keep(folder)
        history.tidy(kept_versions())

    return keep


def kept_versions() -> int:
    """The number of versions to keep, from the settings of this machine."""
    try:
        found = read_setting(_KEPT_SETTING)
    except VerdigrisError:
        return KEPT
    return found if type(found) is int and 1 <= found <= MOST_KEPT else KEPT


def keep_versions(count: int) -> None:
    """Changes the number of versions to keep."""
    store_setting(_KEPT_SETTING, count)


def _bundles_in(folder: Path) -> list[Path]:
    """The bundles in a folder of ours. Nothing is listed behind a link."""
    with contextlib.suppress(OSError):
        return (
            []
            if is_link(folder) or is_link(folder.parent)
            else [
                each
                for each in folder.iterdir()
                if each.suffix == SUFFIX
                and not each.name.startswith(".")
                and not is_link(each)
                and is_bundle_or_scene(each)
            ]
        )
    return []


def _free_name(folder: Path, name: str) -> Path:
    """A path that does not exist yet, even as a link that leads nowhere. The caller holds the lock
    of the bundle."""
    target, number = folder / f"{name}{SUFFIX}", 1
    while os.path.lexists(target):
        number += 1
        target = folder / f"{name}-{number}{SUFFIX}"
    return target
