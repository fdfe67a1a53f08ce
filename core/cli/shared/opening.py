"""Opens what a command line names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student


def open_teacher(
    path: Path,
    name: str | None,
    search: list[Path] | None,
    allow_outside: bool,
    device: Device,
) -> Teacher:
    """The material of this name in a document, or its only one, compiled."""
    from verdigris.core.material.load.mtlx_document import load_document
    from verdigris.core.material.teacher.teacher import Teacher

    document = load_document(path, search or (), allow_outside)
    return Teacher(document, document.require_material(name), device)


def require_own_material(bundle: Bundle, file: Path, name: str | None) -> None:
    """Refuses another material than the one that a bundle holds."""
    if name not in (None, bundle.manifest.name, bundle.source_name):
        raise typer.BadParameter(
            f"{file} is a bundle of {bundle.manifest.name!r} alone", param_hint="--material"
        )


def open_student(bundle: Bundle, device: Device) -> Student:
    """What a bundle holds, as a material that can be measured and drawn."""
    from verdigris.core.network.student import Student

    return Student(bundle.parameters(), device)
