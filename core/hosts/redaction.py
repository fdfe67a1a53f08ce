"""Leaves out of a report who has written it and where: names of people and of machines, and the
folders of projects. A name has the same pseudonym wherever it occurs."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

HOME, USER, HOST = "<home>", "<user>", "<host>"
_USERS = ("USER", "USERNAME", "LOGNAME", "SUDO_USER")
_HOMES = ("HOME", "USERPROFILE")
_HOSTS = ("HOSTNAME", "COMPUTERNAME", "HOST")
# Shorter names are parts of too many words.
_LEAST_PART = 4
_BETWEEN = r"(?:[\\/]+|%2F|%5C)"
# The server of a network path: \\server\share or //server/share.
_SERVER = re.compile(r"(?<![\w:\\/>.])(\\{2,4}|//)(?P<server>[\w.-]+)(?=[\\/])")
# Accounts that every machine has.
_NOBODY = ("root", "user", "administrator", "admin", "unknown", "localhost")


class Redactor:
    """Replaces names in texts, and in all texts of JSON values."""

    def __init__(
        self,
        projects: Iterable[PurePath] = (),
        homes: Iterable[PurePath] | None = None,
        users: Iterable[str] | None = None,
        hosts: Iterable[str] | None = None,
    ) -> None:
        """`projects` are folders of scenes and images. What is not given is that of this machine
        and of its user."""
        homes = list(_own_homes() if homes is None else homes)
        users = [*(_own_users() if users is None else users), *(each.name for each in homes)]
        hosts = [*(_own_hosts() if hosts is None else hosts)]
        hosts += [each.partition(".")[0] for each in hosts]
        folders: dict[str, str] = {}
        for number, folder in enumerate(dict.fromkeys(projects), 1):
            folders.setdefault(_folder(folder), f"<project{number}>")
        folders |= {_folder(each): HOME for each in homes}
        # a folder before the one that contains it
        found = sorted(
            ((pattern, name) for pattern, name in folders.items() if pattern),
            key=lambda each: -len(each[0]),
        )
        names = {**dict.fromkeys(hosts, HOST), **dict.fromkeys(users, USER)}
        # a name before its parts
        for each in sorted(names, key=len, reverse=True):
            if each and each.lower() not in _NOBODY:
                found.append((_word(each), names[each]))
        self._servers: dict[str, str] = {}
        self._found = [(re.compile(each, re.IGNORECASE), name) for each, name in found]

    def __call__(self, value: Any) -> Any:
        """The value without the names."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {self._text(str(key)): self(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self(each) for each in value]
        is_number = value is None or isinstance(value, bool | int | float)
        return value if is_number else self._text(str(value))

    def _text(self, text: str) -> str:
        for pattern, name in self._found:
            text = pattern.sub(name, text)
        return _SERVER.sub(self._server, text)

    def _server(self, found: re.Match[str]) -> str:
        server = found["server"].lower()
        name = self._servers.setdefault(server, f"<server{len(self._servers) + 1}>")
        return f"{found[1]}{name}"


def _folder(folder: PurePath) -> str:
    """A pattern of a folder, with any separators and as part of a URL. Empty for a root."""
    parts = [each for each in re.split(r"[\\/]+", str(folder)) if each]
    if not parts or (len(parts) == 1 and parts[0].endswith(":")):
        return ""
    lead = "" if parts[0].endswith(":") else _BETWEEN
    return lead + _BETWEEN.join(_either(each) for each in parts) + r"(?![\w-])"


def _word(name: str) -> str:
    if len(name) >= _LEAST_PART:
        return _either(name)
    return rf"(?<![^\W\d_]){_either(name)}(?![^\W\d_])"


def _either(name: str) -> str:
    return f"(?:{re.escape(name)}|{re.escape(quote(name))})"


def _own_homes() -> list[Path]:
    found = [os.environ[name] for name in _HOMES if os.environ.get(name)]
    return [Path(each) for each in dict.fromkeys((str(Path.home()), *found))]


def _own_users() -> list[str]:
    found = [os.environ.get(name, "") for name in _USERS]
    # some containers have no such account, and Windows no such module
    with contextlib.suppress(OSError, KeyError, ImportError):
        found.append(getpass.getuser())
    with contextlib.suppress(ImportError, KeyError):
        import pwd

        # the whole name, and its words
        name = pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0]
        found += [name, *(each for each in name.split() if len(each) >= _LEAST_PART)]
    return found


def _own_hosts() -> list[str]:
    return [platform.node(), *(os.environ.get(name, "") for name in _HOSTS)]
