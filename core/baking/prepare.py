"""From a request and its materials to the bake: teachers, recipe and options."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake import bake
from verdigris.core.baking.bake_request import BakeRequest, options_of
from verdigris.core.baking.measure.memory import check_limits
from verdigris.core.baking.state.checkpoint import state_path
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.base.device import Device, open_device
from verdigris.core.importance.maps import read_importance
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.parameters import CheckpointError
from verdigris.core.progress import Event, Warning
from verdigris.core.settings.presets import Recipe, default_preset

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.material.domain import MeshPoints
    from verdigris.core.material.load.mtlx_document import Document, Material

__all__ = ["BakeControl", "Prepared", "open_to_bake", "prepare", "prepare_compiled"]


@dataclass(frozen=True)
class Prepared:
    """A bake before it begins."""

    teachers: Sequence[Teacher]
    recipe: Recipe
    options: BakeOptions

    def with_options(self, **changes: Any) -> Prepared:
        """The same bake with the options that a way in adds, such as the names of bundles."""
        return replace(self, options=replace(self.options, **changes))

    def bake(self, control: BakeControl | None = None) -> Generator[Event, None, None]:
        """The events of the bake."""
        return bake(self.teachers, self.recipe, self.options, control)

    def continued(self, control: BakeControl | None = None) -> Generator[Event, None, None]:
        """The events of the bake, which continues from its checkpoint if there is one. It starts
        again, with a warning, if the checkpoint is not valid for it."""
        file = state_path(self.options.folder, self.options.name)
        events = self.with_options(resume=file.is_file()).bake(control)
        try:
            first = next(events)
        except CheckpointError as failure:
            if not file.is_file():
                raise
            events = self.with_options(resume=False).bake(control)
            first = next(events)
            yield Warning(f"starts again: {failure}")
        yield first
        yield from events


def open_to_bake(choice: str | None) -> Device:
    """The device of a bake, unless the limits of the process are too low for one."""
    check_limits(choice)
    return open_device(choice)


def prepare(
    request: BakeRequest,
    chosen: Sequence[tuple[Document, Material]],
    device: Device,
    folder: Path,
    name: str | None = None,
    points: MeshPoints | None = None,
) -> Prepared:
    """Compiles the materials, on the points of a mesh if there are any. Several materials share a
    decoder."""
    # wrong settings are refused before materials are compiled
    request.recipe(request.trainer or choose_trainer(device), max(1, len(chosen)))
    live = request.live or ()
    teachers = [Teacher(document, each, device, points, live=live) for document, each in chosen]
    return prepare_compiled(request, teachers, folder, name)


def prepare_compiled(
    request: BakeRequest, teachers: Sequence[Teacher], folder: Path, name: str | None = None
) -> Prepared:
    """Prepares compiled materials, whose live inputs count. By default the result has the name of
    the first material."""
    trainer = request.trainer or choose_trainer(teachers[0].device)
    live = len(teachers[0].live_inputs) if teachers else 0
    shared = {each.name for each in fields(BakeOptions)} & {*options_of(type(request))}
    asked = {each: getattr(request, each) for each in shared - {"importance"}}
    given = {each: value for each, value in asked.items() if value not in (None, "")}
    given |= {"trainer": trainer, "preset": request.preset or default_preset(trainer)}
    if file := request.importance_file:
        given["importance"] = read_importance(file)
    elif not isinstance(request.importance, str):
        given["importance"] = request.importance
    if name is None:
        name = teachers[0].material.file_name if teachers else "nothing"
    options = BakeOptions(name=name, folder=folder, **given)
    return Prepared(teachers, request.recipe(trainer, max(1, len(teachers)), live), options)
