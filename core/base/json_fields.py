"""Reads untrusted JSON: manifests, scenes, commands and settings. Other modules do not parse it.

Its size, its depth and the number of its values are limited. Errors name the file, the field, the
value and the remedy. The caller chooses their class.
"""

from __future__ import annotations

import json
import math
import re
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from verdigris.core.base.errors import BundleError, VerdigrisError, reason
from verdigris.core.base.inputs import require_file
from verdigris.core.base.text import is_of_a_device

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Plain names only: no folders, drives, hidden files, or names reserved by a system.
LONGEST_FILE_NAME = 128
_FILE_NAME = re.compile(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{0,{LONGEST_FILE_NAME - 2}}}[A-Za-z0-9_]")
_SHA256 = re.compile(r"[0-9a-f]{64}")
LONGEST_TEXT = 4096
# Just below the largest single float.
LARGEST_SINGLE = 3e38
_MOST_DIGITS = 4000
_LARGEST_NUMBER = 1e300
_LARGEST_WHOLE = (1 << 63) - 1
# Levels of nested objects and lists. Writers recurse as deep.
_DEEPEST = 100
LARGEST_JSON = 64 << 20
# Values of all levels. The smallest, [] and {}, take 64 bytes each.
_MOST_VALUES = 4_000_000
_REQUIRED = object()
_TYPES: dict[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def refuse(
    file: str, field: str, value: object, remedy: str, error: type[VerdigrisError] = BundleError
) -> NoReturn:
    raise error(f"{file}: {field} is {shortened(value)}: {remedy}")


def shortened(value: object) -> str:
    """A value as an error shows it: in a damaged file it can have megabytes."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}…"


def is_material_name(name: str) -> bool:
    """Whether a name can be shown: not blank, and without escape sequences."""
    return bool(name.strip()) and name.isprintable()


def is_plain_file_name(name: str) -> bool:
    """Whether a name is allowed for a file of a bundle."""
    return bool(_FILE_NAME.fullmatch(name)) and not is_of_a_device(name)


def load_json(
    data: bytes,
    file: str,
    error: type[VerdigrisError] = BundleError,
    encoding: str = "utf-8",
    most_bytes: int = LARGEST_JSON,
) -> Any:
    """The value in a JSON text. Refuses NaN, infinities, names given twice, deep nesting, and texts
    that are too long or have too many values."""
    if why := _why_too_much(data, most_bytes):
        raise error(f"{file}: {why}")

    def constant(text: str) -> NoReturn:
        raise ValueError(f"{text} is not a JSON number")

    def whole(text: str) -> int:
        digits = len(text.removeprefix("-"))
        if digits > _MOST_DIGITS:
            raise error(f"{file}: contains a number with too many digits: {digits}")
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
                    raise error(f"{file}: {shortened(name)} is given twice: leave one out")
                seen.add(name)
        return found

    try:
        value = json.loads(
            data.decode(encoding),
            parse_constant=constant,
            parse_float=number,
            parse_int=whole,
            object_pairs_hook=pairs,
        )
    except RecursionError:
        raise error(f"{file}: is nested too deeply") from None
    except ValueError as failure:
        reason = str(failure)[:200]
        raise error(f"{file}: is not JSON: {reason}: correct it, or write it again") from None
    if isinstance(value, dict | list) and _is_deep(value):
        raise error(f"{file}: is nested too deeply")
    return value


def find_json(data: bytes | str, most_bytes: int = LARGEST_JSON) -> Any:
    """The value in a JSON text that a program wrote; None if it cannot be read. NaN and infinities
    are numbers here."""
    text = data if isinstance(data, bytes) else data.encode(errors="replace")
    if _why_too_much(text, most_bytes):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if isinstance(value, dict | list) and _is_deep(value) else value


def find_json_file(path: Path, most_bytes: int = LARGEST_JSON) -> Any:
    """The value in a file that a program wrote; None if there is none or it cannot be read."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            return find_json(file.read(most_bytes + 1), most_bytes)
    except (OSError, ValueError):
        return None


def _why_too_much(data: bytes, most_bytes: int) -> str:
    """Why a text is not parsed; empty if it may be."""
    if len(data) > most_bytes:
        return f"is larger than {most_bytes / (1 << 20):g} MB: split it"
    # each value but the first follows one of these
    count = sum(map(data.count, (b",", b"[", b"{", b":"))) if len(data) > _MOST_VALUES else 0
    return f"has more than {_MOST_VALUES:,} values: split it" if count > _MOST_VALUES else ""


def parse_json(data: bytes, file: str) -> Fields:
    """The object at the top of a JSON file of a bundle."""
    value = load_json(data, file)
    if not isinstance(value, dict):
        refuse(file, "the top", value, "it must be an object")
    try:
        # a lone surrogate cannot be printed
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError as failure:
        raise BundleError(f"{file}: is not JSON: {str(failure)[:200]}") from None
    return Fields(file, "", value)


def read_json_file(path: Path, error: type[VerdigrisError], most_bytes: int) -> Any:
    """The value in a file that people write. It may begin with a byte order mark."""
    require_file(path, error, "choose a file")
    try:
        if path.stat().st_size > most_bytes:
            raise error(f"{path}: is larger than {most_bytes >> 20} MB: split it")
        data = path.read_bytes()
    except (OSError, ValueError) as failure:
        raise error(f"{path}: cannot be read ({reason(failure)}): choose a file") from None
    return load_json(data, str(path), error, "utf-8-sig", most_bytes)


def _is_deep(value: dict[str, Any] | list[Any]) -> bool:
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
    """The file that errors name."""
    path: str
    """The place of the object in the file, as in `weights.tensors[3]`."""
    values: dict[str, Any]
    """The object as read."""
    error: type[VerdigrisError] = BundleError
    """The class of errors."""

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def refuse(self, name: str, remedy: str) -> NoReturn:
        refuse(self.file, self.name_of(name), self.values.get(name), remedy, self.error)

    def require(self, holds: bool, name: str, remedy: str) -> None:
        if not holds:
            self.refuse(name, remedy)

    def require_known(self, known: Iterable[str]) -> None:
        """Refuses fields with other names."""
        choices = [*known]
        for name in self.values:
            if name not in choices:
                text = f"{self.file}: {shortened(self.name_of(name))} is not known"
                raise self.error(f"{text}: use one of {', '.join(map(self.name_of, choices))}")

    def name_of(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def value(self, name: str) -> Any:
        if name not in self.values:
            raise self.error(f"{self.file}: {self.name_of(name)} is missing")
        return self.values[name]

    def typed(self, name: str, kind: Any, default: Any = _REQUIRED) -> Any:
        """A field with this type: str, int, float, bool, list, dict, or a tuple of one of them,
        which is a list in JSON."""
        if default is not _REQUIRED and name not in self.values:
            return default
        value = self.value(name)
        remedy = f"it must be {_describe_type(kind)}"
        if kind is str and isinstance(value, str):
            remedy = "leave out characters that file names cannot contain"
        self.require(_has_type(value, kind), name, remedy)
        return _converted(value, kind)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts, or one text alone; empty if the field is missing."""
        value = self.values.get(name, [])
        found = [value] if isinstance(value, str) else value
        remedy = "it must be a text, or a list of texts"
        self.require(_has_type(found, tuple[str, ...]), name, remedy)
        return tuple(found)

    def find_positive(self, name: str) -> float | None:
        """A number above 0; None if the field is missing or null."""
        value = self.values.get(name)
        if value is None:
            return None
        self.require(_is_number(value) and value > 0, name, "it must be a number above 0")
        return float(value)

    def require_like(self, name: str, example: object) -> None:
        """Refuses a value with another type than the example."""
        remedy = f"use a value such as {example!r}"
        self.require(_is_like(self.value(name), example), name, remedy)

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
        """An array with this shape; -1 is any length."""
        import numpy as np

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
        """The name of a file in the bundle, or in this folder of the bundle."""
        value = self.text(name)
        where = f", in its folder {folder}" if folder else ""
        holds = value.startswith(folder) and is_plain_file_name(value.removeprefix(folder))
        self.require(holds, name, f"it must be the plain name of a file in the bundle{where}")
        return value

    def sha256(self, name: str) -> str:
        value = self.text(name)
        remedy = "it must be 64 lower-case hexadecimal digits"
        self.require(bool(_SHA256.fullmatch(value)), name, remedy)
        return value

    def table(self, name: str) -> Fields:
        value = self.value(name)
        self.require(isinstance(value, dict), name, "it must be an object")
        return Fields(self.file, self.name_of(name), value, self.error)

    def tables(self, name: str, most: int) -> Iterator[Fields]:
        value = self.value(name)
        holds = isinstance(value, list) and 0 < len(value) <= most
        holds = holds and all(isinstance(item, dict) for item in value)
        self.require(holds, name, f"it must be a list of 1 to {most} objects")
        for index, item in enumerate(value):
            yield Fields(self.file, f"{self.name_of(name)}[{index}]", item, self.error)


def fields_of(value: Any, file: str, path: str, error: type[VerdigrisError]) -> Fields:
    """A value of a file, which must be an object."""
    if not isinstance(value, dict):
        refuse(file, path or "the top", value, "it must be an object", error)
    return Fields(file, path, value, error)


def find_table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The object with this name; an empty one if there is none."""
    found = values.get(name)
    return found if isinstance(found, Mapping) else {}


def find_number(values: Mapping[str, Any], name: str) -> float | None:
    """The number with this name; None if there is none or a float cannot hold it."""
    value = values.get(name)
    return float(typing.cast(float, value)) if _is_number(value) else None


def find_whole(values: Mapping[str, Any], name: str) -> int | None:
    """The whole number with this name; None if there is none or 64 bits cannot hold it."""
    value = values.get(name)
    return value if type(value) is int and abs(value) <= _LARGEST_WHOLE else None


def _is_text(value: object) -> bool:
    """Whether a text is valid in a file name: it has no NUL and no lone surrogates."""
    if not isinstance(value, str) or "\0" in value:
        return False
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _has_type(value: object, kind: Any) -> bool:
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)
        has_length = inner[-1] is Ellipsis or (isinstance(value, list) and len(value) == len(inner))
        return isinstance(value, list) and has_length and all(_has_type(v, inner[0]) for v in value)
    if kind is float:
        return _is_number(value)
    if kind is str:
        return _is_text(value)
    # true and false are whole numbers for Python
    return isinstance(value, typing.get_origin(kind) or kind) and (
        isinstance(value, bool) == (kind is bool)
    )


def _converted(value: Any, kind: Any) -> Any:
    if typing.get_origin(kind) is tuple:
        return tuple(_converted(item, typing.get_args(kind)[0]) for item in value)
    return float(value) if kind is float else value


def _describe_type(kind: Any) -> str:
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)
        count = "a list" if inner[-1] is Ellipsis else f"a list of {len(inner)}"
        return f"{count}: {_TYPES[inner[0]]} each"
    return _TYPES[typing.get_origin(kind) or kind]


def _is_like(value: object, example: object) -> bool:
    if isinstance(example, bool | str):
        return type(value) is type(example)
    if isinstance(example, float):
        return _is_number(value)
    if isinstance(example, tuple):
        return isinstance(value, list | tuple) and _is_finite(value)
    return type(value) is type(example) and _is_finite(value)


def _is_finite(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_finite, value))
    return not isinstance(value, int | float) or isinstance(value, bool) or _is_number(value)


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
