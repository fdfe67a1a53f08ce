"""The baked look of a material in the viewport: assigned to its meshes for now, and back."""

from __future__ import annotations

from collections.abc import Sequence

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostMaterial
from verdigris.plugins.maya.scene.assignments import assign, assignment_of, put_back, read_former
from verdigris.plugins.maya.scene.materials import engines_of
from verdigris.plugins.maya.scene.nodes import undo_step
from verdigris.plugins.maya.scene.viewport import viewport_engine


def is_look_shown(material: HostMaterial) -> bool:
    """Whether the meshes of a material display its baked look."""
    engine = viewport_engine(material)
    return bool(engine and read_former(engine))


def show_looks(meshes: dict[HostMaterial, tuple[str, ...]]) -> list[str]:
    """Assigns the baked looks of materials to their meshes, as one undo step. Returns the names of
    the materials."""
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
        for material in materials:
            put_back(viewport_engine(material))
