"""The neural rung of a ladder: a bundle, baked as the mesh of the ladder needs it, or opened."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.baking.prepare import prepare
from verdigris.core.baking.state.trainers import choose_trainer
from verdigris.core.bundle.files.manifest import FORMAT, SUFFIX
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.replace_folder import check_replaceable
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.ladder.mesh.baked_mesh import recorded_set
from verdigris.core.ladder.mesh.mesh_domain import coverage_weights, find_properties, mesh_points
from verdigris.core.ladder.rungs.neural import Neural
from verdigris.core.material.analyse.on_mesh import depends_on_mesh
from verdigris.core.progress import Finished, Step
from verdigris.core.settings.presets import require_recipe

if TYPE_CHECKING:
    from verdigris.core.baking.bake_request import BakeRequest
    from verdigris.core.base.device import Device
    from verdigris.core.ladder.mesh.mesh_surface import Surface
    from verdigris.core.material.load.mtlx_document import Document, Material


def bake_neural(
    document: Document,
    material: Material,
    surface: Surface,
    device: Device,
    folder: Path,
    request: BakeRequest,
    uv_set: str | None = None,
    on_progress: Callable[[float], None] = lambda _: None,
) -> Neural:
    """Bakes a bundle into a folder, on the mesh if the material depends on it: in a uv set, by
    default one without overlaps. An error in `on_progress` ends the bake."""
    begun = time.monotonic()
    points = used_set = None
    nodes = list(document.nodes_of(material))
    if depends_on_mesh(nodes):
        used_set = uv_set or surface.require_unique_set()
        properties, _ = find_properties(surface, nodes, document.name)
        points = mesh_points(surface, used_set, properties=properties)
        request = replace(request, importance=coverage_weights(points, None))
    prepared = prepare(request, [(document, material)], device, folder, points=points)
    path: Path | None = None
    for event in prepared.with_options(keeps_versions=False).bake():
        if isinstance(event, Step):
            on_progress(event.step / max(1, event.steps))
        elif isinstance(event, Finished):
            path = Path(event.results[0])
    assert path is not None
    bundle = open_bundle(path)
    return Neural.of(bundle, BundleMaterial(bundle, device), time.monotonic() - begun, used_set)


def open_neural(path: Path, surface: Surface, device: Device) -> Neural:
    """Opens a bundle that is baked already."""
    bundle = open_bundle(path)
    uv_set = surface.require_set(recorded_set(bundle))
    return Neural.of(bundle, BundleMaterial(bundle, device), uv_set=uv_set)


def check_preset(preset: str, device: Device) -> None:
    """Refuses a preset that the trainer of a device does not have."""
    require_recipe(preset, choose_trainer(device))


def check_place(folder: Path, material: Material) -> None:
    """Refuses a folder in which the bundle would replace something that is not a bundle."""
    check_replaceable(folder / f"{material.file_name}{SUFFIX}", FORMAT)
