"""Where a resident worker is found: a file with its address and its token, which only its user can
read, in a folder that only the user can enter."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import sys
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from verdigris.core.base.adapters import CHOICE_VARIABLE
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.files import Folder, make_private_folder, replace_file
from verdigris.core.base.json_fields import find_json
from verdigris.core.base.process.worker_environment import package_folder
from verdigris.core.base.text import version

SERVE_VARIABLE = "VERDIGRIS_SERVE"
OFF = "off"
PANEL, COMMAND = "panel", "command"
# The word that lets a panel's worker bake for others.
LENDS = "lends"
_LARGEST_FILE = 1 << 16
# Variables that change what a bake does or where it writes.
_PREFIXES = ("VERDIGRIS_", "VK_", "MESA_", "LP_", "GALLIVM_", "MATERIALX_", "CUDA_VISIBLE")
_OTHERS = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")
_CODE = (".py", ".slang", ".mtlx")


class ResidentError(VerdigrisError):
    """A resident worker that cannot be started, or whose files are not safe."""


def is_off() -> bool:
    """Whether the environment forbids resident workers."""
    return os.environ.get(SERVE_VARIABLE, "").lower() == OFF


def is_served(device: str | None) -> bool:
    """Whether there may be a resident worker for a device, which is not asked."""
    try:
        return not is_off() and Place.of(device).file.is_file()
    except ResidentError:
        return False


@cache
def code_stamp() -> str:
    """Changes with the version, and in a checkout with every file of code."""
    package = package_folder()
    digest = hashlib.sha256(f"{version()} {sys.executable} {sys.version}".encode())
    newest, count = 0, 0
    for name in ("core", "shaders"):
        for folder, _, files in os.walk(package / name):
            for file in files:
                if file.endswith(_CODE):
                    newest = max(newest, os.stat(f"{folder}/{file}").st_mtime_ns)  # noqa: PTH116
                    count += 1
    digest.update(f"{newest} {count}".encode())
    return digest.hexdigest()[:16]


def environment_stamp() -> str:
    """Changes with the variables that change a bake."""
    values = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(_PREFIXES)
        and name not in (SERVE_VARIABLE, CHOICE_VARIABLE)
        # the link of a panel is not for its guests
        and not name.startswith("VERDIGRIS_LINK")
    }
    values |= {name: os.environ.get(name, "") for name in _OTHERS}
    umask = os.umask(0o077)
    os.umask(umask)
    return hashlib.sha256(f"{sorted(values.items())} {umask}".encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Place:
    """The place of the resident worker for a device."""

    folder: Path
    device: str
    """The choice of the device: `auto`, `software`, `vulkan:1`."""

    @classmethod
    def of(cls, device: str | None = None) -> Place:
        """The place for a choice of a device. Raises ResidentError if its folder is not safe."""
        chosen = device or os.environ.get(CHOICE_VARIABLE) or "auto"
        return cls(own_folder(), chosen)

    @property
    def name(self) -> str:
        installation = hashlib.sha256(str(package_folder()).encode()).hexdigest()[:8]
        return f"worker-{re.sub('[^a-z0-9]', '-', self.device.lower())}-{installation}"

    @property
    def file(self) -> Path:
        return self.folder / f"{self.name}.json"

    @property
    def socket(self) -> Path:
        return self.folder / f"{self.name}.sock"

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def read(self) -> Address | None:
        """The address of the resident worker; None without one, or if others may have written the
        file."""
        try:
            with Folder.at(self.folder) as folder:
                handle = folder.open(self.file.name, os.O_RDONLY)
            with os.fdopen(handle, "rb") as file:
                _require_private(os.fstat(file.fileno()), self.file)
                found = find_json(file.read(_LARGEST_FILE))
            return Address.from_json(found) if isinstance(found, dict) else None
        except (OSError, KeyError, TypeError, ValueError):
            return None

    def write(self, address: Address) -> None:
        """Writes the file."""
        before = os.umask(0o077)
        try:
            replace_file(self.file, json.dumps(asdict(address)).encode())
        finally:
            os.umask(before)

    def remove(self, token: str) -> None:
        """Removes the files of the resident worker with this token."""
        found = self.read()
        if found is not None and found.token != token:
            return
        with Folder.at(self.folder) as folder:
            for each in (self.file, self.socket):
                folder.remove(each.name)


@dataclass(frozen=True)
class Address:
    """How a resident worker is reached, and what it is."""

    address: str
    """A socket file, or a port of this machine."""
    token: str = field(repr=False)
    process: int
    code: str
    environment: str
    kind: str
    """`command`: it ends when it is idle; `panel`: it is the worker of a panel."""
    device: str
    idle: float

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Address:
        kinds: dict[str, type] = {"process": int, "idle": float}
        return cls(**{name: kinds.get(name, str)(found[name]) for name in cls.__dataclass_fields__})

    @property
    def is_current(self) -> bool:
        """Whether it has the code of this program."""
        return self.code == code_stamp()


def proof(token: str, side: str, nonce: str) -> str:
    """Proves that a side knows the token, without sending it."""
    return hmac.new(token.encode(), f"{side} {nonce}".encode(), "sha256").hexdigest()


def is_proof(given: object, token: str, side: str, nonce: str) -> bool:
    """Whether the other side has proved that it knows the token. Takes as long for any text."""
    return hmac.compare_digest(str(given).encode(), proof(token, side, nonce).encode())


def new_token() -> str:
    return secrets.token_hex(32)


def own_folder() -> Path:
    """The user's folder for sockets, which nobody else can enter."""
    import platformdirs

    # It warns where the session has no folder of its own, and names one of temporary files.
    with warnings.catch_warnings(action="ignore"):
        folder = Path(platformdirs.user_runtime_dir("verdigris", False))
    try:
        make_private_folder(folder)
        found, parent = folder.lstat(), folder.parent.stat()
    except OSError as failure:
        raise ResidentError(f"{folder}: cannot be made ({failure.strerror})") from None
    if sys.platform != "win32" and parent.st_uid not in (0, os.getuid()):
        raise ResidentError(f"{folder.parent}: belongs to another user: remove it")
    if not stat.S_ISDIR(found.st_mode):
        raise ResidentError(f"{folder}: is not a folder: remove it")
    _require_private(found, folder)
    return folder


def _require_private(found: os.stat_result, path: Path) -> None:
    """Refuses what other users own, read or write. Windows protects the user's folders."""
    if sys.platform == "win32":
        return
    if found.st_uid != os.getuid():
        raise ResidentError(f"{path}: belongs to another user: remove it")
    if found.st_mode & 0o077:
        mode = stat.filemode(found.st_mode)
        raise ResidentError(f"{path}: other users may use it ({mode}): remove it")
