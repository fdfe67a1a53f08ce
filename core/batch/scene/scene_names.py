"""Names that files of a scene can have, and those that they cannot."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath

from verdigris.core.base.errors import SceneError
from verdigris.core.base.outputs import LONGEST_NAME, why_no_file_name
from verdigris.core.bundle.files.manifest import SUFFIX


def why_no_name(name: str) -> str:
    """Why a file cannot have this name; empty where it can."""
    if reason := why_no_file_name(name):
        return reason
    length = len(os.fsencode(name))
    if length > LONGEST_NAME:
        return f"the name {name!r} has {length} bytes: choose one of at most {LONGEST_NAME}"
    return ""


def require_pack_names(packs: Iterable[str], bundles: Iterable[str], where: str) -> None:
    """Refuses names of scene packs that are none, or that bundles of the same folder have."""
    taken = {f"{name}{SUFFIX}".lower(): name for name in bundles}
    for pack in packs:
        if why_no_name(pack) or PurePath(pack).suffix != SUFFIX:
            raise SceneError(f"{where}: {pack!r} is no file: use NAME{SUFFIX}")
        if pack.lower() in taken:
            raise SceneError(
                f"{where}: {pack!r} is the bundle of the material {taken[pack.lower()]}: choose "
                "another name"
            )
