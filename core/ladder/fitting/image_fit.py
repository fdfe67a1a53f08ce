"""Fits textures and colours to pictures: loss in image space, at the pixels that cameras see.

A kernel shades pixels from stored values, compares displayed light, and gets the gradient by
Slang's automatic differentiation. The pipeline is the same for all models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from verdigris.core.base.device import MOST_THREADS, Device
from verdigris.core.base.kernels import Source
from verdigris.core.ladder.texels.grid import (
    HARDEST,
    Grid,
    layout_uniform,
    quantise,
    rate_at,
    softness_at,
)
from verdigris.core.ladder.texels.pbr_model import CONSTANTS
from verdigris.core.ladder.texels.tone_curve import fit_curve
from verdigris.core.ladder.views.reference import batches
from verdigris.core.network.spec import LatentLayout
from verdigris.core.training.optimiser import BETA_1, BETA_2, EPSILON, adam_rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.texels.tone_curve import ToneCurve


_SHADER = Source("ladder/fitting/image_fit")
# How pixels find their place in a grid, as image_model.slang numbers it.
BY_UNIQUE_UV, BY_FIRST_UV, BY_MIRROR, BY_VERTEX = range(4)
RECORD = 16
_MOST_GRIDS = 3
_MOST_FOR_CURVE = 200_000
# Fractional bits of gradients in fixed point, for pixels that share no texels.
_UNIT_BITS = 16


@dataclass(frozen=True)
class Read:
    """How pixels read a grid of a model."""

    grid: Grid
    place: int
    """One of the `BY_` numbers."""
    value: int
    """The number of its first channel among the values of a pixel."""


class Model(Protocol):
    """The stored values of a rung, as pixels read them."""

    kind: int
    """The formula that shades a pixel, as image_model.slang numbers it."""
    curve: ToneCurve

    @property
    def reads(self) -> Sequence[Read]:
        """The grids, and how pixels read them."""

    @property
    def curves(self) -> tuple[ToneCurve, ToneCurve]:
        """The tone curves of light and of the map of mirrored light."""


@dataclass
class OneTexture:
    """A texture of light on a uv set without overlaps."""

    texture: Grid
    curve: ToneCurve
    kind = 0

    @property
    def reads(self) -> Sequence[Read]:
        return (Read(self.texture, BY_UNIQUE_UV, 0),)

    @property
    def curves(self) -> tuple[ToneCurve, ToneCurve]:
        return self.curve, self.curve


@dataclass
class VertexColours:
    """Stored light at vertices, interpolated before the tone curve."""

    colours: Grid
    """One row of texels, a texel for each vertex."""
    curve: ToneCurve
    kind = 0

    @property
    def reads(self) -> Sequence[Read]:
        return (Read(self.colours, BY_VERTEX, 0),)

    @property
    def curves(self) -> tuple[ToneCurve, ToneCurve]:
        return self.curve, self.curve


@dataclass(frozen=True)
class ImageFitSettings:
    """The work of a fit."""

    steps: int = 500
    batch: int = 16_384
    rate: float = 0.02
    is_soft: bool = True


@dataclass(frozen=True)
class Records:
    """Pixels of several views on a device: the places that they read, their light, and their
    painted weights."""

    device: Device
    count: int
    buffer: Any
    """RECORD numbers for each pixel: uv on the set without overlaps, on the first set and on the
    map of mirrored light; vertices of the triangle and their weights; exposed light; paint."""
    triangle: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """The triangle of each pixel."""
    seed: int = 3

    @cached_property
    def order(self) -> Any:
        """A random order of the pixels."""
        order = np.random.default_rng(self.seed).permutation(self.count)
        return self.device.new_buffer(order.astype(np.uint32))

    @cached_property
    def light(self) -> FloatArray:
        """The exposed light (N, 3)."""
        found = self.buffer.to_numpy().view(np.float32).reshape(self.count, RECORD)
        return np.array(found[:, 12:15])

    @cached_property
    def curve(self) -> ToneCurve:
        """The tone curve that stores this light best."""
        return fit_curve(self.light[:: max(1, self.count // _MOST_FOR_CURVE)])


class ImageFit:
    """A model on a device: the steps of its fit, its pictures, and the means with which a fit
    starts."""

    def __init__(self, model: Model, records: Records) -> None:
        self._device, self._records, self._model = records.device, records, model
        self._kernels = self._device.shared_kernels({}, CONSTANTS)
        reads = model.reads
        self._firsts = np.cumsum([0, *(len(each.grid.values) for each in reads)]).tolist()
        self._stored = np.zeros((self._firsts[-1], 3), np.float32)
        for each, first in zip(reads, self._firsts, strict=False):
            count, channels = each.grid.values.shape
            self._stored[first : first + count, :channels] = each.grid.values
        new = self._device.new_buffer
        self._scales = [1.0] * len(reads)
        self._hardness = 0.0
        self._losses = new(np.zeros(1, np.float32))
        self._nothing = self._order = new(np.zeros(1, np.uint32))
        # a picture needs no gradients
        self._texels = {
            "gStored": new(self._stored), "gMoments": self._nothing, "gGradients": self._nothing,
        }  # fmt: skip

    def differentiate(self, chosen: slice, softness: float = 0.0) -> None:
        """Adds the gradients of these pixels of the random order."""
        self._order = self._records.order
        if self._texels["gGradients"] is self._nothing:
            new, count = self._device.new_buffer, self._stored.size
            self._texels["gMoments"] = new(np.zeros((count, 2), np.float32), 8)
            self._texels["gGradients"] = new(np.zeros(count, np.int32))
        size = chosen.stop - chosen.start
        self._scales = [
            2.0 ** (_UNIT_BITS - (4 * size // len(each.grid.values) + 1).bit_length() // 2)
            for each in self._model.reads
        ]
        if self._losses.size != 4 * size:
            self._losses = self._device.new_space(size)
        self._hardness = HARDEST * softness
        self._run("fitImage", size, self._losses, first=chosen.start)

    def step(self, chosen: slice, rate: float, number: int, softness: float = 0.0) -> None:
        """One step of Adam on these pixels."""
        self.differentiate(chosen, softness)
        whole = rate * adam_rate(1.0, number)
        for place, each in enumerate(self._model.reads):
            count = len(each.grid.values)
            for first in range(0, count, MOST_THREADS):
                part = min(MOST_THREADS, count - first)
                self._run("updateGrid", part, self._losses, first=first, rate=whole, start=place)

    @property
    def loss(self) -> float:
        """Mean loss of the last step's pixels."""
        return float(self._losses.to_numpy().view(np.float32).mean())

    @property
    def gradients(self) -> list[FloatArray]:
        """The gradients by the stored values of each grid, summed over pixels, before soft
        quantisation."""
        found = self._texels["gGradients"].to_numpy().view(np.int32).reshape(-1, 3)
        return [
            np.asarray(found[first : first + len(each.grid.values), : each.grid.channels] / scale)
            for each, first, scale in zip(
                self._model.reads, self._firsts, self._scales, strict=False
            )
        ]

    def finish(self) -> None:
        """Reads the stored values back into the grids."""
        found = self._texels["gStored"].to_numpy().view(np.float32).reshape(-1, 3)
        for each, first in zip(self._model.reads, self._firsts, strict=False):
            end = first + len(each.grid.values)
            each.grid.values[:] = found[first:end, : each.grid.channels]

    def shade(self) -> FloatArray:
        """Light (N, 3) of all pixels."""
        count = self._records.count
        result = self._device.new_space(3 * count)
        self._hardness = 0.0
        self._run("shadeImage", count, result)
        return np.asarray(result.to_numpy().view(np.float32).reshape(count, 3))

    def means(self, factor: float = 1.0) -> tuple[FloatArray, FloatArray]:
        """The means (texels, 3) of stored light, times a factor, at the texels of the first grid,
        and the sum of weights at each texel. With a second grid of colours, these are means of the
        detail that the colours lack."""
        first = self._model.reads[0]
        size = 4 * len(first.grid.values)
        sums = {
            name: self._device.new_buffer(np.zeros(size, np.uint32)) for name in ("gLow", "gHigh")
        }
        self._hardness = 0.0
        self._run("addMeans", self._records.count, sums["gLow"], sums, factor=factor)
        low, high = (each.to_numpy().view(np.uint32).astype(np.float64) for each in sums.values())
        total = ((high * 2.0**32 + low) / 65536).reshape(-1, 4)
        weight = total[:, 3]
        return total[:, :3] / np.maximum(weight, 1e-9)[:, None], weight

    def _grid(self, number: int) -> dict[str, Any]:
        read = self._model.reads[number]
        # vertices are read by their numbers, which may exceed the width of a texture
        layout = LatentLayout(1, 1) if read.place == BY_VERTEX else read.grid.layout
        return {
            "layout": layout_uniform(layout),
            "channels": read.grid.channels,
            "place": read.place,
            "value": read.value,
            "first": self._firsts[number],
            "scale": self._scales[number],
        }

    def _run(
        self, entry: str, count: int, result: Any, sums: dict[str, Any] | None = None,
        first: int = 0, rate: float = 0.0, factor: float = 1.0, start: int = 0,
    ) -> None:  # fmt: skip
        """Runs a kernel. Its `grid0` is the grid with the number `start`."""
        reads, (curve, mirror) = self._model.reads, self._model.curves
        grids = {
            f"grid{place}": self._grid((start + place) % len(reads)) for place in range(_MOST_GRIDS)
        }
        fit = {
            "count": count,
            "first": first,
            "kind": self._model.kind,
            "grids": len(reads),
            "curve": curve.numbers,
            "mirrorCurve": mirror.numbers,
            "hardness": self._hardness,
            "rate": rate,
            "factor": factor,
            "adam": {"beta1": BETA_1, "scale": {"beta2": BETA_2, "epsilon": EPSILON}},
            **grids,
        }
        sums = sums or {"gLow": self._nothing, "gHigh": self._nothing}
        variables = {
            "gFit": fit, "gRecords": self._records.buffer, "gOrder": self._order,
            "gResult": result, **self._texels, **sums,
        }  # fmt: skip
        self._device.dispatch(self._kernels.get((_SHADER,), entry), count, variables)


def fit_model(
    model: Model,
    records: Records,
    settings: ImageFitSettings | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> float:
    """Fits a model in place and rounds it to bytes. Returns the loss before rounding."""
    settings = settings or ImageFitSettings()
    steps = settings.steps
    fit = ImageFit(model, records)
    for step, chosen in enumerate(batches(records.count, settings.batch, steps)):
        softness = softness_at(step, steps) if settings.is_soft else 0.0
        fit.step(chosen, rate_at(step, steps, settings.rate), step, softness)
        on_progress((step + 1) / steps)
    fit.finish()
    for each in model.reads:
        each.grid.values[:] = quantise(each.grid.values)
    return fit.loss
