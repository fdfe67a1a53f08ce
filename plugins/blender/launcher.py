# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Imports this add-on for programs that are run by their path, such as batch.py."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parent
NAME = "verdigris_blender"


def load_addon() -> ModuleType:
    """This folder as a package, wherever it is and whatever its name."""
    if NAME in sys.modules:
        return sys.modules[NAME]
    _find_verdigris()
    spec = importlib.util.spec_from_file_location(
        NAME, FOLDER / "__init__.py", submodule_search_locations=[str(FOLDER)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module


def run_apart(program: Callable[[Sequence[str]], int], words: Sequence[str]) -> int:
    """Runs a batch program. What Blender prints goes to the standard error, so that the standard
    output contains only the summary."""
    own = words[: words.index("--")] if "--" in words else words
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        summary = Path(folder) / "summary.json"
        if not any(word.partition("=")[0] == "--summary" for word in own):
            words = ["--summary", str(summary), *words]
        code = program(words)
        sys.stdout.flush()
        os.dup2(kept, 1)
        if summary.is_file():
            print(summary.read_text(encoding="utf-8"), end="", flush=True)
    return code


def _find_verdigris() -> None:
    """Adds Verdigris to the path. In Blender, the extension's wheel is there already."""
    if _has_verdigris():
        return
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for folder in (
        # a checkout, and the modules of Blender's extensions
        FOLDER.parents[1] / "packaging" / "typing",
        FOLDER.parents[1] / ".local" / "lib" / version / "site-packages",
    ):
        if (folder / "verdigris" / "core").is_dir():
            sys.path.append(str(folder))
            return
    sys.exit(f"verdigris: {FOLDER} has no Verdigris beside it: install the add-on in Blender first")


def _has_verdigris() -> bool:
    try:
        return importlib.util.find_spec("verdigris.core") is not None
    except ModuleNotFoundError:
        return False
