"""The stamp in .venv that records what is set up, so that later runs start at once."""

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

# Increase it when older set-ups must be made again.
BOOTSTRAP_VERSION = 1

STARTED, COMPLETE = "started", "complete"


@dataclass(frozen=True)
class Device:
    """The device that the set-up found, or the problem."""

    kind: str = ""
    adapter: str = ""
    software: bool = False
    problem: str = ""

    @property
    def found(self) -> bool:
        return bool(self.kind)


@dataclass(frozen=True)
class Stamp:
    """The inputs and the progress of a set-up."""

    state: str
    root: str
    python: str
    fingerprint: str
    extras: tuple[str, ...] = ()
    device: Device | None = None
    """None until the search for a device has ended."""

    def holds_for(self, wanted: "Stamp") -> bool:
        """Whether the environment has everything of `wanted`."""
        return (
            self.state == COMPLETE
            and (self.root, self.python, self.fingerprint)
            == (wanted.root, wanted.python, wanted.fingerprint)
            and set(self.extras) >= set(wanted.extras)
        )


BROKEN = Stamp(STARTED, root="", python="", fingerprint="")


def wanted_stamp(root: Path, extras: tuple[str, ...]) -> Stamp:
    """The stamp of a complete set-up with this interpreter."""
    return Stamp(COMPLETE, str(root), python_tag(), fingerprint(root), tuple(sorted(extras)))


def python_tag() -> str:
    """The minor version of Python. Patch releases keep the environment."""
    return f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"


def fingerprint(root: Path) -> str:
    content = (root / "pyproject.toml").read_bytes()
    return hashlib.sha256(b"%d\n" % BOOTSTRAP_VERSION + content).hexdigest()


def read_stamp(path: Path) -> Stamp | None:
    """The stamp, or None. An unreadable stamp counts as an interrupted set-up."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fields = json.loads(text)
        device = fields.pop("device")
        stamp = Stamp(**fields, device=Device(**device) if device else None)
        return replace(stamp, extras=tuple(stamp.extras))
    except (ValueError, TypeError, KeyError, AttributeError):
        return BROKEN


def write_stamp(path: Path, stamp: Stamp) -> None:
    """Writes the stamp in one step, so that readers never see half of it."""
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(asdict(stamp), indent=1) + "\n", encoding="utf-8")
    beside.replace(path)
