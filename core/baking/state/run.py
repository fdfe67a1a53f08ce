"""A bake in progress: what it holds, and what it can show of itself at any time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.measure.loss_watch import LossWatch
from verdigris.core.baking.measure.measure import HeldOut, measure_student
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.baking.state.rounding import as_stored
from verdigris.core.baking.state.source import source_digest
from verdigris.core.baking.state.stages import Stage, encoded_levels
from verdigris.core.baking.state.trial import Trial
from verdigris.core.importance.fill import fill_masked, masked_of
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.student import Student
from verdigris.core.pictures.render import Lighting, render
from verdigris.core.progress.events import Event, Metrics, Preview
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.training.protocols import Lender, Trainer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass
class Run:
    """What a bake in progress holds."""

    teachers: Sequence[Teacher]
    settings: BakeSettings
    options: BakeOptions
    control: BakeControl
    trainer_kind: str
    trainer: Trainer
    source: DrawnSamples
    names: tuple[str, ...]
    held_out: list[HeldOut]
    stage: Stage
    """Which the trainer is in."""
    loss: float = float("nan")
    """Of the last steps."""
    skipped: int = 0
    """Steps since the start, or since it went on, that were not taken."""
    checkpoint_step: int | None = None
    """At which the last checkpoint was written, as events count."""
    kept_step: int | None = None
    """The same as trainers count; None while starts are tried."""
    is_unkept: bool = False
    """The last checkpoint that was due could not be written."""
    seconds_before: float = 0.0
    """Of the runs that this one resumes."""
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    student: Student | None = None
    live: Student | None = None
    digest: str = ""
    """Of all that is learnt from."""
    map_digest: str = ""
    """Of the importance map alone."""
    documents: list[dict[str, Any]] = field(default_factory=list)
    stopped_by: str = ""
    wanted_steps: int = 0
    """That were asked for, of which a time limit may have left fewer."""
    trial: Trial | None = None
    """While starts are tried."""
    has_untried_starts: bool = False
    """The bake was asked to stop before all were tried."""
    steps_of_others: int = 0
    """Of those that were trained to their end and are not kept."""
    is_enlarged: bool = False
    """There was no time left to encode all of the texture: coarser levels stand in for finer."""
    rounding: dict[str, Any] = field(default_factory=dict)
    """Errors before and after latents were rounded; lists are by material."""
    watch: LossWatch = field(init=False)
    """Until latents are rounded."""

    def __post_init__(self) -> None:
        self.watch = LossWatch(self.stage.settings.iterations)

    @property
    def is_limited(self) -> bool:
        """A time limit has left it fewer steps than were asked for."""
        return self.settings.iterations < self.wanted_steps

    @property
    def step(self) -> int:
        """Steps done, over all stages."""
        return self.stage.first_step + self.trainer.step

    @property
    def told_step(self) -> int:
        """Steps done, as events count them: while starts are tried, those of all of them."""
        beside = (self.trial.abreast - 1) * self.trainer.step if self.trial else 0
        return self.resumed_step + beside

    @property
    def resumed_step(self) -> int:
        """The same of a bake that goes on from here: of starts side by side it has the first."""
        before = self.trial.number * self.stage.settings.candidate_steps if self.trial else 0
        return before + self.step

    def begin_stage(self, stage: Stage) -> None:
        """The trainer holds textures of another size from now on."""
        self.stage = stage
        self.student = self.live = None
        self._watch_anew()

    @property
    def seconds(self) -> float:
        """Of training, with those of the runs that this one resumes."""
        return self.seconds_before + (self.ended or time.monotonic()) - self.started

    def parameters(self) -> Parameters:
        """The trainer's; after the end, as results have them."""
        return self.trainer.parameters() if self.ended is None else self.filled_parameters()

    def filled_parameters(self) -> Parameters:
        """The trainer's, but places that are left out hold what is next to them. Those that an
        encoder has made are better than that."""
        parameters = self.trainer.parameters()
        has_encoded = self.stage.is_last and not self.is_enlarged
        first_level = encoded_levels(self.settings) if has_encoded else 0
        fill_masked(parameters, masked_of(self.options.importance), first_level)
        return parameters

    def take_importance(self) -> None:
        """Goes on with another map, if one was set since the last call."""
        wanted = self.control.take_importance()
        if wanted is not None:
            self.options = replace(self.options, importance=wanted[0])
            self.source.set_importance(wanted[0])
            self.note_sources()
            # other places, of another loss
            self._watch_anew()

    def draw_by(self, error_weights: NDArray[np.float32]) -> None:
        """Goes on with each material's places drawn by a map of its own, too."""
        self.source.set_error_weights(error_weights)
        self._watch_anew()

    def note_sources(self) -> None:
        """Takes the digests that checkpoints tell sources by; a map may be large."""
        self.digest = source_digest(self.teachers, self.options.importance)
        self.map_digest = source_digest((), self.options.importance)

    def _watch_anew(self) -> None:
        self.watch.begin_again(self.stage.settings.iterations)

    def stored_parameters(self) -> Parameters:
        """What bundles would hold of the parameters as they are."""
        quantisation = self.settings.training().quantisation
        return as_stored(self.parameters(), quantisation, self.trainer.latent_ranges())

    def current_student(self, parameters: Parameters | None = None) -> Student:
        """The parameters as they are, rounded once training rounds them, or these; as the first
        material, on the device."""
        if parameters is None:
            is_rounded = self.trainer.latent_ranges() is not None
            parameters = self.stored_parameters() if is_rounded else self.parameters()
        if self.student is None:
            self.student = Student(parameters, self.teachers[0].device)
        else:
            self.student.update(parameters)
        self.student.material = 0
        return self.student

    def live_student(self) -> Student:
        """The first material as it is this moment, for pictures: not rounded, and not copied where
        it trains on the teacher's device."""
        if not isinstance(self.trainer, Lender):
            return self.current_student()
        if self.live is None:
            self.live = Student(self.trainer.parameters(), self.teachers[0].device)
        self.live.look_at(self.trainer.lent())
        return self.live

    def measure(self, parameters: Parameters | None = None) -> Metrics:
        """Errors of the parameters, or of these, on the held-out samples that are kept for it."""
        student = self.current_student(parameters)
        found = []
        for number, held_out in enumerate(self.held_out):
            student.material = number
            found.append(measure_student(student, held_out))
        return Metrics(self.step, tuple(found))

    def is_good_enough(self, found: Metrics) -> bool:
        """Whether the error that was aimed at is reached by these measures."""
        target, errors = self.options.target_error, [each.log_mae for each in found.samples]
        return target is not None and sum(errors) <= target * len(errors)

    def preview(self) -> Iterator[Event]:
        """A picture of the first material, if pictures are wanted."""
        if self.options.preview_seconds is None:
            return
        student = self.current_student()
        lighting = Lighting(samples=8)
        picture = render(
            student,
            "sphere",
            self.options.preview_size,
            lighting=lighting,
            subpixels=1,
            is_flat=True,
        )
        yield Preview(self.step, self.names[0], picture)
