"""How far a bake is."""

from __future__ import annotations

from dataclasses import dataclass

from verdigris.core.progress.events import FLATTENING


@dataclass(frozen=True)
class Part:
    """A part of a bake, by the steps that it is counted in."""

    name: str
    first: int
    last: int

    @property
    def steps(self) -> int:
        return max(0, self.last - self.first)


@dataclass(frozen=True)
class Progress:
    """Steps, phases and time."""

    phase: str = ""
    step: int = 0
    steps: int = 0
    seconds: float = 0.0
    seconds_left: float | None = None
    samples_per_second: float = 0.0
    plan: tuple[Part, ...] = ()

    @property
    def number(self) -> int | None:
        """Of the phase, from 1; None for one that has no steps of its own."""
        names = [part.name for part in self.plan]
        return names.index(self.phase) + 1 if self.phase in names else None

    @property
    def phase_share(self) -> float:
        """Of the phase alone."""
        if self.number is None:
            return 0.0
        part = self.plan[self.number - 1]
        return _limited((self.step - part.first) / part.steps) if part.steps else 1.0

    @property
    def share(self) -> float:
        """Of the whole bake. It never goes back when a phase begins."""
        total = sum(part.steps for part in self.plan)
        if self.number is None or not total:
            share = _limited(self.step / self.steps) if self.steps else 0.0
            # what is measured and written before it has no steps of its own
            after = sum(part.steps for part in self.plan if part.name == FLATTENING)
            return share * (1 - after / total) if total else share
        before = sum(part.steps for part in self.plan[: self.number - 1])
        return (before + self.phase_share * self.plan[self.number - 1].steps) / total


def _limited(share: float) -> float:
    return min(1.0, max(0.0, share))
