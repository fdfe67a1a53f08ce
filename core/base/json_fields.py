"""Reads JSON that anyone may have written: fields are checked, errors name file and field."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import BundleError

# Plain names only: no folders, no drives, nothing hidden, nothing that a system treats specially.
LONGEST_FILE_NAME = 128
_FILE_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{LONGEST_FILE_NAME - 2}}}[A-Za-z0-9_]")
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_SHA256 = re.compile(r"[0-9a-f]{64}")
LONGEST_TEXT = 4096
# Just below what single floats end at.
LARGEST_SINGLE = 3e38
_MOST_DIGITS = 4000
_LARGEST_NUMBER = 1e300
# Objects and lists in each other. Who writes what was read goes as deep again.
_DEEPEST = 100


def refuse(file: str, field: str, value: object, remedy: str) -> NoReturn:
    raise BundleError(f"{file}: {field} is {shortened(value)}: {remedy}")


def shortened(value: object) -> str:
    """What a message shows of a value: a damaged file can hold megabytes of it."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}…"


def is_material_name(name: str) -> bool:
    """Whether people can be shown it, and so no escape sequence of a terminal."""
    return bool(name.strip()) and name.isprintable()


def is_plain_file_name(name: str) -> bool:
    return bool(_FILE_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name)


def parse_json(data: bytes, file: str) -> Fields:
    """The object at the top of a JSON file; numbers that are none and names given twice refused."""

    def constant(text: str) -> NoReturn:
        raise ValueError(f"{text} is no number of JSON")

    def whole(text: str) -> int:
        digits = len(text.removeprefix("-"))
        if digits > _MOST_DIGITS:
            raise BundleError(f"{file}: holds a number of too many digits: {digits}")
        return int(text)

    def number(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text[:40]} is too large")
        return value

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) != len(items):
            seen: set[str] = set()
            for name, _ in items:
                if name in seen:
                    raise ValueError(f"{shortened(name)} is given twice")
                seen.add(name)
        return found

    try:
        text = data.decode()
        value = json.loads(
            text,
            parse_constant=constant,
            parse_float=number,
            parse_int=whole,
            object_pairs_hook=pairs,
        )
        if isinstance(value, dict) and _is_deep(value):
            raise RecursionError
        # a lone surrogate cannot be shown, nor be the name of anything
        json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise BundleError(f"{file}: is nested too deeply") from None
    except ValueError as failure:
        raise BundleError(f"{file}: is not JSON: {str(failure)[:200]}") from None
    if not isinstance(value, dict):
        refuse(file, "the top", value, "it must be an object")
    return Fields(file, "", value)


def _is_deep(value: dict[str, Any]) -> bool:
    level: list[dict[str, Any] | list[Any]] = [value]
    for _ in range(_DEEPEST):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


@dataclass(frozen=True)
class Fields:
    """One object of a JSON file."""

    file: str
    """Named in errors."""
    path: str
    """Where the object is in the file, as in `weights.tensors[3]`."""
    values: dict[str, Any]
    """As read."""

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def refuse(self, name: str, remedy: str) -> NoReturn:
        refuse(self.file, self.name_of(name), self.values.get(name), remedy)

    def require(self, holds: bool, name: str, remedy: str) -> None:
        if not holds:
            self.refuse(name, remedy)

    def name_of(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def value(self, name: str) -> Any:
        if name not in self.values:
            raise BundleError(f"{self.file}: {self.name_of(name)} is missing")
        return self.values[name]

    def text(self, name: str) -> str:
        value = self.value(name)
        self.require(isinstance(value, str), name, "it must be a text")
        self.require(
            len(value) <= LONGEST_TEXT, name, f"at most {LONGEST_TEXT} characters are read"
        )
        return str(value)

    def material_name(self) -> str:
        value = self.text("name")
        plain = is_material_name(value)
        self.require(plain, "name", "it must be a plain text: printable, and not blank")
        return value

    def chosen(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.text(name)
        self.require(value in choices, name, f"this reads {' or '.join(choices)}")
        return value

    def whole(self, name: str, low: int, high: int) -> int:
        value = self.value(name)
        holds = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        wanted = f"a whole number from {low} to {high}" if low < high else str(low)
        self.require(holds, name, f"it must be {wanted}")
        return int(value)

    def number(self, name: str) -> float:
        value = self.value(name)
        remedy = f"it must be a finite number below {_LARGEST_NUMBER:g} in size"
        self.require(_is_number(value), name, remedy)
        return float(value)

    def numbers(self, name: str, *shape: int) -> NDArray[np.float64]:
        """An array of this shape; a length of -1 is whatever is there."""
        value = self.value(name)
        remedy = (
            f"it must be finite numbers [{']['.join(str(n) if n >= 0 else 'N' for n in shape)}]"
        )
        self.require(_has_shape(value, shape), name, remedy)
        return np.array(value, np.float64).reshape(shape)

    def wholes(self, name: str, most: int) -> tuple[int, ...]:
        value = self.value(name)
        holds = isinstance(value, list) and len(value) <= most
        holds = holds and all(type(item) is int and 0 < item < 1 << 31 for item in value)
        self.require(holds, name, f"it must be a list of up to {most} whole numbers above 0")
        return tuple(value)

    def file_name(self, name: str, folder: str = "") -> str:
        """A file in the bundle, or in the one folder of it that is named."""
        value = self.text(name)
        where = f", in its folder {folder}" if folder else ""
        holds = value.startswith(folder) and is_plain_file_name(value.removeprefix(folder))
        self.require(holds, name, f"it must be a plain name of a file in the bundle{where}")
        return value

    def sha256(self, name: str) -> str:
        value = self.text(name)
        remedy = "it must be 64 lower-case hexadecimal digits"
        self.require(bool(_SHA256.fullmatch(value)), name, remedy)
        return value

    def table(self, name: str) -> Fields:
        value = self.value(name)
        self.require(isinstance(value, dict), name, "it must be an object")
        return Fields(self.file, self.name_of(name), value)

    def tables(self, name: str, most: int) -> Iterator[Fields]:
        value = self.value(name)
        holds = isinstance(value, list) and 0 < len(value) <= most
        holds = holds and all(isinstance(item, dict) for item in value)
        self.require(holds, name, f"it must be a list of 1 to {most} objects")
        for index, item in enumerate(value):
            yield Fields(self.file, f"{self.name_of(name)}[{index}]", item)


def _is_number(value: object) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    # a whole number can be too large for a float
    return -_LARGEST_NUMBER < value < _LARGEST_NUMBER


def _has_shape(value: object, shape: tuple[int, ...]) -> bool:
    if not shape:
        return _is_number(value)
    if not isinstance(value, list) or (shape[0] >= 0 and len(value) != shape[0]):
        return False
    return all(_has_shape(item, shape[1:]) for item in value)
