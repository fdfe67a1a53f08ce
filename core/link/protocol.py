"""Messages of the live link: docs/LINK.md describes them for clients in other languages.

A message is `VDLK`, the length of its head, the head as JSON, and files. Files start at multiples
of 16 bytes. A head names only the files that its client does not have yet.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import Fields, parse_json
from verdigris.core.base.outputs import MANIFEST_FILE

VERSION = 1
# The environment variable that fixes the token.
TOKEN_VARIABLE = "VERDIGRIS_LINK_TOKEN"
SNAPSHOT, STATE = "snapshot", "state"
# What a client says when it has shown a snapshot: what waits in buffers could no longer be skipped.
NEXT = "next"
MAGIC = b"VDLK"
ALIGNMENT = 16
LARGEST_HEAD = 1 << 20
LARGEST_MESSAGE = 512 << 20
MOST_FILES = 16
# A file is sent in pieces of so many bytes: what a slow client keeps in memory.
PIECE = 256 << 10
_START = struct.Struct("<4sI")


class LinkError(VerdigrisError):
    """A link that cannot be opened, or that has ended."""


# Codes with which the server closes a link. Those below 4000 are WebSocket's own.
GOING_AWAY = 1001
BAD_MESSAGE, WRONG_TOKEN, WRONG_ORIGIN, NO_MATERIAL = 4400, 4401, 4403, 4404
WRONG_VERSION, TOO_MANY = 4426, 4429


@dataclass(frozen=True)
class Wanted:
    """What a client asks for, in its address."""

    token: str = ""
    version: str = ""
    material: str = ""
    """The material's name; empty for the one that the server has chosen."""

    @classmethod
    def of(cls, path: str) -> Wanted:
        found = parse_qs(urlsplit(path).query, keep_blank_values=True)
        return cls(*(found.get(name, [""])[-1] for name in ("token", "version", "material")))


def with_version(address: str) -> str:
    """The address with the version that this program reads."""
    joint = "&" if "?" in address else "?"
    return f"{address}{joint}{urlencode({'version': VERSION})}"


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A material at one moment: the files of a bundle, without shaders and preview."""

    material: str
    """The name by which clients ask for it."""
    files: Mapping[str, bytes]
    """By name, without the manifest."""
    manifest: Mapping[str, Any]
    """A part of the manifest of a bundle; it records all files."""
    is_final: bool = False
    """Whether the material is finished: the numbers of the bundle itself."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """`step` and `steps` of a training."""

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each file."""
        return {record["file"]: record["sha256"] for record in records_of(self.manifest)}


def records_of(manifest: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The records of files in a manifest."""
    for value in manifest.values():
        if isinstance(value, Mapping):
            if {"file", "bytes", "sha256"} <= value.keys():
                yield value
            else:
                yield from records_of(value)


def encode_snapshot(snapshot: Snapshot, number: int, known: Mapping[str, str]) -> Iterator[bytes]:
    """The pieces of a message for a client that knows files with these digests."""
    digests = snapshot.digests
    new = {MANIFEST_FILE: json.dumps(snapshot.manifest, separators=(",", ":")).encode()}
    new |= {name: data for name, data in snapshot.files.items() if known.get(name) != digests[name]}
    facts = {
        "number": number,
        "material": snapshot.material,
        "final": snapshot.is_final,
        **snapshot.facts,
    }
    # places count from the first file, so that they do not depend on the length of the head
    listed, at = [], 0
    for name, data in new.items():
        listed.append({"file": name, "offset": at, "bytes": len(data)})
        at += len(data) + _padding(len(data))
    yield encode_head(SNAPSHOT, {**facts, "files": listed})
    for whole in new.values():
        for begin in range(0, len(whole), PIECE):
            yield whole[begin : begin + PIECE]
        if _padding(len(whole)):
            yield bytes(_padding(len(whole)))


def encode_head(kind: str, facts: Mapping[str, Any]) -> bytes:
    """A message without files, or the beginning of one, padded."""
    head = json.dumps({"link": VERSION, "kind": kind, **facts}, separators=(",", ":")).encode()
    return _START.pack(MAGIC, len(head)) + head + bytes(_padding(_START.size + len(head)))


def _padding(length: int) -> int:
    return -length % ALIGNMENT


@dataclass(frozen=True, eq=False)
class Message:
    """A message that was received."""

    kind: str
    head: Fields
    files: Mapping[str, bytes]


def decode(data: bytes) -> Message:
    """Reads a message. An error says what is wrong with it."""
    magic, length = _START.unpack_from(data) if len(data) >= _START.size else (b"", 0)
    if magic != MAGIC or length > min(LARGEST_HEAD, len(data) - _START.size):
        raise LinkError("the link sent something else than a message of version 1: update both")
    head = parse_json(data[_START.size : _START.size + length], "the link")
    if head.whole("link", 0, 9999) != VERSION:
        head.refuse("link", f"this reads version {VERSION}: use the same Verdigris on both sides")
    first = _START.size + length + _padding(_START.size + length)
    files = {}
    for entry in head.tables("files", MOST_FILES) if "files" in head else ():
        name = entry.file_name("file")
        offset = first + entry.whole("offset", 0, LARGEST_MESSAGE)
        size = entry.whole("bytes", 0, LARGEST_MESSAGE)
        entry.require(offset + size <= len(data), "bytes", "the message ends before")
        files[name] = data[offset : offset + size]
    return Message(head.text("kind"), head, files)
