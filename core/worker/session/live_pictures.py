"""Updates the pictures without taking too much time from training."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from verdigris.core.lighting.environment import ENVIRONMENTS
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.pictures.light_maps import small_map
from verdigris.core.pictures.light_of_view import file_key, read_light
from verdigris.core.worker.drawing.errors_by_place import RollingErrors
from verdigris.core.worker.drawing.live_drawing import LiveDrawing, new_renderer
from verdigris.core.worker.drawing.shown import ShownMaterials, ShownMeshes
from verdigris.core.worker.protocol.worker_events import (
    ErrorMap,
    Errors,
    Picture,
    Places,
    RangeDrawn,
)
from verdigris.core.worker.session.budget import SHARE, Budget, ProcessClock

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.baking.state.run import Run
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.renderer import Shown
    from verdigris.core.progress import Event
    from verdigris.core.training.numpy.numpy_trainer import LiveNetwork
    from verdigris.core.worker.protocol.commands import Range, SetView
    from verdigris.core.worker.session.job import Job
    from verdigris.core.worker.session.showing import ShownBundle

TEXTURE, LIGHT = "texture", "light"
# Seconds between pictures while nothing trains, and of drawing between commands.
_INTERVAL = 0.16
_SLICE = 0.05
# The most seconds of drawing the reference before a bake, in the size of live pictures.
_BEFORE_TRAINING = 3.0
# Seconds between pictures of a reference that is not whole.
_REFERENCE_INTERVAL = 0.5
_MOST_FOR_A_VIEW = 0.03
# Seconds of drawing a new view that training waits for: the artist looks at it.
_OF_A_VIEW = 0.5
# And of the first sharp picture of a student.
_OF_A_STUDENT = 0.25
# Errors have a small share of their own: pictures, which may be large, never wait for them.
_ERROR_SHARE, _ERROR_DEBT = 0.01, 0.01
# Seconds of training between live pictures: few sharp ones show more than many coarse ones.
_PERIOD = 1.5
# A student is shown once its relative error is below this: half of the light is where it belongs.
# Before, its picture says nothing, and looks like a fault. One that does not learn is shown after
# so many seconds.
_LEARNT, _LONGEST_WAIT = 0.5, 10.0
# Live pictures of a view before more of its reference is drawn.
_BEFORE_REFERENCE = 2
# Seconds of drawing the reference for each second of live pictures, until it is whole.
_OF_REFERENCE = 0.4


class LivePictures:
    """The pictures of the open material and its student."""

    def __init__(
        self,
        teacher: Teacher,
        view: SetView,
        resolution: int,
        post: Callable[[Event], None],
        meshes: Mapping[str, Mesh] | None = None,
    ) -> None:
        self._post = post
        self._step = 0
        self._teacher = teacher
        self._clock = ProcessClock() if teacher.device.is_software else time.perf_counter
        self._view = view
        self._meshes = ShownMeshes(meshes, teacher.tiles)
        self._materials = ShownMaterials(teacher, resolution)
        self._renderer = new_renderer(self._materials, view, self._meshes.of(view))
        self._live = LiveDrawing(self._renderer, self._materials, self._clock)
        self._budget = Budget(clock=self._clock)
        self._error_budget = Budget(_ERROR_SHARE, self._clock)
        self._job: Job | None = None
        self._stage: object = None
        self._student: Student | LiveNetwork | None = None
        self._errors: RollingErrors | None = None
        self._sent = 0.0
        self._begun = self._owed = self._free = self._seen_first = 0.0
        self._is_training = self._is_shown = False
        self._seen_light: object = None
        self._post_light()
        self._post(Picture(self._materials.texture(), TEXTURE, view.number, 0, 1.0))
        self._post_places()
        self._send()

    @property
    def seen_uv(self) -> NDArray[np.float32]:
        return self._renderer.seen_uv

    @property
    def student(self) -> Student | None:
        """The student of a bake that has ended."""
        shown: Any = self._student
        return shown if isinstance(shown, DeviceMaterial) else None  # type: ignore[return-value]

    @property
    def must_compile(self) -> bool:
        """Whether the next part of a picture is the first one under an environment."""
        return not self._is_training and self._renderer.must_compile(self._visible)

    @property
    def has_student(self) -> bool:
        return self._student is not None

    @property
    def shows_student(self) -> bool:
        """Whether the student is drawn: not before it has learnt something."""
        return self._visible is not None

    @property
    def _visible(self) -> Student | LiveNetwork | None:
        return self._student if self._is_shown else None

    @property
    def is_complete(self) -> bool:
        """Whether all pixels are drawn in full size."""
        return self._renderer.is_complete(self._visible)

    def show(self, shown: ShownBundle, against: ShownBundle | None) -> None:
        """Shows a bundle's student, beside the material or beside another one."""
        student, resolution = shown.student, shown.resolution
        self.end()
        self._materials.inputs_of = {
            id(each.student): each.live for each in (shown, against) if each is not None
        }
        self._student, self._is_shown = student, True
        self._forget_network()
        self._compare_with(against.student if against else self._teacher, resolution)
        self._renderer.expect(has_neural=True)
        self._renderer.draw_neural(student)
        self._post_places()
        self._send()

    def begin(self, job: Job) -> None:
        """Starts a bake: its student is shown as soon as it exists."""
        self._job, self._stage = job, None
        self._student = self._errors = None
        self._is_shown = False
        self._renderer.expect(has_neural=False)
        self._forget_network()
        self._compare_with(self._teacher, job.settings.resolution)
        begun = self._clock()
        for _ in self._live.draw_reference():
            if self._clock() - begun > _BEFORE_TRAINING:
                break
        self._post_places()
        self._send()

    def _compare_with(self, reference: Teacher | Student, resolution: int) -> None:
        """Shows this as the reference, beside a texture with this resolution."""
        self._materials.resolution = resolution
        if self._renderer.compare_with(reference, resolution):
            self._live.forget()

    def _forget_network(self) -> None:
        """Forgets a network: the next one may have another layout."""
        self._live.forget()
        self._renderer.forget_neural()

    def end(self) -> None:
        """Ends a bake; its last pictures stay."""
        self._renderer.expect(has_neural=False)
        self._job = self._student = self._errors = None
        self._is_training = self._is_shown = False

    def look(self, view: SetView, is_new: bool = False) -> None:
        """Shows another view, with a first picture at once. `is_new`: the mesh was replaced."""
        begun = self._clock()
        is_new = is_new or not self._meshes.is_current(view)
        is_redrawn = self._renderer.look(view, self._meshes.of(view), is_new)
        self._view = view
        self._post_light()
        if is_redrawn:
            self._live.forget()
        else:
            self._live.expose(self._renderer.tone)
        if self._visible is not None:
            if self._is_training:
                self._free = _OF_A_VIEW if is_redrawn else self._free
                self._learn_again()
                self._post_all(self._live.draw_at_once(self._visible))
            else:
                self._renderer.draw_neural(self._visible)
        self._post_places()
        self._send()
        self._charge_request(begun)

    def range_pictures(self, command: Range) -> RangeDrawn:
        """Small pictures over the range of a live input, of the student once it is trained."""
        begun = self._clock()
        student = None if self._is_training else self.student
        pixels = self._materials.range_pictures(student or self._teacher, self._view, command)
        self._charge_request(begun)
        return RangeDrawn(pixels, command.input, "reference" if student is None else "neural")

    def _charge_request(self, begun: float) -> None:
        """Charges the time since `begun`, in which a request was drawn."""
        # may exceed the budget, but the next live picture must come soon
        if not self._budget.is_left:
            self._budget.start()
        self._budget.charge(min(_MOST_FOR_A_VIEW, self._clock() - begun))

    def follow(self) -> None:
        """Draws between two runs of steps, within the budget."""
        run = self._job.run if self._job else None
        if run is None:
            return
        self._is_training = True
        if run.learner.stage is not self._stage:
            # textures of another size
            self._stage, self._student, self._errors = run.learner.stage, None, None
            self._is_shown = False
            self._forget_network()
        if self._student is None:
            if self._is_numpy(run):
                # compiles the code of the first step, so that it does not delay the first pictures
                run.learner.source.draw(run.learner.trainer.step, run.settings.batch)
            self._learn(run)
            self._seen_first = time.perf_counter()
            self._budget.start()
        if not self._is_shown:
            self._show_once_learnt(run)
            return
        if self._is_numpy(run) and self._error_budget.allows(_ERROR_DEBT):
            self._error_budget.charge(self._timed(self._look_at_errors, run))
        while self._free > 0 or self._budget.is_left:
            live, is_whole = self._live, self._renderer.is_reference_whole
            if live.drawn < _BEFORE_REFERENCE and not live.is_busy:
                self._charge(self._advance_live, run)
            elif not is_whole and self._owed > 0 and not live.is_busy:
                self._owed -= self._charge(self._advance_reference)
            elif live.is_busy or time.perf_counter() - self._begun > _INTERVAL:
                self._owed += _OF_REFERENCE * self._charge(self._advance_live, run)
            elif not is_whole:
                self._charge(self._advance_reference)
            else:
                break

    def _show_once_learnt(self, run: Run) -> None:
        """Begins to show the student if it has learnt something; until then, the reference becomes
        sharper."""
        if not self._has_learnt(run):
            while self._budget.is_left and not self._renderer.is_reference_whole:
                self._charge(self._advance_reference)
            return
        student, self._is_shown = self._learn(run), True
        self._renderer.expect(has_neural=True)
        # twice, because the first one compiles
        for _ in range(2):
            self._post_all(self._live.draw_at_once(student))
        self._free = max(self._free, _OF_A_STUDENT)
        self._budget.start()

    def _has_learnt(self, run: Run) -> bool:
        waited = time.perf_counter() - self._seen_first
        if not run.held_out or waited > _LONGEST_WAIT:
            return True
        if not self._error_budget.allows(_ERROR_DEBT):
            return False
        self._learn(run)
        self._error_budget.charge(self._timed(self._look_at_errors, run))
        found = self._errors.latest if self._errors is not None else None
        return found is not None and found < _LEARNT

    def rest(self) -> None:
        """Training is paused or over: pictures are drawn in full size."""
        self._renderer.forget_neural()
        self._is_training = False

    def learn(self, is_last: bool = True) -> None:
        """Shows the student that a bake has written. It may write another one, unless it is the
        last."""
        run = self._job.run if self._job else None
        if run is not None and run.learner.student is not None:
            self._student = run.learner.student
        self._is_shown = self._student is not None
        self._renderer.expect(self._is_shown)
        self.rest()
        if is_last:
            self._job = None

    def complete(self) -> None:
        """Draws missing parts for a moment while nothing trains."""
        until = time.perf_counter() + _SLICE
        while time.perf_counter() < until and not self.is_complete:
            self._renderer.complete(self._visible)
        if self.is_complete or time.perf_counter() - self._sent > _INTERVAL:
            self._send()

    def _charge(self, draw: Callable[..., None], *values: Any) -> float:
        spent = self._timed(draw, *values)
        if self._free > 0:
            self._free -= spent
        else:
            self._budget.charge(spent)
        return spent

    def _timed(self, draw: Callable[..., None], *values: Any) -> float:
        begun = self._clock()
        draw(*values)
        return self._clock() - begun

    def _advance_live(self, run: Run) -> None:
        """Draws a part of a picture of the student, or begins one of the latest student."""
        live = self._live
        if not live.is_busy:
            student = self._learn(run)
            self._begun = time.perf_counter()
            live.begin(student, SHARE * _PERIOD)
        if live.advance():
            # never less sharp than the student beside it
            self._send()
            self._post_all(live.pictures())
            if not self._is_numpy(run):
                self._look_at_errors(run)

    def _advance_reference(self) -> None:
        self._renderer.draw_reference()
        is_due = time.perf_counter() - self._sent > _REFERENCE_INTERVAL
        if is_due or self._renderer.is_reference_whole:
            self._send()

    def _look_at_errors(self, run: Run) -> None:
        if not run.held_out or self._student is None:
            return
        if self._errors is None:
            self._errors = RollingErrors(run.held_out[0])
        is_whole = self._errors.advance(self._student)
        figures = self._errors.figures()
        if figures is not None:
            self._post(Errors(run.step, figures.log_mae, figures.relative_l1, figures.smape))
        if is_whole:
            self._post(ErrorMap(self._errors.map(), run.step))

    def _is_numpy(self, run: Run) -> bool:
        """Whether the training network can be evaluated in place. On a GPU, the device draws it, in
        the same light as the reference."""
        return hasattr(run.learner.trainer, "live") and self._teacher.device.is_software

    def _learn_again(self) -> None:
        """Takes the latest student for a new view."""
        if self._job is not None and self._job.run is not None:
            self._learn(self._job.run)

    def _learn(self, run: Run) -> Student | LiveNetwork:
        """Takes the latest student."""
        trainer: Any = run.learner.trainer
        student = trainer.live() if self._is_numpy(run) else run.learner.live_student()
        self._student, self._step = student, run.step
        return student

    def _send(self) -> None:
        self._post_all(self._renderer.news(self._visible))
        self._sent = time.perf_counter()

    def _post_all(self, pictures: list[Shown]) -> None:
        for shown in pictures:
            part, pixels, sharp, refined = shown
            self._post(Picture(pixels, part, self._view.number, self._step, sharp, refined))

    def _post_light(self) -> None:
        """Posts a small map of an environment from a file, when it is another one."""
        key = file_key(self._view.lit_by)
        if self._view.lit_by and self._view.lit_by not in ENVIRONMENTS and key != self._seen_light:
            light = small_map(read_light(self._view.lit_by))
            self._post(Picture(light, LIGHT, self._view.number, 0, 1.0))
        self._seen_light = key

    def _post_places(self) -> None:
        if self._view.wants_places or self._renderer.texels:
            places = self._renderer.places()
            self._post(Places(places, self._view.number, self._renderer.texels))
