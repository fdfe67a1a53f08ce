#!/usr/bin/env python3
"""Builds the add-on for Blender: a zip that Blender installs from disk.

    python3 packaging/blender_addon.py OUT

The zip has the plug-in at its top, as Blender's extensions have, and Verdigris without its other
plug-ins as a wheel. Blender puts this and the other wheels of its manifest on its own path. The
worker's packages lie beside them, and Blender does not load them: its numpy is another.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from entries import TEMPLATES
from hosts import BLENDERS, SYSTEMS, this_system
from verdigris_wheel import sources, write_wheel, write_zip
from wheels import StageError
from worker_wheels import FOLDER, collect

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = Path("plugins", "blender")
VERSION, FIRST = 'version = "0.0.0"', 'blender_version_min = "4.5.0"'
# What Blender's side of Verdigris needs and Blender lacks.
NEEDED = ("verdigris", "platformdirs")
PAGES = (
    *("docs/BLENDER.md", "docs/ARTISTS.md", "docs/PLUGINS.md", "docs/TROUBLESHOOTING.md"),
    "docs/images/blender.png",
)


class AddOnError(StageError):
    """The add-on cannot be built."""


def build(
    out: Path,
    wheels: bool = True,
    root: Path = ROOT,
    blender: str = "blender-5.0",
    system: str = "",
) -> Path:
    """Writes the zip for a version of Blender and a system. Without wheels of other packages,
    Blender's Python must have them, and the zip has no worker."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    system = system or this_system()
    files = dict(_plugin_files(root))
    files["make_worker.py"] = (TEMPLATES / "make_worker.py").read_bytes()
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        made = Path(folder, FOLDER)
        if wheels:
            collect(BLENDERS[blender][1], system, made, root, project)
        else:
            made.mkdir()
            write_wheel(made, project, root)
        files |= {f"{FOLDER}/{file.name}": file.read_bytes() for file in sorted(made.iterdir())}
    manifest = (root / PLUGIN / "blender_manifest.toml").read_text("utf-8")
    names = [f"./{name}" for name in files if name.partition("/")[2].startswith(NEEDED)]
    text = _manifest(manifest, project["version"], names, blender, system)
    files["blender_manifest.toml"] = text.encode()
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"verdigris-{project['version']}-{blender}-{system}.zip"
    temporary = target.with_name(f".{target.name}.tmp")
    write_zip(temporary, files)
    temporary.replace(target)
    return target


def _plugin_files(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sources(root / PLUGIN):
        yield path.relative_to(root / PLUGIN).as_posix(), path.read_bytes()
    for name in PAGES:
        if (root / name).is_file():
            yield name, (root / name).read_bytes()


def _manifest(text: str, version: str, wheels: Sequence[str], blender: str, system: str) -> str:
    head, table, rest = text.partition("\n[permissions]")
    if VERSION not in head or FIRST not in head or not table:
        raise AddOnError(f"blender_manifest.toml lacks {VERSION}, {FIRST} or [permissions]")
    listed = "".join(f'    "{name}",\n' for name in wheels)
    lines = [line for line in head.splitlines() if not line.startswith("# packaging/")]
    head = "\n".join(lines).replace(VERSION, f'version = "{version}"')
    first, _, last = BLENDERS[blender]
    head = head.replace(FIRST, f'blender_version_min = "{first}"\nblender_version_max = "{last}"')
    head += f'\nplatforms = ["{SYSTEMS[system].blender}"]'
    return f"{head}\nwheels = [\n{listed}]\n{table}{rest}"


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Builds the add-on for Blender.")
    parser.add_argument("out", type=Path, help="output folder")
    parser.add_argument("--blender", choices=BLENDERS, default="blender-5.0")
    parser.add_argument("--platform", choices=sorted(SYSTEMS), default=this_system())
    parser.add_argument("--no-wheels", action="store_true", help="do not download packages")
    given = parser.parse_args(arguments)
    try:
        wheels = not given.no_wheels
        made = build(given.out, wheels, blender=given.blender, system=given.platform)
        print(f"blender_addon: {made} ({made.stat().st_size / 1e6:.0f} MB)")
    except (StageError, OSError) as failure:
        print(f"blender_addon: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
