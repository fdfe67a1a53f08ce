"""A whole ladder, as the command and the panel request it.

Puts the graph on the mesh (core/ladder/mesh/graph_on_mesh.py), has the neural rung baked
(bake_neural_rung.py), the other rungs fitted and all of them measured (core/ladder/ladder.py), and
the folder written (core/ladder/output).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_neural_rung import (
    bake_neural,
    check_place,
    check_preset,
    open_neural,
)
from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.baking.ladder_request import LadderRequest
from verdigris.core.baking.state.outputs import require_writable, result_folder
from verdigris.core.base.files import Folder
from verdigris.core.base.outputs import draft_in
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.mesh.graph_on_mesh import GraphOnMesh
from verdigris.core.ladder.output.write_ladder import write_ladder
from verdigris.core.ladder.rungs.neural import Neural, NeuralRung

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.base.device import Device
    from verdigris.core.importance.camera import Camera
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.lighting.environment import Environment
    from verdigris.core.material.load.mtlx_document import Document, Material

    OnProgress = Callable[[str, float], None]

# The neural rung is baked in this folder, and moved with the other files.
_BAKED = ".baking"


def fit_ladder(
    document: Document,
    material: Material,
    surface: Surface,
    environment: Environment,
    device: Device,
    request: LadderRequest,
    cameras: Sequence[Camera] = (),
    importance: Floats | None = None,
    on_progress: OnProgress = lambda *_: None,
) -> dict[str, Any]:
    """Writes the ladder and returns its report. An error in `on_progress` ends it."""
    settings = LadderSettings.for_device(request.size, device.is_software)
    settings = replace(settings, **request.changes)
    if request.preset:
        check_preset(request.preset, device)
    given = None if request.bundle is None else open_neural(request.bundle, surface, device)
    kinds = request.kinds
    graph = GraphOnMesh.compile(
        document, material, surface, device, request.uv_set,
        is_fitted=not all(kind.is_baked for kind in kinds),
        has_textures=any(kind.is_on_material_set for kind in kinds),
    )  # fmt: skip
    with result_folder(request.folder):
        require_writable(request.folder)
        if request.has_baked and given is None:
            check_place(request.folder, material)
        with Folder.at(request.folder) as place, draft_in(place, _BAKED) as draft:

            def find_bundle() -> Neural:
                return given or bake_neural(
                    document, material, surface, device, draft.steady_path,
                    BakeRequest(preset=request.preset), request.uv_set,
                    partial(on_progress, NeuralRung.name),
                )  # fmt: skip

            ladder = make_ladder(
                graph.teacher, graph.surface, environment, request.rungs, settings, cameras,
                graph.uv_set, importance, graph.has_tiles, find_bundle, on_progress,
            )  # fmt: skip
            ladder.warnings += graph.warnings
            return write_ladder(
                ladder, request.folder, material.file_name, request.has_ktx, draft.steady_path
            )
