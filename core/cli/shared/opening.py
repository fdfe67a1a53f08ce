"""Opens the documents and bundles that a command line names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from verdigris.core.base.device import Device
from verdigris.core.bundle.files.read import Bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.verify.verify import source_notes
from verdigris.core.cli.shared.options import DocumentOptions
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.geometry.height_map import HeightMap
from verdigris.core.geometry.teacher_relief import find_relief
from verdigris.core.ladder.mesh.baked_mesh import source_teacher
from verdigris.core.ladder.mesh.mesh_domain import find_properties, mesh_points
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.material.domain import MeshPoints
from verdigris.core.material.evaluator import DeviceMaterial
from verdigris.core.material.live_inputs.live_input import LiveInput, WantedInput
from verdigris.core.material.load.mtlx_document import Document, Material
from verdigris.core.material.load.provenance import files_read
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.network.student import Student

_ONE_PLACE = "islands that overlap get one of their places, and those without area one texel"


def open_teacher(
    path: Path, options: DocumentOptions, device: Device, live: Sequence[WantedInput] = ()
) -> Teacher:
    """The teacher of a document's chosen or only material, with these inputs open."""
    document = options.load(path)
    return Teacher(document, document.require_material(options.material), device, live=live)


def open_source(
    bundle: Bundle,
    path: Path,
    options: DocumentOptions,
    device: Device,
    mesh: Path | None = None,
    has_mesh_option: bool = True,
) -> Teacher:
    """The teacher of the document from which a bundle was baked, on the mesh of the bake if there
    was one: see `find_points`."""
    document = options.load(path)
    return source_teacher(bundle, document, device, options.material, mesh, has_mesh_option)


def open_student(bundle: Bundle, device: Device) -> Student:
    """The bundle's neural material, to measure and draw."""
    return Student(bundle.parameters(), device)


def place_on_mesh(
    surface: Surface, uv_set: str | None, chosen: Sequence[tuple[Document, Material]]
) -> MeshPoints:
    """The points of a mesh on which a bake evaluates these materials, with all properties that they
    read. Warns of properties that the mesh lacks, and of places that share texels."""
    properties: list[str] = []
    for document, material in chosen:
        found, warnings = find_properties(surface, list(document.nodes_of(material)), document.name)
        properties += found
        for warning in warnings:
            warn(warning)
    points = mesh_points(surface, uv_set, properties=list(dict.fromkeys(properties)))
    report = surface.reports[surface.require_set(uv_set)]
    if not report.is_unique or report.without_area:
        warn(f"{surface.name}: {report.describe()}: {_ONE_PLACE}")
    return points


@dataclass(frozen=True)
class Subject:
    """The material that a command draws."""

    drawn: DeviceMaterial
    name: str
    inputs: Sequence[LiveInput]
    read: Sequence[Path]
    """Its files, which the picture must not replace."""
    is_flat: bool
    """Whether the material is evaluated on the flat unit square, as in a bake."""

    def heights(self) -> HeightMap | None:
        """Its displacement, if it has one; prints what is wrong with it."""
        if isinstance(self.drawn, BundleMaterial):
            return self.drawn.heights
        assert isinstance(self.drawn, Teacher)
        relief = find_relief(self.drawn)
        for note in relief.notes:
            warn(f"{self.name}: {note}")
        return relief.heights


def subject_of_bundle(bundle: Bundle, device: Device, live: tuple[float, ...]) -> Subject:
    """A bundle at these live values."""
    drawn, manifest = BundleMaterial(bundle, device), bundle.manifest
    drawn.live = live
    return Subject(drawn, manifest.name, manifest.live, (), is_flat=True)


def subject_of_document(teacher: Teacher, is_flat: bool) -> Subject:
    """The source material of a document."""
    read = list(files_read(teacher.document, teacher.material))
    return Subject(teacher, teacher.material.name, teacher.live_inputs, read, is_flat)


def require_own_material(bundle: Bundle, file: Path, name: str | None) -> None:
    """Refuses the name of another material than the bundle's."""
    if name not in (None, bundle.manifest.name, bundle.source_name):
        raise typer.BadParameter(
            f"{file} contains the material {bundle.manifest.name!r} and not {name!r}: leave out "
            "--material",
            param_hint="--material",
        )


def warn_of_changes(bundle: Bundle, teacher: Teacher) -> list[str]:
    """Prints and returns what has changed in the source since the bake."""
    notes = source_notes(bundle, teacher)
    for note in notes:
        warn(note)
    return notes
