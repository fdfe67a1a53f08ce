"""Live inputs: requests for them, what a document offers, and live inputs of a material, with their
texts on command lines and in manifests."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import SettingsError

if TYPE_CHECKING:
    from verdigris.core.base.json_fields import Fields

MOST_LIVE_INPUTS = 3
# Nodes of MaterialX whose value is the same everywhere, each with its value without a range.
CLOCKS = {"time": 0.0, "frame": 1.0}
LARGEST_DENSITY = 64
FIELD = "live"
KEPT_HEIGHTS = "the displacement keeps the document's value"
"""What is to be said of an input on which the displacement depends, too."""
_KINDS = ("float", "color3", *CLOCKS)
_WANTED = re.compile(
    r"(?P<name>[^=]+)=(?P<low>[^.]*(?:\.(?!\.)[^.]*)*)\.\.(?P<high>[^:@]+)"
    r"(?:@(?P<default>[^:]+))?(?::(?P<density>.+))?"
)
_FORM = "use NAME=LOW..HIGH, as in wetness=0..1, optionally followed by @DEFAULT or :DENSITY"


@dataclass(frozen=True)
class WantedInput:
    """A request for a live input, before the document is searched for it."""

    name: str
    """The name of an input of the document's interface, the path of any input, `time` or
    `frame`."""
    low: tuple[float, ...]
    """One number, or the three numbers of a colour."""
    high: tuple[float, ...]
    default: float | None = None
    """A number in the range; None means the document's value."""
    density: int = 1
    """Training draws a part of the samples at this many equal steps of the range."""

    def __post_init__(self) -> None:
        shown = f"live input {self.name}"
        for each in (self.low, self.high):
            if len(each) not in (1, 3) or not all(map(math.isfinite, each)):
                raise SettingsError(
                    f"{shown}: {list(each)} is neither a number nor a colour: {_FORM}"
                )
        if len(self.low) != len(self.high):
            raise SettingsError(f"{shown}: a number and a colour do not make a range: {_FORM}")
        if self.low == self.high:
            raise SettingsError(f"{shown}: the range {self.range} is empty: use two values")
        if len(self.low) == 1 and self.low > self.high:
            raise SettingsError(
                f"{shown}: the range {self.range} is reversed: put the smaller number first"
            )
        if self.default is not None and not self._has(self.default):
            raise SettingsError(
                f"{shown}: the default {self.default:g} is outside of {self.range}: use a value "
                "inside the range"
            )
        if not 1 <= self.density <= LARGEST_DENSITY:
            raise SettingsError(
                f"{shown}: density is {self.density}: use a whole number from 1 to "
                f"{LARGEST_DENSITY}"
            )

    def _has(self, value: float) -> bool:
        low, high = (self.low[0], self.high[0]) if len(self.low) == 1 else (0.0, 1.0)
        return low <= value <= high

    @property
    def range(self) -> str:
        return f"{_text(self.low)}..{_text(self.high)}"

    def __str__(self) -> str:
        default = "" if self.default is None else f"@{_text((self.default,))}"
        density = "" if self.density == 1 else f":{self.density}"
        return f"{self.name}={self.range}{default}{density}"


@dataclass(frozen=True)
class PublishedInput:
    """An input that a bake can keep open, as the document defines it."""

    name: str
    kind: str
    """`float`, `color3`, `time` or `frame`."""
    value: tuple[float, ...]
    """The value in the document; for a clock, its first value."""
    low: tuple[float, ...]
    """The low end of a range to begin with: that of the input's slider in the document, or a guess
    around the value."""
    high: tuple[float, ...]
    label: str = ""
    """The name for people; empty if the document has none."""
    is_of_surface: bool = False
    """Whether the input is set on the surface itself, not published by a graph."""


