"""How far a bundle's emission and opacity are from what the source gives off and covers now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verdigris.core.material.maps import unlit_maps
from verdigris.core.network.spec import LARGEST_HALF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.bundle.read import Bundle
    from verdigris.core.material.evaluator import DeviceMaterial


class MapDifferences(NamedTuple):
    """Means over the texels of a finest level; None where neither side has such a map."""

    emission: float | None
    """Of the logarithms, as of responses."""
    opacity: float | None
    texels: int


def map_differences(bundle: Bundle, teacher: DeviceMaterial) -> MapDifferences:
    """Maps that only one side has are held against what stands for them: no light, and a solid
    surface."""
    stored = bundle.emission(), bundle.opacity()
    size = next((len(levels[0]) for levels in stored if levels), bundle.layout.width)
    emission, coverage = unlit_maps(teacher, size)
    glow = _difference(np.log1p, stored[0], 3, 1.0, 0.0, emission)
    solid = _difference(lambda values: values, stored[1], 1, 255.0, 1.0, coverage)
    return MapDifferences(glow, solid, size * size)


def _difference(
    scaled: Any,
    stored: Sequence[NDArray[Any]] | None,
    channels: int,
    one: float,
    missing: float,
    found: NDArray[np.float32] | None,
) -> float | None:
    if stored is None and found is None:
        return None
    texels = missing if stored is None else stored[0][..., :channels].astype(np.float64) / one
    wanted = missing if found is None else found.reshape(*found.shape[:2], channels)
    first, second = (np.clip(each, 0, LARGEST_HALF) for each in (texels, wanted))
    return float(np.abs(scaled(first) - scaled(second)).mean())
