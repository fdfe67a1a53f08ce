#!/usr/bin/env python3
"""Builds the add-on for Blender: a zip that Blender installs from disk.

    python3 packaging/blender_addon.py OUT

The zip has the plug-in at its top, as Blender's extensions have, and Verdigris without its other
plug-ins as a wheel. Blender puts the wheel on its path; the worker's environment is made from it.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = Path("plugins", "blender")
PACKAGES = ("core", "shaders", "ui", "plugins", "web")
WORKER_EXTRAS = ("usd",)
NEEDED = ("platformdirs",)
LICENCES = ("LICENSE", "NOTICE")
PAGES = ("docs/BLENDER.md", "docs/ARTISTS.md", "docs/PLUGINS.md", "docs/images/blender.png")
# A fixed time: the same sources give the same files.
_TIME = (1980, 1, 1, 0, 0, 0)


class AddOnError(Exception):
    """The add-on cannot be built."""


def build(out: Path, wheels: bool = True, root: Path = ROOT) -> Path:
    """Writes the zip. Without wheels of other packages, Blender's Python must have them."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    files = dict(_plugin_files(root))
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        made = [write_wheel(Path(folder), project, root)]
        made += _download(Path(folder), project) if wheels else []
        files |= {f"wheels/{wheel.name}": wheel.read_bytes() for wheel in made}
    manifest = (root / PLUGIN / "blender_manifest.toml").read_text("utf-8")
    names = [name for name in files if name.startswith("wheels/")]
    files["blender_manifest.toml"] = _manifest(manifest, project["version"], names).encode()
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"verdigris-{project['version']}-blender.zip"
    temporary = target.with_name(f".{target.name}.tmp")
    _write_zip(temporary, files)
    temporary.replace(target)
    return target


def write_wheel(folder: Path, project: dict, root: Path = ROOT) -> Path:
    """Writes Verdigris as a wheel, without the plug-ins of the applications."""
    name, version = project["name"], project["version"]
    info = f"{name}-{version}.dist-info"
    files = dict(_package_files(root))
    files["verdigris/VERSION"] = f"{version}\n".encode()
    files[f"{info}/METADATA"] = _metadata(project).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: verdigris\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    for licence in LICENCES:
        files[f"{info}/licenses/{licence}"] = (root / licence).read_bytes()
    scripts = "".join(f"{key} = {value}\n" for key, value in project["scripts"].items())
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in files.items()]
    record = f"{info}/RECORD"
    files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    _write_zip(wheel, files)
    return wheel


def _plugin_files(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in _sources(root / PLUGIN):
        yield path.relative_to(root / PLUGIN).as_posix(), path.read_bytes()
    for name in PAGES:
        if (root / name).is_file():
            yield name, (root / name).read_bytes()


def _package_files(root: Path) -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        for path in _sources(root / package):
            place = path.relative_to(root)
            is_application = (root / Path(*place.parts[:2]) / "adapter.py").is_file()
            if not (package == "plugins" and is_application):
                yield f"verdigris/{place.as_posix()}", path.read_bytes()


def _sources(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if not {"__pycache__", "node_modules"} & set(path.parts)]


def _metadata(project: dict) -> str:
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        # the add-on itself, which has another licence, is not in the wheel
        "License-Expression: Apache-2.0",
        *(f"License-File: {licence}" for licence in LICENCES),
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {each}" for each in project["dependencies"]),
    ]
    for extra in WORKER_EXTRAS:
        lines.append(f"Provides-Extra: {extra}")
        for each in project["optional-dependencies"][extra]:
            lines.append(f'Requires-Dist: {each}; extra == "{extra}"')
    return "\n".join([*lines, ""])


def _manifest(text: str, version: str, wheels: Sequence[str]) -> str:
    head, table, rest = text.partition("\n[permissions]")
    if 'version = "0.0.0"' not in head or not table:
        raise AddOnError('blender_manifest.toml lacks version = "0.0.0" or [permissions]')
    listed = "".join(f'    "./{name}",\n' for name in wheels)
    lines = [line for line in head.splitlines() if not line.startswith("# packaging/")]
    head = "\n".join(lines).replace('version = "0.0.0"', f'version = "{version}"')
    return f"{head}\nwheels = [\n{listed}]\n{table}{rest}"


def _download(folder: Path, project: dict) -> list[Path]:
    """The wheels of packages that Blender lacks and its side of Verdigris needs."""
    pins = [each for each in project["dependencies"] if each.partition("==")[0] in NEEDED]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(folder), *pins]
    if subprocess.run(command, check=False).returncode:
        raise AddOnError(f"pip found no wheels of {', '.join(pins)}: see its message above")
    return sorted(path for path in folder.glob("*.whl") if not path.name.startswith("verdigris-"))


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write_zip(file: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Builds the add-on for Blender.")
    parser.add_argument("out", type=Path, help="output folder")
    parser.add_argument("--no-wheels", action="store_true", help="do not download packages")
    given = parser.parse_args(arguments)
    try:
        print(f"blender_addon: {build(given.out, not given.no_wheels)}")
    except (AddOnError, OSError) as failure:
        print(f"blender_addon: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
