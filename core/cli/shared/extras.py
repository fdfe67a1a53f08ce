"""Packages that only some commands need. A command offers to install them at its first use, with
the versions that pyproject.toml pins."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

import typer

from verdigris.core.base.errors import VerdigrisError

_REMEDY = "check the network, the proxy settings of pip and the free disk space, then try again"


@dataclass(frozen=True)
class Extra:
    """Extras of the package `verdigris`."""

    names: tuple[str, ...]
    what: str
    """What needs it, as in a sentence."""
    modules: tuple[str, ...]
    """What it is imported as."""
    download: int
    size: int
    """Megabytes to download and on the disk, on Linux."""

    @property
    def is_there(self) -> bool:
        return all(find_spec(module) is not None for module in self.modules)

    @property
    def pins(self) -> list[str]:
        """Its packages with their versions, as in `pyqtgraph==0.14.0`."""
        try:
            listed = [line.partition(";") for line in requires("verdigris") or ()]
        except PackageNotFoundError:
            listed = []
        wanted = [f'extra == "{name}"' for name in self.names]
        return [pin.strip() for pin, _, marker in listed if marker.strip() in wanted]


LINK = Extra(("link",), "the live link", ("websockets",), 1, 2)
_WINDOW = ("PySide6", "shiboken6", "pyqtgraph", "colorama")
# its window has a switch for the link
PANEL = Extra(("panel", "link"), "the panel", (*_WINDOW, *LINK.modules), 98, 275)


def require_extra(extra: Extra, command: str, is_agreed: bool) -> None:
    """Installs the packages of an extra if they are missing: with `is_agreed`, or if the user
    agrees on the terminal. `command` does that without a question."""
    if extra.is_there:
        return
    pins = extra.pins
    if not pins or find_spec("pip") is None:
        raise VerdigrisError(
            f"{extra.what} needs {' and '.join(pins) or ', '.join(extra.modules)}, and this Python "
            f"({sys.executable}) has no pip that could install them: install them with the tool "
            "that made this environment"
        )
    names = ", ".join(pins)
    needs = f"{extra.what} needs {names} ({extra.download} MB to download, {extra.size} MB on disk)"
    if not is_agreed and not _asks(f"verdigris: {needs}.\nInstall into {sys.prefix}?"):
        raise VerdigrisError(f"{needs}: `{command}` installs them into {sys.prefix}")
    install(pins)


def _asks(question: str) -> bool:
    """Whether the user agrees. Without a terminal, nobody can."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return typer.confirm(question, default=True, err=True)


def install(pins: Sequence[str]) -> None:
    """Installs packages into this environment. pip shows its progress on standard error."""
    pip = [sys.executable, "-I", "-m", "pip", "install", "--disable-pip-version-check"]
    # Python compiles the few modules that a program imports, pip all of them
    done = subprocess.run(
        [*pip, "--no-input", "--no-compile", *pins], stdout=sys.stderr, check=False
    )
    if done.returncode:
        raise VerdigrisError(f"pip could not install {', '.join(pins)} (see above): {_REMEDY}")
    importlib.invalidate_caches()
