"""Trains on the CPU: the default without a GPU.

One thread of numpy trains while another draws and prepares the next batches, some at once. More
threads of short calls are slower, not faster: a step is two hundred calls of ten microseconds,
between which threads queue for Python's interpreter lock; nor are the matrix products large enough
to pay for a second BLAS thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.processor import single_threaded_blas
from verdigris.core.network.parameters import CheckpointError, FloatArray, Parameters
from verdigris.core.network.quantise import LatentRange, fit_ranges
from verdigris.core.network.spec import LatentLayout
from verdigris.core.network.texels import IndexArray
from verdigris.core.settings.schedule import HARD, TrainingSettings
from verdigris.core.training.latent_grid import LatentGrid, find_grid, pack_grid
from verdigris.core.training.numpy.core_reservation import CoreReservation
from verdigris.core.training.numpy.kernel import Kernel
from verdigris.core.training.numpy.prepared_batch import (
    BatchTexels,
    Preparation,
    PreparedBatch,
    TexelFinder,
)
from verdigris.core.training.optimiser import DECODER_BETA_2, LazyRmsProp, adam_rate, scaled_rate
from verdigris.core.training.packed_decoder import PackedDecoder
from verdigris.core.training.protocols import SampleSource, StepReport
from verdigris.core.training.rotated_adam import RotatedAdam
from verdigris.core.training.trainer_state import require_array

# Steps that are drawn and prepared together.
_BLOCK_STEPS = 8


class _Block:
    """Batches of a few steps."""

    def __init__(self, layout: LatentLayout, count: int, pairs: int) -> None:
        self.preparation = Preparation(layout, count, pairs, _BLOCK_STEPS)
        self.texels: list[BatchTexels] = []
        self.failure: RuntimeError | None = None


@dataclass(frozen=True)
class LiveNetwork:
    """The numbers that are being trained, not copied: they change with the next step."""

    decoder: PackedDecoder
    layout: LatentLayout
    latents: FloatArray
    """(texels, channels)"""
    round_latents: Callable[[FloatArray, IndexArray], None] | None
    """Replaces gathered rows by what a result would hold of them, once latents are rounded."""


class NumpyTrainer:
    """Implements Trainer; see protocols.py."""

    def __init__(
        self,
        parameters: Parameters,
        source: SampleSource,
        settings: TrainingSettings,
        device_threads: Sequence[int] = (),
    ) -> None:
        """`device_threads` are those that draw, where they take time from the one that trains."""
        if settings.batch % source.pairs:
            raise SettingsError(f"batch is {settings.batch}: use a multiple of {source.pairs}")
        spec, layout = parameters.spec, parameters.layout
        self._settings, self._source = settings, source
        self._decoder = PackedDecoder(spec)
        self._grid: LatentGrid | None
        self.restart(parameters)
        self._kernel = Kernel(spec, layout, settings.loss, settings.batch, source.pairs)
        # Most texels that a batch can touch: four for each point.
        most = min(4 * settings.batch // source.pairs, layout.texel_count)
        self._g_latents = np.empty((spec.latent_channels, most), np.float32)
        self._blocks = [_Block(layout, settings.batch, source.pairs) for _ in range(2)]
        self._finder = TexelFinder(layout)
        self._drawing = ThreadPoolExecutor(1, thread_name_prefix="draw")
        self._core_reservation = CoreReservation(device_threads)

    @property
    def step(self) -> int:
        return self._step

    def step_many(self, steps: int) -> StepReport:
        losses, skipped, rejected = [], 0, 0
        end = self._step + steps
        # A single step first: there is nothing to train until it is prepared.
        pending = self._draw(range(self._step, min(end, self._step + 1)))
        try:
            with single_threaded_blas(), self._core_reservation.hold():
                while pending:
                    block = pending.result()
                    # Nothing is drawn ahead of the last step: the device is the caller's after it.
                    done = self._step + len(block.texels)
                    ahead = range(done, min(end, done + _BLOCK_STEPS))
                    pending = None if block.failure else self._draw(ahead)
                    rejected += block.preparation.rejected
                    for number, texels in enumerate(block.texels):
                        loss = self._do_step(block.preparation.batch(number), texels)
                        if loss is None:
                            skipped += 1
                        else:
                            losses.append(loss)
                    if block.failure:
                        raise block.failure
                    if pending and len(block.texels) == len(ahead):
                        self._core_reservation.record_lateness(not pending.done())
        finally:
            if pending:
                wait([pending])
        mean = float(np.mean(losses)) if losses else float("nan")
        return StepReport(mean, steps * self._settings.batch, skipped, rejected)

    def _draw(self, steps: range) -> Future[_Block] | None:
        """Draws and prepares some steps, into the block of the two that is not trained."""
        if not steps:
            return None
        self._blocks.reverse()
        return self._drawing.submit(self._draw_block, self._blocks[0], steps)

    def _draw_block(self, block: _Block, steps: range) -> _Block:
        block.failure = None
        for number, step in enumerate(steps):
            try:
                block.preparation.take(number, self._source.draw(step, self._settings.batch))
            except RuntimeError as failure:
                # raised once the steps before it are done
                block.failure, steps = failure, steps[:number]
                break
        block.preparation.work_out(len(steps))
        batches = map(block.preparation.batch, range(len(steps)))
        block.texels = [self._finder.find(batch.indices) for batch in batches]
        return block

    def _do_step(self, batch: PreparedBatch, texels: BatchTexels) -> float | None:
        """The step's loss, or None if it was skipped."""
        kernel, step = self._kernel, self._step
        grid, rounding = self._grid_at(step), self._settings.rounding(step)
        kernel.round_latents = partial(grid.round, rounding=rounding) if grid and rounding else None
        self._step += 1
        with np.errstate(over="ignore", invalid="ignore"):
            kernel.run(self._decoder, self._latents.values, batch, 1 / self._settings.batch)
        gradient = kernel.gradients.vector
        # A value that is not finite reaches the decoder's gradient from wherever it arises.
        if not (np.isfinite(kernel.loss) and np.isfinite(gradient).all()):
            return None

        rows = texels.rows
        g_latents = self._g_latents[:, : len(rows)]
        kernel.scatter(batch, texels.places, g_latents)

        schedule = self._settings.schedule
        factor = schedule.factor(step)
        decoder_rate = adam_rate(factor * schedule.decoder_rate, step, DECODER_BETA_2)
        self._adam.update(kernel.gradients, decoder_rate, step)
        by_texel = np.ascontiguousarray(g_latents.T)
        latents = self._latents.values
        if grid and rounding:
            by_texel *= grid.derivative(latents[rows], rows, rounding)
        self._latents.update(rows, by_texel, scaled_rate(factor * schedule.latent_rate, step))
        if grid:
            moved = latents[rows]
            grid.limit(moved, rows)
            latents[rows] = moved
        return kernel.loss

    def _grid_at(self, step: int) -> LatentGrid | None:
        """The grid of the phase that rounds latents; its ranges are fixed as the phase begins."""
        quantisation = self._settings.quantisation
        if quantisation is None or step < quantisation.first_step:
            return None
        if self._grid is None:
            ranges = fit_ranges(self._start, quantisation.outliers)
            self._grid = LatentGrid(self._start.layout, ranges, quantisation.bits)
        return self._grid

    def latent_ranges(self) -> tuple[LatentRange, ...] | None:
        return self._grid.ranges if self._grid else None

    def live(self) -> LiveNetwork:
        """For whoever looks at a few texels between two runs of steps."""
        hard = partial(self._grid.round, rounding=HARD) if self._grid else None
        return LiveNetwork(self._decoder, self._start.layout, self._latents.values, hard)

    def parameters(self) -> Parameters:
        result = self._start.copy()
        self._decoder.unpack(result)
        return result

    def state(self) -> dict[str, NDArray[Any]]:
        return {
            "step": np.array(self._step),
            "decoder_m": self._adam.m.copy(),
            "decoder_v": self._adam.v.copy(),
            "decoder_bases": self._adam.bases.copy(),
            "latents_v": self._latents.v.copy(),
            **pack_grid(self._grid),
        }

    def restore(self, parameters: Parameters, state: dict[str, NDArray[Any]]) -> None:
        targets = {
            "decoder_m": self._adam.m,
            "decoder_v": self._adam.v,
            "decoder_bases": self._adam.bases,
            "latents_v": self._latents.v,
        }
        step = int(require_array(state, "step", ()))
        arrays = {
            name: require_array(state, name, target.shape) for name, target in targets.items()
        }
        if (parameters.spec, parameters.layout) != (self._start.spec, self._start.layout):
            raise CheckpointError("parameters are of another network than the trainer's")
        spec, layout = self._start.spec, self._start.layout
        self._grid = find_grid(state, layout, spec.latent_channels, self._settings)
        for name, target in targets.items():
            target[:] = arrays[name]
        self._step = step
        self._start.decoder[:] = parameters.decoder
        self._start.latents[:] = parameters.latents
        self._decoder.pack(self._start)

    def restart(self, parameters: Parameters) -> None:
        self._start = parameters.astype(np.float32)
        self._decoder.pack(self._start)
        self._adam = RotatedAdam(self._decoder)
        self._latents = LazyRmsProp(self._start.latents)
        self._step, self._grid = 0, None

    def close(self) -> None:
        self._drawing.shutdown()
