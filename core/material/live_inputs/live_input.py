"""An input that stays open: its range, its default, and where training draws it more often."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verdigris.core.base.errors import SettingsError

MOST_LIVE_INPUTS = 3
# Nodes of MaterialX whose value is the same everywhere, and the value without a range.
CLOCKS = {"time": 0.0, "frame": 1.0}
LARGEST_DENSITY = 64
_WANTED = re.compile(
    r"(?P<name>[^=]+)=(?P<low>[^.]*(?:\.(?!\.)[^.]*)*)\.\.(?P<high>[^:@]+)"
    r"(?:@(?P<default>[^:]+))?(?::(?P<density>.+))?"
)
_FORM = "use NAME=LOW..HIGH, as in wetness=0..1, with @DEFAULT or :DENSITY behind it"


@dataclass(frozen=True)
class WantedInput:
    """A request for a live input, before the document is searched for it."""

    name: str
    """Of an input of the document's interface, a path of any input, `time` or `frame`."""
    low: tuple[float, ...]
    """One number, or three of a colour."""
    high: tuple[float, ...]
    default: float | None = None
    """A number of the range. None is the document's value."""
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
                f"{shown}: the default {self.default:g} is outside of {self.range}: use one inside"
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
    """An input that a bake can keep open, as the document has it."""

    name: str
    kind: str
    """`float`, `color3`, `time` or `frame`."""
    value: tuple[float, ...]
    """Of the document; of a clock, its first value."""
    low: tuple[float, ...]
    """A range to begin with: that of its slider in the document, or a guess around the value."""
    high: tuple[float, ...]
    label: str = ""
    """Its name for people; empty where the document has none."""
    is_of_surface: bool = False
    """It is set on the surface itself, and not published by a graph."""


@dataclass(frozen=True)
class LiveInput:
    """A live input of a material. Networks know it as a number from 0 (low) to 1 (high)."""

    name: str
    kind: str
    """`float`, `color3`, `time` or `frame`."""
    low: tuple[float, ...]
    high: tuple[float, ...]
    default: float = 0.0
    """From 0 to 1."""
    density: int = 1
    paths: tuple[str, ...] = ()
    """Of the inputs, or of the nodes of a clock, in the document."""

    @property
    def is_colour(self) -> bool:
        return self.kind == "color3"

    def share_of(self, value: float) -> float:
        """A value of the range as a number from 0 to 1. Of a colour it is this number already."""
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
        """The request that finds it in its document again."""
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
    """The request in a text such as `wetness=0..1`, `age=0..10@2:4` or `tint=1,1,1..1,.5,0`."""
    found = _WANTED.fullmatch(text.strip())
    if found is None:
        raise SettingsError(f"--live {text}: {_FORM}")
    try:
        low, high = (tuple(map(float, found[name].split(","))) for name in ("low", "high"))
        default = None if found["default"] is None else float(found["default"])
        density = int(found["density"] or 1)
    except ValueError:
        raise SettingsError(f"--live {text}: {_FORM}") from None
    return WantedInput(found["name"].strip(), low, high, default, density)


def parse_all_wanted(texts: Sequence[str]) -> tuple[WantedInput, ...]:
    """All requests of a command line, each input once and at most three of them."""
    wanted = tuple(map(parse_wanted, texts))
    names = [each.name for each in wanted]
    for name in names:
        if names.count(name) > 1:
            raise SettingsError(f"--live {name} is given twice: leave one out")
    if len(wanted) > MOST_LIVE_INPUTS:
        raise SettingsError(
            f"{len(wanted)} live inputs ({', '.join(names)}): use at most {MOST_LIVE_INPUTS}"
        )
    return wanted


def live_values(
    inputs: Sequence[LiveInput], given: Mapping[str, float], whose: str
) -> tuple[float, ...]:
    """A number from 0 to 1 for each input: the given values, and defaults of the others."""
    known = {each.name for each in inputs}
    for name in given:
        if name not in known:
            listed = f"it has {', '.join(sorted(known))}" if known else "it has none"
            raise SettingsError(f"{whose} has no live input {name!r}: {listed}")
    return tuple(
        each.share_of(given[each.name]) if each.name in given else each.default for each in inputs
    )


def _text(values: tuple[float, ...]) -> str:
    # digits of single precision, which the network computes in
    return ",".join(f"{value:.9g}" for value in values)
