# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Results in a Blender file and its USD exports: custom properties, and baked looks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bpy
from bpy.app.handlers import persistent

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    VIEWPORT_SUFFIX,
    BakedResult,
)

from .displacement import SOCKET, keep_displacement
from .meshes import RUNG
from .node_graph import load_data, new_material, output_of
from .undo import push_undo, require_local

RESULT_PROPERTY = "verdigris_bundle"
USD_ATTRIBUTE = "verdigris:bundle"
# Begins a name that is relative to the .blend file, as in Blender's own paths.
_BESIDE = "//"
MADE_FOR = "verdigris_made_for"
_SHADER, _OUTPUT, _NORMAL_NODE = "Verdigris shader", "Verdigris output", "Verdigris normal map"
# Sockets of the Principled BSDF, and colour spaces.
_INPUTS = {
    BASE_COLOR: ("Base Color", "sRGB"),
    ROUGHNESS: ("Roughness", "Non-Color"),
    METALNESS: ("Metallic", "Non-Color"),
    NORMAL_MAP: ("Normal", "Non-Color"),
    EMISSION: ("Emission Color", "sRGB"),
    OPACITY: ("Alpha", "Non-Color"),
}


def attach_result(material: bpy.types.Material, result: BakedResult) -> None:
    """Notes a result and makes its baked look, if it has textures, as one undo step."""
    note_result(material, result)
    push_undo("Verdigris result")


def note_result(material: bpy.types.Material, result: BakedResult) -> None:
    """Notes a result and makes its baked look, without an undo step."""
    require_local(material)
    # read first: a missing file must leave the scene unchanged
    images = {kind: load_data(path, _INPUTS[kind][1]) for kind, path in result.textures.items()}
    # absolute first: the folder of a batch may be relative to its working folder
    material[RESULT_PROPERTY] = _named(result.bundle.absolute(), bpy.data.filepath)
    if images:
        _make_look(material, images)


def find_result(material: bpy.types.Material) -> str:
    """The path of a material's bundle, or an empty text."""
    name, library = str(material.get(RESULT_PROPERTY, "")), material.library
    if not name.startswith(_BESIDE):
        return name
    return Path(bpy.path.abspath(name, library=library)).as_posix()


def _named(bundle: Path, file: str) -> str:
    """The name of a bundle in a .blend file: relative to it if the bundle lies beside it."""
    folder = Path(file).parent
    if not file or not bundle.is_relative_to(folder):
        return bundle.as_posix()
    return _BESIDE + bundle.relative_to(folder).as_posix()


def _rename_results(before: str, after: str) -> None:
    """Names the results of the open file as another file must name them."""
    for material in bpy.data.materials:
        name = material.get(RESULT_PROPERTY)
        if material.library is None and isinstance(name, str) and after:
            is_beside = before and name.startswith(_BESIDE)
            path = Path(before).parent / name.removeprefix(_BESIDE) if is_beside else Path(name)
            new = _named(path, after) if path.is_absolute() else name
            if new != name:
                material[RESULT_PROPERTY] = new


# Blender keeps its own relative paths when a file is saved in another folder, but not those in
# custom properties.
@persistent
def _before_save(file: str, *_: object) -> None:
    _rename_results(bpy.data.filepath, file)


@persistent
def _after_save(file: str, *_: object) -> None:
    # after a copy is saved, the file before is open
    _rename_results(file, bpy.data.filepath)


def register_saving() -> None:
    bpy.app.handlers.save_pre.append(_before_save)
    bpy.app.handlers.save_post.append(_after_save)


def unregister_saving() -> None:
    bpy.app.handlers.save_pre.remove(_before_save)
    bpy.app.handlers.save_post.remove(_after_save)


def find_look(material: bpy.types.Material) -> bpy.types.Material | None:
    """The baked look of a material, or None."""
    return next(
        (
            each
            for each in bpy.data.materials
            if each.get(MADE_FOR) == material and RUNG not in each
        ),
        None,
    )


