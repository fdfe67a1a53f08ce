"""The trained numbers of a bake, and the students that show and measure them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.measure.measure import HeldOut, measure_student
from verdigris.core.baking.state.choices import Stage, encoded_levels
from verdigris.core.base.process.profile import profiled
from verdigris.core.bundle.half_floats import round_sides
from verdigris.core.importance.fill import fill_masked, find_masked
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.latents.block_lines import compressed_copy
from verdigris.core.network.latents.quantise import LatentRange, fit_ranges, quantised_copy
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.pictures.render import Lighting, render
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.training.trainer import BufferOwner, Trainer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.pictures.compare.metrics import SampleMetrics
    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.schedule import Quantisation


@dataclass
class Learner:
    """The trainer with its samples, and copies of the network for pictures and measurements."""

    teachers: Sequence[Teacher]
    settings: BakeSettings
    trainer: Trainer
    source: DrawnSamples
    stage: Stage
    """The stage that the trainer is in."""
    importance: NDArray[Any] | None = None
    has_enlarged_levels: bool = False
    """The bake ended before all levels were encoded: enlarged coarser levels replace them."""
    student: Student | None = None
    """A copy of the network for measurements."""
    live: Student | None = None
    """A view of the trainer's own buffers."""

    @property
    def step(self) -> int:
        """Steps of all stages."""
        return self.stage.first_step + self.trainer.step

    def begin_stage(self, stage: Stage, trainer: Trainer, source: DrawnSamples) -> None:
        """Continues with a texture of another size."""
        self.trainer, self.source, self.stage = trainer, source, stage
        self.student = self.live = None

    def set_importance(self, importance: NDArray[Any] | None) -> None:
        self.importance = importance
        self.source.set_importance(importance)

    def filled_parameters(self) -> Parameters:
        """The trainer's parameters, with places that the importance map leaves out filled from
        their surroundings. Levels that an encoder has initialised need no filling."""
        parameters = self.trainer.parameters()
        is_encoded = self.stage.is_last and not self.has_enlarged_levels
        first_level = encoded_levels(self.settings) if is_encoded else 0
        if first_level and self.stage.size:
            lost = self.settings.resolution // max(self.stage.size.width, self.stage.size.height)
            # the finest level is a mean of encoded texels
            first_level = max(1, first_level - (lost.bit_length() - 1))
        fill_masked(parameters, find_masked(self.importance), first_level)
        return parameters

    def stored_parameters(self, parameters: Parameters) -> Parameters:
        """What a bundle would hold of these parameters."""
        quantisation = self.settings.training().quantisation
        trainer = self.trainer
        return as_stored(
            parameters, quantisation, trainer.latent_ranges(), trainer.latent_squares()
        )

    def current_student(self, parameters: Parameters | None = None) -> Student:
        """A student of the first material with the given parameters, or with the trainer's: as
        stored once training rounds them."""
        if parameters is None:
            parameters = self.trainer.parameters()
            if self.trainer.latent_ranges() is not None:
                parameters = self.stored_parameters(parameters)
        if self.student is None:
            self.student = Student(parameters, self.teachers[0].device)
        else:
            self.student.update(parameters)
        self.student.material = 0
        self.student.live = self.teachers[0].live
        return self.student

    def live_student(self) -> Student:
        """The first material at this moment, for pictures: not rounded, and not copied if the
        trainer is on the teacher's device. Between two trainers it shows what the last one learnt.
        """
        if not isinstance(self.trainer, BufferOwner):
            return self.current_student()
        buffers = self.trainer.shared_buffers()
        if self.live is None:
            self.live = Student(self.trainer.parameters(), self.teachers[0].device)
            self.live.live = self.teachers[0].live
        if buffers is not None:
            self.live.use_buffers(buffers)
        return self.live

    def picture(self, size: int) -> NDArray[np.float32]:
        """A picture of the first material, `size` pixels per side."""
        lighting = Lighting(samples=8)
        return render(
            self.live_student(), "sphere", size, lighting=lighting, subpixels=1, is_flat=True
        )

    def measure_live(self, held_out: Sequence[HeldOut]) -> tuple[SampleMetrics, ...]:
        """Errors of each material at this moment, with latents that are not rounded."""
        return _measure(self.live_student(), held_out)

    def measure(
        self, held_out: Sequence[HeldOut], parameters: Parameters | None = None
    ) -> tuple[SampleMetrics, ...]:
        """Errors of each material on its held-out samples."""
        if parameters is None and self.trainer.latent_ranges() is None:
            # what is not rounded need not be copied
            return _measure(self.live_student(), held_out)
        return _measure(self.current_student(parameters), held_out)


@profiled("measure progress")
def _measure(student: Student, held_out: Sequence[HeldOut]) -> tuple[SampleMetrics, ...]:
    found = []
    for student.material, samples in enumerate(held_out):
        found.append(measure_student(student, samples))
    student.material = 0
    return tuple(found)


def as_stored(
    parameters: Parameters,
    quantisation: Quantisation | None,
    ranges: Sequence[LatentRange] | None,
    squares: NDArray[Any] | None = None,
) -> Parameters:
    """What a bundle would hold of the parameters: a decoder in half floats, and latents on the grid
    of the given ranges, or of their own. `squares` are the mean squares of gradients by the
    latents."""
    if quantisation is None:
        stored = parameters.copy()
        stored.latents[:] = parameters.latents.astype(np.float16)
    else:
        ranges = ranges or fit_ranges(parameters)
        if quantisation.lines:
            stored = compressed_copy(parameters, ranges, squares)
        else:
            stored = quantised_copy(parameters, ranges)
    return stored.with_decoders(*round_sides(parameters).decoders)
