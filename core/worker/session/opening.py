"""Opens documents with their reports and the teacher of one material, and bundles to show."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.material.files.paths import FileMark, file_mark
from verdigris.core.worker.protocol.messages import ProtocolError

if TYPE_CHECKING:
    from verdigris.core.material.live_inputs.live_input import WantedInput
    from verdigris.core.material.load.mtlx_document import Document
    from verdigris.core.material.report import MaterialReport
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.worker.protocol.commands import Open
    from verdigris.core.worker.session.live_pictures import LivePictures


@dataclass(frozen=True)
class OpenDocument:
    """An open document."""

    document: Document
    reports: tuple[MaterialReport, ...]
    teacher: Teacher | None
    """The teacher of the chosen material; None if none can be baked."""
    command: Open
    refused: tuple[str, ...] = ()
    """Why requested live inputs are left out."""
    marks: Mapping[Path, FileMark | None] = field(default_factory=dict)
    """States of the teacher's files before they were read."""

    def has_changed(self) -> bool:
        """Whether a file of the teacher has changed."""
        return any(file_mark(path) != mark for path, mark in self.marks.items())


@dataclass(frozen=True)
class OpenMaterial:
    """A material that can be baked."""

    opened: OpenDocument
    teacher: Teacher
    pictures: LivePictures

    @property
    def textures(self) -> Sequence[Mapping[str, Any]]:
        """Its images, from its report."""
        name = self.teacher.material.name
        found = [report for report in self.opened.reports if report.name == name]
        return [asdict(facts) for report in found for facts in report.textures]


def open_document(command: Open) -> OpenDocument:
    """Reads, reports, and compiles the named material, or the first that can be baked. Problems of
    a material are in its report and are not errors: the artist sees them in the list."""
    from verdigris.core.material.report import describe

    document = _read(command)
    reports = describe(document, probe=False)
    if command.material:
        wanted = [document.require_material(command.material).name]
    else:
        wanted = [report.name for report in reports if not report.problem]
    for number, report in enumerate(reports):
        if report.name in wanted and not report.problem:
            marks = _marks(document, report.name)
            live, refused = _wanted(document, report.name, command.live)
            reports[number], teacher = _compile(document, report, command.device, live)
            if teacher is not None:
                return OpenDocument(document, tuple(reports), teacher, command, refused, marks)
    return OpenDocument(document, tuple(reports), None, command)


def _marks(document: Document, material: str) -> dict[Path, FileMark | None]:
    from verdigris.core.material.load.provenance import texture_files

    files = list(document.files)
    # a missing file is in the report
    with contextlib.suppress(VerdigrisError):
        files += texture_files(document, document.require_material(material))
    return {path: file_mark(path) for path in files}


def _read(command: Open) -> Document:
    from verdigris.core.material.load.mtlx_document import load_document, parse_document

    confined = command.confined
    if command.path:
        return load_document(Path(command.path), command.search, confined, has_options=False)
    try:
        text = command.payload.decode()
    except UnicodeDecodeError as failure:
        raise ProtocolError(f"open: the text is not UTF-8: {failure}") from None
    return parse_document(text, command.search, command.name, confined, has_options=False)


def _wanted(
    document: Document, material: str, texts: Sequence[str]
) -> tuple[list[WantedInput], tuple[str, ...]]:
    """The requests that the material can fulfil, and why others cannot be fulfilled. A document
    that has lost an input is opened nevertheless."""
    from verdigris.core.material.live_inputs.find_inputs import find_live_inputs
    from verdigris.core.material.live_inputs.live_input import parse_all_wanted, parse_wanted

    wanted: list[WantedInput] = []
    refused: list[str] = []
    chosen = document.require_material(material)
    for text in texts:
        try:
            each = parse_wanted(text)
            find_live_inputs(document, chosen, [each])
            parse_all_wanted([*map(str, wanted), text])
            wanted.append(each)
        except VerdigrisError as failure:
            refused.append(str(failure))
    return wanted, tuple(refused)


def _compile(
    document: Document, report: MaterialReport, device: str, live: Sequence[WantedInput]
) -> tuple[MaterialReport, Teacher | None]:
    from verdigris.core.base.device import open_device
    from verdigris.core.material.evaluator import compile_material
    from verdigris.core.material.teacher.probe import probe
    from verdigris.core.material.teacher.teacher import Teacher

    opened = open_device(device or None)
    try:
        teacher = Teacher(document, document.require_material(report.name), opened, live=live)
        # the pictures need it, too
        compile_material(teacher)
        return replace(report, probe=probe(teacher)), teacher
    except VerdigrisError as failure:
        return replace(report, problem=str(failure)), None


def trainer_of(opened: OpenDocument) -> str:
    """The trainer for the device of the open document."""
    from verdigris.core.baking.state.trainers import choose_trainer

    teacher = opened.teacher
    return choose_trainer(teacher.device) if teacher else ""


def live_facts(teacher: Teacher) -> tuple[Mapping[str, Any], ...]:
    """The live inputs of a teacher, as the panel gets them."""
    return tuple({**each.as_json(), "request": str(each.wanted)} for each in teacher.live_inputs)
