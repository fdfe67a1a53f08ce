"""The worker's state: the open document, the bake and the view. It takes commands and posts
events."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.baking.warm_up import begin_warm_up
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.process.processor import return_freed_memory
from verdigris.core.progress import Finished, Kept, Phase, Started, Step, Warning
from verdigris.core.worker.drawing.errors_by_place import weigh_places
from verdigris.core.worker.protocol import commands, worker_events
from verdigris.core.worker.protocol.messages import VERSION, Fault, ProtocolError
from verdigris.core.worker.protocol.streams import LONG_PATIENCE, PATIENCE, REST_PATIENCE
from verdigris.core.worker.session.budget import Pace, Turns
from verdigris.core.worker.session.forecast import estimate, measure, recipe_for
from verdigris.core.worker.session.job import Job, write_pictures
from verdigris.core.worker.session.opening import (
    OpenDocument,
    OpenMaterial,
    live_facts,
    open_document,
    trainer_of,
)
from verdigris.core.worker.session.panel_link import PanelLink
from verdigris.core.worker.session.showing import RequestedView, open_students

if TYPE_CHECKING:
    import subprocess

    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.progress import Event
    from verdigris.core.worker.drawing.compared import ComparedPictures
    from verdigris.core.worker.session.live_pictures import LivePictures

_PREPARING = "preparing the training"
_LIGHTING = "preparing the light"
# Seconds of a bake between reports of its pace.
_PACE_SECONDS = 2.0
_PATIENCE_IN = {
    worker_events.PAUSED: REST_PATIENCE,
    worker_events.DONE: REST_PATIENCE,
    worker_events.REFINING: LONG_PATIENCE,
}
_ENDING = (worker_events.FINISHING, worker_events.REFINING)
# States in which the bake is advanced.
_WORKING = (worker_events.PREPARING, worker_events.TRAINING, *_ENDING)
# States that refuse another bake. A result that is refined is already written.
_BUSY = {*_WORKING, worker_events.PAUSED} - {worker_events.REFINING}


@dataclass(frozen=True)
class _Bake:
    """The bake in progress, and its material."""

    job: Job
    material: OpenMaterial


class Session:
    """Does one thing at a time: a command, some steps of training, or a part of a picture."""

    def __init__(self, post: Callable[[Event], None]) -> None:
        self._post = post
        self.state = worker_events.IDLE
        self.is_ended = False
        self._greeted = False
        self._opened: OpenDocument | None = None
        self._material: OpenMaterial | None = None
        self._compared: ComparedPictures | None = None
        self._view = RequestedView(post)
        self._focus = commands.Focus()
        self._importance: NDArray[np.float32] | None = None
        self._bake: _Bake | None = None
        self._turns = Turns()
        self._pace = Pace()
        self._link = PanelLink(post)
        self._warm_up: subprocess.Popen[bytes] | None = None
        self._do: dict[type[commands.Command], Callable[..., None]] = {
            commands.Hello: self._hello,
            commands.Open: self._open,
            commands.Start: self._start,
            commands.Show: self._show_bundle,
            commands.Compare: self._compare,
            commands.Publish: self._publish,
            commands.Link: self._link.switch,
            commands.Forecast: self._forecast,
            commands.Ladder: self._fit_ladder,
            commands.Pause: self._pause,
            commands.Resume: self._resume,
            commands.Finish: self._finish,
            commands.Cancel: self._cancel,
            commands.Quit: self._quit,
            commands.SetImportance: self._set_importance,
            commands.Focus: self._set_focus,
            commands.SetView: self._set_view,
            commands.Range: self._draw_range,
            commands.SetMesh: self._take_mesh,
            commands.ReadMap: self._read_map,
            commands.WriteMap: self._write_map,
        }

    @property
    def _pictures(self) -> LivePictures | None:
        return self._material.pictures if self._material is not None else None

    @property
    def has_work(self) -> bool:
        """Whether there is work without a command."""
        return self.state in _WORKING or not self._shows_all

    @property
    def is_busy(self) -> bool:
        """Whether a bake is under way, which comes before those of guests."""
        return self.state in _BUSY

    def handle(self, item: commands.Command | Fault) -> None:
        """Handles a command. Errors are posted, and the worker continues."""
        if isinstance(item, Fault):
            self._post(worker_events.Error(item.text, item.command, "ProtocolError", item.is_fatal))
            return
        name = commands.NAMES[type(item)]
        if not self._greeted and not isinstance(item, commands.Hello | commands.Quit):
            self._post(worker_events.Error(f"{name}: send hello first", name, "ProtocolError"))
            return
        try:
            self._do[type(item)](item)
        except VerdigrisError as failure:
            self._post(worker_events.Error(str(failure), name, type(failure).__name__))
        except Exception as failure:  # noqa: BLE001 - a fault of ours must not take the bake along
            traceback.print_exception(failure, file=sys.stderr)
            self._post(
                worker_events.Error(f"internal error: {failure!r}", name, type(failure).__name__)
            )

    def work(self) -> None:
        """Does a part of the work."""
        try:
            if self._bake is not None and self.state in _WORKING:
                with self._pace.measure():
                    self._work_on(self._bake)
                if self._pace.seconds > _PACE_SECONDS:
                    self._post_pace()
            elif (shown := self._compared or self._pictures) is not None:
                self._complete_pictures(shown)
        except VerdigrisError as failure:
            self._fail(str(failure), type(failure).__name__)
        except Exception as failure:  # noqa: BLE001 - it ends this bake, and not the worker
            traceback.print_exception(failure, file=sys.stderr)
            self._fail(f"an internal error ended the bake: {failure!r}", type(failure).__name__)

    def close(self) -> None:
        self._link.end()
        if self._bake is not None:
            self._bake.job.close()
            self._bake = None

    # commands

    def _hello(self, command: commands.Hello) -> None:
        if command.protocol != VERSION:
            self._post(
                worker_events.Error(
                    f"the panel speaks protocol {command.protocol} and the worker {VERSION}: "
                    "install the same version of Verdigris for both",
                    "hello",
                    "VersionMismatch",
                    is_fatal=True,
                )
            )
            self.is_ended = True
        self._greeted = True

    def _open(self, command: commands.Open) -> None:
        self._refuse_while_busy("open")
        self._leave_refining()
        self._opened = self._material = self._compared = None
        self._enter(worker_events.IDLE, "compiling the material", LONG_PATIENCE)
        try:
            with self._pace.measure():
                self._opened = opened = open_document(command)
            teacher = opened.teacher
            if teacher is not None and teacher.device.is_software:
                self._post_pace()
            device = str(teacher.device) if teacher else ""
            self._post(
                worker_events.Opened(
                    opened.document.name,
                    teacher.material.name if teacher else "",
                    tuple(report.as_json() for report in opened.reports),
                    device,
                    trainer_of(opened),
                    live_facts(teacher) if teacher else (),
                )
            )
            for text in opened.refused:
                self._post(Warning(text))
            if teacher:
                settings = recipe_for(teacher).largest
                pictures = self._view.open(teacher, settings.resolution)
                self._material = OpenMaterial(opened, teacher, pictures)
                self._post(estimate(settings, (), teacher.index_below > 0))
        finally:
            # compilers have freed much
            return_freed_memory()
            self._enter(worker_events.IDLE)

    def _start(self, command: commands.Start) -> None:
        self._refuse_while_busy("start")
        self._reopen_if_changed()
        self._leave_refining()
        material = self._require_material("start")
        self._end_warm_up()
        importance = weigh_places(self._importance, self._focus, material.pictures.seen_uv)
        job = Job(material.teacher, command, importance)
        transmits = material.teacher.index_below > 0
        self._post(estimate(job.settings, material.textures, transmits))
        material.pictures.begin(job)
        # a refused bake ends here
        self._bake = _Bake(job, material)
        self._link.begin(job)
        self._enter(worker_events.PREPARING, _PREPARING, LONG_PATIENCE)

    def _end_warm_up(self) -> None:
        """Ends the compilation in the background: it would take half of the device from a bake. It
        begins again after the bake, with what is not compiled yet."""
        warming, self._warm_up = self._warm_up, None
        if warming is not None:
            warming.terminate()

    def _show_bundle(self, command: commands.Show) -> None:
        self._refuse_while_busy("show")
        material = self._require_material("show")
        with self._doing("opening the bundle"):
            material.pictures.show(*open_students(command, material.teacher))
            self._link.show(command.path)
            self._post(worker_events.Shown(command.path, command.against))

    def _compare(self, command: commands.Compare) -> None:
        from verdigris.core.worker.drawing.compared import ComparedPictures

        self._refuse_while_busy("compare")
        self._leave_refining()
        with self._doing("opening the bundles"):
            view = self._view
            source = self._require_material("compare").teacher if command.with_source else None
            self._compared = ComparedPictures(
                command.paths, view.now, self._post, view.meshes, source
            )

    def _publish(self, command: commands.Publish) -> None:
        from verdigris.core.bundle.files.read import open_bundle
        from verdigris.core.publish import Published, check_page_path, preview_reference, write_page

        self._refuse_while_busy("publish")
        with self._doing("writing the page"):
            published = []
            for path in command.paths:
                bundle = open_bundle(Path(path))
                bundle.check_files()
                picture = preview_reference(bundle)
                published.append(Published(bundle, (picture,) if picture else ()))
            check_page_path(Path(command.output))
            write_page(Path(command.output), published)
            self._post(worker_events.Written(command.output))

    def _forecast(self, command: commands.Forecast) -> None:
        self._refuse_while_busy("forecast")
        self._reopen_if_changed()
        teacher = self._require_material("forecast").teacher
        with self._doing("measuring the cost"):
            self._post(measure(teacher, command.request))

    def _fit_ladder(self, command: commands.Ladder) -> None:
        from verdigris.core.worker.session.ladder_job import run_ladder

        self._refuse_while_busy("ladder")
        material = self._require_material("ladder")
        with self._doing("fitting the ladder"):
            run_ladder(command, material, self._view.meshes.get(command.mesh), self._post)
            return_freed_memory()

    def _pause(self, command: commands.Pause) -> None:
        bake = self._require_bake("pause")
        if self.state in _ENDING:
            raise ProtocolError("pause: the result is being written")
        bake.job.pause()
        bake.material.pictures.rest()
        self._enter(worker_events.PAUSED)

    def _resume(self, command: commands.Resume) -> None:
        bake = self._require_bake("resume")
        bake.job.resume()
        if self.state == worker_events.PAUSED and bake.material.pictures.has_student:
            self._enter(worker_events.TRAINING)
        elif self.state == worker_events.PAUSED:
            self._enter(worker_events.PREPARING, _PREPARING, LONG_PATIENCE)

    def _finish(self, command: commands.Finish) -> None:
        job = self._require_bake("finish").job
        if self.state in _ENDING:
            # the click came late
            return
        if not job.has_learnt:
            raise ProtocolError(
                "finish: nothing was trained yet: wait for the first step, or cancel the bake"
            )
        job.finish()
        self._enter(worker_events.FINISHING, "writing the result", LONG_PATIENCE)

    def _cancel(self, command: commands.Cancel) -> None:
        # the bake may have ended just now, which is not an error
        self.close()
        if self._pictures is not None:
            self._pictures.end()
        self._enter(worker_events.IDLE)

    def _quit(self, command: commands.Quit) -> None:
        self.is_ended = True

    def _set_importance(self, command: commands.SetImportance) -> None:
        weights = command.weights()
        if weights is not None:
            from verdigris.core.importance.maps import check_importance

            check_importance(weights, "the importance map")
        self._importance = weights
        self._update_weights()

    def _set_focus(self, command: commands.Focus) -> None:
        before, self._focus = self._focus, command
        try:
            self._update_weights()
        except VerdigrisError:
            self._focus = before
            raise

    def _set_view(self, command: commands.SetView) -> None:
        is_taken = self._view.look(self._compared or self._pictures, command)
        self._link.tell_live(self._material.teacher if self._material else None, command.live)
        if is_taken and self._focus.where == commands.IN_VIEW:
            self._update_weights()

    def _draw_range(self, command: commands.Range) -> None:
        material = self._require_material("range")
        count = len(material.teacher.live_inputs)
        if not 0 <= command.input < count:
            raise ProtocolError(f"range: input is {command.input}: there are {count} live inputs")
        self._post(material.pictures.range_pictures(command))

    def _take_mesh(self, command: commands.SetMesh) -> None:
        self._view.take_mesh(self._compared or self._pictures, command)

    def _read_map(self, command: commands.ReadMap) -> None:
        from verdigris.core.importance.maps import read_importance

        self._post(worker_events.Importance(read_importance(Path(command.path)), command.path))

    def _write_map(self, command: commands.WriteMap) -> None:
        from verdigris.core.importance.maps import check_importance, write_importance

        weights = command.weights()
        assert weights is not None
        check_importance(weights, command.path)
        write_importance(Path(command.path), weights)
        self._post(worker_events.Written(command.path))

    # work

    def _complete_pictures(self, show: LivePictures | ComparedPictures) -> None:
        with self._doing(_LIGHTING) if show.must_compile else nullcontext():
            show.complete()

    def _work_on(self, bake: _Bake) -> None:
        if self.state != worker_events.REFINING:
            self._advance(bake)
        elif self._turns.is_owed and not self._shows_all:
            self._turns.spend(partial(self._complete_pictures, bake.material.pictures))
        else:
            # the artist waits for pictures, and not for this
            self._turns.earn(partial(self._advance, bake))

    def _advance(self, bake: _Bake) -> None:
        """Advances the bake to its next event."""
        event = bake.job.next()
        if event is None:
            raise RuntimeError("it ended without a result")
        self._enter_phase(event)
        self._post(event)
        self._link.look(event)
        if isinstance(event, Started):
            self._post(bake.job.plan(event))
        if isinstance(event, Step) and bake.job.takes_new_weights():
            self._post(worker_events.Weighted(event.step))
        if isinstance(event, Kept) and not bake.job.flattens:
            bake.material.pictures.learn(is_last=False)
            self._turns = Turns()
            self._enter(worker_events.REFINING, "refining the result")
        elif isinstance(event, Finished):
            self._end(bake, event)
        elif self.state == worker_events.TRAINING:
            self._follow(bake.material.pictures)

    def _enter_phase(self, event: Event) -> None:
        """Enters the state of a phase that begins."""
        if not isinstance(event, Phase) or self.state in _ENDING:
            return
        is_measuring = event.name == "measuring"
        state = worker_events.FINISHING if is_measuring else worker_events.TRAINING
        if state != self.state:
            self._enter(state, "writing the result" if is_measuring else "", LONG_PATIENCE)

    def _follow(self, show: LivePictures) -> None:
        """Draws the student in training."""
        is_first = not show.shows_student
        show.follow()
        if is_first and show.shows_student:
            # the code that draws the student is compiled now
            self._enter(worker_events.TRAINING)

    def _end(self, bake: _Bake, finished: Finished) -> None:
        """Shows the result, and closes the bake."""
        show = bake.material.pictures
        show.learn()
        if bake.job.wants_picture and show.student is not None:
            write_pictures(finished, bake.material.teacher, show.student, self._post)
        self.close()
        self._enter(worker_events.DONE)
        self._warm_up = begin_warm_up(bake.material.teacher.device)

    def _update_weights(self) -> None:
        """Passes the present weights of places to the bake."""
        if self._material is None:
            return
        weights = weigh_places(self._importance, self._focus, self._material.pictures.seen_uv)
        if self._bake is not None:
            self._bake.job.set_importance(weights)

    @property
    def _shows_all(self) -> bool:
        shown = self._compared or self._pictures
        return shown is None or shown.is_complete

    def _leave_refining(self) -> None:
        """Ends the refinement of a result that is already written, for other work."""
        if self.state == worker_events.REFINING:
            self.close()
            self._enter(worker_events.DONE)

    def _refuse_while_busy(self, name: str) -> None:
        if self.state in _BUSY:
            raise ProtocolError(f"{name}: a bake is {self.state}: finish or cancel it first")

    def _reopen_if_changed(self) -> None:
        """Opens the document again if its files have changed."""
        if self._opened is not None and self._opened.has_changed():
            self._open(self._opened.command)

    def _require_material(self, name: str) -> OpenMaterial:
        if self._material is not None:
            return self._material
        reports = self._opened.reports if self._opened is not None else ()
        why = next((f": {report.problem}" for report in reports if report.problem), "")
        raise ProtocolError(f"{name}: open a material that can be baked first{why}")

    def _require_bake(self, name: str) -> _Bake:
        if self._bake is None:
            raise ProtocolError(f"{name}: no bake is running")
        return self._bake

    @contextmanager
    def _doing(self, what: str) -> Iterator[None]:
        """Reports work that takes long without events."""
        self._enter(self.state, what, LONG_PATIENCE)
        try:
            yield
        finally:
            self._enter(self.state)

    def _enter(self, state: str, doing: str = "", patience: float | None = None) -> None:
        self.state = state
        patience = patience or _PATIENCE_IN.get(state, PATIENCE)
        self._post(worker_events.State(state, doing, patience))

    def _post_pace(self) -> None:
        """Posts how busy the machine is. On a GPU, CPU time would say little."""
        pace = worker_events.Pace(*self._pace.take())
        if self._material is None or self._material.teacher.device.is_software:
            self._post(pace)

    def _fail(self, text: str, kind: str) -> None:
        self.close()
        # what is kept stays, and so do its pictures
        is_kept = self.state == worker_events.REFINING
        if self._pictures is not None and not is_kept:
            self._pictures.end()
        self._post(worker_events.Error(text, "start", kind))
        self._enter(worker_events.DONE if is_kept else worker_events.FAILED)
