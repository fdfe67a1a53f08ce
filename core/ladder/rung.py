"""A rung of a ladder, as it is fitted and stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.texels.blocks import Blocks
    from verdigris.core.ladder.texels.grid import Grid
    from verdigris.core.ladder.views.visibility import Seen
    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]


MASK, BLEND = "MASK", "BLEND"
CUTOFF = 0.5


@dataclass(frozen=True)
class Opacity:
    """The opacity of a rung."""

    grid: Grid
    """Texels, or one row of vertices; one channel in steps of a byte."""
    mode: str
    """MASK or BLEND, of glTF's alpha modes."""

    def shown(self, values: Floats) -> Floats:
        """The share of light that engines draw for stored values."""
        if self.mode == MASK:
            return np.asarray(values >= CUTOFF, np.float32)
        return values


@dataclass
class Rung:
    """A fitted rung."""

    name: str
    size: int
    byte_size: int
    seconds: float
    draw: Callable[[Seen, int], Floats]
    """Exposed light (N, 3) at the pixels of a view, with so many directions of light."""
    stored: object = None
    """A model of unlit_models.py, PbrTextures, ShaderTextures or a Neural."""
    opacity: Opacity | None = None
    blocks: dict[str, Blocks] = field(default_factory=dict)
    """Compressed textures by their use; none for textures of plain bytes."""
    notes: list[str] = field(default_factory=list)
    material: DeviceMaterial | None = None
    """What is evaluated for each light; None for rungs that store light."""
    nanoseconds: float | None = None
    """Of an evaluation of it; None where it is not measured."""
