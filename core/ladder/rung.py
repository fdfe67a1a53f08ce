"""A rung of a ladder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.visibility import Seen
    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]


@dataclass
class Rung:
    """A fitted rung."""

    name: str
    size: int
    byte_size: int
    seconds: float
    draw: Callable[[Seen, int], Floats]
    """Exposed light (N, 3) at the pixels of a view, with so many directions of light."""
    stored: dict[str, Any] = field(default_factory=dict)
    """Grids and curves to write."""
    notes: list[str] = field(default_factory=list)
    material: DeviceMaterial | None = None
    """What is evaluated for each light; None for rungs that store light."""
    nanoseconds: float | None = None
    """Of an evaluation of it; None where it is not measured."""
