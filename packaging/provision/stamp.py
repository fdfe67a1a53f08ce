"""The note inside .venv that says what was set up, so that a second run has nothing to do."""

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path

# Raise it when a set-up made by an older bootstrap would no longer do.
BOOTSTRAP_VERSION = 1

STARTED, COMPLETE = "started", "complete"


@dataclass(frozen=True)
class Device:
    """The device that the set-up found; without one, `problem` says why."""

    kind: str = ""
    adapter: str = ""
    software: bool = False
    problem: str = ""

    @property
    def found(self) -> bool:
        return bool(self.kind)


@dataclass(frozen=True)
class Stamp:
    """What a set-up was made for and how far it came."""

    state: str
    root: str
    python: str
    fingerprint: str
    extras: tuple[str, ...] = ()
    device: Device | None = None
    """None until a search for a device came to an end."""

    def holds_for(self, wanted: "Stamp") -> bool:
        """Whether the environment serves `wanted` without installing anything."""
        return (
            self.state == COMPLETE
            and (self.root, self.python, self.fingerprint)
            == (wanted.root, wanted.python, wanted.fingerprint)
            and set(self.extras) >= set(wanted.extras)
        )


BROKEN = Stamp(STARTED, root="", python="", fingerprint="")


def wanted_stamp(root: Path, extras: tuple[str, ...]) -> Stamp:
    """The stamp that a complete set-up by this interpreter, here and now, would carry."""
    return Stamp(COMPLETE, str(root), python_tag(), fingerprint(root), tuple(sorted(extras)))


def python_tag() -> str:
    """The binary interface: a patch release keeps it, and the environment with it."""
    return f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"


def fingerprint(root: Path) -> str:
    content = (root / "pyproject.toml").read_bytes()
    return hashlib.sha256(b"%d\n" % BOOTSTRAP_VERSION + content).hexdigest()


def read_stamp(path: Path) -> Stamp | None:
    """The stamp, None where there is none; an unreadable one counts as an interrupted set-up."""
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
    """All or nothing: a reader never sees half a stamp."""
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(asdict(stamp), indent=1) + "\n", encoding="utf-8")
    beside.replace(path)
