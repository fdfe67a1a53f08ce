"""Trains on the device: many steps a submission, no wait for Python.

Sums that many threads add to are whole numbers or are taken in a fixed order, so the same seed
gives the same bits on the same device, resumed or not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.device import Device
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.network.quantise import LatentRange, fit_ranges
from verdigris.core.network.student import LentBuffers
from verdigris.core.settings.schedule import TrainingSettings
from verdigris.core.training.latent_grid import LatentGrid, find_grid, state_of
from verdigris.core.training.optimiser import DECODER_BETA_2, adam_rate, scaled_rate
from verdigris.core.training.protocols import SampleSource, StepReport
from verdigris.core.training.tensor.tensor_kernels import read_buffer, read_share
from verdigris.core.training.tensor.tensor_memory import (
    RECORD_PARTS,
    REJECTED,
    SKIPPED,
    STATE_SIZE,
    TENSOR_CHUNK_STEPS,
    TensorMemory,
    TrackContents,
    first_bases,
)
from verdigris.core.training.tensor.tensor_plan import GroupPlan, has_matrix_hardware, plan_groups
from verdigris.core.training.tensor.tensor_step import StepKernels, step_programs
from verdigris.core.training.trainer_state import require_array

if TYPE_CHECKING:
    import slangpy

# A submission is this many steps, so that the device starts while Python records the next.
SUBMISSION_STEPS = 16


@runtime_checkable
class DeviceSampleSource(Protocol):
    """A source whose batches are drawn on the device and stay there."""

    revision: int
    """Changes when the source draws differently from before, so that what was drawn ahead is not
    used."""

    def record(
        self,
        encoder: slangpy.CommandEncoder,
        samples: slangpy.Buffer,
        step: int,
        steps: int,
        count: int,
    ) -> None:
        """Records the drawing of `steps` batches from `step` on, to the start of the buffer."""
        ...


class TensorTrainer:
    """Implements Trainer; see protocols.py."""

    def __init__(
        self,
        parameters: Parameters,
        source: SampleSource | DeviceSampleSource,
        settings: TrainingSettings,
        device: Device,
        plan: GroupPlan | None = None,
        tracks: int = 1,
    ) -> None:
        """`tracks` starts at most can train side by side."""
        self._gpu, self._source, self._settings = device.gpu, source, settings
        self._spec, self._layout = parameters.spec, parameters.layout
        self.most_tracks = tracks
        self.plan = plan or plan_groups(
            self._spec, has_matrix_hardware(self._gpu), unrolls=not device.is_software
        )
        self._memory = TensorMemory.allocate(
            self._gpu, parameters, self.plan, settings.batch, tracks
        )
        self._step, self._drawn = 0, (-1, -1)
        # how many starts train, and which of them is told of
        self.tracks, self._told = 1, 0
        # of each start
        self._grids: list[LatentGrid] = []
        # what was read of the texels since the last step, by start
        self._read: dict[int, NDArray[np.float32]] = {}
        self._counts: NDArray[np.uint32] = np.zeros((1, STATE_SIZE), np.uint32)
        programs = step_programs(device, self._spec, settings.loss, self.plan)
        self._kernels = StepKernels.bind(programs, parameters, settings, self.plan, self._memory)
        self.restart(parameters)

    @property
    def step(self) -> int:
        return self._step

    def step_many(self, steps: int) -> StepReport:
        encoder = self._gpu.create_command_encoder()
        encoder.clear_buffer(self._memory.losses)
        last = self._step + steps
        while self._step < last:
            self._fix_ranges()
            self._record(encoder, self._submission_end(last) - self._step)
            self._gpu.submit_command_buffer(encoder.finish())
            self._step, self._read = self._submission_end(last), {}
            encoder = self._gpu.create_command_encoder()
        return self._report(steps)

    def _submission_end(self, last: int) -> int:
        """Never across the end of a chunk, since the next one's samples replace this one's, nor
        across the step before which ranges are fixed."""
        chunk_end = (self._step // TENSOR_CHUNK_STEPS + 1) * TENSOR_CHUNK_STEPS
        end = min(last, chunk_end, self._step + SUBMISSION_STEPS)
        quantisation = self._settings.quantisation
        if quantisation and self._step < quantisation.first_step:
            end = min(end, quantisation.first_step)
        return end

    def _fix_ranges(self) -> None:
        """Takes the latents' ranges as they are, if the phase that rounds them begins here."""
        quantisation = self._settings.quantisation
        if self._grids or quantisation is None or self._step < quantisation.first_step:
            return
        ranges = [
            fit_ranges(self._parameters_of(track), quantisation.outliers)
            for track in range(self.tracks)
        ]
        self._set_grids([LatentGrid(self._layout, each, quantisation.bits) for each in ranges])

    def _set_grids(self, grids: list[LatentGrid]) -> None:
        self._grids = grids
        if grids:
            offset, unit = ([getattr(each, name) for each in grids] for name in ("offset", "unit"))
            self._memory.store_ranges(np.concatenate(offset), np.concatenate(unit))

    def latent_ranges(self) -> tuple[LatentRange, ...] | None:
        return self._grids[self._told].ranges if self._grids else None

    def _record(self, encoder: slangpy.CommandEncoder, steps: int) -> None:
        """Some steps, all of one chunk."""
        place = self._step % TENSOR_CHUNK_STEPS
        rates = np.array(
            [self._rates(step) for step in range(self._step, self._step + steps)], np.float32
        )
        encoder.upload_buffer_data(self._memory.rates, place * rates[0].nbytes, rates)
        self._record_samples(encoder, steps)
        with encoder.begin_compute_pass() as compute:
            for _ in range(steps):
                self._kernels.record_step(compute, self.tracks)

    def _rates(self, step: int) -> tuple[float, ...]:
        """StepRates of trainer_state.slang."""
        schedule, rounding = self._settings.schedule, self._settings.rounding(step)
        factor = schedule.factor(step)
        rates = (
            adam_rate(factor * schedule.decoder_rate, step, DECODER_BETA_2),
            scaled_rate(factor * schedule.latent_rate, step),
        )
        return (*rates, *((rounding.sharpness, rounding.is_straight) if rounding else (0, 0)))

    def _record_samples(self, encoder: slangpy.CommandEncoder, steps: int) -> None:
        batch, samples = self._settings.batch, self._memory.samples
        if isinstance(self._source, DeviceSampleSource):
            wanted = (self._step // TENSOR_CHUNK_STEPS, self._source.revision)
            if wanted != self._drawn:
                self._source.record(
                    encoder, samples, wanted[0] * TENSOR_CHUNK_STEPS, TENSOR_CHUNK_STEPS, batch
                )
                self._drawn = wanted
            return
        for step in range(self._step, self._step + steps):
            drawn = np.ascontiguousarray(self._source.draw(step, batch))
            offset = step % TENSOR_CHUNK_STEPS * drawn.nbytes
            encoder.upload_buffer_data(samples, offset, drawn.view(np.uint8).reshape(-1))

    def _report(self, steps: int) -> StepReport:
        counts = read_buffer(self._memory.state, np.uint32).reshape(-1, STATE_SIZE)[: self.tracks]
        new, self._counts = counts - self._counts, counts
        skipped, rejected = (int(new[:, place].sum()) for place in (SKIPPED, REJECTED))
        totals = read_buffer(self._memory.losses, np.float32)[: self.tracks].astype(np.float64)
        taken = steps - new[:, SKIPPED].astype(np.float64)
        means = np.divide(totals, taken, out=np.full(self.tracks, np.nan), where=taken > 0)
        mean = float(totals.sum() / taken.sum()) if taken.any() else float("nan")
        samples, losses = steps * self.tracks * self._settings.batch, tuple(map(float, means))
        return StepReport(mean, samples, skipped, rejected, losses if self.tracks > 1 else ())

    def tell_of(self, track: int) -> None:
        """Parameters, ranges and state are those of this start from now on."""
        self._told = track

    def parameters(self) -> Parameters:
        return self._parameters_of(self._told)

    def _parameters_of(self, track: int) -> Parameters:
        latents = np.ascontiguousarray(self._records(track)[:, 0])
        decoder = self._of_track(self._memory.decoder, track)
        return Parameters(self._spec, self._layout, decoder, latents)

    def _records(self, track: int) -> NDArray[np.float32]:
        """Of all texels. Who wants the parameters wants the state, too, mostly."""
        if track not in self._read:
            values = self._of_track(self._memory.texels, track)
            self._read[track] = values.reshape(-1, len(RECORD_PARTS), self._spec.latent_channels)
        return self._read[track]

    def _of_track(self, buffer: slangpy.Buffer, track: int) -> NDArray[np.float32]:
        return read_share(self._gpu, buffer, track, self.most_tracks, np.float32)

    def lent(self) -> LentBuffers:
        """The first start's network where it trains."""
        quads = len(RECORD_PARTS) * self._spec.latent_channels // 4
        return LentBuffers(self._memory.decoder, self._memory.texels, quads)

    def state(self) -> dict[str, NDArray[Any]]:
        track = self._told
        moments = self._of_track(self._memory.moments, track).reshape(-1, 2)
        return {
            "step": np.array(self._step),
            "decoder_m": np.ascontiguousarray(moments[:, 0]),
            "decoder_v": np.ascontiguousarray(moments[:, 1]),
            "decoder_bases": self._of_track(self._memory.bases, track),
            "latents_v": np.ascontiguousarray(self._records(track)[:, 1]),
            **state_of(self._grids[track] if self._grids else None),
        }

    def restore(self, parameters: Parameters, state: dict[str, NDArray[Any]]) -> None:
        if (parameters.spec, parameters.layout) != (self._spec, self._layout):
            raise CheckpointError("parameters are of another network than the trainer's")
        step = int(require_array(state, "step", ()))
        decoder = [
            require_array(state, f"decoder_{name}", parameters.decoder.shape) for name in "mv"
        ]
        latents = require_array(state, "latents_v", parameters.latents.shape)
        bases = require_array(state, "decoder_bases", first_bases(self._spec).shape)
        grid = find_grid(state, self._layout, self._spec.latent_channels, self._settings)
        self._set_grids([grid] if grid else [])
        self._store([TrackContents(parameters, np.stack(decoder, 1), latents, bases)], step)

    def restart(self, *starts: Parameters) -> None:
        self._set_grids([])
        self._store([TrackContents.fresh(each) for each in starts], 0)

    def _store(self, tracks: list[TrackContents], step: int) -> None:
        self.tracks, self._told = len(tracks), 0
        self._memory.store(tracks, step)
        encoder = self._gpu.create_command_encoder()
        with encoder.begin_compute_pass() as compute:
            self._kernels.record_copies(compute, self.tracks)
        self._gpu.submit_command_buffer(encoder.finish())
        self._step, self._drawn, self._read = step, (-1, -1), {}
        self._counts = np.zeros((self.tracks, STATE_SIZE), np.uint32)

    def close(self) -> None:
        self._gpu.wait_for_idle()
        for name in ("_kernels", "_memory", "_source", "_read"):
            self.__dict__.pop(name, None)
