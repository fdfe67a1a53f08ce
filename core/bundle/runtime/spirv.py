"""SPIR-V modules as they are written: without what validation refuses or drivers remove anyway."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from verdigris.core.base.errors import DeviceError

# Words before the first instruction.
_HEADER = 5
_OP_SOURCE, _OP_VARIABLE, _OP_STORE = 3, 59, 62
_UNKNOWN_LANGUAGE, _FUNCTION_STORAGE = 0, 7


def mended(code: bytes) -> bytes:
    """The module without its source language, and without variables that are only written.

    Validation layers of early 2023, which distributions still ship, refuse languages that they do
    not know. The compiler leaves copies of cooperative vectors that nothing reads: half of the
    bytes of a decoder.
    """
    words = list(struct.unpack(f"<{len(code) // 4}I", code))
    only_written = _only_written(words)
    result = words[:_HEADER]
    for operation, instruction in _instructions(words):
        if operation == _OP_SOURCE:
            instruction[1] = _UNKNOWN_LANGUAGE
        target = {_OP_VARIABLE: 2, _OP_STORE: 1}.get(operation)
        if target is None or instruction[target] not in only_written:
            result += instruction
    return struct.pack(f"<{len(result)}I", *result)


def _only_written(words: list[int]) -> set[int]:
    """The local variables without initialiser that are only targets of stores."""
    found, used = set(), set()
    for operation, instruction in _instructions(words):
        is_local = operation == _OP_VARIABLE and instruction[3:] == [_FUNCTION_STORAGE]
        if is_local:
            found.add(instruction[2])
        else:
            # literals count as uses too, which keeps a variable that could go
            used.update(instruction[2 if operation == _OP_STORE else 1 :])
    return found - used


def _instructions(words: list[int]) -> Iterator[tuple[int, list[int]]]:
    at = _HEADER
    while at < len(words):
        count = words[at] >> 16
        if not count:
            raise DeviceError("the shader compiler wrote no valid SPIR-V: install slangpy again")
        yield words[at] & 0xFFFF, words[at : at + count]
        at += count
