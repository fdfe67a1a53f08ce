"""What is here: the application, its plug-ins, the worker, folders and colours, and which features
work. It heads reports, and panels grey what is off. It cooks nothing and exports nothing."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, runtime_checkable

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.unpacked_worker import PLACES_VARIABLE
from verdigris.core.base.process.worker_environment import (
    PYTHON_VARIABLE,
    older_version,
    package_folder,
    require_worker_command,
    settings_file,
)
from verdigris.core.base.text import version

ON = ""
_MODULES = ("numpy", "pxr", "PySide6", "MaterialX", "platformdirs")
_VARIABLES = ("OCIO", PYTHON_VARIABLE, PLACES_VARIABLE, "VERDIGRIS_DEVICE", "VERDIGRIS_CONFIG_DIR")


@dataclass(frozen=True)
class Facts:
    """What an adapter knows of its application. Each value is a text for people."""

    application: Mapping[str, str] = field(default_factory=dict)
    """Its licence, whether it has a window, and the like."""

    plugins: Mapping[str, str] = field(default_factory=dict)
    """Versions of plug-ins and assets, or why they are missing."""

    node_types: Mapping[str, str] = field(default_factory=dict)
    """`there` or `missing`."""

    flags: Mapping[str, str] = field(default_factory=dict)
    """Flags of commands that not every version has: `there` or `missing`."""

    colours: Mapping[str, str] = field(default_factory=dict)
    """The colour management."""

    features: Mapping[str, str] = field(default_factory=dict)
    """Each feature with the reason why it is off; empty if it is on."""


@runtime_checkable
class KnowsFacts(Protocol):
    """A host that reports on its application."""

    def facts(self) -> Facts:
        """The facts. Reading them changes nothing and takes a fraction of a second."""


@runtime_checkable
class ChecksWindow(Protocol):
    """A host that checks its panel, brush and undo in the open window."""

    def check_window(self, report: Path) -> None:
        """Asks, and begins the check in a scene of its own. It writes its report to the file."""


@dataclass(frozen=True)
class Probe:
    """What is here."""

    host: str
    verdigris: str
    python: str
    interpreter: str
    system: str
    modules: Mapping[str, str]
    variables: Mapping[str, str]
    folders: Mapping[str, str]
    """Folders that Verdigris writes into, each with `writable` or why not."""

    worker: Mapping[str, str]
    """The command of the worker, or why there is none; its version, device and driver once it has
    reported them."""

    facts: Facts
    features: Mapping[str, str]
    """All features, each with the reason why it is off; empty if it is on."""

    @property
    def off(self) -> dict[str, str]:
        """The features that are off, with the reasons."""
        return {name: why for name, why in self.features.items() if why}


def probe(host: object, worker: Mapping[str, str] | None = None) -> Probe:
    """Looks at what is here. `worker` is what a running worker has reported."""
    found = _facts(host)
    command, why_no_worker = _worker_command()
    place = {"command": command} if command else {"missing": why_no_worker}
    older = older_version()
    features = {
        "Bake": why_no_worker,
        "Panel": ON if _has("PySide6") else "this Python has no PySide6",
        "Materials of USD stages": ON if _has("pxr") else "this Python has no pxr",
        **found.features,
    }
    return Probe(
        host=fact(lambda: str(getattr(host, "name", "no host"))),
        verdigris=version(),
        python=platform.python_version(),
        interpreter=sys.executable or "",
        system=platform.platform(),
        modules={name: _version_of(name) for name in _MODULES},
        variables={name: os.environ[name] for name in _VARIABLES if name in os.environ},
        folders={
            str(each): describe_folder(each)
            for each in (
                *(package_folder(), settings_file().parent, Path.home()),
                Path(tempfile.gettempdir()),
            )
        },
        worker={**place, **({"older": older} if older else {}), **(worker or {})},
        facts=found,
        features=features,
    )


def fact(read: Callable[[], object]) -> str:
    """What a call returns, as text. A call that fails is part of the facts."""
    try:
        return str(read())
    except Exception as failure:  # noqa: BLE001 - an application raises what it likes
        return f"unknown: {type(failure).__name__}: {failure}"


def presence(is_there: object) -> str:
    """The value of a node type or a flag."""
    return "there" if is_there else "missing"


def describe_folder(folder: Path) -> str:
    """Whether Verdigris can write into a folder, or the nearest folder above that exists."""
    there = next((each for each in (folder, *folder.parents) if each.is_dir()), None)
    if there is None:
        return "does not exist"
    return "writable" if os.access(there, os.W_OK) else "read-only"


def _facts(host: object) -> Facts:
    if not isinstance(host, KnowsFacts):
        return Facts()
    try:
        return host.facts()
    except Exception as failure:  # noqa: BLE001 - a report is most wanted where much fails
        why = f"{type(failure).__name__}: {failure}"
        return Facts(features={"Facts of the application": why})


def _worker_command() -> tuple[str, str]:
    try:
        return " ".join(require_worker_command()), ""
    except VerdigrisError as failure:
        return "", str(failure)


def _has(name: str) -> bool:
    return name in sys.modules or find_spec(name) is not None


def _version_of(name: str) -> str:
    """The version of a module; it is not imported for this."""
    from importlib import metadata

    if not _has(name):
        return "absent"
    found = getattr(sys.modules.get(name), "__version__", None)
    if found is None:
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = "present"
    return str(found)
