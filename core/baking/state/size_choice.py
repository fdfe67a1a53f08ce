"""The choice of the latent texture's size, kept in checkpoints and in manifests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from verdigris.core.baking.measure.bundle_size import SMALLEST
from verdigris.core.network.parameters import CheckpointError

Size = tuple[int, int]
"""Width and height in texels."""


def halves(size: Size) -> tuple[Size, ...]:
    """The sizes of half as many texels."""
    width, height = size
    found = ((width // 2, height), (width, height // 2))
    return tuple(each for each in found if min(each) >= SMALLEST)


def half_of_both(size: Size) -> Size | None:
    """The size with both sides halved."""
    width, height = size
    return (width // 2, height // 2) if min(size) > SMALLEST else None


@dataclass
class SizeChoice:
    """The chosen size, and the errors of the sizes that were tried."""

    size: Size
    target: float = 0.0
    """The largest error that was accepted; 0 if only bytes counted."""
    tried: dict[Size, float] = field(default_factory=dict)
    """Log MAE after a short training, relative to the same reference, or one that is as visible as
    the error of a picture; of several materials the one that is farthest from its target."""

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "width": self.size[0],
            "height": self.size[1],
            "target": self.target,
            "tried": [[*size, error] for size, error in self.tried.items()],
        }

    @classmethod
    def from_facts(cls, facts: Any) -> SizeChoice | None:
        """The inverse of `facts`; None where none was chosen."""
        if facts is None:
            return None
        try:
            tried = {(int(w), int(h)): float(error) for w, h, error in facts["tried"]}
            size = int(facts["width"]), int(facts["height"])
            return cls(size, float(facts["target"]), tried)
        except (LookupError, TypeError, ValueError, AttributeError) as failure:
            raise CheckpointError(f"the choice of the size is damaged: {failure}") from None
