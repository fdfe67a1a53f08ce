"""Differences between a bundle's emission and opacity maps and the source's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verdigris.core.material.teacher.unlit_maps import unlit_maps
from verdigris.core.network.spec import LARGEST_HALF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.evaluator import DeviceMaterial


class MapDifferences(NamedTuple):
    """Means over the texels of the finest level; None if neither side has such a map."""

    emission: float | None
    """Mean difference of log(1 + emission)."""
    opacity: float | None
    texels: tuple[int, int]
    """Texels of emission and of opacity, which can have different sizes."""


def map_differences(bundle: Bundle, teacher: DeviceMaterial) -> MapDifferences:
    """Compares both maps. A missing map counts as no emission, or as opaque."""
    facts = bundle.manifest.emission, bundle.manifest.opacity
    # a missing map gets the size of the other one, or of the latents
    other = facts[0] or facts[1] or bundle.layout
    sizes = [(each.width, each.height) for each in (facts[0] or other, facts[1] or other)]
    found = {size: unlit_maps(teacher, *size) for size in {*sizes}}
    emission, coverage = found[sizes[0]].emission, found[sizes[1]].coverage
    glow = _difference(np.log1p, bundle.emission(), 3, 1.0, 0.0, emission)
    solid = _difference(lambda values: values, bundle.opacity(), 1, 255.0, 1.0, coverage)
    texels = [width * height for width, height in sizes]
    return MapDifferences(glow, solid, (texels[0], texels[1]))


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
