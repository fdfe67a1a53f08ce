"""LookdevX' documents as Maya keeps them: text in a string attribute.

A materialxStack node's `documents` is a JSON list; each entry's `document` is base64 of what Qt's
qCompress makes: four bytes of the length, most significant first, and a zlib stream.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import dataclass

from verdigris.core.base.errors import HostError

LARGEST_DOCUMENT = 64 << 20
_LENGTH_BYTES = 4
_PATH_SEGMENT, _PATH_COMPONENT = ",", "%"


@dataclass(frozen=True)
class StackDocument:
    """One document of a stack."""

    name: str
    text: str


def read_stack(value: str, node: str) -> tuple[StackDocument, ...]:
    """The documents in a stack's attribute; entries that only link to a file have no text."""
    if not value.strip():
        return ()
    try:
        entries = json.loads(value)
        found = [(str(entry["name"]), entry.get("document") or "") for entry in entries]
    except (ValueError, TypeError, KeyError, AttributeError) as failure:
        raise HostError(
            f"{node}: its documents are not a list that this version knows: {failure}: export the "
            "document from LookdevX as .mtlx and bake that"
        ) from None
    return tuple(
        StackDocument(name, _unpacked(packed, f"{node}: document {name!r}") if packed else "")
        for name, packed in found
    )


def _unpacked(packed: str, asker: str) -> str:
    try:
        data = base64.b64decode(packed, validate=True)
        length = int.from_bytes(data[:_LENGTH_BYTES], "big")
        if length > LARGEST_DOCUMENT:
            raise HostError(
                f"{asker}: would be {length >> 20} MB; at most {LARGEST_DOCUMENT >> 20}"
            )
        text = zlib.decompressobj().decompress(data[_LENGTH_BYTES:], LARGEST_DOCUMENT)
        if len(text) != length:
            raise ValueError(f"{len(text)} bytes where {length} are announced")
        return text.decode("utf-8")
    except (binascii.Error, zlib.error, ValueError) as failure:
        raise HostError(
            f"{asker}: is damaged ({failure}): export it from LookdevX as .mtlx and bake that"
        ) from None


def split_path(ufe_path: str) -> tuple[str, str, str]:
    """Stack node, document and element of a path such as `|stack1|stackShape1,%document1%gold`."""
    node, _, rest = ufe_path.partition(_PATH_SEGMENT)
    document, _, element = rest.lstrip(_PATH_COMPONENT).partition(_PATH_COMPONENT)
    return node, document, element.lstrip(_PATH_COMPONENT)


def document_path(stack: str, document: str) -> str:
    """The path of a document of a stack."""
    return f"{stack}{_PATH_SEGMENT}{_PATH_COMPONENT}{document}"
