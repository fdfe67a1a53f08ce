#!/usr/bin/env python3
"""Registers a staged tree with an installed application, or removes it.

    python3 packaging/dev_install.py maya-2026 OUT
    python3 packaging/dev_install.py houdini-21.0 OUT
    python3 packaging/dev_install.py maya-2026 OUT --remove

It writes a file with the full path of the tree into the preferences of the application.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from entries import TREE, entry_name, write_entry
from hosts import BY_NAME, HostVersion


def entry_folder(host: HostVersion, home: Path, platform: str = sys.platform) -> Path:
    """The folder of the user's modules (Maya) or packages (Houdini)."""
    if host.host == "maya":
        chosen = os.environ.get("MAYA_APP_DIR")
        if chosen:
            return Path(chosen) / host.version / "modules"
        tops = {"win32": "Documents/maya", "darwin": "Library/Preferences/Autodesk/maya"}
        return home / tops.get(platform, "maya") / host.version / "modules"
    chosen = os.environ.get("HOUDINI_USER_PREF_DIR")
    if chosen:
        return Path(chosen.replace("__HVER__", host.version)) / "packages"
    if platform == "darwin":
        return home / "Library" / "Preferences" / "houdini" / host.version / "packages"
    top = home / "Documents" if platform == "win32" else home
    return top / f"houdini{host.version}" / "packages"


def install(host: HostVersion, out: Path, home: Path) -> Path:
    """Writes the entry of the application. Returns its file."""
    tree = out.resolve() / TREE
    version = tree / "scripts" / "verdigris" / "VERSION"
    if not version.is_file():
        raise FileNotFoundError(
            f"{tree} is not a staged tree: build it with packaging/stage.py {host.name} {out}"
        )
    folder = entry_folder(host, home)
    folder.mkdir(parents=True, exist_ok=True)
    return write_entry(host, folder, version.read_text("utf-8").strip(), tree.as_posix())


def remove(host: HostVersion, home: Path) -> Path:
    """Removes the entry of the application if it exists."""
    file = entry_folder(host, home) / entry_name(host)
    file.unlink(missing_ok=True)
    return file


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Registers a staged tree with an application.")
    parser.add_argument("host", choices=BY_NAME, help="the version of the application")
    parser.add_argument("out", type=Path, help="the output folder of stage.py")
    parser.add_argument("--remove", action="store_true", help="remove the tree")
    given = parser.parse_args(arguments)
    host = BY_NAME[given.host]
    try:
        if given.remove:
            print(f"dev_install: removed {remove(host, Path.home())}")
        else:
            print(f"dev_install: wrote {install(host, given.out, Path.home())}")
    except OSError as failure:
        print(f"dev_install: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
