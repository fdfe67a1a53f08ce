"""Checks and conversions of trainer states, which checkpoints store, for both trainers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.latents.quantise import LatentRange, pack_ranges, unpack_ranges
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.settings.schedule import Quantisation, TrainingSettings
from verdigris.core.training.latent_blocks import LatentBlocks
from verdigris.core.training.latent_grid import LatentGrid

# Name of the latent ranges in checkpoints.
RANGES = "latent_ranges"
# Of the endpoints of blocks.
ENDS = "latent_ends"


def require_array(
    state: dict[str, NDArray[Any]], name: str, shape: tuple[int, ...]
) -> NDArray[Any]:
    """Raises CheckpointError if the array is absent, has another shape, or is not finite."""
    if name not in state:
        raise CheckpointError(f"trainer state: {name} is missing")
    found = state[name]
    if found.shape != shape:
        raise CheckpointError(f"trainer state: {name} has shape {found.shape}, expected {shape}")
    if not np.isfinite(found).all():
        raise CheckpointError(f"trainer state: {name} has values that are not finite")
    return found


def require_network(parameters: Parameters, spec: NetworkSpec, layout: LatentLayout) -> None:
    """Raises CheckpointError if the parameters belong to another network."""
    if (parameters.spec, parameters.layout) != (spec, layout):
        raise CheckpointError(
            f"trainer state: another network, {parameters.spec} with {parameters.layout}; "
            f"expected {spec} with {layout}"
        )


def find_grid(
    state: dict[str, NDArray[Any]], layout: LatentLayout, channels: int, settings: TrainingSettings
) -> LatentGrid | None:
    """The grid of a state; None before rounding-aware training."""
    quantisation = settings.quantisation
    if quantisation is None or int(state["step"]) <= quantisation.first_step:
        return None
    packed = require_array(state, RANGES, (layout.materials, 2, channels))
    grid = make_grid(layout, unpack_ranges(packed), quantisation)
    if isinstance(grid, LatentBlocks):
        grid.ends = require_array(state, ENDS, grid.ends.shape).astype(np.float32)
    return grid


def make_grid(
    layout: LatentLayout, ranges: Sequence[LatentRange], quantisation: Quantisation
) -> LatentGrid:
    """What latents are rounded to."""
    return (LatentBlocks if quantisation.lines else LatentGrid)(layout, ranges)


def find_early_ranges(
    state: dict[str, NDArray[Any]], layout: LatentLayout, channels: int, settings: TrainingSettings
) -> tuple[LatentRange, ...] | None:
    """Ranges of a state between the rotation of latents and rounding-aware training, if it has
    them."""
    quantisation, step = settings.quantisation, int(state["step"])
    if quantisation is None or quantisation.lines is None or RANGES not in state:
        return None
    if not quantisation.lines.first_step < step <= quantisation.first_step:
        return None
    return unpack_ranges(require_array(state, RANGES, (layout.materials, 2, channels)))


def pack_grid(
    grid: LatentGrid | None, early: Sequence[LatentRange] | None = None
) -> dict[str, NDArray[Any]]:
    """The arrays that find_grid or find_early_ranges reads."""
    if grid is None:
        return {RANGES: pack_ranges(early)} if early else {}
    ends = {ENDS: grid.ends} if isinstance(grid, LatentBlocks) else {}
    return {RANGES: pack_ranges(grid.ranges), **ends}