def swap_look(material: bpy.types.Material) -> int:
    """Shows the baked look of a material, or the material again. Returns the number of slots."""
    made_for = material.get(MADE_FOR)
    other = made_for if isinstance(made_for, bpy.types.Material) else find_look(material)
    if other is None:
        raise HostError(
            f"{material.name}: has no baked look: bake it with Textures for the viewport"
        )
    changed = 0
    for item in bpy.data.objects:
        for slot in item.material_slots:
            if slot.material == material and item.library is None:
                slot.material = other
                changed += 1
    push_undo("Verdigris baked look")
    return changed


def _make_look(material: bpy.types.Material, images: Mapping[str, bpy.types.Image]) -> None:
    made = find_look(material)
    if made is None:
        made = _new_look(material)
    tree = made.node_tree
    shader = node_of(tree, "ShaderNodeBsdfPrincipled", _SHADER, (0, 300))
    output = node_of(tree, "ShaderNodeOutputMaterial", _OUTPUT, (300, 300))
    connect(tree, shader.outputs["BSDF"], output.inputs["Surface"])
    for row, (kind, (socket, _)) in enumerate(_INPUTS.items()):
        name, target = f"Verdigris {kind}", shader.inputs[socket]
        if kind not in images:
            if name in tree.nodes:
                tree.nodes.remove(tree.nodes[name])
            continue
        texture = node_of(tree, "ShaderNodeTexImage", name, (-600, 600 - 280 * row))
        texture.image = images[kind]
        source = texture.outputs["Color"]
        if kind == NORMAL_MAP:
            bump = node_of(tree, "ShaderNodeNormalMap", _NORMAL_NODE, (-250, 600 - 280 * row))
            connect(tree, source, bump.inputs["Color"])
            source = bump.outputs["Normal"]
        connect(tree, source, target)
    shader.inputs["Emission Strength"].default_value = float(EMISSION in images)


def _new_look(material: bpy.types.Material) -> bpy.types.Material:
    """A material for a baked look, with the displacement of the source and no surface."""
    name, source = f"{material.name}{VIEWPORT_SUFFIX}", output_of(material)
    if source is not None and source.inputs[SOCKET].is_linked:
        made = material.copy()
        made.name = name
        for key in list(made.keys()):
            del made[key]
        output = made.node_tree.nodes[source.name]
        keep_displacement(made, output)
        output.name = output.label = _OUTPUT
    else:
        made = new_material(name)
        made.node_tree.nodes.clear()
    made[MADE_FOR] = material
    # it is not assigned to an object, and would not be saved otherwise
    made.use_fake_user = True
    return made


def node_of(
    tree: bpy.types.NodeTree, kind: str, name: str, place: tuple[float, float]
) -> bpy.types.Node:
    found = tree.nodes.get(name)
    if found is None:
        found = tree.nodes.new(kind)
        found.name = found.label = name
        found.location = place
    return found


def connect(
    tree: bpy.types.NodeTree, source: bpy.types.NodeSocket, target: bpy.types.NodeSocket
) -> None:
    """Connects two sockets, unless the artist has connected something else."""
    if not target.is_linked:
        tree.links.new(source, target)


class VerdigrisUSDHook(bpy.types.USDHook):
    """Adds the bundle of a material as an asset, which resolvers and farms find."""

    bl_idname = "VERDIGRIS_usd_hook"
    bl_label = "Verdigris results"

    @staticmethod
    def on_material_export(context: Any, material: bpy.types.Material, usd_material: Any) -> bool:
        bundle = find_result(material)
        if not bundle:
            return False
        # Blender exports without its Python modules of USD, too
        bpy.utils.expose_bundled_modules()
        from pxr import Sdf

        prim = usd_material.GetPrim()
        attribute = prim.CreateAttribute(USD_ATTRIBUTE, Sdf.ValueTypeNames.Asset, True)
        attribute.Set(Sdf.AssetPath(bundle))
        return True
