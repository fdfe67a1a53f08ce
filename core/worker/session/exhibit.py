"""Opens bundles to show them in the panel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import BundleError

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.worker.protocol.commands import Show


@dataclass(frozen=True)
class Exhibit:
    """A bundle in the pictures."""

    student: Student
    resolution: int
    live: tuple[LiveInput, ...]
    """Its own live inputs, which need not be those of the open material."""


def open_students(command: Show, teacher: Teacher) -> tuple[Exhibit, Exhibit | None]:
    """The bundle, and the one to compare it with, if any."""
    bundle = _open(command.path, teacher)
    other = _open(command.against, teacher) if command.against else None
    return _exhibit(bundle, teacher), _exhibit(other, teacher) if other else None


def _open(path: str, teacher: Teacher) -> Bundle:
    from verdigris.core.bundle.files.read import open_bundle

    bundle = open_bundle(Path(path))
    if bundle.source_name != teacher.material.name:
        raise BundleError(
            f"{path}: is of the material {bundle.source_name!r}, and {teacher.material.name!r} is "
            "open: choose that material to show it"
        )
    return bundle


def _exhibit(bundle: Bundle, teacher: Teacher) -> Exhibit:
    from verdigris.core.network.student import Student

    student = Student(bundle.parameters(), teacher.device)
    return Exhibit(student, bundle.layout.width, bundle.manifest.live)
