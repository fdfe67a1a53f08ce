"""A whole ladder, as the command and the panel request it.

Puts the graph on the mesh, has the neural rung baked (bake_neural_rung.py), the others fitted and
all measured (core/ladder/ladder.py), and the folder written (core/ladder/output).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_neural_rung import bake_neural
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.state.outputs import require_writable, result_folder
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.base.errors import SettingsError
from verdigris.core.base.outputs import check_no_bundle
from verdigris.core.bundle.files.manifest import FORMAT, SUFFIX
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.replace_folder import check_replaceable, remove_folder
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.ladder_settings import LadderSettings, check_rungs
from verdigris.core.ladder.mesh.baked_mesh import recorded_set
from verdigris.core.ladder.mesh.mesh_domain import (
    find_properties,
    mesh_points,
    needs_atlas,
    reads_colours,
)
from verdigris.core.ladder.neural_rung import Neural
from verdigris.core.ladder.output.write_ladder import write_ladder
from verdigris.core.material.analyse.features import KEPT
from verdigris.core.material.analyse.on_mesh import parts_on_mesh, reads_second_set
from verdigris.core.material.codegen.mesh_properties import is_read_from_mesh, plain_name
from verdigris.core.material.domain import MOST_SETS
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.report import describe_teacher
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.settings.bake_settings import BC7_FORMAT
from verdigris.core.settings.presets import require_recipe
from verdigris.core.settings.rung_names import DETAIL, NEURAL, PBR, SURFACE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from verdigris.core.base.device import Device
    from verdigris.core.importance.camera import Camera
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.load.mtlx_document import Document, Material

    OnProgress = Callable[[str, float], None]


# The neural rung is baked in this folder, and moved with the rest.
_BAKED = ".baking"


@dataclass(frozen=True)
class LadderRequest:
    """What a ladder is made of, and where it goes."""

    folder: Path
    rungs: tuple[str, ...]
    """In the order of RUNGS, once each."""
    size: int = 256
    """Texels a side of textures."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Other fields of LadderSettings."""
    uv_set: str | None = None
    """The set of surface, pbr and detail; None is the mesh's first."""
    preset: str = ""
    """Of the bake of the neural rung."""
    bundle: Path | None = None
    """The neural rung, if it is baked already."""
    has_ktx: bool = True
    """Whether KTX 2.0 files are written, too."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rungs", tuple(check_rungs(self.rungs)))
        check_no_bundle(self.folder)
        if self.bundle is not None and NEURAL not in self.rungs:
            raise SettingsError(
                f"the bundle {self.bundle} is given for the rung {NEURAL!r}, and the rungs are "
                f"{', '.join(self.rungs)}: name it among them"
            )
        if self.changes.get("texture_format") == BC7_FORMAT and not self.has_ktx:
            raise SettingsError(
                "texture_format is 'bc7' without KTX 2.0 files, which hold the blocks: "
                "leave out --no-ktx"
            )


def fit_ladder(
    document: Document,
    material: Material,
    surface: Surface,
    environment: Environment,
    device: Device,
    request: LadderRequest,
    cameras: Sequence[Camera] = (),
    importance: NDArray[np.float32] | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> dict[str, Any]:
    """Writes the ladder and returns its report. An error in `on_progress` ends it."""
    settings = LadderSettings.for_device(request.size, device.is_software)
    settings = replace(settings, **request.changes)
    if request.preset:
        require_recipe(request.preset, choose_trainer(device))
    bundle = open_bundle(request.bundle) if request.bundle is not None else None
    read_by = surface.require_set(recorded_set(bundle) if bundle else None)
    draft = request.folder / _BAKED

    def find_neural() -> Neural:
        if bundle is not None:
            return Neural.of(bundle, BundleMaterial(bundle, device), uv_set=read_by)
        return bake_neural(
            document,
            material,
            surface,
            device,
            draft,
            BakeRequest(preset=request.preset),
            request.uv_set,
            lambda part: on_progress(NEURAL, part),
        )

    graph = _put_on_mesh(document, material, surface, device, request)
    with result_folder(request.folder):
        require_writable(request.folder)
        if NEURAL in request.rungs and bundle is None:
            check_replaceable(request.folder / f"{material.file_name}{SUFFIX}", FORMAT)
        remove_folder(draft)
        try:
            ladder = make_ladder(
                graph.teacher,
                graph.surface,
                environment,
                request.rungs,
                settings,
                cameras,
                graph.uv_set,
                importance,
                graph.has_tiles,
                find_neural,
                on_progress,
            )
            ladder.warnings += graph.warnings
            return write_ladder(
                ladder, request.folder, material.file_name, request.has_ktx, baked=draft
            )
        finally:
            remove_folder(draft)


@dataclass(frozen=True)
class _GraphOnMesh:
    """The material's graph on the mesh, to which textures are fitted."""

    teacher: Teacher
    surface: Surface
    """Its first uv set is that on which the graph is evaluated."""
    uv_set: str
    """That of surface, pbr and detail."""
    has_tiles: bool
    warnings: list[str]
    """What the mesh lacks, and what the graph loses on it."""


def _put_on_mesh(
    document: Document, material: Material, surface: Surface, device: Device, request: LadderRequest
) -> _GraphOnMesh:
    """Compiles the graph. What it reads from the mesh is a map in a uv set in which each place has
    texels of its own."""
    nodes = list(document.nodes_of(material))
    read, lacking = find_properties(surface, nodes, document.name)
    uv_set, fitted, points = surface.require_set(request.uv_set), surface, None
    has_colours, sets = reads_colours(surface, nodes), min(len(surface.sets), MOST_SETS)
    reads_map = read or has_colours or (sets > 1 and reads_second_set(nodes))
    if request.rungs != (NEURAL,) and reads_map:
        places = surface.require_unique_set()
        points = mesh_points(surface, places, properties=read)
        fitted = surface.starting_with(places)
    teacher = Teacher(document, material, device, points, has_atlas=points is not None)
    # what the mesh lacks of these is in the list already
    named = [plain_name(each) for each in nodes if is_read_from_mesh(each)]
    parts = parts_on_mesh(describe_teacher(teacher).parts, named, sets, has_colours=True)
    lacking += [f"{each.name} is {each.fate}: {each.how}" for each in parts if each.fate != KEPT]
    has_tiles = any(is_tiled(slot.file) for slot in teacher.generated.textures)
    if not has_tiles and {SURFACE, PBR, DETAIL} & {*request.rungs}:
        has_tiles, shared = needs_atlas(fitted, uv_set, nodes)
        lacking += shared
    return _GraphOnMesh(teacher, fitted, uv_set, has_tiles, lacking)
