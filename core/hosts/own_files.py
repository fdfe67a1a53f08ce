"""A file that stands for a material of an application: what an artist has exported by hand where
the application's own network cannot be read. Without MaterialX, as in the application."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import HostError, VerdigrisError, reason
from verdigris.core.hosts.documents import material_names, named_folders
from verdigris.core.hosts.host import HostDocument
from verdigris.core.material.load.mtlx_text import read_text

DOCUMENT = ".mtlx"
STAGES = (".usda", ".usd", ".usdc", ".usdz")
SUFFIXES = (DOCUMENT, *STAGES)
ALONE = "file on its own"
"""The source of a material that only a file has, where the scene cannot be listed."""


@dataclass(frozen=True)
class OwnFile:
    """A material in a file."""

    path: Path
    material: str
    """Its name in a document, or its path on a stage. Empty: the only one of a document."""


def list_own(path: Path) -> tuple[str, ...]:
    """The materials of a file, as `OwnFile.material` names them."""
    if _is_document(path):
        return material_names(read_text(path), str(path)) or ("",)
    from verdigris.core.material.usd.usdshade import list_materials

    found = list_materials(_open_stage(path))
    if not found:
        raise HostError(f"{path}: has no material: export it with its material")
    return tuple(found)


def find_own(path: Path, name: str) -> OwnFile | None:
    """The material of a file that has this name, or the only one; None if there is a choice."""
    there = list_own(path)
    named = [each for each in there if each.rpartition("/")[2] == name]
    chosen = named or (there if len(there) == 1 else ())
    return OwnFile(path, chosen[0]) if len(chosen) == 1 else None


def read_own(own: OwnFile) -> HostDocument:
    """A material of a file as MaterialX."""
    path = own.path
    if _is_document(path):
        text = read_text(path)
        folders = (path.parent, *named_folders(text, str(path)))
        return HostDocument(str(path), text, own.material, folders)
    from verdigris.core.material.usd.usdshade import convert

    found = convert(_open_stage(path), own.material)
    folders = (path.parent, *found.folders)
    return HostDocument(str(path), found.text, found.name, folders, found.notes)


def _is_document(path: Path) -> bool:
    """Whether a file is a MaterialX document, and not a stage. Refuses others."""
    if path.suffix.lower() not in SUFFIXES:
        raise HostError(f"{path}: is no material: choose a file with {', '.join(SUFFIXES)}")
    return path.suffix.lower() == DOCUMENT


def _open_stage(path: Path) -> Any:
    try:
        from verdigris.core.material.usd.open_stage import open_stage

        with path.open("rb"):
            return open_stage(path, (path.parent,)).stage
    except OSError as failure:
        raise HostError(f"{path}: cannot be read ({reason(failure)}): correct the path") from None
    except ImportError:
        raise HostError(
            f"{path}: this application has no USD for Python: choose a .mtlx file"
        ) from None
    except VerdigrisError:
        raise
    except Exception as failure:  # noqa: BLE001  pxr raises what it likes
        from verdigris.core.material.usd.faults import said_by_usd

        why = said_by_usd(failure)
        raise HostError(f"{path}: cannot be opened ({why}): export it again") from None
