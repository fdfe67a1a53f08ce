"""The worker's state: what is open, what trains, what is looked at. Commands in, events out."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.base.errors import MeshError, VerdigrisError
from verdigris.core.progress import events as told
from verdigris.core.worker.drawing.texel_inspector import focused
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol import worker_events as tell
from verdigris.core.worker.protocol.heartbeat import LONG_PATIENCE, PATIENCE
from verdigris.core.worker.protocol.messages import VERSION, Fault, ProtocolError
from verdigris.core.worker.session.forecast import estimate, measure
from verdigris.core.worker.session.job import Job, recipe_for
from verdigris.core.worker.session.opening import OpenDocument, open_document
from verdigris.core.worker.session.show import Show

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.progress.events import Event

_PREPARING = "preparing the training"
# The last ones, and that which is looked at: a mesh may be large.
_MOST_MESHES = 4
_BUSY = (tell.PREPARING, tell.TRAINING, tell.PAUSED, tell.FINISHING)


class Session:
    """Does one thing at a time: a command, some steps of training, or a part of a picture."""

    def __init__(self, post: Callable[[Event], None]) -> None:
        self._post = post
        self.state = tell.IDLE
        self.is_ended = False
        self._greeted = False
        self._opened: OpenDocument | None = None
        self._view = say.View()
        self._focus = say.Focus()
        self._importance: NDArray[np.float32] | None = None
        self._meshes: dict[str, Mesh] = {}
        self._job: Job | None = None
        self._show: Show | None = None
        self._do: dict[type[say.Command], Callable[..., None]] = {
            say.Hello: self._hello,
            say.Open: self._open,
            say.Start: self._start,
            say.Forecast: self._forecast,
            say.Pause: self._pause,
            say.Resume: self._resume,
            say.Finish: self._finish,
            say.Cancel: self._cancel,
            say.Quit: self._quit,
            say.SetImportance: self._set_importance,
            say.Focus: self._set_focus,
            say.View: self._set_view,
            say.GiveMesh: self._take_mesh,
            say.ReadMap: self._read_map,
            say.WriteMap: self._write_map,
        }

    @property
    def has_work(self) -> bool:
        """Whether there is something to do without being told."""
        if self.state in (tell.PREPARING, tell.TRAINING, tell.FINISHING):
            return True
        return self._show is not None and not self._show.is_complete

    def obey(self, item: say.Command | Fault) -> None:
        """Does what it is told, or says why not. Whatever goes wrong, the worker stays."""
        if isinstance(item, Fault):
            self._post(tell.Error(item.text, item.command, "ProtocolError", item.is_fatal))
            return
        name = say.NAMES[type(item)]
        if not self._greeted and not isinstance(item, say.Hello | say.Quit):
            self._post(tell.Error(f"{name}: say hello first", name, "ProtocolError"))
            return
        try:
            self._do[type(item)](item)
        except VerdigrisError as failure:
            self._post(tell.Error(str(failure), name, type(failure).__name__))
        except Exception as failure:  # noqa: BLE001 - a fault of ours must not take the bake along
            traceback.print_exception(failure, file=sys.stderr)
            self._post(tell.Error(f"internal error: {failure!r}", name, type(failure).__name__))

    def work(self) -> None:
        """Gets on by a little."""
        try:
            if self.state in (tell.PREPARING, tell.TRAINING, tell.FINISHING):
                self._advance()
            elif self._show is not None:
                self._show.complete()
        except VerdigrisError as failure:
            self._fail(str(failure), type(failure).__name__)
        except Exception as failure:  # noqa: BLE001 - it ends this bake, and not the worker
            traceback.print_exception(failure, file=sys.stderr)
            self._fail(f"an internal error ended the bake: {failure!r}", type(failure).__name__)

    def close(self) -> None:
        if self._job is not None:
            self._job.close()
            self._job = None

    # what it is told

    def _hello(self, command: say.Hello) -> None:
        if command.protocol != VERSION:
            self._post(
                tell.Error(
                    f"the panel speaks protocol {command.protocol} and the worker {VERSION}: "
                    "install the same version of Verdigris for both",
                    "hello",
                    "VersionMismatch",
                    is_fatal=True,
                )
            )
            self.is_ended = True
        self._greeted = True

    def _open(self, command: say.Open) -> None:
        self._refuse_while_busy("open")
        self._show = None
        self._opened = None
        self._enter(tell.IDLE, "compiling the material", LONG_PATIENCE)
        try:
            self._opened = opened = open_document(command)
            teacher = opened.teacher
            device = str(teacher.device) if teacher else ""
            self._post(
                tell.Opened(
                    opened.document.name,
                    teacher.material.name if teacher else "",
                    tuple(report.as_json() for report in opened.reports),
                    device,
                    settings_kind(opened),
                )
            )
            if teacher:
                settings = recipe_for(teacher, "", {}).largest
                self._show = self._make_show(teacher, settings.resolution)
                self._post(estimate(settings))
        finally:
            self._enter(tell.IDLE)

    def _start(self, command: say.Start) -> None:
        self._refuse_while_busy("start")
        self._read_again()
        teacher = self._require_teacher("start")
        assert self._show is not None
        importance = focused(self._importance, self._focus, self._show.seen_uv)
        job = Job(teacher, command, importance)
        self._post(estimate(job.settings))
        self._show.begin(job)
        # one that was refused until here is none
        self._job = job
        self._enter(tell.PREPARING, _PREPARING, LONG_PATIENCE)

    def _forecast(self, command: say.Forecast) -> None:
        from verdigris.core.baking.measure.classify import classify

        self._refuse_while_busy("forecast")
        self._read_again()
        teacher = self._require_teacher("forecast")
        recipe = recipe_for(teacher, command.preset, command.changes)
        before = self.state
        self._enter(before, "measuring what it would cost", LONG_PATIENCE)
        try:
            self._post(measure(teacher, recipe[classify([teacher], recipe)]))
        finally:
            self._enter(before)

    def _pause(self, command: say.Pause) -> None:
        job = self._require_job("pause")
        if self.state == tell.FINISHING:
            raise ProtocolError("pause: the result is being written")
        job.pause()
        if self._show is not None:
            self._show.rest()
        self._enter(tell.PAUSED)

    def _resume(self, command: say.Resume) -> None:
        self._require_job("resume").resume()
        assert self._show is not None
        if self.state == tell.PAUSED and self._show.has_student:
            self._enter(tell.TRAINING)
        elif self.state == tell.PAUSED:
            self._enter(tell.PREPARING, _PREPARING, LONG_PATIENCE)

    def _finish(self, command: say.Finish) -> None:
        job = self._require_job("finish")
        if not job.has_learnt:
            raise ProtocolError(
                "finish: nothing has been learnt yet that could be kept: wait for the first step, "
                "or cancel the bake"
            )
        job.finish()
        self._enter(tell.FINISHING, "writing the result", LONG_PATIENCE)

    def _cancel(self, command: say.Cancel) -> None:
        # a bake that has just ended by itself is no reason to complain
        self.close()
        if self._show is not None:
            self._show.end()
        self._enter(tell.IDLE)

    def _quit(self, command: say.Quit) -> None:
        self.is_ended = True

    def _set_importance(self, command: say.SetImportance) -> None:
        weights = command.weights()
        if weights is not None:
            from verdigris.core.importance.maps import check_importance

            check_importance(weights, "the importance map")
        self._importance = weights
        self._look_where_it_matters()

    def _set_focus(self, command: say.Focus) -> None:
        before, self._focus = self._focus, command
        try:
            self._look_where_it_matters()
        except VerdigrisError:
            self._focus = before
            raise

    def _set_view(self, command: say.View) -> None:
        if self._show is not None:
            try:
                self._show.look(command)
            except MeshError as failure:
                self._go_on_showing(self._view, command, failure)
                return
        self._view = command
        if self._focus.where == say.IN_VIEW:
            self._look_where_it_matters()

    def _take_mesh(self, command: say.GiveMesh) -> None:
        self._meshes.pop(command.name, None)
        self._meshes[command.name] = command.mesh()
        while len(self._meshes) > _MOST_MESHES:
            del self._meshes[next(name for name in self._meshes if name != self._view.mesh)]
        if self._show is not None and (self._view.shape, self._view.mesh) == ("mesh", command.name):
            self._show.look(self._view, is_new=True)

    def _make_show(self, teacher: Teacher, resolution: int) -> Show:
        """With the view that is wanted; of a mesh that is not there, with a sphere."""
        try:
            return Show(teacher, self._view, resolution, self._post, self._meshes)
        except VerdigrisError as failure:
            refused, self._view = self._view, replace(self._view, shape="sphere", mesh="")
            self._go_on_showing(self._view, refused, failure)
            return Show(teacher, self._view, resolution, self._post, self._meshes)

    def _go_on_showing(self, view: say.View, refused: say.View, failure: VerdigrisError) -> None:
        """Tells why a view is refused, and what is shown instead."""
        shown = view.mesh if view.shape == "mesh" else f"the {view.shape}"
        self._post(tell.Error(f"{failure}; {shown} is shown", "view", type(failure).__name__))
        self._post(tell.Showing(refused.number, view.shape, view.mesh))

    def _read_map(self, command: say.ReadMap) -> None:
        from pathlib import Path

        from verdigris.core.importance.maps import read_importance

        self._post(tell.Importance(read_importance(Path(command.path)), command.path))

    def _write_map(self, command: say.WriteMap) -> None:
        from pathlib import Path

        from verdigris.core.importance.maps import check_importance, write_importance

        weights = command.weights()
        assert weights is not None
        check_importance(weights, command.path)
        write_importance(Path(command.path), weights)
        self._post(tell.Written(command.path))

    # what it does

    def _advance(self) -> None:
        assert self._job is not None and self._show is not None
        event = self._job.next()
        if event is None:
            self._job = None
            return
        if isinstance(event, told.Phase) and self.state != tell.FINISHING:
            is_measuring = event.name == "measuring"
            state = tell.FINISHING if is_measuring else tell.TRAINING
            if state != self.state:
                self._enter(state, "writing the result" if is_measuring else "", LONG_PATIENCE)
        self._post(event)
        if isinstance(event, told.Started):
            self._post(self._job.plan(event))
        if isinstance(event, told.Step) and self._job.takes_new_weights():
            self._post(tell.Weighted(event.step))
        if isinstance(event, told.Finished):
            self._show.learn()
            self._job.close()
            self._job = None
            self._enter(tell.DONE)
        elif self.state == tell.TRAINING:
            is_first = not self._show.has_student
            self._show.follow()
            if is_first and self._show.has_student:
                # what draws the student is compiled by now
                self._enter(tell.TRAINING)

    def _look_where_it_matters(self) -> None:
        """Gives a bake that is under way the weights that hold now."""
        if self._show is None:
            return
        weights = focused(self._importance, self._focus, self._show.seen_uv)
        if self._job is not None:
            self._job.set_importance(weights)

    def _refuse_while_busy(self, name: str) -> None:
        if self.state in _BUSY:
            raise ProtocolError(f"{name}: a bake is {self.state}: finish or cancel it first")

    def _read_again(self) -> None:
        """Opens what has changed on the disk since it was opened."""
        if self._opened is not None and self._opened.has_changed():
            self._open(self._opened.command)

    def _require_teacher(self, name: str) -> Teacher:
        if self._opened is not None and self._opened.teacher is not None:
            return self._opened.teacher
        reports = self._opened.reports if self._opened is not None else ()
        why = next((f": {report.problem}" for report in reports if report.problem), "")
        raise ProtocolError(f"{name}: open a material that can be baked first{why}")

    def _require_job(self, name: str) -> Job:
        if self._job is None:
            raise ProtocolError(f"{name}: nothing is being baked")
        return self._job

    def _enter(self, state: str, doing: str = "", patience: float = PATIENCE) -> None:
        self.state = state
        self._post(tell.State(state, doing, patience))

    def _fail(self, text: str, kind: str) -> None:
        self.close()
        if self._show is not None:
            self._show.end()
        self._post(tell.Error(text, "start", kind))
        self._enter(tell.FAILED)


def settings_kind(opened: OpenDocument) -> str:
    """The trainer that suits the device that the document was opened on."""
    from verdigris.core.baking.state.trainers import choose_trainer

    return choose_trainer(opened.teacher.device) if opened.teacher else ""
