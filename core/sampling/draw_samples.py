"""Draws training samples of materials on the device; the twin of draw_samples.slang."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from verdigris.core.device import Source
from verdigris.core.errors import SettingsError
from verdigris.core.network.spec import LatentLayout
from verdigris.core.training.protocols import TRAINING_SAMPLE, SampleArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    import slangpy

    from verdigris.core.device import Device

_SOURCE = Source("training/draw_samples")
_ENTRY = "drawSamples"
# Steps that are drawn together for a trainer on the processor.
CHUNK_STEPS = 8


class DrawnMaterial(Protocol):
    """What drawing needs of a material; a Teacher is one."""

    @property
    def device(self) -> Device: ...

    @property
    def lanes_per_sample(self) -> int: ...

    def kernel(self, source: Source, entry: str) -> slangpy.ComputeKernel: ...

    def bindings(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class DrawSettings:
    """How places and directions are drawn."""

    mirror_share: float = 0.1
    """Share of pairs around the mirror direction at random roughness. More starves the rest."""

    half_difference_share: float = 0.0
    """Share of pairs with even angles of half and difference vector; the rest are uniform."""

    least_cosine: float = 0.01
    """Directions are not closer to the horizon than this."""

    coarse_share: float = 0.1
    """Share of samples on coarser mip levels, half as many on each as on the one before."""

    coarse_places: int = 16
    """Places of its texel that a sample of the first coarser level averages. Twice as many on the
    next and four times as many on those beyond, whose texels hold more that differs."""

    finest_places: int = 0
    """The same on the finest level. More than 1 keeps detail that is smaller than a texel, and that
    the student cannot hold, from becoming noise; 0 lets the bake choose."""

    slope_step: float = 1.0 / 1024.0
    """The width in uv over which a material takes slopes of its own patterns."""

    pairs: int = 1
    """Samples in a row that share their place."""

    def __post_init__(self) -> None:
        for name in ("mirror_share", "half_difference_share", "coarse_share", "least_cosine"):
            value = getattr(self, name)
            if not 0 <= value < 1:
                raise SettingsError(f"{name} is {value}: use 0 to less than 1")
        if self.finest_places < 0:
            raise SettingsError(f"finest_places is {self.finest_places}: use 0 or more")
        for name in ("coarse_places", "pairs"):
            if getattr(self, name) < 1:
                raise SettingsError(f"{name} is {getattr(self, name)}: use at least 1")


def cumulative_importance(importance: NDArray[Any]) -> NDArray[np.float32]:
    """Cumulative shares of the rows, then of the columns of each row."""
    weights = np.asarray(importance, np.float64)
    if weights.ndim != 2 or not np.isfinite(weights).all() or (weights < 0).any():
        raise SettingsError("the importance map must be one channel of finite numbers from 0 up")
    rows = weights.sum(1)
    if not rows.sum() > 0:
        raise SettingsError(
            "the importance map is zero everywhere: paint something or leave it out"
        )
    columns = np.where(rows[:, None] > 0, weights, 1.0).cumsum(1)
    shares = columns / columns[:, -1:]
    return np.concatenate([rows.cumsum() / rows.sum(), shares.ravel()]).astype(np.float32)


@dataclass
class DrawnSamples:
    """Implements SampleSource, and for trainers on the device DeviceSampleSource."""

    materials: Sequence[DrawnMaterial]
    layout: LatentLayout
    seed: int = 0
    settings: DrawSettings = field(default_factory=DrawSettings)
    importance: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        if len(self.materials) != self.layout.materials:
            raise SettingsError(
                f"{len(self.materials)} materials for {self.layout.materials} latent textures"
            )
        self._device = self.materials[0].device
        self._kernels = [material.kernel(_SOURCE, _ENTRY) for material in self.materials]
        self._size = (0, 0) if self.importance is None else self.importance.shape
        sums = np.zeros(1) if self.importance is None else cumulative_importance(self.importance)
        self._sums = self._buffer(4 * sums.size, sums.astype(np.float32))
        self._buffers: dict[int, slangpy.Buffer] = {}
        # the chunk in the buffer that is being filled, and the one that was read
        self._pending: tuple[int, int] | None = None
        self._read: tuple[tuple[int, int], SampleArray] | None = None

    @property
    def pairs(self) -> int:
        return self.settings.pairs

    def draw(self, step: int, count: int) -> SampleArray:
        """Draws ahead: while the steps of a chunk are trained, the device fills the next one."""
        chunk = (step // CHUNK_STEPS, count)
        if self._read is None or self._read[0] != chunk:
            if self._pending != chunk:
                self._submit(chunk)
            buffer = self._buffers[count]
            self._read = (chunk, np.array(buffer.to_numpy()).view(TRAINING_SAMPLE))
            self._submit((chunk[0] + 1, count))
        first = step % CHUNK_STEPS * count
        return self._read[1][first : first + count]

    def _submit(self, chunk: tuple[int, int]) -> None:
        number, count = chunk
        if count not in self._buffers:
            self._buffers = {count: self._buffer(TRAINING_SAMPLE.itemsize * count * CHUNK_STEPS)}
        encoder = self._device.gpu.create_command_encoder()
        self.record(encoder, self._buffers[count], number * CHUNK_STEPS, CHUNK_STEPS, count)
        self._device.gpu.submit_command_buffer(encoder.finish())
        self._pending = chunk

    def record(
        self,
        encoder: slangpy.CommandEncoder,
        samples: slangpy.Buffer,
        step: int,
        steps: int,
        count: int,
    ) -> None:
        """Draws the batches of some steps to the start of the buffer."""
        # samples that share their place are of one material
        points, parts = count // self.pairs, len(self.materials)
        if points < parts:
            raise SettingsError(
                f"batch is {count}: use at least {parts * self.pairs} for {parts} materials"
            )
        ends = [points * (index + 1) // parts * self.pairs for index in range(parts)]
        first = 0
        for index, (material, end) in enumerate(zip(self.materials, ends, strict=True)):
            arguments = self._arguments(index, step, steps, count)
            arguments |= {"firstSlot": first, "slots": end - first}
            self._device.dispatch(
                self._kernels[index],
                steps * (end - first) * material.lanes_per_sample,
                {
                    "gDraw": arguments,
                    "gImportanceSums": self._sums,
                    "gSamples": samples,
                    **material.bindings(),
                },
                encoder,
            )
            first = end

    def _arguments(self, material: int, step: int, steps: int, batch: int) -> dict[str, Any]:
        settings = self.settings
        return {
            "seed": self.seed & 0xFFFFFFFF,
            "firstStep": step,
            "steps": steps,
            "batch": batch,
            "material": material,
            "pairs": settings.pairs,
            "width": self.layout.width,
            "height": self.layout.height,
            "levels": self.layout.levels,
            "coarseShare": settings.coarse_share,
            "coarsePlaces": settings.coarse_places,
            "finestPlaces": max(1, settings.finest_places),
            "slopeStep": settings.slope_step,
            "shares": {
                "mirror": settings.mirror_share,
                "halfDifference": settings.half_difference_share,
                "leastCosine": settings.least_cosine,
            },
            "importance": {"width": self._size[1], "height": self._size[0]},
        }

    def _buffer(self, size: int, data: NDArray[Any] | None = None) -> slangpy.Buffer:
        import slangpy

        usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
        return self._device.gpu.create_buffer(size=size, usage=usage, data=data)
