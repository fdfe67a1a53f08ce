# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""The materials of a Blender file, as MaterialX through Blender's own USD export."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import bpy

from verdigris.core.base.errors import HostError, reason
from verdigris.core.base.files import make_folders, remove_folder
from verdigris.core.base.text import unused_names
from verdigris.core.hosts.host import HostDocument, HostMaterial

from .displacement import Displacement, find_displacement
from .export import export_material
from .export_losses import can_become_image, loss_notes
from .live_inputs import Offer, chosen_texts, is_chosen, offers, unknown_choices
from .node_graph import ENGINES, nodes_read, output_of, surface_of
from .opacity import mixed_in_groups
from .results import MADE_FOR

SOURCE = "Blender nodes"
IMAGES_FOLDER = Path("verdigris", "images")
_EXPORTED_SPACES = ("sRGB", "Linear Rec.709", "Non-Color")


def all_materials() -> tuple[HostMaterial, ...]:
    """All materials in use that have a surface, without those that Verdigris made."""
    return tuple(
        HostMaterial(each.name_full, each.name, SOURCE)
        for each in bpy.data.materials
        if _is_for_surfaces(each) and surface_of(each) is not None
    )


def require_material(key: str) -> bpy.types.Material:
    """The material with this name, linked or not."""
    found = next((each for each in bpy.data.materials if each.name_full == key), None)
    if found is None:
        raise HostError(f"the file has no material {key!r}: refresh the list")
    return found


def material_warnings() -> tuple[str, ...]:
    """Warnings about materials that cannot be listed, and about missing libraries."""
    lines = [
        _without_shader(each)
        for each in bpy.data.materials
        if _is_for_surfaces(each) and surface_of(each) is None
    ]
    for library in bpy.data.libraries:
        file = Path(bpy.path.abspath(library.filepath))
        if not file.is_file():
            lines.append(
                f"the library {file} is missing: materials in it are not listed; correct its path "
                "in the Blender File view of the Outliner"
            )
    return tuple(lines)


def read_document(material: HostMaterial, scene: Path | None) -> HostDocument:
    """Exports a material and converts it."""
    source = require_material(material.key)
    surface = surface_of(source)
    if surface is None:
        raise HostError(_without_shader(source))
    if surface.mute:
        raise HostError(f"{source.name_full}: its shader {surface.name!r} is muted: press M on it")
    nodes = nodes_read(source)
    in_memory = [each for each in _images(nodes) if not (_is_on_disk(each) or _is_lost(each))]
    known = offers(nodes, source.node_tree)
    chosen = [each for each in known if is_chosen(source, each)]
    displaced = find_displacement(source)
    notes = [*_left_out(source, nodes, displaced), *unknown_choices(source, known)]
    if in_memory:
        _require_different_names(source, _images(nodes))
        folder, more = folder_for_images(source, scene)
        names = ", ".join(sorted(image.name for image in in_memory))
        notes += [f"{names}: not in a file of its own, so written to {folder}", *more]
        text, name, folders, found = export_material(source, folder, "NEW", chosen, displaced)
    else:
        with tempfile.TemporaryDirectory(prefix="verdigris_") as made:
            text, name, folders, found = export_material(
                source, Path(made), "KEEP", chosen, displaced
            )
        if Path(made).name in text:
            raise HostError(
                f"{source.name_full}: the export has written an image that is in no file: save all "
                "images (Image > Save All Images)"
            )
    search = tuple(dict.fromkeys((*([scene.parent] if scene else []), *folders)))
    live = chosen_texts(source, chosen)
    return HostDocument(material.key, text, name, search, (*notes, *found), live=live)


def nodes_for_images(material: bpy.types.Material) -> list[bpy.types.Node]:
    """Nodes outside of groups that the export leaves out, and that can become images."""
    return [
        node
        for node in nodes_read(material)
        if node.id_data == material.node_tree and can_become_image(node)
    ]


def live_offers(material: bpy.types.Material) -> tuple[Offer, ...]:
    """What a material offers as live inputs."""
    return offers(nodes_read(material), material.node_tree)


