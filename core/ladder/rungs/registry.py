"""The rungs of a ladder. A new rung is a module beside this one, and a line here."""

from __future__ import annotations

from collections.abc import Sequence

from verdigris.core.base.errors import SettingsError
from verdigris.core.ladder.rungs.detail import DetailRung
from verdigris.core.ladder.rungs.neural import NeuralRung
from verdigris.core.ladder.rungs.pbr import PbrRung
from verdigris.core.ladder.rungs.reflection import ReflectionRung
from verdigris.core.ladder.rungs.rung import Rung
from verdigris.core.ladder.rungs.stored_light import UnlitRung
from verdigris.core.ladder.rungs.surface import SurfaceRung
from verdigris.core.ladder.rungs.vertex import VertexRung

RUNGS: list[type[Rung]] = [
    NeuralRung, SurfaceRung, PbrRung, UnlitRung, ReflectionRung, DetailRung, VertexRung,
]  # fmt: skip
"""From the dearest to the cheapest."""


def find_rung(name: str) -> type[Rung] | None:
    """The rung with this name, if there is one."""
    return next((each for each in RUNGS if each.name == name), None)


def require_rungs(names: Sequence[str]) -> list[type[Rung]]:
    """The rungs with these names once each, from the dearest to the cheapest."""
    unknown = [name for name in names if find_rung(name) is None]
    if unknown or not names:
        given = ", ".join(map(repr, unknown)) or "none"
        known = ", ".join(each.name for each in RUNGS)
        raise SettingsError(f"rungs: {given} is not known: choose from {known}")
    return [each for each in RUNGS if each.name in names]
