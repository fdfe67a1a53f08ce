"""The host for plain files: a document, and meshes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError, HostError, MeshError, reason
from verdigris.core.base.files import replace_file
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.base.process.worker_environment import package_folder
from verdigris.core.hosts.host import WEIGHT_SET, BakedResult, HostDocument, HostMaterial, HostMesh
from verdigris.core.hosts.result_paths import named_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.material.load.mtlx_document import Document

SIDECAR_SUFFIX = ".verdigris.json"
_MESH_SUFFIXES = (".obj", ".usd", ".usda", ".usdc", ".usdz")


class FilesHost:
    """A MaterialX document as a scene. Results are recorded in a file beside it."""

    can_paint = False

    def __init__(
        self,
        document: Path | None = None,
        mesh: Path | None = None,
        search: Sequence[Path] = (),
        confined: bool = False,
    ) -> None:
        self._file: Path | None = None
        self._loaded: Document | None = None
        self._mesh = mesh
        self._search = tuple(search)
        self._confined = confined
        if document is not None:
            self.open_scene(document)

    @property
    def name(self) -> str:
        return "files"

    @property
    def manual(self) -> Path:
        return package_folder() / "docs" / "ARTISTS.md"

    @property
    def export_steps(self) -> tuple[str, ...]:
        return ()

    def start_selftest(self, report: Path) -> None:
        raise HostError(
            "plain files have no application to test: start the self-test in Maya, Houdini or "
            "Blender"
        )

    def scene_file(self) -> Path | None:
        return self._file

    def scene_warnings(self) -> tuple[str, ...]:
        if self._loaded is None or self._loaded.materials:
            return ()
        try:
            self._loaded.require_material()
        except DocumentError as failure:
            return (str(failure),)
        return ()

    def open_scene(self, path: Path) -> None:
        from verdigris.core.material.load.mtlx_document import load_document

        self._loaded = load_document(path, self._search, self._confined, has_options=False)
        self._file = path

    def save_scene(self) -> None:
        """Does nothing: `attach` writes results."""

    def materials(self) -> tuple[HostMaterial, ...]:
        self.open_scene(self._require_file())
        return self.selected_materials()

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        loaded = self._require_document()
        return tuple(HostMaterial(each.path, each.name, "file") for each in loaded.materials)

    def identity(self, material: HostMaterial) -> str:
        self._require_document().require_material(material.key)
        return f"{self._require_file().resolve()} {material.key}"

    def document(self, material: HostMaterial) -> HostDocument:
        file = self._require_file()
        self.open_scene(file)
        document = self._require_document()
        found = document.require_material(material.key)
        search = tuple(dict.fromkeys((file.resolve().parent, *self._search)))
        return HostDocument(str(file), document.text, found.name, search, confined=self._confined)

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        self._require_document().require_material(material.key)
        return (str(self._mesh),) if self._mesh else ()

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        from verdigris.core.geometry.mesh import load_mesh
        from verdigris.core.geometry.mesh_values import OBJ_ATTRIBUTE, load_painted_mesh

        path = self._require_mesh(name)
        # an OBJ file contains one set of weights, without a name
        wanted = OBJ_ATTRIBUTE if path.suffix.lower() == ".obj" else weight_set
        if wanted in self.weight_sets(name):
            mesh, weights, notes = load_painted_mesh(path, wanted)
            return HostMesh(name, mesh.position, mesh.normal, mesh.uv, weights, notes)
        mesh = load_mesh(path)
        return HostMesh(name, mesh.position, mesh.normal, mesh.uv)

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        from verdigris.core.geometry.mesh import obj_lines, usd_meshes
        from verdigris.core.geometry.mesh_values import OBJ_ATTRIBUTE, weight_names
        from verdigris.core.material.usd.faults import refusing_damage

        path = self._require_mesh(mesh)
        if path.suffix.lower() == ".obj":
            painted = any(words[0] == "v" and len(words) >= 7 for _, words in obj_lines(path))
            return (OBJ_ATTRIBUTE,) if painted else ()
        with refusing_damage(MeshError, path):
            names = [name for each in usd_meshes(path) for name in weight_names(each)]
        return tuple(dict.fromkeys(names))

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        raise HostError(
            f"{mesh}: plain files have no brush to paint {weight_set!r}: paint in the panel, or "
            "import an image of weights"
        )

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        found = self._require_document().require_material(material.key)
        noted = self._noted()
        noted[found.path] = {
            "bundle": _relative(result.bundle, self._sidecar().parent),
            "textures": {
                name: _relative(path, self._sidecar().parent)
                for name, path in sorted(result.textures.items())
            },
        }
        _replace_text(self._sidecar(), json.dumps(noted, indent=2, sort_keys=True) + "\n")

    def attached(self, material: HostMaterial) -> Path | None:
        noted = self._noted().get(material.key)
        return (self._sidecar().parent / str(noted["bundle"])).resolve() if noted else None

    def _sidecar(self) -> Path:
        file = self._require_file().resolve()
        return file.with_name(file.name + SIDECAR_SUFFIX)

    def _noted(self) -> dict[str, dict[str, object]]:
        sidecar = self._sidecar()
        if not sidecar.is_file():
            return {}
        noted = find_json_file(sidecar)
        if not isinstance(noted, dict) or not all(map(_is_note, noted.values())):
            raise HostError(f"{sidecar}: is not a record of results: remove it")
        return noted

    def _require_file(self) -> Path:
        if self._file is None:
            raise HostError("no document is open: open a MaterialX document first")
        return self._file

    def _require_document(self) -> Document:
        self._require_file()
        assert self._loaded is not None
        return self._loaded

    def _require_mesh(self, name: str) -> Path:
        path = Path(name)
        if path.suffix.lower() not in _MESH_SUFFIXES:
            raise HostError(f"{name}: not a mesh file: use one of {', '.join(_MESH_SUFFIXES)}")
        if not path.is_file():
            raise HostError(f"{name}: no such mesh: correct the path")
        return path


def _relative(path: Path, folder: Path) -> str:
    """The path, relative to a folder if it lies below it, so that both can be moved together."""
    return named_in(path.resolve(), (folder,))


def _replace_text(path: Path, text: str) -> None:
    try:
        replace_file(path, text.encode())
    except OSError as failure:
        raise HostError(
            f"{path}: cannot be written ({reason(failure)}): free space, or change its permissions"
        ) from None


def _is_note(noted: object) -> bool:
    """Whether a record of a result names its bundle."""
    return isinstance(noted, dict) and isinstance(noted.get("bundle"), str)
