"""The trainer for GPUs. It submits many steps at once, so that the device does not wait for Python.

The same seed gives the same bits on the same device, also after a resume: sums over threads are
integers or have a fixed order.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import FloatArray
from verdigris.core.base.device import Device
from verdigris.core.base.errors import SettingsError
from verdigris.core.network.latents.quantise import LatentRange, fit_ranges
from verdigris.core.network.parameters import Parameters, from_joined
from verdigris.core.network.student import SharedBuffers
from verdigris.core.settings.schedule import TrainingSettings
from verdigris.core.training.latent_rounding import SIDES, LatentBlocks, LatentGrid, rotate_latents
from verdigris.core.training.optimiser import DECODER_BETA_2, adam_rate, scaled_rate, square_side
from verdigris.core.training.tensor.group_plan import GroupPlan, has_matrix_hardware, plan_groups
from verdigris.core.training.tensor.step_kernels import StepKernels, StudentKernels
from verdigris.core.training.tensor.trainer_memory import (
    RECORD_PARTS,
    REJECTED,
    SKIPPED,
    STATE_SIZE,
    TENSOR_CHUNK_STEPS,
    DeviceSampleSource,
    DrawnChunks,
    Place,
    TensorMemory,
    TrainerContents,
    chunks_of,
    read_buffer,
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

if TYPE_CHECKING:
    import slangpy

# Steps of a submission: the device runs one while Python records the next.
SUBMISSION_STEPS = 16


class TensorTrainer:
    """Implements Trainer; see trainer.py."""

    def __init__(
        self,
        parameters: Parameters,
        source: SampleSource | DeviceSampleSource,
        settings: TrainingSettings,
        device: Device,
        plan: GroupPlan | None = None,
    ) -> None:
        self._device, self._gpu = device, device.gpu
        self._settings = settings
        self._source = None if isinstance(source, DeviceSampleSource) else source
        self._spec, self._layout = parameters.spec, parameters.layout
        self._live, self._index_below = parameters.live, parameters.index_below
        if self._index_below and settings.batch % source.pairs:
            raise SettingsError(f"batch is {settings.batch}: use a multiple of {source.pairs}")
        self.plan = plan or plan_groups(
            self._spec, has_matrix_hardware(self._gpu), unrolls=not device.is_software
        )
        draws = source if isinstance(source, DeviceSampleSource) else None
        chunks = chunks_of(draws.repeats) if draws else 1
        self._memory = TensorMemory.allocate(
            self._gpu, parameters, self.plan, settings.batch, chunks
        )
        self._chunks = DrawnChunks(draws, self._memory.samples, settings.batch) if draws else None
        self._step = 0
        self._grid: LatentGrid | None = None
        self._early_ranges: tuple[LatentRange, ...] | None = None
        # cache of the texel records, None after a step
        self._records_read: NDArray[np.float32] | None = None
        self._counts: NDArray[np.uint32] = np.zeros(STATE_SIZE, np.uint32)
        sides = len(self._sides)
        kernels = StudentKernels(device, self._spec, settings.loss, self.plan, sides)
        self._kernels = StepKernels.bind(
            kernels, parameters, settings, self.plan, self._memory, source.pairs
        )
        self.restart(parameters)

    @property
    def _sides(self) -> tuple[str, ...]:
        """The names of the sides in a state."""
        return SIDES if self._index_below else SIDES[:1]

    @property
    def step(self) -> int:
        return self._step

    def step_many(self, steps: int) -> StepReport:
        encoder = self._gpu.create_command_encoder()
        encoder.clear_buffer(self._memory.losses)
        last = self._step + steps
        while self._step < last:
            self._rotate_if_due()
            self._fix_ranges()
            end = self._submission_end(last)
            self._record(encoder, end - self._step)
            self._gpu.submit_command_buffer(encoder.finish())
            self._step, self._records_read = end, None
            encoder = self._gpu.create_command_encoder()
        self._memory.record_report(encoder)
        submission = self._gpu.submit_command_buffer(encoder.finish())
        # threads, such as the compiler of a bundle's shaders, run meanwhile
        self._device.wait_for(submission)
        self._gpu.wait_for_submit(submission)
        return self._report(steps)

    def _submission_end(self, last: int) -> int:
        """The step after the next submission. A submission ends with a chunk, because the samples
        of the next chunk replace those of this one, and where something changes between steps."""
        chunk_end = (self._step // TENSOR_CHUNK_STEPS + 1) * TENSOR_CHUNK_STEPS
        end = min(last, chunk_end, self._step + SUBMISSION_STEPS)
        for border in self._settings.borders:
            if self._step < border:
                end = min(end, border)
        return end

    def _rotate_if_due(self) -> None:
        quantisation = self._settings.quantisation
        if quantisation is None or not self._settings.rotates(self._step):
            return
        side = square_side(self._spec)
        self.restore(*rotate_latents(self.parameters(), self.state(), side))
        self._set_early_ranges(fit_ranges(self.parameters(), quantisation.outliers))

    def _set_early_ranges(self, ranges: tuple[LatentRange, ...] | None) -> None:
        """Ranges before rounding-aware training, by which kinds of blocks are chosen."""
        self._early_ranges = ranges
        if ranges:
            grid = LatentGrid(self._layout, ranges)
            self._memory.store_ranges(grid.offset, grid.unit)
        elif self._grid is None:
            none = np.zeros((self._layout.materials, self._spec.latent_channels), np.float32)
            self._memory.store_ranges(none, none)

    def _fix_ranges(self) -> None:
        """Fits the latent ranges if rounding-aware training starts at this step."""
        quantisation = self._settings.quantisation
        if self._grid or quantisation is None or self._step < quantisation.first_step:
            return
        ranges = fit_ranges(self.parameters(), quantisation.outliers)
        self._set_grid(make_grid(self._layout, ranges, quantisation))

    def _set_grid(self, grid: LatentGrid | None) -> None:
        self._grid = grid
        if grid:
            self._memory.store_ranges(grid.offset, grid.unit)
        if isinstance(grid, LatentBlocks):
            self._memory.store_ends(grid.ends)

    def latent_ranges(self) -> tuple[LatentRange, ...] | None:
        return self._grid.ranges if self._grid else None

    def latent_squares(self) -> FloatArray:
        return np.ascontiguousarray(self._records()[:, 1])

    def _record(self, encoder: slangpy.CommandEncoder, steps: int) -> None:
        """Records some steps of one chunk."""
        place = self._step % TENSOR_CHUNK_STEPS
        samples = self._record_samples(encoder, steps)
        rates = np.array(
            [(*self._rates(step), *samples) for step in range(self._step, self._step + steps)],
            np.float32,
        )
        encoder.upload_buffer_data(self._memory.rates, place * rates[0].nbytes, rates)
        with encoder.begin_compute_pass() as compute:
            for step in range(self._step, self._step + steps):
                if self._settings.line_strength(step):
                    self._kernels.record_moves(compute)
                self._kernels.record_step(compute)

    def _rates(self, step: int) -> tuple[float, ...]:
        """The struct StepRates of trainer_state.slang, without the place of the samples."""
        schedule, rounding = self._settings.schedule, self._settings.rounding(step)
        factor = self._rate * schedule.factor(step)
        rates = (
            adam_rate(factor * schedule.decoder_rate, step, DECODER_BETA_2),
            scaled_rate(factor * schedule.latent_rate, step),
        )
        rounded = (rounding.sharpness, rounding.is_straight) if rounding else (0, 0)
        shares = self._settings.light_share(step), self._settings.line_strength(step)
        return *rates, *rounded, *shares

    def _record_samples(self, encoder: slangpy.CommandEncoder, steps: int) -> Place:
        """Records the samples of some steps of one chunk, and finds their place."""
        batch, samples = self._settings.batch, self._memory.samples
        if self._chunks:
            return self._chunks.place(self._step, encoder)
        assert self._source
        for step in range(self._step, self._step + steps):
            drawn = np.ascontiguousarray(self._source.draw(step, batch))
            offset = step % TENSOR_CHUNK_STEPS * drawn.nbytes
            encoder.upload_buffer_data(samples, offset, drawn.view(np.uint8).reshape(-1))
        return Place()

    def _report(self, steps: int) -> StepReport:
        counts, total = self._memory.read_report()
        new, self._counts = counts - self._counts, counts
        skipped, rejected = int(new[SKIPPED]), int(new[REJECTED])
        taken = steps - skipped
        loss = total / taken if taken else float("nan")
        return StepReport(loss, steps * self._settings.batch, skipped, rejected)

    def parameters(self) -> Parameters:
        latents = np.ascontiguousarray(self._records()[:, 0])
        joined = read_buffer(self._memory.decoder, np.float32)
        found = from_joined(self._spec, self._layout, joined, latents, self._index_below)
        return replace(found, live=self._live)

    def _records(self) -> NDArray[np.float32]:
        """The records of all texels, read once for parameters and state."""
        if self._records_read is None:
            values = read_buffer(self._memory.texels, np.float32)
            self._records_read = values.reshape(-1, len(RECORD_PARTS), self._spec.latent_channels)
        return self._records_read

    def shared_buffers(self) -> SharedBuffers | None:
        """The buffers of the network in training; None after close()."""
        if "_memory" not in self.__dict__:
            return None
        quads = len(RECORD_PARTS) * self._spec.latent_channels // 4
        return SharedBuffers(self._memory.decoder, self._memory.texels, quads)

    def state(self) -> dict[str, NDArray[Any]]:
        sides, count = self._sides, self._spec.parameter_count
        moments = read_buffer(self._memory.moments, np.float32).reshape(len(sides), -1, 2)
        bases = read_buffer(self._memory.bases, np.float32).reshape(len(sides), -1)
        arrays: dict[str, FloatArray] = {}
        for name, own, own_bases in zip(sides, moments, bases, strict=True):
            m, v = np.ascontiguousarray(own[:count].T)
            arrays |= {f"{name}_m": m, f"{name}_v": v, f"{name}_bases": own_bases}
        return {
            "step": np.array(self._step),
            **arrays,
            "latents_v": self.latent_squares(),
            **pack_grid(self._current_grid(), self._early_ranges),
            **pack_rate(self._rate),
        }

    def _current_grid(self) -> LatentGrid | None:
        """The grid, with the endpoints of blocks that the device has."""
        if isinstance(self._grid, LatentBlocks):
            ends = read_buffer(self._memory.ends, np.float32)
            self._grid.ends = ends.reshape(self._grid.ends.shape)
        return self._grid

    def restore(self, parameters: Parameters, state: dict[str, NDArray[Any]]) -> None:
        require_network(parameters, self._spec, self._layout)
        step = int(require_array(state, "step", ()))
        fresh = TrainerContents.fresh(parameters)
        parts = (np.split(each, len(self._sides)) for each in (fresh.moments, fresh.bases))
        for name, moments, bases in zip(self._sides, *parts, strict=True):
            for column, moment in enumerate("mv"):
                found = require_array(state, f"{name}_{moment}", parameters.decoder.shape)
                moments[: found.size, column] = found
            bases[:] = require_array(state, f"{name}_bases", bases.shape)
        latents = require_array(state, "latents_v", parameters.latents.shape)
        grid = find_grid(state, self._layout, self._spec.latent_channels, self._settings)
        self._set_grid(grid)
        self._set_early_ranges(
            find_early_ranges(state, self._layout, self._spec.latent_channels, self._settings)
        )
        self._rate = find_rate(state)
        self._store(replace(fresh, latent_squares=latents), step)

    def restart(self, parameters: Parameters) -> None:
        self._rate = 1.0
        self._set_grid(None)
        self._set_early_ranges(None)
        self._store(TrainerContents.fresh(parameters), 0)

    def _store(self, contents: TrainerContents, step: int) -> None:
        self._memory.store(contents, step)
        encoder = self._gpu.create_command_encoder()
        with encoder.begin_compute_pass() as compute:
            self._kernels.record_copies(compute)
        self._gpu.submit_command_buffer(encoder.finish())
        self._step, self._records_read = step, None
        self._counts = np.zeros(STATE_SIZE, np.uint32)

    def close(self) -> None:
        self._gpu.wait_for_idle()
        for name in ("_kernels", "_memory", "_chunks", "_source", "_records_read"):
            self.__dict__.pop(name, None)
