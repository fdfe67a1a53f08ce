"""Opens bundles to show them in the panel."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import BundleError

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.worker.protocol.commands import Show


def open_students(command: Show, teacher: Teacher) -> tuple[Student, int, Student | None]:
    """The bundle's student, its resolution, and the student to compare it with, if any."""
    bundle = _open(command.path, teacher)
    other = _open(command.against, teacher) if command.against else None
    return (
        _student(bundle, teacher),
        bundle.layout.width,
        _student(other, teacher) if other else None,
    )


def _open(path: str, teacher: Teacher) -> Bundle:
    from verdigris.core.bundle.files.read import open_bundle

    bundle = open_bundle(Path(path))
    if bundle.source_name != teacher.material.name:
        raise BundleError(
            f"{path}: is of the material {bundle.source_name!r}, and {teacher.material.name!r} is "
            "open: choose that material to show it"
        )
    return bundle


def _student(bundle: Bundle, teacher: Teacher) -> Student:
    from verdigris.core.network.student import Student

    return Student(bundle.parameters(), teacher.device)
