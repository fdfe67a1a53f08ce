"""The choice of the latent texture's size, kept in checkpoints and in manifests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from verdigris.core.baking.measure.bundle_size import SMALLEST
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.settings.size_settings import LATENT_CHANNELS, MORE_LATENTS


class Size(NamedTuple):
    """What decides on the bytes of a latent texture."""

    width: int
    """Texels in u."""
    height: int
    """Texels in v."""
    channels: int = MORE_LATENTS
    """Latent channels of a texel."""


def halves(size: Size) -> tuple[Size, ...]:
    """The sizes of half as many texels."""
    found = size._replace(width=size.width // 2), size._replace(height=size.height // 2)
    return tuple(each for each in found if min(each.width, each.height) >= SMALLEST)


def half_of_both(size: Size) -> Size | None:
    """The size with both sides halved."""
    if min(size.width, size.height) <= SMALLEST:
        return None
    return size._replace(width=size.width // 2, height=size.height // 2)


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
            **self.size._asdict(),
            "target": self.target,
            "tried": [[*size, error] for size, error in self.tried.items()],
        }

    @classmethod
    def from_facts(cls, facts: Any) -> SizeChoice | None:
        """The inverse of `facts`; None where none was chosen."""
        if facts is None:
            return None
        try:
            tried = {Size(*map(int, size)): float(error) for *size, error in facts["tried"]}
            size = Size(*(int(facts[name]) for name in Size._fields))
            if size.channels not in LATENT_CHANNELS:
                raise ValueError(f"channels is {size.channels}")
            return cls(size, float(facts["target"]), tried)
        except (LookupError, TypeError, ValueError, AttributeError) as failure:
            raise CheckpointError(f"the choice of the size is damaged: {failure}") from None