@dataclass(frozen=True)
class LiveInput:
    """A live input of a material. For networks it is a number from 0 (low) to 1 (high)."""

    name: str
    kind: str
    """`float`, `color3`, `time` or `frame`."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    default: float = 0.0
    """The default as a number from 0 to 1."""
    density: int = 1
    paths: tuple[str, ...] = ()
    """The paths in the document of the inputs, or of a clock's nodes."""

    @property
    def is_colour(self) -> bool:
        return self.kind == "color3"

    def share_of(self, value: float) -> float:
        """A value in the range as a number from 0 to 1. For a colour it is this number already."""
        low, high = (0.0, 1.0) if self.is_colour else (self.low[0], self.high[0])
        if not low <= value <= high:
            raise SettingsError(
                f"live input {self.name} is {value:g}: use a number from {low:g} to {high:g}"
            )
        return (value - low) / (high - low)

    def value_of(self, share: float) -> float:
        """The inverse of share_of."""
        low, high = (0.0, 1.0) if self.is_colour else (self.low[0], self.high[0])
        return low + (high - low) * share

    @property
    def wanted(self) -> WantedInput:
        """The request that finds this input in its document again."""
        return WantedInput(
            self.name, self.low, self.high, self.value_of(self.default), self.density
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.kind,
            "low": list(self.low) if self.is_colour else self.low[0],
            "high": list(self.high) if self.is_colour else self.high[0],
            "default": self.default,
        }


def parse_wanted(text: str) -> WantedInput:
    """Parses a request such as `wetness=0..1`, `age=0..10@2:4` or `tint=1,1,1..1,.5,0`."""
    found = _WANTED.fullmatch(text.strip())
    if found is None:
        raise SettingsError(f"live input {text!r}: {_FORM}")
    try:
        low, high = (tuple(map(float, found[name].split(","))) for name in ("low", "high"))
        default = None if found["default"] is None else float(found["default"])
        density = int(found["density"] or 1)
    except ValueError:
        raise SettingsError(f"live input {text!r}: {_FORM}") from None
    return WantedInput(found["name"].strip(), low, high, default, density)


def parse_all_wanted(texts: Sequence[str]) -> tuple[WantedInput, ...]:
    """Parses all requests of a command line: at most three, and each input once."""
    wanted = tuple(map(parse_wanted, texts))
    names = [each.name for each in wanted]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"the live input {name} is given twice: leave one out")
    if len(wanted) > MOST_LIVE_INPUTS:
        raise SettingsError(
            f"{len(wanted)} live inputs ({', '.join(names)}): use at most {MOST_LIVE_INPUTS}"
        )
    return wanted


def live_values(
    inputs: Sequence[LiveInput], given: Mapping[str, float], whose: str
) -> tuple[float, ...]:
    """A number from 0 to 1 for each input: the given value, or else the default."""
    known = {each.name for each in inputs}
    for name in given:
        if name not in known:
            listed = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise SettingsError(f"{whose} has no live input {name!r}: {listed}")
    return tuple(
        each.share_of(given[each.name]) if each.name in given else each.default for each in inputs
    )


def unnamed_inputs(defaults: Sequence[float]) -> tuple[LiveInput, ...]:
    """Live inputs from 0 to 1 for a network whose inputs have no names."""
    return tuple(
        LiveInput(f"live{number}", "float", (0.0,), (1.0,), default)
        for number, default in enumerate(defaults)
    )


def live_json(inputs: Sequence[LiveInput]) -> dict[str, Any]:
    """The list `live` of a manifest; nothing without live inputs."""
    return {FIELD: [each.as_json() for each in inputs]} if inputs else {}


def parse_live(fields: Fields, count: int) -> tuple[LiveInput, ...]:
    """The list `live` of a manifest, with as many inputs as the network has."""
    if not count:
        return ()
    found = tuple(map(_parse_input, fields.tables(FIELD, count)))
    fields.require(len(found) == count, FIELD, f"the network has {count} live inputs")
    names = [each.name for each in found]
    fields.require(len({*names}) == len(names), FIELD, "each must have a different name")
    return found


def _parse_input(fields: Fields) -> LiveInput:
    kind = fields.chosen("type", _KINDS)
    ends = []
    for name in ("low", "high"):
        if kind == "color3":
            ends.append(tuple(map(float, fields.numbers(name, 3))))
        else:
            ends.append((fields.number(name),))
    fields.require(ends[0] != ends[1], "high", "it must differ from low")
    default = fields.number("default")
    is_inside = math.isfinite(default) and 0 <= default <= 1
    fields.require(is_inside, "default", "use a number from 0 to 1")
    return LiveInput(fields.text("name"), kind, ends[0], ends[1], default)


def _text(values: tuple[float, ...]) -> str:
    # the digits of single precision, in which the network computes
    return ",".join(f"{value:.9g}" for value in values)
