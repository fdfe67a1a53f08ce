"""Reads the documents of LookdevX, which Maya stores in a string attribute.

The attribute `documents` of a materialxStack is a JSON list. The `document` of an entry is the
output of Qt's qCompress in base64: the length in four bytes, big-endian, and a zlib stream.
"""

from __future__ import annotations

import base64
import binascii
import zlib
from dataclasses import dataclass

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json

LARGEST_DOCUMENT = 64 << 20
_LENGTH_BYTES = 4
_PATH_SEGMENT, _PATH_COMPONENT = ",", "%"


@dataclass(frozen=True)
class StackDocument:
    """One document of a stack."""

    name: str
    text: str


def read_stack(value: str, node: str) -> tuple[StackDocument, ...]:
    """The documents of a stack. Entries that link to a file have no text."""
    if not value.strip():
        return ()
    try:
        entries = find_json(value)
        if entries is None:
            raise ValueError("it is not JSON")
        found = [(str(entry["name"]), entry.get("document") or "") for entry in entries]
    except (ValueError, TypeError, KeyError, AttributeError) as failure:
        raise HostError(
            f"{node}: the list of documents cannot be read ({failure}): export the document from "
            "LookdevX as .mtlx and bake that file"
        ) from None
    return tuple(
        StackDocument(name, _unpack(packed, f"{node}: document {name!r}") if packed else "")
        for name, packed in found
    )


def _unpack(packed: str, label: str) -> str:
    try:
        data = base64.b64decode(packed, validate=True)
        length = int.from_bytes(data[:_LENGTH_BYTES], "big")
        if length > LARGEST_DOCUMENT:
            raise HostError(
                f"{label} has {length >> 20} MB; the limit is {LARGEST_DOCUMENT >> 20} MB"
            )
        text = zlib.decompressobj().decompress(data[_LENGTH_BYTES:], LARGEST_DOCUMENT)
        if len(text) != length:
            raise ValueError(f"{len(text)} bytes instead of {length}")
        return text.decode("utf-8")
    except (binascii.Error, zlib.error, ValueError) as failure:
        raise HostError(
            f"{label} is damaged ({failure}): export it from LookdevX as .mtlx and bake that file"
        ) from None


def split_path(ufe_path: str) -> tuple[str, str, str]:
    """Splits a path such as `|stack1|stackShape1,%document1%gold` into stack, document, element."""
    node, _, rest = ufe_path.partition(_PATH_SEGMENT)
    document, _, element = rest.lstrip(_PATH_COMPONENT).partition(_PATH_COMPONENT)
    return node, document, element.lstrip(_PATH_COMPONENT)


def document_path(stack: str, document: str) -> str:
    """The UFE path of a document."""
    return f"{stack}{_PATH_SEGMENT}{_PATH_COMPONENT}{document}"
