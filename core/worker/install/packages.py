"""The packages that an archive carries for the worker, and whether they fit this Python."""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from verdigris.core.base.errors import VerdigrisError, reason
from verdigris.core.base.json_fields import find_json
from verdigris.core.base.process.unpacked_worker import LIST, digest_of, name_of, python_tag

_AGAIN = "unzip the whole archive again, to the same place"
_MACHINES = {"amd64": "x86_64", "aarch64": "arm64"}
_SYSTEMS = {"win32": "windows", "darwin": "macos"}
_LINUX = re.compile(r"manylinux_(\d+)_(\d+)_\w+")
_MACOS = re.compile(r"macosx_(\d+)_(\d+)_\w+")


class SetUpError(VerdigrisError):
    """The worker cannot be set up here."""


@dataclass(frozen=True)
class Wheel:
    """A package as a file."""

    file: str
    sha256: str
    size: int
    """Bytes of the file."""
    unpacked: int
    """Bytes of its contents."""


@dataclass(frozen=True)
class Packages:
    """All packages of a worker for one version of Python and one system."""

    folder: Path
    version: str
    tag: str
    system: str
    machine: str
    wheels: tuple[Wheel, ...]
    longest: int
    """Characters of the longest path in a wheel."""

    @property
    def digest(self) -> str:
        """Changes with every package."""
        return digest_of((each.file, each.sha256) for each in self.wheels)

    @property
    def name(self) -> str:
        """The name of the worker's folder."""
        return name_of(self.version, self.tag)

    @property
    def unpacked(self) -> int:
        return sum(each.unpacked for each in self.wheels)


def read_packages(folder: Path) -> Packages:
    """The list of packages in a folder."""
    file = folder / LIST
    try:
        found = find_json(file.read_bytes())
        wheels = tuple(Wheel(**each) for each in found.pop("wheels"))
        return Packages(folder, wheels=wheels, **found)
    except FileNotFoundError:
        raise SetUpError(f"the packages of the worker are missing in {folder}: {_AGAIN}") from None
    except OSError as failure:
        raise SetUpError(f"{file} cannot be read ({reason(failure)}): {_AGAIN}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SetUpError(f"{file} is damaged: {_AGAIN}") from None


def require_fit(packages: Packages) -> None:
    """Refuses packages of another Python, system or machine, and a system that is too old."""
    own = _SYSTEMS.get(sys.platform, "linux")
    machine = platform.machine().lower()
    machine = _MACHINES.get(machine, machine)
    if packages.system != own:
        raise SetUpError(
            f"this archive is for {packages.system}, and this machine runs {own}: use the archive "
            f"whose name ends in {own}.zip"
        )
    if packages.tag != python_tag():
        raise SetUpError(
            f"this archive is for Python {_dotted(packages.tag)}, and this application has Python "
            f"{_dotted(python_tag())}: use the archive for its version"
        )
    if packages.machine != machine:
        remedy = "install the application for this processor, which has another archive or none"
        if (own, machine) == ("macos", "x86_64"):
            remedy = "on Apple silicon, switch off Open using Rosetta in the application's Get Info"
        raise SetUpError(
            f"this archive is for {packages.machine} processors, and this application runs as "
            f"{machine}: {remedy}"
        )
    for wheel in packages.wheels:
        if why := _why_too_old(wheel.file):
            raise SetUpError(why)


def _why_too_old(file: str) -> str:
    """Why this system is too old for a wheel; empty if it is not."""
    name, *_ = file.split("-")
    tags = file.removesuffix(".whl").rpartition("-")[2]
    for pattern, found, what, remedy in (
        (_LINUX, _glibc(), "glibc", "use Red Hat or Rocky 9, Ubuntu 22.04, or a later Linux"),
        (_MACOS, _macos(), "macOS", "update macOS"),
    ):
        wanted = [(int(a), int(b)) for a, b in pattern.findall(tags)]
        if wanted and found and found < min(wanted):
            least, own = (".".join(map(str, each)) for each in (min(wanted), found))
            return f"{name} needs {what} {least}, and this machine has {own}: {remedy}"
    return ""


def _glibc() -> tuple[int, int] | None:
    """The version of the C library of Linux; None elsewhere."""
    try:
        return _numbers(os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):
        return None


def _macos() -> tuple[int, int] | None:
    return _numbers(platform.mac_ver()[0]) if sys.platform == "darwin" else None


def _numbers(text: str) -> tuple[int, int] | None:
    found = re.search(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else None


def _dotted(tag: str) -> str:
    return f"{tag[2]}.{tag[3:]}"
