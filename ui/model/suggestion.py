"""One suggestion after a bake, with its price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.finish.notices import DETAIL_IS_LOST
from verdigris.core.base.text import format_bytes, format_range
from verdigris.core.pictures.compare.verdict import DRAFT, MOST_DOTS, Verdict
from verdigris.core.settings.bake_settings import LARGEST_RESOLUTION
from verdigris.core.settings.presets import NEXT_PRESET, default_preset

if TYPE_CHECKING:
    from verdigris.ui.model.panel_model import PanelModel

_LARGE_DECODER = "3x64"


@dataclass(frozen=True)
class Suggestion:
    """A change of the choices that would make the result better."""

    text: str
    """What the change would do, with bytes and time."""
    changes: Mapping[str, Any]
    action: str = ""
    """The words of its button, if it is the next preset: `Bake standard: 2 to 6 min`."""


def suggest(model: PanelModel, verdict: Verdict | None) -> Suggestion | None:
    """The first thing to try, in the order of docs/ARTISTS.md; None if nothing is left to gain."""
    if verdict is None or verdict.dots == MOST_DOTS:
        return None
    choices = model.state.choices
    trainer = model.state.trainer or "numpy"
    preset = choices.preset or default_preset(trainer)
    settings = choices.settings(trainer)
    # the bake may have chosen a smaller size than the preset's
    finer = 2 * (model.state.bake.resolution or settings.resolution)
    loses_detail = any(hint.startswith(DETAIL_IS_LOST) for hint in model.state.bake.hints)
    if preset == DRAFT:
        return _next_preset(model, NEXT_PRESET[preset])
    if loses_detail and finer <= LARGEST_RESOLUTION:
        return _priced(model, f"{finer} x {finer} would regain fine detail", resolution=finer)
    if preset in NEXT_PRESET:
        return _next_preset(model, NEXT_PRESET[preset])
    if settings.network != _LARGE_DECODER:
        text = f"A larger decoder ({_LARGE_DECODER}) would sharpen highlights"
        return _priced(model, text, network=_LARGE_DECODER)
    return None


def _next_preset(model: PanelModel, preset: str) -> Suggestion:
    """The next preset, whose button has the time."""
    found, time = _prices(model, {"preset": preset})
    size = f": {found}" if found else ""
    text = f"Next: {preset} comes closer to the material{size}"
    return Suggestion(text, {"preset": preset}, f"Bake {preset}: {time}")


def _priced(model: PanelModel, text: str, **changes: Any) -> Suggestion:
    size, time = _prices(model, changes)
    return Suggestion(f"{text}: {size}{', ' if size else ''}{time}", changes)


def _prices(model: PanelModel, changes: Mapping[str, Any]) -> tuple[str, str]:
    """More or less bytes, and the time."""
    # compared with the size that the bake had
    before = model.state.predict(
        model.state.choices.with_values({"resolution": model.state.bake.resolution or None})
    )
    after = model.state.predict(model.state.choices.with_values(changes))
    more = after.loaded_bytes - before.loaded_bytes
    size = "" if abs(more) < 1000 else f"{'+' if more > 0 else '-'}{format_bytes(abs(more))}"
    return size, format_range(after.low, after.high)
