"""The materials of a Maya scene."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument, HostMaterial
from verdigris.plugins.maya.lookdevx import split_path
from verdigris.plugins.maya.scene.exports import export_native
from verdigris.plugins.maya.scene.networks import (
    left_out,
    read_nodes,
    require_shader,
    shader_to_read,
)
from verdigris.plugins.maya.scene.nodes import is_ours, of_type, require_node, surface_of
from verdigris.plugins.maya.scene.stacks import (
    SURFACE_SHADER,
    read_rendered,
    read_stacked,
    rendered_path,
    stacked_paths,
)
from verdigris.plugins.maya.scene.stages import (
    is_item_selected,
    meshes_of_all,
    read_staged,
    staged_materials,
)

RENDERED, STACKED, NATIVE = "LookdevX material", "LookdevX document", "Maya shader"
STAGED = "USD stage"
_DEFAULT_ENGINES = ("initialShadingGroup", "initialParticleSE")


def unloaded_references() -> tuple[str, ...]:
    """A warning for each reference that is not loaded."""
    return tuple(
        f"the reference {reference} is not loaded: load it in the Reference Editor to bake its "
        "materials"
        for reference in cmds.file(query=True, reference=True) or []
        if not cmds.referenceQuery(reference, isLoaded=True)
    )


def require_known(material: HostMaterial) -> None:
    """Raises an error for a material of another host."""
    if material.source not in (RENDERED, STACKED, NATIVE, STAGED):
        raise HostError(f"{material.name} is not a material of this scene: refresh the list")


def node_of(material: HostMaterial) -> str:
    """The node of a material, or the stack or the shape of the stage that contains it."""
    require_known(material)
    is_inside = material.source in (STACKED, STAGED)
    return require_node(split_path(material.key)[0] if is_inside else material.key)


def place_in_node(material: HostMaterial) -> str:
    """The place of a material in its stack or stage; empty for a material that is a node."""
    if material.source not in (STACKED, STAGED):
        return ""
    return material.key.removeprefix(split_path(material.key)[0])


def list_materials() -> tuple[HostMaterial, ...]:
    """Rendered LookdevX materials, other materials of stacks, Maya's own shaders, and materials of
    USD stages."""
    shaders = of_type(SURFACE_SHADER)
    found = [HostMaterial(node, node, RENDERED) for node in shaders]
    shown = {rendered_path(node) for node in shaders}
    found += [
        HostMaterial(path, name, STACKED) for path, name in stacked_paths() if path not in shown
    ]
    for engine in of_type("shadingEngine"):
        shader = surface_of(engine)
        if not shader or is_ours(shader) or is_ours(engine):
            continue
        if engine in _DEFAULT_ENGINES and not _is_fed(shader):
            continue
        if cmds.nodeType(shader) != SURFACE_SHADER:
            found.append(HostMaterial(engine, shader, NATIVE))
    found += [HostMaterial(item, name, STAGED, why) for item, name, why in staged_materials()]
    return tuple(found)


def _is_fed(shader: str) -> bool:
    """Whether the artist has connected something to a shader. Maya's default one has nothing."""
    return bool(cmds.listConnections(shader, source=True, destination=False))


def selected_among(materials: Iterable[HostMaterial], selected: set[str]) -> set[HostMaterial]:
    """The materials of which a part, a mesh on a stage, or the item that they render is
    selected."""
    found = {each for each in materials if each.source != STAGED and is_selected(each, selected)}
    staged = {each.key: each for each in materials if each.source == STAGED} if selected else {}
    for item, meshes in meshes_of_all(staged).items():
        if any(is_item_selected(each, selected) for each in (item, *meshes)):
            found.add(staged[item])
    return found


def is_selected(material: HostMaterial, selected: set[str]) -> bool:
    """Whether a material outside of stages, a part of it, or the item that it renders is
    selected."""
    path = rendered_path(material.key) if material.source == RENDERED else material.key
    return bool({material.key, material.name} & selected) or any(
        path and (each == path or each.startswith(f"{path}%")) for each in selected
    )


def engines_of(material: HostMaterial) -> tuple[str, ...]:
    """The shading groups that assign a material to meshes."""
    if material.source == NATIVE:
        return (require_node(material.key),)
    if material.source in (STACKED, STAGED):
        return ()
    found = cmds.listConnections(require_node(material.key), type="shadingEngine") or []
    return tuple(dict.fromkeys(found))


def read_document(material: HostMaterial, members: tuple[str, ...]) -> HostDocument:
    """Reads a material as MaterialX. `members` are the meshes that it is assigned to."""
    require_known(material)
    node = node_of(material)
    if material.source == RENDERED:
        return read_rendered(node, material.name)
    if material.source == STACKED:
        return read_stacked(material.key, material.name)
    if material.source == STAGED:
        return read_staged(material.key, material.name)
    surface = surface_of(node)
    shader = shader_to_read(node, surface)
    if shader:
        return read_nodes(node, shader, material.name, members)
    require_shader(surface)
    # a kind of surface that only maya-usd knows
    found = export_native(node, material.name, members)
    lost = left_out(node, "displacementShader", "volumeShader")
    return replace(found, notes=(*found.notes, *lost))
