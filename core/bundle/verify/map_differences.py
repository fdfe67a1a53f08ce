"""Differences between a bundle's emission and opacity maps and the source's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from verdigris.core.bundle.files.ktx2 import BC6H
from verdigris.core.bundle.maps.bc6h import decode, encode
from verdigris.core.material.teacher.unlit_maps import unlit_maps
from verdigris.core.network.spec import LARGEST_HALF

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.evaluator import DeviceMaterial


# The graph differs by less than this between devices and drivers.
SAME_SOURCE = 1e-3
# The same for an emission map in blocks of BC6H; and, where blocks cannot hold the colours that
# well, as a factor of the difference that they must have.
_SAME_IN_BLOCKS, _SAME_AS_BLOCKS = 1e-2, 1.1


class MapDifferences(NamedTuple):
    """Means over the texels of the finest level; None if neither side has such a map."""

    emission: float | None
    """Mean difference of log(1 + emission)."""
    opacity: float | None
    texels: tuple[int, int]
    """Texels of emission and of opacity, which can have different sizes."""
    emission_bound: float
    """The largest mean difference that an intact emission map has."""


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
    bound = SAME_SOURCE
    if facts[0] is not None and facts[0].format == BC6H:
        bound = _SAME_IN_BLOCKS
        if emission is not None and glow is not None and glow > bound:
            bound = _bound_of_blocks(emission)
    return MapDifferences(glow, solid, (texels[0], texels[1]), bound)


def _bound_of_blocks(emission: NDArray[np.float32]) -> float:
    """For a map whose blocks of 4 x 4 texels have several colours, such as glowing cracks."""
    wanted = emission.clip(0, LARGEST_HALF).astype(np.float16)
    blocks = decode(encode(wanted), *wanted.shape[:2]).astype(np.float64)
    least = np.abs(np.log1p(blocks) - np.log1p(wanted.astype(np.float64))).mean()
    return max(_SAME_IN_BLOCKS, _SAME_AS_BLOCKS * float(least))


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
