"""Levels of detail: which rung an engine shows at which size on the screen."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verdigris.core.ladder.ladder import Ladder


@dataclass(frozen=True)
class Lod:
    """A rung, shown where the mesh is smaller on the screen than `below_pixels`."""

    rung: str
    below_pixels: int | None
    flip: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def choose_lods(ladder: Ladder) -> list[Lod]:
    """The best rung, and then each cheaper one that suffices below some size. Names are in the
    order of cost, the dearest first."""
    measured = ladder.measured
    best = min(ladder.rungs, key=lambda rung: measured[rung.name].flip)
    found = [Lod(best.name, None, measured[best.name].flip)]
    for rung in ladder.rungs[ladder.rungs.index(best) + 1 :]:
        below = measured[rung.name].switch_pixels
        if below is None:
            continue
        # a cheaper rung that suffices at larger sizes replaces those before it
        while len(found) > 1 and below >= (found[-1].below_pixels or 0):
            found.pop()
        found.append(Lod(rung.name, below, measured[rung.name].flip))
    return found
