"""Trains on the CPU: the default without a GPU.

Python threads share a batch, each with one BLAS thread: at these sizes that beats one Python thread
with many BLAS threads, because the work between the matrix products is shared out, too. Sums are
taken in a fixed order, so a run depends on the number of threads but never on their timing.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from verdigris.core.errors import SettingsError
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.network.texels import IndexArray
from verdigris.core.training.blas import single_threaded_blas
from verdigris.core.training.numpy_kernel import Kernel, PackedDecoder
from verdigris.core.training.optimiser import LazyAdam, adam, adam_rate
from verdigris.core.training.protocols import SampleSource, StepReport
from verdigris.core.training.schedule import TrainingSettings

# Fixed rather than the machine's: the same bake on every machine. More gain little, because numpy
# holds the interpreter lock for a part of the work.
THREADS = 2


class NumpyTrainer:
    """Implements Trainer; see protocols.py."""

    def __init__(
        self, parameters: Parameters, source: SampleSource, settings: TrainingSettings
    ) -> None:
        multiple = THREADS * source.pairs
        if settings.batch % multiple:
            raise SettingsError(f"batch is {settings.batch}: use a multiple of {multiple}")
        spec, layout = parameters.spec, parameters.layout
        self._settings, self._source = settings, source
        self._start = parameters.astype(np.float32)
        self._decoder = PackedDecoder(spec)
        self._decoder.pack(self._start)
        self._m, self._v = np.zeros_like(self._decoder.vector), np.zeros_like(self._decoder.vector)
        self._latents = LazyAdam(self._start.latents)
        self._step = 0
        count = settings.batch // THREADS
        self._kernels = [
            Kernel(spec, layout, settings.loss, count, source.pairs) for _ in range(THREADS)
        ]
        # Most texels that a batch can touch: four for each point.
        most = min(4 * settings.batch // source.pairs, layout.texel_count)
        self._g_latents = np.empty((THREADS, spec.latent_channels, most), np.float32)
        self._touched = np.zeros(layout.texel_count, bool)
        self._place = np.zeros(layout.texel_count, np.int64)
        self._pool = ThreadPoolExecutor(max(1, THREADS - 1), thread_name_prefix="trainer")

    @property
    def step(self) -> int:
        return self._step

    def step_many(self, steps: int) -> StepReport:
        losses, skipped, rejected = [], 0, 0
        with single_threaded_blas():
            for _ in range(steps):
                loss = self._do_step()
                rejected += sum(kernel.rejected for kernel in self._kernels)
                if loss is None:
                    skipped += 1
                else:
                    losses.append(loss)
        mean = float(np.mean(losses)) if losses else float("nan")
        return StepReport(mean, steps * self._settings.batch, skipped, rejected)

    def _do_step(self) -> float | None:
        """The step's loss, or None if it was skipped."""
        batch = self._settings.batch
        count = batch // THREADS
        samples = self._source.draw(self._step, batch)
        self._on_each(lambda index: self._prepare(index, samples[index * count :][:count]))

        rows = np.flatnonzero(self._touched)
        self._place[rows] = np.arange(len(rows))
        self._touched[rows] = False
        self._on_each(lambda index: self._run(index, len(rows)))

        step = self._step
        self._step += 1
        loss = sum(kernel.loss for kernel in self._kernels)
        gradient = sum(kernel.gradients.vector for kernel in self._kernels)
        assert isinstance(gradient, np.ndarray)
        # A value that is not finite reaches the decoder's gradient from wherever it arises.
        if not (np.isfinite(loss) and np.isfinite(gradient).all()):
            return None
        schedule = self._settings.schedule
        factor = adam_rate(schedule.factor(step), step)
        self._on_each(lambda index: self._update(index, rows, factor * schedule.latent_rate))
        adam(self._decoder.vector, self._m, self._v, gradient, factor * schedule.decoder_rate)
        return loss

    def _on_each(self, work: Callable[[int], None]) -> None:
        """Does the work for each part of the batch, the first on the calling thread."""
        others = [self._pool.submit(work, index) for index in range(1, THREADS)]
        work(0)
        for other in others:
            other.result()

    def _prepare(self, index: int, samples: NDArray[np.void]) -> None:
        kernel = self._kernels[index]
        kernel.prepare(samples)
        self._touched[kernel.indices.ravel()] = True

    def _run(self, index: int, row_count: int) -> None:
        kernel = self._kernels[index]
        with np.errstate(over="ignore", invalid="ignore"):
            kernel.run(self._decoder, self._latents.values, 1 / self._settings.batch)
            places = self._place[kernel.indices.ravel()]
            kernel.scatter(places, self._g_latents[index, :, :row_count])

    def _update(self, index: int, rows: IndexArray, rate: float) -> None:
        part = slice(len(rows) * index // THREADS, len(rows) * (index + 1) // THREADS)
        gradient = self._g_latents[0, :, part].copy()
        for other in self._g_latents[1:, :, part]:
            gradient += other
        self._latents.update(rows[part], np.ascontiguousarray(gradient.T), rate)

    def parameters(self) -> Parameters:
        result = self._start.copy()
        self._decoder.unpack(result)
        return result

    def state(self) -> dict[str, NDArray[Any]]:
        return {
            "step": np.array(self._step),
            "decoder_m": self._m.copy(),
            "decoder_v": self._v.copy(),
            "latents_m": self._latents.m.copy(),
            "latents_v": self._latents.v.copy(),
        }

    def restore(self, parameters: Parameters, state: dict[str, NDArray[Any]]) -> None:
        targets = {
            "decoder_m": self._m,
            "decoder_v": self._v,
            "latents_m": self._latents.m,
            "latents_v": self._latents.v,
        }
        for name in ("step", *targets):
            if name not in state:
                raise CheckpointError(f"trainer state lacks {name}")
            shape = targets[name].shape if name in targets else ()
            if state[name].shape != shape or not np.isfinite(state[name]).all():
                raise CheckpointError(f"trainer state: {name} is damaged or of another network")
        if (parameters.spec, parameters.layout) != (self._start.spec, self._start.layout):
            raise CheckpointError("parameters are of another network than the trainer's")
        for name, target in targets.items():
            target[:] = state[name]
        self._step = int(state["step"])
        self._start.decoder[:] = parameters.decoder
        self._start.latents[:] = parameters.latents
        self._decoder.pack(self._start)

    def close(self) -> None:
        self._pool.shutdown()
