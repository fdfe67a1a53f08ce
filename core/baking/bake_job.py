"""What `verdigris bake` asks for, as a value for another process: documents, places and a request.
The command bakes it by itself, or has a resident worker bake it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_request import BakeRequest, options_of
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import Fields
from verdigris.core.progress import Event, Finished

if TYPE_CHECKING:
    from verdigris.core.baking.prepare import Prepared
    from verdigris.core.base.device import Device
    from verdigris.core.material.domain import MeshPoints
    from verdigris.core.material.load.mtlx_document import Document, Material
    from verdigris.core.material.teacher.teacher import Teacher

_TEXTS = ("files", "search", "materials", "inputs", "defines")
_FLAGS = "confined", "keeps_versions", "keeps_weights"


@dataclass(frozen=True, kw_only=True)
class BakeJob:
    """A bake of documents, before they are read."""

    files: tuple[str, ...]
    request: BakeRequest
    folder: str | None = None
    """The folder of the bundle; by default the folder of results beside the first document."""
    name: str | None = None
    """The name of the bundle; by default that of the first material."""
    materials: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    confined: bool = False
    inputs: tuple[str, ...] = ()
    """Inputs to set, as NAME=VALUE."""
    defines: tuple[str, ...] = ()
    """Definitions for shader files, as NAME=VALUE."""
    keeps_versions: bool = True
    keeps_weights: bool = True
    """Whether a resumed bake keeps the weights of its checkpoint, unless there is a map."""
    called_in: str = ""
    """The folder in which the command was called, which may have an older result."""

    def absolute(self) -> BakeJob:
        """The job for a process with another working folder."""
        return replace(
            self,
            files=tuple(str(Path(each).absolute()) for each in self.files),
            search=tuple(str(Path(each).absolute()) for each in self.search),
            folder=str(Path(self.folder).absolute()) if self.folder is not None else None,
            called_in=str(Path().absolute()),
            request=self.request.absolute(),
        )

    def as_json(self) -> dict[str, Any]:
        """The inverse of `from_json`."""
        values: dict[str, Any] = {name: list(getattr(self, name)) for name in _TEXTS}
        values |= {name: getattr(self, name) for name in (*_FLAGS, "folder", "name", "called_in")}
        return {**values, "request": self.request.as_json()}

    @classmethod
    def from_json(cls, found: Fields) -> BakeJob:
        asked = found.typed("request", dict)
        request = replace(found, path="request", values=asked)
        request.require_known(options_of())
        texts: dict[str, Any] = {name: found.texts(name) for name in _TEXTS}
        flags: dict[str, Any] = {name: found.typed(name, bool) for name in _FLAGS}
        for name in ("folder", "name"):
            if found.values.get(name) is not None:
                texts[name] = found.typed(name, str)
        texts["called_in"] = found.typed("called_in", str)
        return cls(**texts, **flags, request=BakeRequest.from_json(request))

    def open(self) -> OpenJob:
        """Reads the documents."""
        from verdigris.core.bundle.files.manifest import SUFFIX
        from verdigris.core.hosts.result_folders import find_result_folder
        from verdigris.core.material.load.changes import read_changes
        from verdigris.core.material.load.mtlx_document import load_document, select_materials

        changes = read_changes(self.inputs, self.defines)
        search = [Path(each) for each in self.search]
        documents = [
            load_document(Path(file), search, self.confined, changes=changes) for file in self.files
        ]
        chosen = select_materials(documents, self.materials)
        name = chosen[0][1].file_name if self.name is None else self.name.removesuffix(SUFFIX)
        folder = Path(self.folder) if self.folder is not None else None
        others = (Path(self.called_in),)
        found = folder or find_result_folder(Path(self.files[0]), name, others=others)
        return OpenJob(self, chosen, found, name)


@dataclass(frozen=True)
class OpenJob:
    """A job whose documents are read."""

    job: BakeJob
    chosen: Sequence[tuple[Document, Material]]
    folder: Path
    name: str

    def prepare(
        self,
        device: Device,
        points: MeshPoints | None = None,
        teachers: Sequence[Teacher] | None = None,
    ) -> Prepared:
        """Reads the importance map and compiles the materials, on the points of a mesh if there are
        any. `teachers` are the compiled materials, if there are any."""
        from verdigris.core.baking.prepare import prepare, prepare_compiled
        from verdigris.core.importance.maps import read_importance
        from verdigris.core.ladder.mesh.mesh_domain import coverage_weights

        # before the map is read: `scene status` then sees that it was changed during the bake
        file = self.job.request.importance_file
        facts = _facts_of_map(file)
        weights = read_importance(file) if file else None
        if points is not None:
            weights = coverage_weights(points, weights)
        request = replace(self.job.request, importance=weights)
        if teachers is not None:
            prepared = prepare_compiled(request, teachers, self.folder, self.name)
        else:
            prepared = prepare(request, self.chosen, device, self.folder, self.name, points)
        return prepared.with_options(
            keeps_versions=self.job.keeps_versions,
            keeps_weights=self.job.keeps_weights and file is None and points is None,
            provenance=({"importance": facts},) * len(self.chosen) if facts else (),
        )


def with_speeds(
    events: Iterable[Event], teachers: Sequence[Teacher], slower: dict[str, str] | None
) -> Iterator[Event]:
    """The events. Before the last one, notes which bundles are slower than their graphs."""
    for event in events:
        if isinstance(event, Finished) and slower is not None:
            check = slower_than_graph(teachers)
            slower |= {path: check(Path(path)) for path in event.results}
        yield event


def slower_than_graph(teachers: Sequence[Teacher]) -> Callable[[Path], str]:
    """Measures whether a baked material is slower than its graph: a warning for its bundle, or
    nothing."""
    by_name = {each.material.name: each for each in teachers}

    def of_bundle(path: Path) -> str:
        from verdigris.core.bundle.cost.cost import cost_of_bundle
        from verdigris.core.bundle.files.read import open_bundle

        # the bake is done and written: a failure to measure it is no failure of the bake
        with contextlib.suppress(VerdigrisError):
            bundle = open_bundle(path)
            teacher = by_name.get(bundle.source_name)
            if teacher is not None:
                return cost_of_bundle(bundle, teacher.device, teacher, is_brief=True).warning
        return ""

    return of_bundle


def _facts_of_map(file: Path | None) -> dict[str, str] | None:
    """What identifies the file of an importance map; None if there is no readable file."""
    from verdigris.core.material.load.provenance import file_facts

    with contextlib.suppress(OSError):
        return file_facts(file) if file and file.is_file() else None
    return None
