"""USD stages in a Maya scene: the proxy shapes of maya-usd.

An item of a stage has the path of its shape, a comma, and the path of its prim, as in Maya's
selection: `|stage1|stageShape1,/mtl/gold`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument, HostMesh
from verdigris.core.material.usd.usdshade import list_materials
from verdigris.plugins.common.usd_stages import (
    bound_meshes,
    find_problem,
    hide_layers,
    layers_of_looks,
    mesh_of_stage,
    meshes_by_material,
    shared_path,
    show_layer,
    weight_sets_of,
    write_looks_of,
)
from verdigris.plugins.maya.scene.documents import convert_from_stage
from verdigris.plugins.maya.scene.nodes import of_type, parent_of, require_node

SHAPE = "mayaUsdProxyShape"
SEPARATOR = ","


def split_item(path: str) -> tuple[str, str]:
    """The shape and the prim of an item."""
    shape, _, prim = path.partition(SEPARATOR)
    return shape, prim


def is_item(path: str) -> bool:
    """Whether a path names an item of a stage. Items of LookdevX have a percent sign."""
    return split_item(path)[1].startswith("/")


def stage_of(shape: str) -> Any:
    """The stage of a proxy shape. Keep a reference to it: its prims expire with it."""
    require_node(shape)
    try:
        import mayaUsd.lib
    except ImportError as failure:
        raise HostError(
            f"{shape}: the Python package of maya-usd is missing ({failure}): repair the "
            "installation of maya-usd"
        ) from None
    prim = mayaUsd.lib.GetPrim(shape)
    if not prim:
        raise HostError(f"{shape} has no stage: see why in the Script Editor")
    return prim.GetStage()


def staged_materials() -> list[tuple[str, str, str]]:
    """The item, the name and the problem of each material. Warnings name shapes without a stage."""
    found = []
    for shape in of_type(SHAPE):
        with suppress(HostError):
            stage = stage_of(shape)
            found += [
                (f"{shape}{SEPARATOR}{path}", path.rpartition("/")[2], find_problem(stage, path))
                for path in list_materials(stage)
            ]
    return found


def stage_warnings() -> tuple[str, ...]:
    """A warning for each shape without a stage."""
    lines = []
    for shape in of_type(SHAPE):
        try:
            stage_of(shape)
        except HostError as failure:
            lines.append(str(failure))
    return tuple(lines)


def read_staged(item: str, name: str) -> HostDocument:
    """The document of a material."""
    shape, path = split_item(item)
    return convert_from_stage(stage_of(shape), path, name)


def meshes_with(item: str) -> list[str]:
    """The meshes with a material."""
    shape, path = split_item(item)
    return [f"{shape}{SEPARATOR}{mesh}" for mesh in bound_meshes(stage_of(shape), path)]


def meshes_of_all(items: Iterable[str]) -> dict[str, list[str]]:
    """The meshes with each of these materials. Each stage is traversed once."""
    by_shape: dict[str, tuple[Any, dict[str, list[str]]]] = {}
    found = {}
    for item in items:
        shape, path = split_item(item)
        if shape not in by_shape:
            stage = stage_of(shape)
            by_shape[shape] = stage, meshes_by_material(stage)
        stage, meshes = by_shape[shape]
        of_material = meshes.get(shared_path(stage.GetPrimAtPath(path)), [])
        found[item] = [f"{shape}{SEPARATOR}{mesh}" for mesh in of_material]
    return found


def read_staged_mesh(item: str, material: str, weight_set: str) -> HostMesh:
    """Reads a mesh. If the item of a material is given, only its faces."""
    shape, path = split_item(item)
    return mesh_of_stage(
        stage_of(shape), path, split_item(material)[1], weight_set, shape, SEPARATOR
    )


def staged_weight_sets(item: str) -> tuple[str, ...]:
    """The names of primvars of a mesh that can be painted weights."""
    shape, path = split_item(item)
    return weight_sets_of(stage_of(shape), path, shape)


def switch_staged_looks(shape: str, bundles: Mapping[str, str]) -> str:
    """Shows the looks of these bundles over a stage, or the source again. Returns what it did."""
    stage = stage_of(shape)
    if layers_of_looks(stage):
        hide_layers(stage)
        return f"The materials of {shape} are shown again"
    name = Path(stage.GetRootLayer().realPath).stem or shape.rpartition("|")[2].replace(":", "_")
    layer, shown = write_looks_of(stage, bundles, name)
    show_layer(stage, layer)
    names = ", ".join(path.rpartition("/")[2] for path in shown)
    return f"Baked looks are shown: {names}. To keep them, put {layer} in the stage's sublayers"


def is_item_selected(item: str, selected: set[str]) -> bool:
    """Whether an item, a prim in it, a prim around it, its shape or its transform is selected."""
    shape, _ = split_item(item)
    return bool({item, shape, parent_of(shape)} & selected) or any(
        each.startswith(f"{item}/") or item.startswith(f"{each}/")
        for each in selected
        if is_item(each)
    )
