"""Values and ranges of inputs, as documents write them for the sliders of an application."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.live_inputs.live_input import PublishedInput

if TYPE_CHECKING:
    import MaterialX as mx

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
# Soft limits come first: hard limits are often those of what is possible at all, as for an index of
# refraction.
_ENDS = (("uisoftmin", "uimin"), ("uisoftmax", "uimax"))
_LARGEST_END = 1e4
_OF_CLOCKS = {"time": (0.0, 10.0), "frame": (1.0, 100.0)}
# Exponents of colour spaces that are not linear, and the library's matrices to Rec.709.
_POWERS = {
    "g18_rec709": 1.8,
    "g22_rec709": 2.2,
    "rec709_display": 2.4,
    "g22_ap1": 2.2,
    "adobergb": 563 / 256,
}
_WITH_CURVE_OF_SRGB = ("srgb_texture", "srgb_displayp3")
_PRIMARIES = {
    "acescg": "acescg",
    "g22_ap1": "acescg",
    "adobergb": "lin_adobergb",
    "lin_adobergb": "lin_adobergb",
    "srgb_displayp3": "srgb_displayp3",
    "lin_displayp3": "lin_displayp3",
}
_BLACK, _WHITE = (0.0,) * 3, (1.0,) * 3


def numbers_in(text: str) -> tuple[float, ...]:
    """The numbers in a text, as MaterialX reads them: text after a number is ignored."""
    return tuple(map(float, _NUMBER.findall(text)))


def linear(colour: tuple[float, ...], space: str) -> tuple[float, ...]:
    """A colour in linear Rec.709, which ranges and the teacher use."""
    values = np.array(colour)
    if space in _WITH_CURVE_OF_SRGB:
        values = linear_from_srgb(values)
    elif space in _POWERS:
        values = np.maximum(values, 0) ** _POWERS[space]
    if space in _PRIMARIES:
        graph = standard_library().getNodeGraph(f"NG_{_PRIMARIES[space]}_to_lin_rec709_color3")
        # MaterialX multiplies rows by matrices
        stored = numbers_in(graph.getNode("mat").getInput("value").getValueString())
        values = values @ np.reshape(stored, (3, 3))
    return tuple(values.tolist())


def published(
    name: str,
    kind: str,
    value: tuple[float, ...],
    ports: Sequence[mx.Input],
    is_of_surface: bool = False,
    label: str = "",
) -> PublishedInput:
    """An input with a range to begin with. The first port with a limit or a label counts."""
    label = label or next((text for port in ports if (text := port.getAttribute("uiname"))), "")
    if kind == "color3":
        value = value or _BLACK
        return PublishedInput(name, kind, value, value, contrast(value), label, is_of_surface)
    if kind in _OF_CLOCKS:
        low, high = _OF_CLOCKS[kind]
        return PublishedInput(name, kind, (max(low, value[0]),), (low,), (high,), label)
    number = value[0] if value else 0.0
    low, high = _range_of(number, ports)
    return PublishedInput(name, kind, (number,), (low,), (high,), label, is_of_surface)


def _range_of(number: float, ports: Sequence[mx.Input]) -> tuple[float, float]:
    """The range of the slider, widened to the value; without a slider, a guess."""
    low, high = ([port.getAttribute(name) for name in names for port in ports] for names in _ENDS)
    return range_around(number, _numbers(low), _numbers(high))


def _numbers(texts: Sequence[str]) -> list[float]:
    return [found[0] for text in texts if len(found := numbers_in(text)) == 1]


def range_around(
    number: float, lows: Sequence[float] = (), highs: Sequence[float] = ()
) -> tuple[float, float]:
    """A range that contains the number: between the first sensible limits, or a guess."""
    guess = (min(0.0, 2 * number), 1.0 if 0 <= number <= 1 else max(0.0, 2 * number))
    if number < 0:
        guess = (2 * number, 0.0)
    low, high = (
        next((each for each in limits if abs(each) <= _LARGEST_END), other)
        for limits, other in zip((lows, highs), guess, strict=True)
    )
    low, high = min(low, number), max(high, number)
    return (low, high) if low < high else guess


def contrast(colour: tuple[float, ...]) -> tuple[float, ...]:
    """Another colour, for the end of a range that begins with one."""
    return _BLACK if sum(colour) > 1.5 else _WHITE
