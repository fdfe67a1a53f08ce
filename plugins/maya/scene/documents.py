"""Documents of a Maya scene: folders of their files, and definitions that only Maya has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.documents import (
    folders_of_definitions,
    named_folders,
    require_material_name,
    signatures_in,
    unknown_nodes,
    with_definitions,
    with_length_unit,
)
from verdigris.core.hosts.host import HostDocument
from verdigris.core.hosts.result_paths import named_in

UNIT = "centimeter"
"""Maya's own unit of length, by its name in MaterialX."""


def scene_file() -> Path | None:
    """The file of the scene. None if it is not saved."""
    path = cmds.file(query=True, sceneName=True)
    return Path(path) if path else None


def project_folders() -> list[Path]:
    """The folders of the scene and of its project."""
    scene = scene_file()
    folders = [scene.parent] if scene else []
    root = cmds.workspace(query=True, rootDirectory=True)
    if root:
        folders += [Path(root), Path(root) / "sourceimages"]
    return folders


def result_roots() -> list[Path]:
    """The folders that noted results are relative to: the project's, as Maya's own relative paths,
    or that of the scene."""
    scene, root = scene_file(), cmds.workspace(query=True, rootDirectory=True)
    return [*([Path(root)] if root else []), *([scene.parent] if scene else [])]


def texture_name(file: Path) -> str:
    """The name of a texture for a file node: Maya searches relative ones in the project."""
    root = cmds.workspace(query=True, rootDirectory=True)
    return named_in(file, [Path(root)] if root else [])


def texture_folder() -> Path:
    """The folder for textures of the project."""
    root = cmds.workspace(query=True, rootDirectory=True)
    if not root:
        raise HostError("the project has no folder: choose one (File > Set Project)")
    return Path(root) / "sourceimages" / "verdigris"


def make_document(text: str, name: str, preferred: str) -> HostDocument:
    """A document of this text, with the definitions that only Maya has."""
    material = require_material_name(text, name, preferred)
    text = with_length_unit(text, name, UNIT)
    search = dict.fromkeys((*project_folders(), *named_folders(text, name)))
    definitions = folders_of_definitions()
    notes = unknown_nodes(text, name, definitions)
    if scene_file() is None:
        notes += (
            "the scene is not saved: relative files are searched in the project's folders only",
        )
    text, files = with_definitions(text, name, definitions)
    search |= dict.fromkeys(file.parent for file in files)
    return HostDocument(name, text, material, tuple(search), notes)


def convert_from_stage(stage: Any, path: str, name: str) -> HostDocument:
    """A material of a USD stage, with the definitions that only Maya has."""
    from verdigris.core.material.usd.usdshade import convert

    definitions = folders_of_definitions()
    found = convert(stage, path, signatures_in(definitions))
    text, files = with_definitions(found.text, name, definitions)
    search = (*project_folders(), *found.folders, *(file.parent for file in files))
    return HostDocument(name, text, found.name, tuple(dict.fromkeys(search)), found.notes)
