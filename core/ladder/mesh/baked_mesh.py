"""The mesh on which a bundle was baked, as its manifest records it. To compare the graph with the
bundle, the graph is evaluated on this mesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import MeshError, SettingsError
from verdigris.core.base.json_fields import find_table
from verdigris.core.base.text import printable
from verdigris.core.ladder.mesh.mesh_domain import find_properties, mesh_points
from verdigris.core.ladder.mesh.mesh_surface import Surface, load_surface
from verdigris.core.material.analyse.on_mesh import ON_MESH
from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.domain import MeshPoints
    from verdigris.core.material.load.mtlx_document import Document, Material

_FLAT_NOTE = (
    "an earlier Verdigris baked the bundle on a mesh and did not record it: its graph is evaluated "
    "on a flat square, and differs in what it reads of the mesh. Bake it again to compare it"
)


def recorded_set(bundle: Bundle) -> str | None:
    """The uv set of the mesh in which a bundle was baked, if its manifest names one."""
    name = _record(bundle).get("uv_set")
    return name if isinstance(name, str) else None


def find_points(
    bundle: Bundle,
    document: Document,
    material: Material,
    given: Path | None = None,
    has_option: bool = True,
) -> MeshPoints | None:
    """The points on which a bundle was baked; None if it was baked without a mesh. The mesh is
    `given`, or a file with the recorded name beside the document, in its search folders or beside
    the bundle. Its contents must be the recorded ones. `has_option`: errors may suggest --mesh."""
    record = _record(bundle)
    if not record:
        if given is not None:
            raise SettingsError(
                f"{bundle.folder}: its manifest names no mesh (it was baked without one, or by an "
                f"earlier Verdigris): leave out --mesh {given}"
            )
        return None
    surface = _load_recorded(bundle, record, document, given, has_option)
    nodes = list(document.nodes_of(material))
    properties, _ = find_properties(surface, nodes, document.name)
    return mesh_points(surface, recorded_set(bundle), properties=properties)


def source_teacher(
    bundle: Bundle,
    document: Document,
    device: Device,
    material: str | None = None,
    mesh: Path | None = None,
    has_option: bool = True,
) -> Teacher:
    """The material from which a bundle was baked, on the mesh of the bake if there was one: see
    `find_points`."""
    chosen = document.require_material(material or bundle.source_name)
    points = find_points(bundle, document, chosen, mesh, has_option)
    return Teacher(document, chosen, device, points, bundle.wanted_live)


def mesh_notes(bundle: Bundle) -> list[str]:
    """A note if an earlier Verdigris baked the bundle on a mesh and did not record it."""
    kept = bundle.manifest.report.get("kept")
    parts = kept if isinstance(kept, Sequence) else ()
    is_on_mesh = any(isinstance(part, Mapping) and part.get("how") == ON_MESH for part in parts)
    return [_FLAT_NOTE] if is_on_mesh and not _record(bundle) else []


def _record(bundle: Bundle) -> Mapping[str, Any]:
    return find_table(bundle.manifest.source, "mesh")


def _load_recorded(
    bundle: Bundle,
    record: Mapping[str, Any],
    document: Document,
    given: Path | None,
    has_option: bool,
) -> Surface:
    files = record.get("files")
    if files == []:
        raise MeshError(
            f"{bundle.folder}: was baked on a mesh of an application's scene, which no file holds: "
            "its graph cannot be compared with it"
        )
    first = files[0] if isinstance(files, list) and files else None
    named = first.get("file") if isinstance(first, Mapping) else None
    # manifests are untrusted: the folder in the name is not read
    name = PurePath(named).name if isinstance(named, str) else ""
    if not name or recorded_set(bundle) is None:
        raise MeshError(f"{bundle.folder}: source.mesh of its manifest is damaged: bake it again")
    path = given or _find_file(name, bundle, document)
    remedy = "put it there, or name it with --mesh" if has_option else "put it there"
    if path is None:
        raise MeshError(
            f"{bundle.folder}: was baked on the mesh {printable(name)!r}, which is neither beside "
            f"{document.name} nor beside the bundle: {remedy}"
        )
    surface = load_surface(path)
    if changed := _changed_files(files, surface):
        raise MeshError(
            f"{path}: is not the mesh on which {bundle.folder} was baked (other contents: "
            f"{', '.join(changed)}): use that mesh, or bake again"
        )
    return surface


def _find_file(name: str, bundle: Bundle, document: Document) -> Path | None:
    beside = [*document.search.folders, bundle.folder.resolve().parent]
    return next((each / name for each in beside if (each / name).is_file()), None)


def _changed_files(before: Any, surface: Surface) -> list[str]:
    """Names of files with other contents than recorded. A given file may have another name."""
    then = [each.get("sha256") if isinstance(each, Mapping) else None for each in before]
    now = [each["sha256"] for each in surface.files]
    if then == now:
        return []
    changed = [printable(each["file"]) for each in surface.files if each["sha256"] not in then]
    return changed or [f"{len(now)} files for {len(then)}"]
