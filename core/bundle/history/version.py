"""A version: a bundle in the folder of versions, or the present one, with its notes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import BundleError, VerdigrisError
from verdigris.core.base.json_fields import find_number, find_table, find_whole, load_json
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.manifest import LARGEST_MANIFEST, SUFFIX

VERSIONS_SUFFIX = ".versions"
TRASH_FOLDER = "trash"
NOTES_FILE = "notes.json"
# The tables of a manifest's errors that a verdict needs.
_ERRORS = ("samples", "sphere", "sky")


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
    network: str = ""
    steps: int | None = None
    stopped_by: str = ""
    seconds: float | None = None
    loaded_bytes: int | None = None
    errors: Mapping[str, Mapping[str, Any]] | None = None
    """The measured errors: tables `samples`, `sphere`, `sky`."""
    live: tuple[str, ...] = ()
    """Its live inputs, as `bake --live` takes them."""
    label: str = ""
    """A name that the artist gave."""
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
    def error(self) -> float | None:
        """The log MAE on held-out samples."""
        return find_number((self.errors or {}).get("samples", {}), "log_mae")


def versions_folder(bundle: Path) -> Path:
    """The folder of a bundle's versions: NAME.versions beside NAME.vdg."""
    return bundle.with_name(bundle.name.removesuffix(SUFFIX) + VERSIONS_SUFFIX)


def read_version(
    folder: Path, notes: Mapping[str, Any], is_present: bool = False
) -> Version | None:
    """A version from its manifest; None for a folder without one that can be read. Nothing in it
    is trusted: a list must not fail because one of its entries is damaged."""
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
    return Version(
        folder=folder,
        key=key,
        baked=datetime.fromtimestamp(written, UTC),
        is_present=is_present,
        preset=_text(source, "preset"),
        resolution=find_whole(settings, "resolution"),
        network=_text(settings, "network"),
        steps=find_whole(source, "step"),
        stopped_by=_text(source, "stopped_by"),
        seconds=find_number(source, "seconds"),
        loaded_bytes=find_whole(find_table(manifest, "cost"), "loaded_bytes"),
        errors={name: find_table(errors, name) for name in _ERRORS},
        live=_texts(source, "live"),
        label=_text(note, "label"),
        is_pinned=note.get("is_pinned") is True,
    )


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = values.get(name)
    return tuple(map(str, found)) if isinstance(found, list) else ()
