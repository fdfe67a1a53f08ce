# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""One material through Blender's USD export, with what the export leaves out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import bpy

from verdigris.core.base.errors import DocumentError, HostError
from verdigris.core.base.files import remove_file
from verdigris.core.material.usd.usdshade import convert, list_materials
from verdigris.core.material.usd.write_mtlx import valid_name

from .displacement import Displacement, displace, write_displacement
from .emitted import emitting
from .live_inputs import Offer, publish, with_carriers
from .node_graph import NodeGraph, nodes_read, output_of, surface_of
from .opacity import finds_opacity, set_opacity, without_holes, write_opacity
from .plain_nodes import value_of, with_plain_nodes

_TEMPORARY = ".verdigris"
_SURFACE = "outputs:mtlx:surface"
_HEIGHTS, _OPACITY = "verdigris_heights", "verdigris_opacity"


def export_material(
    material: bpy.types.Material,
    folder: Path,
    textures: str,
    chosen: Sequence[Offer],
    displaced: Displacement | None,
) -> tuple[str, str, tuple[Path, ...], tuple[str, ...]]:
    """The text, the name in it, the folders of its files and notes."""
    Usd = _require_usd()  # noqa: N806
    # USD keeps layers by file name: a used name would give the material as it was before
    with tempfile.NamedTemporaryFile(suffix=".usda", dir=folder) as held:
        file = Path(held.name)
    # what copies of the material emit
    wanted: dict[str, Callable[[NodeGraph], Any]] = {}
    if displaced is not None and not displaced.problem:
        wanted[_HEIGHTS] = write_displacement
    if finds_opacity(output_of(material).inputs["Surface"]):
        wanted[_OPACITY] = partial(write_opacity, value=value_of)
    try:
        with (
            _for_all_engines(material),
            with_plain_nodes(material, nodes_read(material)) as plain,
            with_carriers(plain, chosen, folder) if chosen else nullcontext(plain) as opened,
            ExitStack() as copies,
            without_holes(opened) if _OPACITY in wanted else nullcontext(opened) as shown,
            scene_of(
                shown,
                *(
                    copies.enter_context(emitting(opened, name, write))
                    for name, write in wanted.items()
                ),
            ) as (scene, layer),
            bpy.context.temp_override(scene=scene, view_layer=layer),
        ):
            bpy.ops.wm.usd_export(
                filepath=str(file),
                check_existing=False,
                generate_materialx_network=True,
                generate_preview_surface=False,
                convert_world_material=False,
                export_custom_properties=False,
                export_textures_mode=textures,
                overwrite_textures=True,
                relative_paths=False,
            )
        if not file.is_file():
            raise HostError(f"{material.name_full}: Blender wrote no USD file: see its console")
        stage = Usd.Stage.Open(str(file))
        others = {each.rpartition("/")[2]: each for each in list_materials(stage)}
        emitted = {name: others.pop(name) for name in wanted}
        (path,) = others.values()
        # without a network, the export has a preview surface of the viewport's colour
        if not stage.GetPrimAtPath(path).GetAttribute(_SURFACE).HasAuthoredConnections():
            raise HostError(_inexpressible(material))
        if _HEIGHTS in emitted:
            displace(stage, path, emitted[_HEIGHTS], displaced.is_vector)
        if _OPACITY in emitted:
            set_opacity(stage, path, emitted[_OPACITY])
        found = convert(stage, path)
    except RuntimeError as failure:
        raise HostError(f"{material.name_full}: Blender's USD export failed: {failure}") from None
    except DocumentError as failure:
        raise HostError(f"{material.name_full}: {failure}") from None
    finally:
        remove_file(file)
    name = valid_name(material.name)
    if not chosen and found.name == name:
        return found.text, found.name, found.folders, found.notes
    # those of carriers are gone
    folders = tuple(each for each in found.folders if each.is_dir())
    return publish(found.text, chosen, found.name, name), name, folders, found.notes


@contextmanager
def scene_of(
    *materials: bpy.types.Material,
) -> Iterator[tuple[bpy.types.Scene, bpy.types.ViewLayer]]:
    """A scene with a triangle for each material. The artist's scene may take minutes to export, and
    its export contains only assigned materials."""
    shown = bpy.context.scene
    scene = bpy.data.scenes.new(_TEMPORARY)
    # drivers are evaluated in it, and change the material
    scene.frame_current, scene.frame_subframe = shown.frame_current, shown.frame_subframe
    mesh = bpy.data.meshes.new(_TEMPORARY)
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    mesh.from_pydata(corners, [], [(0, 1, 2)] * len(materials))
    mesh.uv_layers.new(name="UVMap")
    for face, material in zip(mesh.polygons, materials, strict=True):
        face.material_index = len(mesh.materials)
        mesh.materials.append(material)
    holder = bpy.data.objects.new(_TEMPORARY, mesh)
    scene.collection.objects.link(holder)
    try:
        yield scene, scene.view_layers[0]
    finally:
        bpy.data.objects.remove(holder)
        bpy.data.meshes.remove(mesh)
        bpy.data.scenes.remove(scene)


def _require_usd() -> Any:
    # the bpy module has USD's Python modules aside, Blender itself on its path
    bpy.utils.expose_bundled_modules()
    try:
        from pxr import Usd
    except ImportError:
        raise HostError(
            "this Blender has no Python modules of USD: use a Blender from blender.org"
        ) from None
    return Usd


def _inexpressible(material: bpy.types.Material) -> str:
    surface = surface_of(material)
    assert surface is not None
    return (
        f"{material.name_full}: Blender's MaterialX export cannot express its shader "
        f"{surface.name!r} ({surface.bl_label}): use a Principled BSDF"
    )


@contextmanager
def _for_all_engines(material: bpy.types.Material) -> Iterator[None]:
    """Makes the output one for all engines: the export knows no other."""
    output = output_of(material)
    before = output.target
    if before == "ALL":
        yield
        return
    output.target = "ALL"
    try:
        yield
    finally:
        output.target = before
