"""Results in a Maya scene: paths of bundles in attributes, and the baked look in the viewport."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json
from verdigris.core.hosts.host import HostMaterial
from verdigris.core.hosts.result_paths import found_in, named_in
from verdigris.plugins.maya.scene.assignments import assign, assignment_of, put_back, read_former
from verdigris.plugins.maya.scene.documents import result_roots
from verdigris.plugins.maya.scene.materials import NATIVE, STACKED, STAGED, engines_of, node_of
from verdigris.plugins.maya.scene.nodes import surface_of, text_of, undo_step
from verdigris.plugins.maya.scene.stages import split_item, switch_staged_looks
from verdigris.plugins.maya.scene.viewport import neural_engines, viewport_engine

RESULT_ATTRIBUTE = "verdigrisBundle"
RESULTS_ATTRIBUTE = "verdigrisBundles"


def place_of_result(material: HostMaterial) -> tuple[str, str]:
    """The node and the attribute of a result. A stack, or the shape of a stage, has one attribute
    for all its materials."""
    node = node_of(material)
    if material.source in (STACKED, STAGED):
        return node, RESULTS_ATTRIBUTE
    if material.source == NATIVE:
        return surface_of(node) or node, RESULT_ATTRIBUTE
    return node, RESULT_ATTRIBUTE


def find_result(material: HostMaterial) -> str:
    """The path of the noted result. Empty if there is none."""
    node, attribute = place_of_result(material)
    if attribute == RESULTS_ATTRIBUTE:
        return _results(node).get(_key_of(material), "")
    return _found(text_of(node, attribute))


def result_text(material: HostMaterial, bundle: Path) -> str:
    """The value of that attribute with a new result."""
    node, attribute = place_of_result(material)
    name = named_in(bundle, result_roots())
    if attribute == RESULTS_ATTRIBUTE:
        return json.dumps({**_noted(node), _key_of(material): name}, sort_keys=True)
    return name


def _key_of(material: HostMaterial) -> str:
    # the shape of a stage keeps its notes when it is renamed
    return split_item(material.key)[1] if material.source == STAGED else material.key


def _results(stack: str) -> dict[str, str]:
    """The paths of the results of a stack or a stage."""
    return {key: _found(name) for key, name in _noted(stack).items()}


def _found(name: str) -> str:
    return found_in(name, result_roots()).as_posix() if name else ""


def _noted(stack: str) -> dict[str, str]:
    found = find_json(text_of(stack, RESULTS_ATTRIBUTE) or "{}")
    if not isinstance(found, dict):
        raise HostError(f"{stack}: the attribute {RESULTS_ATTRIBUTE!r} is damaged: delete it")
    return {key: name for key, name in found.items() if isinstance(name, str)}


def switch_stages(
    materials: Sequence[HostMaterial], noted: Mapping[HostMaterial, Path]
) -> list[str]:
    """Shows the baked looks of the stages of these materials, or their source. `noted` are the
    results of materials on stages. Returns what it did."""
    said = []
    for shape in dict.fromkeys(split_item(each.key)[0] for each in materials):
        places = {split_item(each.key): path for each, path in noted.items()}
        bundles = {prim: str(path) for (owner, prim), path in places.items() if owner == shape}
        said.append(switch_staged_looks(shape, bundles))
    return said


def is_look_shown(material: HostMaterial) -> bool:
    """Whether the meshes of a material display its baked look or its neural look."""
    return bool(shown_engines(material))


def shown_engines(material: HostMaterial) -> list[str]:
    """The shading groups of the looks that the meshes of a material display."""
    engines = [viewport_engine(material), *neural_engines(material)]
    return [engine for engine in engines if engine and read_former(engine)]


def show_looks(meshes: dict[HostMaterial, tuple[str, ...]]) -> list[str]:
    """Assigns the baked looks of materials to their meshes, as one undo step. Returns the
    materials' names."""
    parts = {}
    for material, names in meshes.items():
        look = viewport_engine(material)
        engines = engines_of(material)
        found = [part for mesh in names for part in assignment_of(mesh, engines)]
        if look and found:
            parts[material] = (look, found)
    if not parts:
        listed = ", ".join(material.name for material in meshes)
        raise HostError(
            f"{listed}: no baked look for a mesh: bake with Textures for the viewport (More "
            "settings), and assign the material to a mesh"
        )
    with undo_step("Verdigris baked look"):
        for look, found in parts.values():
            assign(look, found)
    return [material.name for material in parts]


def hide_looks(materials: Sequence[HostMaterial]) -> None:
    """Assigns the materials again, as one undo step."""
    with undo_step("Verdigris materials"):
        put_back_looks(materials)


def put_back_looks(materials: Iterable[HostMaterial]) -> None:
    """Assigns the materials again, as part of an undo step."""
    for material in materials:
        for engine in shown_engines(material):
            put_back(engine)
