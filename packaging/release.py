#!/usr/bin/env python3
"""Makes the archives of a release: one for each version of an application and each system.

    python3 packaging/release.py OUT
    python3 packaging/release.py OUT --host maya-2026 --host houdini-21.0 --platform windows

An archive holds the plug-in with its packages, those of the worker, the pages of the manual,
licences, and what the application reads. Archives of the same sources are the same bytes: entries
are sorted, and have the time of SOURCE_DATE_EPOCH or the earliest of the format. SHA256SUMS lists
all archives in OUT.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from entries import MODULE, beside, entry_text, module_text, write_text
from hosts import BLENDERS, BY_NAME, HOSTS, SYSTEMS, HostVersion
from pages import INSTALLING, section
from stage import ROOT, project, stage
from wheels import StageError

try:
    import blender_addon
except ImportError:
    # a checkout without the add-on
    blender_addon = None

SUMS = "SHA256SUMS"
_EARLIEST = 315532800  # 1980-01-01, where the time of zip files begins
_FILE, _PROGRAM = 0o644, 0o755


def release(
    host: HostVersion, system: str, out: Path, wheels: bool = True, root: Path = ROOT
) -> Path:
    """Makes the archive of a version of an application for a system."""
    version = project(root)["version"]
    file = out / f"verdigris-{version}-{host.name}-{system}.zip"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="verdigris_release_") as folder:
        build = Path(folder)
        lay_out(host, system, build, version, wheels, root)
        pack(build, file)
    return file


def archives(name: str, systems: Sequence[str], out: Path) -> Iterator[Path]:
    """Makes the archives of a version of an application."""
    for system in systems:
        if name in BLENDERS:
            yield blender_addon.build(out, blender=name, system=system)
        else:
            yield release(BY_NAME[name], system, out)


def lay_out(
    host: HostVersion, system: str, build: Path, version: str, wheels: bool, root: Path
) -> None:
    """Fills a folder with what an archive holds.

    Archives of several versions can be unzipped to the same place: trees lie side by side.
    """
    tree = tree_name(host, system)
    # a package of Houdini lies beside the folder of the trees, a module of Maya inside of it
    top = build / ("verdigris-maya" if host.host == "maya" else "verdigris-houdini")
    stage(host, top, system, wheels, root, tree)
    (top / "INSTALL.md").write_text(
        f"# Verdigris {version} for {host.host.title()}\n\n"
        + section(root / "docs" / f"{host.host.upper()}.md", INSTALLING),
        "utf-8",
        newline="\n",
    )
    for name in ("LICENSE", "NOTICE"):
        if (root / name).is_file():
            write_text(top / name, (root / name).read_text("utf-8"))
    if host.host == "maya":
        write_text(top / MODULE, module_text(side_by_side(), version))
        return
    for written in top.glob("*.json"):
        written.unlink()
    text = entry_text(host, version, beside(host, f"{top.name}/{tree}"), system)
    write_text(build / f"verdigris-{host.version}-{system}.json", text)


def tree_name(host: HostVersion, system: str) -> str:
    return f"{host.name}-{system}"


def side_by_side() -> list[tuple[HostVersion, str, str]]:
    """The blocks of the one module for all versions of Maya and all systems."""
    maya = [host for host in HOSTS if host.host == "maya"]
    return [
        (host, beside(host, tree_name(host, system)), system) for host in maya for system in SYSTEMS
    ]


def pack(folder: Path, file: Path) -> None:
    """Packs a folder so that the same files make the same bytes."""
    date = time.gmtime(max(_EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH", _EARLIEST))))[:6]
    temporary = file.with_name(f".{file.name}.tmp")
    files = sorted(
        (path.relative_to(folder).as_posix(), path) for path in folder.rglob("*") if path.is_file()
    )
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, path in files:
                entry = zipfile.ZipInfo(name, date)
                entry.create_system = 3  # Unix: the mode below is that of its files
                data = path.read_bytes()
                mode = _PROGRAM if data[:2] == b"#!" else _FILE
                entry.external_attr = (0o100000 | mode) << 16
                is_packed = path.suffix == ".whl"
                archive.writestr(
                    entry, data, zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
                )
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def write_sums(out: Path) -> Path:
    """Writes the checksums of all archives of a folder, as `sha256sum --check` reads them."""
    lines = []
    for file in sorted(out.glob("*.zip")):
        with file.open("rb") as held:
            lines.append(f"{hashlib.file_digest(held, 'sha256').hexdigest()}  {file.name}\n")
    return write_text(out / SUMS, "".join(lines))


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    names = [each.name for each in HOSTS] + (list(BLENDERS) if blender_addon else [])
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="folder of the archives")
    parser.add_argument("--host", action="append", choices=names, help="default: all")
    parser.add_argument("--platform", action="append", choices=sorted(SYSTEMS), help="default: all")
    given = parser.parse_args(arguments)
    try:
        for name in given.host or names:
            for file in archives(name, given.platform or list(SYSTEMS), given.out):
                print(f"release: {file} ({file.stat().st_size / 1e6:.1f} MB)", flush=True)
        print(f"release: {write_sums(given.out)}")
    except (StageError, OSError) as failure:
        print(f"release: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
