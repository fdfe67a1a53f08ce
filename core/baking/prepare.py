"""Makes of a request and its materials what `bake` takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.baking.bake_request import BakeRequest, options_of
from verdigris.core.baking.state.options import BakeOptions
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.importance.maps import read_importance
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.settings.presets import Recipe, default_preset

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.material.domain import MeshPoints
    from verdigris.core.material.load.mtlx_document import Document, Material


@dataclass(frozen=True)
class Prepared:
    """The arguments of `bake`. Each way in adds what is its own to the options, with `replace`."""

    teachers: Sequence[Teacher]
    recipe: Recipe
    options: BakeOptions


def prepare(
    request: BakeRequest,
    chosen: Sequence[tuple[Document, Material]],
    device: Device,
    folder: Path,
    name: str | None = None,
    points: MeshPoints | None = None,
) -> Prepared:
    """Compiles the materials, which share a decoder if they are several, on the points of a mesh if
    there are any."""
    trainer = request.trainer or choose_trainer(device)
    # wrong settings are refused before materials are compiled
    request.recipe(trainer, max(1, len(chosen)))
    live = request.live or ()
    teachers = [Teacher(document, each, device, points, live=live) for document, each in chosen]
    return prepare_compiled(replace(request, trainer=trainer), teachers, folder, name)


def prepare_compiled(
    request: BakeRequest, teachers: Sequence[Teacher], folder: Path, name: str | None = None
) -> Prepared:
    """The same for compiled materials, whose live inputs count. By default the result has the name
    of the first material."""
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
