"""The public API: load a document, bake it, read a result back.

document = load("tray.mtlx")
for event in bake(document, preset="draft", folder=Path("out")):
    ...
result = open_result(Path("out/copper_tray.neural.npz"))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.material.document import Document, load_document, parse_document

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.network.student import Student
    from verdigris.core.training.bake import BakeControl
    from verdigris.core.training.checkpoint import Saved
    from verdigris.core.training.events import Event

__all__ = ["bake", "evaluate", "load", "open_result", "parse"]


def load(
    path: str | Path, search_paths: Sequence[str | Path] = (), allow_outside: bool = False
) -> Document:
    """Loads a MaterialX document from a file."""
    return load_document(path, search_paths, allow_outside)


def parse(
    text: str,
    search_paths: Sequence[str | Path] = (),
    name: str = "document",
    allow_outside: bool = False,
) -> Document:
    """Loads a MaterialX document from its text, as an application hands it over."""
    return parse_document(text, search_paths, name, allow_outside)


def bake(
    documents: Document | Sequence[Document],
    folder: Path,
    material: str | None = None,
    preset: str | None = None,
    device: str | None = None,
    control: BakeControl | None = None,
    name: str | None = None,
    resume: bool = False,
    importance: NDArray[np.float32] | None = None,
    time_limit: float | None = None,
    target_error: float | None = None,
    **changes: Any,
) -> Iterator[Event]:
    """Trains one decoder for the materials of these documents; yields events, the last is Finished.

    `changes` replace fields of the preset's `BakeSettings`. Close the generator to break off; use
    `control` to end early and keep what there is.
    """
    from verdigris.core.device import open_device
    from verdigris.core.material.teacher import Teacher
    from verdigris.core.settings import default_preset, require_settings
    from verdigris.core.training.bake import BakeOptions
    from verdigris.core.training.bake import bake as run
    from verdigris.core.training.trainers import choose_trainer

    documents = [documents] if isinstance(documents, Document) else documents
    opened = open_device(device)
    kind = choose_trainer(opened)
    settings = require_settings(preset or default_preset(kind), kind)
    teachers = [Teacher(each, each.require_material(material), opened) for each in documents]
    options = BakeOptions(
        name=name or (teachers[0].material.file_name if teachers else "nothing"),
        folder=folder,
        trainer=kind,
        resume=resume,
        importance=importance,
        time_limit=time_limit,
        target_error=target_error,
        preview_seconds=1.0,
    )
    return run(teachers, replace(settings, **changes), options, control)


def open_result(path: str | Path) -> Saved:
    """Reads a result: its parameters and what is known about them."""
    from verdigris.core.training.checkpoint import load as load_saved

    return load_saved(Path(path))


def evaluate(result: Saved, material: str | None = None, device: str | None = None) -> Student:
    """A result on a device: its `response(uv, wi, wo)` is the neural material."""
    from verdigris.core.device import open_device
    from verdigris.core.network.student import Student

    return Student(result.parameters, open_device(device), result.require_material(material))
