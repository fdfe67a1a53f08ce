"""What trainers of all kinds ask of a state that they go on from."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.parameters import CheckpointError


def require_array(
    state: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """The array of that name; raises CheckpointError if it is absent, misshapen or not finite."""
    if name not in state:
        raise CheckpointError(f"trainer state lacks {name}")
    if state[name].shape != shape or not np.isfinite(state[name]).all():
        raise CheckpointError(f"trainer state: {name} is damaged or of another network")
    return state[name]
