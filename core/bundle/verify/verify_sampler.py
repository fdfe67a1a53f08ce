"""Compares samplers with the reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.files.sampler_rows import (
    SAME_DIRECTION,
    SamplerRows,
    density_errors,
    sample_rows,
)
from verdigris.core.bundle.verify.rows import Row, largest

if TYPE_CHECKING:
    from verdigris.core.bundle.files.manifest_parts import Bounds
    from verdigris.core.bundle.files.reference import Reference
    from verdigris.core.network.parameters import Parameters

Floats = NDArray[np.float32]

# (uv [N, 2], lod [N], wi [N, 3], wo [N, 3], random [N, 2]) -> rows; with live inputs `live` too
Sampler = Callable[..., SamplerRows]


def numpy_sampler(parameters: Parameters) -> list[tuple[str, Sampler]]:
    """The oracle in single floats, if there is a head."""
    if parameters.head is None:
        return []

    def sample(
        uv: Floats,
        lod: Floats,
        wi: Floats,
        wo: Floats,
        random: Floats,
        live: Floats | None = None,
    ) -> SamplerRows:
        # an overflow is not finite and so exceeds every bound
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return sample_rows(parameters, uv, lod, wi, wo, random, live)

    return [("numpy", sample)]


def sampler_rows(
    samplers: Sequence[tuple[str, Sampler]], reference: Reference, bounds: Bounds
) -> list[Row]:
    """Densities, relative from bounds.floor up, and drawn directions."""
    wanted = reference.sampler
    if wanted is None:
        return []
    rows = []
    for name, sample in samplers:
        place = reference.uv, reference.lod, reference.wi, reference.wo
        found = sample(*place, wanted.random, **reference.given_live)
        densities = np.concatenate(
            [
                density_errors(getattr(found, each), getattr(wanted, each), bounds)
                for each in ("pdf", "drawn_pdf")
            ]
        )
        moved = np.abs(found.drawn.astype(np.float64) - wanted.drawn)
        moved[~np.isfinite(moved)] = np.inf
        what = f"{name} sampler against the reference"
        rows += [
            Row(what, densities.size, "largest relative", largest(densities), bounds.relative),
            Row(what, moved.size, "largest component", largest(moved), SAME_DIRECTION),
        ]
    return rows