def _without_shader(material: bpy.types.Material) -> str:
    if bpy.app.version < (5, 0, 0) and not material.use_nodes:
        return f"{material.name_full} has no nodes: press Use Nodes in its Surface panel to bake it"
    return (
        f"{material.name_full} has no shader at the surface of its output: connect one to bake it"
    )


def _is_for_surfaces(material: bpy.types.Material) -> bool:
    return MADE_FOR not in material and not material.is_grease_pencil and material.users > 0


def _left_out(
    material: bpy.types.Material, nodes: list[bpy.types.Node], displaced: Displacement | None
) -> Iterator[str]:
    """Notes about what the export leaves out, or changes."""
    output = output_of(material)
    others = {each.target for each in material.node_tree.nodes if each.type == "OUTPUT_MATERIAL"}
    read = ENGINES[output.target]
    for each in sorted(others - {output.target}):
        yield f"the output for {ENGINES[each]} is left out: that for {read} is read"
    if output.inputs["Volume"].is_linked:
        yield f"volume of {material.name_full} is left out"
    for name in mixed_in_groups(output.inputs["Surface"]):
        yield (
            f"{name!r} has shaders that are mixed, and Blender's export may lower the opacity of "
            "such groups: ungroup it"
        )
    if displaced is not None:
        yield from displaced.notes
        if displaced.problem:
            yield f"displacement of {material.name_full} is left out: {displaced.problem}"
    for node in nodes:
        yield from loss_notes(node)
        if node.type == "TEX_IMAGE" and (node.image is None or _is_lost(node.image)):
            yield f"{node.name!r} has no image, and is magenta: choose an image"
    for image in _images(nodes):
        if image.source in ("SEQUENCE", "MOVIE"):
            yield f"{image.name} changes with time: only {image.filepath} is baked"
        space = image.colorspace_settings.name
        if space not in _EXPORTED_SPACES:
            yield (
                f"{image.name} is in the colour space {space!r}, which Blender's export does not "
                "name, so that it is read as linear: save it in sRGB or Linear Rec.709"
            )


def _images(nodes: list[bpy.types.Node]) -> list[bpy.types.Image]:
    found = [node.image for node in nodes if getattr(node, "image", None) is not None]
    return list(dict.fromkeys(found))


def _is_lost(image: bpy.types.Image) -> bool:
    """Whether an image has neither a file nor pixels. The pixels of generated images are made
    later."""
    is_of_file = image.source == "FILE" and not image.has_data
    return bool(is_of_file and not image.filepath and not image.packed_file)


def _is_on_disk(image: bpy.types.Image) -> bool:
    """Whether an image's pixels are those of its file. A missing file counts, because the pixels
    are nowhere else."""
    has_file = image.source != "GENERATED" and image.filepath
    return bool(has_file and not image.packed_file and not image.is_dirty)


def _require_different_names(material: bpy.types.Material, images: list[bpy.types.Image]) -> None:
    """Blender's export writes images into one folder, and gives each the name of its file."""
    names = [Path(image.filepath or image.name).stem.lower() for image in images]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        clash = [image.name for image, name in zip(images, names, strict=True) if name in twice]
        raise HostError(
            f"{material.name_full}: the images {', '.join(clash)} would be written to one file: "
            "save them under different names, or unpack them"
        )


def folder_for_images(
    material: bpy.types.Material, scene: Path | None
) -> tuple[Path, tuple[str, ...]]:
    """A folder for images that exist only in memory, and notes. Bakes read the images later."""
    (name,) = unused_names([material.name_full])
    if scene is not None:
        folder = scene.parent / IMAGES_FOLDER / name
        try:
            make_folders(folder)
            return folder, ()
        except OSError as failure:
            why = f"{folder} cannot be made ({reason(failure)})"
    else:
        why = "the scene is not saved"
    folder = Path(bpy.app.tempdir) / IMAGES_FOLDER / name
    remove_folder(folder)
    make_folders(folder)
    return folder, (f"{why}: that folder is deleted when Blender closes",)
