"""Fits the heads of sampler and split-sum lighting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.baking.finish.fit_sampler import fit_sampler
from verdigris.core.baking.finish.fit_split import (
    SplitEffort,
    draw_split_examples,
    fit_split,
    join_split,
)
from verdigris.core.baking.finish.sampler_examples import Effort
from verdigris.core.base.process.profile import profiled
from verdigris.core.network.numpy_mlp import evaluate

if TYPE_CHECKING:
    from verdigris.core.baking.finish.sampler_examples import Responds
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.network.parameters import Parameters
    from verdigris.core.network.spec import NetworkSpec

    # The numbers of every material, one after the other.
    Materials = Callable[[], Iterator[tuple[Parameters, Responds]]]
    # Those of each side.
    Heads = tuple[FloatArray, ...]


@dataclass(frozen=True)
class HeadsEffort:
    """The size of both fits."""

    sampler: Effort
    split: SplitEffort


@profiled("fit heads")
def fit_heads(spec: NetworkSpec, materials: Materials, effort: HeadsEffort) -> FloatArray:
    """The heads of sampler and split-sum lighting, for all materials that share the decoder."""
    head = fit_sampler(spec, materials, effort.sampler)
    return _fit_split(spec, materials, head, effort.split)


def _fit_split(
    spec: NetworkSpec, materials: Materials, head: FloatArray, effort: SplitEffort
) -> FloatArray:
    """The sampler's head with that of split-sum lighting."""
    examples = [
        draw_split_examples(replace(numbers, head=head), student, effort)
        for numbers, student in materials()
    ]
    return fit_split(spec, head, join_split(examples), effort)


def fit_sides(sides: Iterable[Parameters], effort: HeadsEffort) -> Heads:
    """The heads of each side of one material, without a device."""

    def fit_one(side: Parameters) -> FloatArray:
        return fit_heads(side.spec, lambda: iter([(side, InNumpy(side))]), effort)

    return tuple(map(fit_one, sides))


class InNumpy:
    """A student of one side that needs no device."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self.level = 0.0

    def response(
        self,
        uv: NDArray[Any],
        wi: NDArray[Any],
        wo: NDArray[Any],
        *,
        live: NDArray[Any] | None = None,
    ) -> NDArray[np.floating[Any]]:
        own = self._parameters
        level = min(int(self.level), own.layout.levels - 1)
        if live is None:
            live = np.array(own.live, np.float32) if own.live else None
        found = evaluate(own.spec, own, uv, level, wi, wo, live=live)
        found[(wi[:, 2] <= 0) | (wo[:, 2] <= 0)] = 0
        return found
