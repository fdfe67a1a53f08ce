"""Prepares batches before their steps: everything that does not depend on the parameters.

Several batches are prepared together. A few long numpy calls delay the training thread less than
many short calls, which hold the interpreter lock.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from verdigris.core.base.array_types import FloatArray
from verdigris.core.material.sides import mirrored
from verdigris.core.network.forward_pass import Places
from verdigris.core.network.latents.texels import IndexArray, corners
from verdigris.core.network.spec import CHANNELS, LENGTH_EPSILON, RANGES, LatentLayout
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE, SampleArray

_WORDS = TRAINING_SAMPLE.itemsize // 4


def _column(name: str) -> int:
    fields: Any = TRAINING_SAMPLE.fields
    return int(fields[name][1]) // 4


_LEVEL, _MATERIAL, _RESPONSE, _WEIGHT = map(_column, ("level", "material", "response", "weight"))
_UV, _WI, _WO, _LIVE = map(_column, ("uv", "wi", "wo", "live"))
_LIVE_INPUTS = RANGES["live_inputs"][1]


class PreparedBatch(NamedTuple):
    """Inputs of a step. Samples are ordered [pairs, points]."""

    indices: IndexArray
    """(4, points)"""
    corner_weights: FloatArray
    """(4, points)"""
    directions: FloatArray
    """(2, 3, samples): half vector and wi in the geometric frame."""
    cosine: FloatArray
    """(samples): cosine between half vector and wi."""
    response: FloatArray
    """(3, samples)"""
    weight: FloatArray
    """(samples)"""
    live: FloatArray
    """(3, points)"""

    def part(self, samples: slice) -> PreparedBatch:
        """A view of some of the pairs of each point, as a slice of samples."""
        return self._replace(
            directions=self.directions[..., samples],
            cosine=self.cosine[samples],
            response=self.response[:, samples],
            weight=self.weight[samples],
        )

    @property
    def places(self) -> Places:
        """What is evaluated."""
        return Places(self.indices, self.corner_weights, self.directions, self.cosine, self.live)


class BatchPreparation:
    """Memory for `batches` batches of `count` samples, with `pairs` consecutive samples per
    point."""

    def __init__(
        self,
        layout: LatentLayout,
        count: int,
        pairs: int = 1,
        batches: int = 1,
        index_below: float = 0.0,
    ) -> None:
        """With an index, half of the pairs have light from below: it is mirrored."""
        self.index_below = index_below
        self.layout, self.pairs, self.points = layout, pairs, count // pairs
        self._columns = np.empty((_WORDS, batches, count), np.float32)
        self._indices: IndexArray = np.empty((batches, 4, self.points), np.int64)
        self._corner_weights = np.empty((batches, 4, self.points), np.float32)
        self._directions = np.empty((2, 3, batches, count), np.float32)
        self._cosine = np.empty((batches, count), np.float32)
        self.rejected = 0
        """Samples with a NaN response in the batches of the last call to prepare."""

    def load(self, number: int, samples: SampleArray) -> None:
        """Copies the samples of a batch."""
        words = samples.view(np.float32).reshape(self.points, self.pairs, _WORDS)
        by_pair = self._columns[:, number].reshape(_WORDS, self.pairs, self.points)
        np.copyto(by_pair, words.transpose(2, 1, 0))

    def prepare(self, batches: int = 1) -> None:
        """Prepares the first `batches` loaded batches."""
        columns = self._columns[:, :batches]
        self._find_corners(columns[..., : self.points])
        wi, wo = columns[_WI : _WI + 3], columns[_WO : _WO + 3]
        if self.index_below:
            lower = np.s_[:, :, wi.shape[2] // 2 :]
            wi[lower] = mirrored(wi[lower], wo[lower], self.index_below)
            # no light to learn, and no direction that is ever evaluated
            weight = columns[_WEIGHT, :, wi.shape[2] // 2 :]
            weight[wi[lower][2] <= 0] = 0
        half = self._directions[0, :, :batches]
        np.add(wi, wo, out=half)
        length = np.sqrt(np.einsum("cbn,cbn->bn", half, half))
        half /= np.maximum(length, np.float32(LENGTH_EPSILON))
        self._directions[1, :, :batches] = wi
        np.einsum("cbn,cbn->bn", half, wi, out=self._cosine[:batches])
        self._reject_nan(columns)

    def _find_corners(self, at_points: FloatArray) -> None:
        batches = at_points.shape[1]
        flat = at_points.reshape(_WORDS, -1)
        level: IndexArray | int = 0
        material: IndexArray | int = 0
        if self.layout.levels > 1:
            level = flat[_LEVEL].astype(np.int64)
        if self.layout.materials > 1:
            material = flat[_MATERIAL].view(np.uint32).astype(np.int64)
        found = corners(self.layout, flat[_UV : _UV + 2], level, material)
        for values, target in zip(found, (self._indices, self._corner_weights), strict=True):
            target[:batches] = values.reshape(4, batches, self.points).swapaxes(0, 1)

    def _reject_nan(self, columns: FloatArray) -> None:
        self.rejected = 0
        response = columns[_RESPONSE : _RESPONSE + CHANNELS]
        if not np.isfinite(response.sum()):
            is_nan = np.isnan(response).any(0)
            self.rejected = int(is_nan.sum())
            response[:, is_nan] = 0
            columns[_WEIGHT][is_nan] = 0

    def batch(self, number: int = 0) -> PreparedBatch:
        """A view of a prepared batch."""
        return PreparedBatch(
            self._indices[number],
            self._corner_weights[number],
            self._directions[:, :, number],
            self._cosine[number],
            self._columns[_RESPONSE : _RESPONSE + CHANNELS, number],
            self._columns[_WEIGHT, number],
            self._columns[_LIVE : _LIVE + _LIVE_INPUTS, number, : self.points],
        )


class BatchTexels(NamedTuple):
    """The texels that a batch touches."""

    rows: IndexArray
    """The unique indices of texels."""
    places: IndexArray
    """For each corner, the position of its texel in `rows`."""


class TexelFinder:
    """Finds the unique texels of a batch with a flag per texel, which is faster than sorting."""

    def __init__(self, layout: LatentLayout) -> None:
        self._is_touched = np.zeros(layout.texel_count, bool)
        self._place = np.zeros(layout.texel_count, np.int64)

    def find(self, indices: IndexArray) -> BatchTexels:
        of_each_corner = indices.ravel()
        self._is_touched[of_each_corner] = True
        rows = np.flatnonzero(self._is_touched)
        self._is_touched[rows] = False
        self._place[rows] = np.arange(len(rows))
        return BatchTexels(rows, self._place[of_each_corner])
