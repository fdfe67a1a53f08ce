"""Verdigris as a wheel, without the plug-ins of the applications: for workers and for Blender."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

PACKAGES = ("core", "shaders", "ui", "plugins", "web")
LICENCES = ("LICENSE", "NOTICE")
_WORKER_EXTRAS = ("usd",)
# A fixed time: the same sources give the same files.
_TIME = (1980, 1, 1, 0, 0, 0)


def write_wheel(folder: Path, project: dict, root: Path) -> Path:
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
    write_zip(wheel, files)
    return wheel


def sources(folder: Path) -> list[Path]:
    """The files of a folder that belong to the sources."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if not {"__pycache__", "node_modules"} & set(path.parts)]


def write_zip(file: Path, files: dict[str, bytes]) -> None:
    """Writes a zip. The same files give the same bytes."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, _TIME)
            entry.external_attr = 0o644 << 16
            is_packed = name.endswith(".whl")
            entry.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)


def _package_files(root: Path) -> Iterator[tuple[str, bytes]]:
    for package in PACKAGES:
        for path in sources(root / package):
            place = path.relative_to(root)
            is_application = (root / Path(*place.parts[:2]) / "adapter.py").is_file()
            if not (package == "plugins" and is_application):
                yield f"verdigris/{place.as_posix()}", path.read_bytes()


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
    for extra in _WORKER_EXTRAS:
        lines.append(f"Provides-Extra: {extra}")
        for each in project["optional-dependencies"][extra]:
            lines.append(f'Requires-Dist: {each}; extra == "{extra}"')
    return "\n".join([*lines, ""])


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
