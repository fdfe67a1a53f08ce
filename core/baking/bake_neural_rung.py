"""Bakes the neural rung of a ladder: a bundle of a material as the ladder's mesh needs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake import bake
from verdigris.core.baking.state.options import BakeControl, BakeOptions
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.ladder.mesh.mesh_domain import coverage_weights, find_properties, mesh_points
from verdigris.core.ladder.neural_rung import Neural
from verdigris.core.material.analyse.on_mesh import depends_on_mesh
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.progress import Finished, Step
from verdigris.core.settings.json_changes import changed
from verdigris.core.settings.presets import default_preset, require_recipe

if TYPE_CHECKING:
    from verdigris.core.base.device import Device
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.material.load.mtlx_document import Document, Material


@dataclass(frozen=True)
class NeuralRequest:
    """How the neural rung is baked."""

    folder: Path
    """The folder of the bundle."""
    preset: str = ""
    """By default the device's."""
    uv_set: str | None = None
    """The set in which a material that depends on the mesh is baked; by default one without
    overlaps."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Settings in place of the preset's."""


def bake_neural(
    document: Document,
    material: Material,
    surface: Surface,
    device: Device,
    request: NeuralRequest,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Neural:
    """Bakes a bundle, on the mesh if the material depends on it. An error in `on_progress` ends the
    bake."""
    begun = time.monotonic()
    points = weights = uv_set = None
    nodes = list(document.nodes_of(material))
    if depends_on_mesh(nodes):
        uv_set = request.uv_set or surface.require_unique_set()
        properties, _ = find_properties(surface, nodes, document.name)
        points = mesh_points(surface, uv_set, properties=properties)
        weights = coverage_weights(points, None)
    teacher = Teacher(document, material, device, points)
    kind = choose_trainer(device)
    preset = request.preset or default_preset(kind)
    recipe = changed(require_recipe(preset, kind), dict(request.changes))
    options = BakeOptions(
        name=material.file_name,
        folder=request.folder,
        trainer=kind,
        importance=weights,
        preset=preset,
        keeps_versions=False,
    )
    path: Path | None = None
    for event in bake([teacher], recipe, options, BakeControl()):
        if isinstance(event, Step):
            on_progress(event.step / max(1, event.steps))
        elif isinstance(event, Finished):
            path = Path(event.results[0])
    assert path is not None
    bundle = open_bundle(path)
    return Neural.of(bundle, BundleMaterial(bundle, device), time.monotonic() - begun, uv_set)
