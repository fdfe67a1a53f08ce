"""Live inputs in the panel: which inputs the material offers, which are open, and their values in
the view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.material.live_inputs.live_input import WantedInput, parse_wanted
from verdigris.ui.signals import Signal

RANGE_PICTURES = 8


@dataclass(frozen=True)
class Offer:
    """An input of the material that can be made live."""

    name: str
    label: str
    is_colour: bool
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    reaches: tuple[str, ...]
    only_by_uv: bool
    keeps_heights: bool
    is_of_surface: bool

    @property
    def request(self) -> WantedInput:
        """The request with the initial range, and with the material's value as the default."""
        return WantedInput(self.name, self.low, self.high)


@dataclass(frozen=True)
class Slider:
    """A live input that is open."""

    name: str
    low: float
    high: float
    """The ends of the range. They are 0 and 1 for a colour, whose value is its share of the way
    from the first colour to the second."""
    default: float
    """A share of the range, 0 to 1, like all values here."""
    label: str
    """The application's name for it."""

    def value_of(self, share: float) -> float:
        return self.low + (self.high - self.low) * share

    def share_of(self, value: float) -> float:
        """The share of a value, or of the nearest value in the range."""
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))


class LiveValues:
    """The sliders of the view, and small pictures over the range of one of them."""

    def __init__(self) -> None:
        self.sliders: tuple[Slider, ...] = ()
        self.requests: tuple[str, ...] = ()
        """The requests that opened them, with their defaults, as bakes note them."""
        self._shares: dict[str, float] = {}
        self.active = ""
        """The name of the input whose range is in pictures."""
        self.pictures: Any = None
        """Pictures side by side, (height, width, 3) bytes; None before they have come."""
        self.is_range_outdated = False
        self.changed = Signal()
        self.pictures_changed = Signal()

    def take(
        self, opened: Sequence[Mapping[str, Any]], report: Mapping[str, Any] | None = None
    ) -> None:
        """Takes the inputs that the worker has opened, with their labels in the report. An input
        with a known name keeps its value."""
        labels = {each.name: each.label for each in offers_of(report)}
        before = {each.name: each.value_of(self._shares[each.name]) for each in self.sliders}
        self.sliders = tuple(_slider(each, labels) for each in opened)
        self.requests = tuple(str(each.get("request", "")) for each in opened)
        self._shares = {
            each.name: each.share_of(before[each.name]) if each.name in before else each.default
            for each in self.sliders
        }
        names = [each.name for each in self.sliders]
        if self.active not in names:
            self.active = names[0] if names else ""
        self._drop_pictures()
        self.changed.emit()

    def clear(self) -> None:
        """Drops the inputs, for another material."""
        if self.sliders:
            self.take(())

    def share(self, name: str) -> float:
        return self._shares[name]

    def set_share(self, name: str, share: float) -> None:
        share = min(1.0, max(0.0, share))
        if self._shares.get(name, share) == share:
            return
        self._shares[name] = share
        if name != self.active:
            self.is_range_outdated = True
        self.changed.emit()

    def show_range_of(self, name: str) -> None:
        if name != self.active and name in self._shares:
            self.active = name
            self._drop_pictures()
            self.changed.emit()

    def take_pictures(self, number: int, pixels: Any) -> None:
        """Takes pictures of the input with this number, unless it is no longer shown."""
        if [each.name for each in self.sliders[number : number + 1]] == [self.active]:
            self.pictures = pixels
            self.pictures_changed.emit()

    @property
    def active_label(self) -> str:
        return self.sliders[self.active_number].label if self.sliders else ""

    @property
    def active_number(self) -> int:
        """The number of the active input; -1 without live inputs."""
        names = [each.name for each in self.sliders]
        return names.index(self.active) if self.active in names else -1

    def shares(self) -> tuple[float, ...]:
        """The shares for the view; empty if all have their defaults."""
        if all(self._shares[each.name] == each.default for each in self.sliders):
            return ()
        return tuple(self._shares[each.name] for each in self.sliders)

    def _drop_pictures(self) -> None:
        self.pictures, self.is_range_outdated = None, bool(self.sliders)
        self.pictures_changed.emit()


def offers_of(report: Mapping[str, Any] | None) -> tuple[Offer, ...]:
    """The inputs that a material offers, those of its own interface first."""
    listed = (report or {}).get("live", ())
    found = [_offer(each) for each in listed if each.get("input")]
    return tuple(sorted(found, key=lambda each: each.is_of_surface))


def find_wanted(live: Sequence[str], name: str) -> WantedInput | None:
    """The request for an input among the choices; None without a readable one."""
    for text in live:
        try:
            wanted = parse_wanted(text)
        except SettingsError:
            continue
        if wanted.name == name:
            return wanted
    return None


def with_request(live: Sequence[str], wanted: WantedInput) -> tuple[str, ...]:
    """The choices with another request for this input, in its place or at the end."""
    names = [text.partition("=")[0] for text in live]
    changed = [
        str(wanted) if name == wanted.name else text for name, text in zip(names, live, strict=True)
    ]
    return (*changed, *([] if wanted.name in names else [str(wanted)]))


def without(live: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(text for text in live if text.partition("=")[0] != name)


def label_of(name: str) -> str:
    """A name in words: `coat_roughness` -> `coat roughness`."""
    return name.rpartition("/")[2].replace("_", " ")


def _offer(values: Mapping[str, Any]) -> Offer:
    given = values["input"]
    value, low, high = (tuple(map(float, given[each])) for each in ("value", "low", "high"))
    return Offer(
        str(values["name"]),
        str(given.get("label") or label_of(str(values["name"]))),
        given["kind"] == "color3",
        value,
        low,
        high,
        tuple(map(str, values.get("inputs", ()))),
        bool(values.get("only_by_uv")),
        bool(values.get("keeps_heights")),
        bool(given.get("is_of_surface")),
    )


def _slider(values: Mapping[str, Any], labels: Mapping[str, str]) -> Slider:
    is_colour = values["type"] == "color3"
    low, high = (0.0, 1.0) if is_colour else (float(values["low"]), float(values["high"]))
    name = str(values["name"])
    return Slider(name, low, high, float(values["default"]), labels.get(name, label_of(name)))
