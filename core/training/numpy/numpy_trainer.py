"""The trainer for the CPU, which is the default without a GPU.

One thread trains with numpy while another draws and prepares the next block of batches. More
threads would be slower: a step makes about two hundred numpy calls of ten microseconds each, and
threads wait for the interpreter lock between calls. The matrix products are too small for a second
BLAS thread.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.process.processor import find_affinities, pin_thread, single_threaded_blas
from verdigris.core.network.latents.quantise import LatentRange, fit_ranges
from verdigris.core.network.latents.texels import IndexArray
from verdigris.core.network.packed_decoder import PackedDecoder
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import LatentLayout
from verdigris.core.settings.schedule import HARD, TrainingSettings
from verdigris.core.training.latent_rounding import (
    SIDES,
    LatentBlocks,
    LatentGrid,
    move_to_blocks,
    rotate_latents,
)
from verdigris.core.training.numpy.kernel import Kernel
from verdigris.core.training.numpy.prepared_batch import (
    BatchPreparation,
    BatchTexels,
    PreparedBatch,
    TexelFinder,
)
from verdigris.core.training.optimiser import (
    DECODER_BETA_2,
    LazyRmsProp,
    RotatedAdam,
    adam_rate,
    scaled_rate,
)
from verdigris.core.training.trainer import (
    SampleSource,
    StepReport,
    find_early_ranges,
    find_grid,
    find_rate,
    make_grid,
    pack_grid,
    pack_rate,
    require_array,
    require_network,
)

# Steps whose batches are drawn and prepared together.
_BLOCK_STEPS = 8
# Blocks by which a reservation is judged, about one second: single blocks are late by chance.
_JUDGED_BLOCKS = 32


class _Block:
    """The batches of _BLOCK_STEPS steps."""

    def __init__(self, layout: LatentLayout, count: int, pairs: int, index_below: float) -> None:
        self.preparation = BatchPreparation(layout, count, pairs, _BLOCK_STEPS, index_below)
        self.texels: list[BatchTexels] = []
        self.failure: RuntimeError | None = None


@dataclass(frozen=True)
class LiveNetwork:
    """Views of the parameters in training. The next step changes them."""

    decoder: PackedDecoder
    layout: LatentLayout
    latents: FloatArray
    """(texels, channels)"""
    round_latents: Callable[[FloatArray, IndexArray], None] | None
    """Rounds gathered latents in place, as in a result; None before rounding-aware training."""
    below: PackedDecoder | None = None
    """The decoder for light from below, if the surface transmits."""
    index_below: float = 0.0

    def snapshot(self) -> LiveNetwork:
        """A copy, which later steps do not change."""
        below = self.below.copy() if self.below else None
        return replace(self, decoder=self.decoder.copy(), below=below, latents=self.latents.copy())


class NumpyTrainer:
    """Implements Trainer; see trainer.py."""

    def __init__(
        self,
        parameters: Parameters,
        source: SampleSource,
        settings: TrainingSettings,
        device_threads: Sequence[int] = (),
    ) -> None:
        """`device_threads`: threads of a software device, which compete with training."""
        if settings.batch % source.pairs:
            raise SettingsError(f"batch is {settings.batch}: use a multiple of {source.pairs}")
        spec, layout = parameters.spec, parameters.layout
        self._settings, self._source = settings, source
        self._decoders = [PackedDecoder(spec) for _ in parameters.sides]
        self._grid: LatentGrid | None
        # ranges before rounding-aware training, by which kinds of blocks are chosen
        self._early_ranges: tuple[LatentRange, ...] | None
        self.restart(parameters)
        sides = len(self._decoders)
        own = settings.batch // sides, source.pairs // sides
        self._kernels = [Kernel(spec, layout, settings.loss, *own) for _ in self._decoders]
        # A batch touches at most four texels per point.
        most = min(4 * settings.batch // source.pairs, layout.texel_count)
        self._g_latents = np.empty((spec.latent_channels, most), np.float32)
        known = layout, settings.batch, source.pairs, parameters.index_below
        self._blocks = [_Block(*known) for _ in range(2)]
        self._finder = TexelFinder(layout)
        self._drawing = ThreadPoolExecutor(1, thread_name_prefix="draw")
        self._core_reservation = CoreReservation(device_threads)

    @property
    def step(self) -> int:
        return self._step

    def step_many(self, steps: int) -> StepReport:
        losses, skipped, rejected = [], 0, 0
        end = self._step + steps
        # The first block is a single step, because training waits for it.
        pending = self._draw(range(self._step, min(end, self._step + 1)))
        try:
            with single_threaded_blas(), self._core_reservation.hold():
                while pending:
                    block = pending.result()
                    # Draws nothing beyond the last step, because the caller then uses the device.
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
        """Starts to draw and prepare batches in the block that is not in training."""
        if not steps:
            return None
        self._blocks.reverse()
        return self._drawing.submit(self._draw_block, self._blocks[0], steps)

    def _draw_block(self, block: _Block, steps: range) -> _Block:
        block.failure = None
        for number, step in enumerate(steps):
            try:
                block.preparation.load(number, self._source.draw(step, self._settings.batch))
            except RuntimeError as failure:
                # step_many raises it after the steps before it
                block.failure, steps = failure, steps[:number]
                break
        block.preparation.prepare(len(steps))
        batches = map(block.preparation.batch, range(len(steps)))
        block.texels = [self._finder.find(batch.indices) for batch in batches]
        return block

    def _do_step(self, batch: PreparedBatch, texels: BatchTexels) -> float | None:
        """The loss of the step; None if it was skipped."""
        kernels, step = self._kernels, self._step
        self._rotate_if_due(step)
        grid, rounding = self._grid_at(step), self._settings.rounding(step)
        self._move_to_blocks(step)
        for number, (kernel, decoder) in enumerate(zip(kernels, self._decoders, strict=True)):
            round_with = partial(grid.round, rounding=rounding) if grid and rounding else None
            kernel.round_latents = round_with
            kernel.light_share = self._settings.light_share(step)
            part = batch.part(slice(number * kernel.count, (number + 1) * kernel.count))
            with np.errstate(over="ignore", invalid="ignore"):
                kernel.run(decoder, self._latents.values, part, 1 / self._settings.batch)
        self._step += 1
        loss = sum(kernel.loss for kernel in kernels)
        gradients = [kernel.gradients.vector for kernel in kernels]
        # Every value that is not finite makes a gradient of a decoder not finite.
        if not (np.isfinite(loss) and all(np.isfinite(each).all() for each in gradients)):
            return None

        rows = texels.rows
        g_latents = self._g_latents[:, : len(rows)]
        for kernel in kernels[1:]:
            kernels[0].add_latent_gradient(kernel)
        kernels[0].scatter(batch, texels.places, g_latents)

        schedule = self._settings.schedule
        factor = self._rate * schedule.factor(step)
        decoder_rate = adam_rate(factor * schedule.decoder_rate, step, DECODER_BETA_2)
        for adam, kernel in zip(self._adams, kernels, strict=True):
            adam.update(kernel.gradients, decoder_rate, step)
        by_texel = np.ascontiguousarray(g_latents.T)
        latents = self._latents.values
        if grid and rounding:
            grid.backward(by_texel, latents[rows], rows, rounding)
        self._latents.update(rows, by_texel, scaled_rate(factor * schedule.latent_rate, step))
        if grid:
            moved = latents[rows]
            grid.limit(moved, rows)
            latents[rows] = moved
        return loss

    def _grid_at(self, step: int) -> LatentGrid | None:
        """The grid of rounding-aware training, with the ranges of its first step."""
        quantisation = self._settings.quantisation
        if quantisation is None or step < quantisation.first_step:
            return None
        if self._grid is None:
            ranges = fit_ranges(self._start, quantisation.outliers)
            self._grid = make_grid(self._start.layout, ranges, quantisation)
        return self._grid

    def _rotate_if_due(self, step: int) -> None:
        quantisation = self._settings.quantisation
        if quantisation and self._settings.rotates(step):
            self.restore(*rotate_latents(self.parameters(), self.state()))
            self._early_ranges = fit_ranges(self._start, quantisation.outliers)

    def _move_to_blocks(self, step: int) -> None:
        strength = self._settings.line_strength(step)
        latents, squares = self._latents.values, self._latents.v
        if strength and isinstance(self._grid, LatentBlocks):
            self._grid.move(latents, squares)
        elif strength:
            move_to_blocks(self._start.layout, latents, squares, strength, self._early_ranges)

    def latent_ranges(self) -> tuple[LatentRange, ...] | None:
        return self._grid.ranges if self._grid else None

    def latent_squares(self) -> FloatArray:
        return self._latents.v.copy()

    def live(self) -> LiveNetwork:
        """The network for pictures between two calls of step_many."""
        hard = partial(self._grid.round, rounding=HARD) if self._grid else None
        above, below = (*self._decoders, None)[:2]
        assert above is not None
        index = self._start.index_below
        return LiveNetwork(
            above, self._start.layout, self._latents.values, hard, below, index_below=index
        )

    def parameters(self) -> Parameters:
        result = self._start.copy()
        for decoder, side in zip(self._decoders, result.sides, strict=True):
            decoder.unpack(side)
        return result

    def state(self) -> dict[str, NDArray[Any]]:
        return {
            "step": np.array(self._step),
            **{name: array.copy() for name, array in self._arrays().items()},
            **pack_grid(self._grid, self._early_ranges),
            **pack_rate(self._rate),
        }

    def _arrays(self) -> dict[str, FloatArray]:
        """The arrays of a state, by name."""
        arrays: dict[str, FloatArray] = {}
        for name, adam in zip(SIDES, self._adams, strict=False):
            arrays |= {f"{name}_m": adam.m, f"{name}_v": adam.v, f"{name}_bases": adam.bases}
        return {**arrays, "latents_v": self._latents.v}

    def restore(self, parameters: Parameters, state: dict[str, NDArray[Any]]) -> None:
        spec, layout = self._start.spec, self._start.layout
        require_network(parameters, spec, layout)
        targets, step = self._arrays(), int(require_array(state, "step", ()))
        arrays = {
            name: require_array(state, name, target.shape) for name, target in targets.items()
        }
        self._grid = find_grid(state, layout, spec.latent_channels, self._settings)
        self._early_ranges = find_early_ranges(state, layout, spec.latent_channels, self._settings)
        for name, target in targets.items():
            target[:] = arrays[name]
        self._step, self._rate = step, find_rate(state)
        self._start.latents[:] = parameters.latents
        for own, given in zip(self._start.sides, parameters.sides, strict=True):
            own.decoder[:] = given.decoder
        self._pack()

    def restart(self, parameters: Parameters) -> None:
        self._start = parameters.astype(np.float32)
        self._pack()
        self._adams = [RotatedAdam(decoder) for decoder in self._decoders]
        self._latents = LazyRmsProp(self._start.latents)
        self._step, self._rate, self._grid = 0, 1.0, None
        self._early_ranges = None

    def _pack(self) -> None:
        for decoder, side in zip(self._decoders, self._start.sides, strict=True):
            decoder.pack(side)

    def close(self) -> None:
        self._drawing.shutdown()


class CoreReservation:
    """Reserves a core for the training thread while a software device draws samples on the others.

    A software device has a thread on each core. On two cores, three threads would compete, and the
    training thread, for which the others wait, would get two thirds of a core. If most blocks of
    samples are late, drawing needs all cores, and the reservation ends for good.
    """

    def __init__(self, device_threads: Sequence[int]) -> None:
        self._affinities = find_affinities(device_threads)
        self._is_active = bool(self._affinities) and min(map(len, self._affinities.values())) > 1
        self._late: deque[bool] = deque(maxlen=_JUDGED_BLOCKS)

    @contextmanager
    def hold(self) -> Iterator[None]:
        if not self._is_active:
            yield
            return
        for thread, allowed in self._affinities.items():
            pin_thread(thread, _omit_one(allowed))
        try:
            yield
        finally:
            for thread, allowed in self._affinities.items():
                pin_thread(thread, allowed)
            self._is_active = 2 * sum(self._late) <= _JUDGED_BLOCKS

    def record_lateness(self, is_late: bool) -> None:
        """Records whether the next block was still being drawn at the end of a block."""
        self._late.append(is_late)


def _omit_one(processors: set[int]) -> list[int]:
    """All cores but one, which usually differs between processes."""
    ordered = sorted(processors)
    del ordered[os.getpid() % len(ordered)]
    return ordered
