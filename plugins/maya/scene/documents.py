"""Documents of a Maya scene: folders of their files, definitions that only Maya has, and Maya's own
shaders as maya-usd exports them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.documents import (
    folders_of_definitions,
    named_folders,
    require_material_name,
    signatures_in,
    unknown_nodes,
    with_definitions,
)
from verdigris.core.hosts.host import HostDocument
from verdigris.plugins.maya.scene.colours import rendering_space
from verdigris.plugins.maya.scene.nodes import load_plugin, parent_of

if TYPE_CHECKING:
    from pxr import Usd
USD_PLUGIN = "mayaUsdPlugin"


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


def make_document(text: str, name: str, preferred: str) -> HostDocument:
    """A document of this text, with the definitions that only Maya has."""
    material = require_material_name(text, name, preferred)
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


def export_native(engine: str, name: str, members: tuple[str, ...]) -> HostDocument:
    """The material of a shading group. `members` are its meshes."""
    load_plugin(USD_PLUGIN)
    try:
        from pxr import Usd
    except ImportError as failure:
        raise HostError(
            f"{name}: the Python package of maya-usd is missing ({failure}): repair the "
            "installation of maya-usd"
        ) from None

    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / "material.usda"
        try:
            _export(file, name, members)
        except RuntimeError as failure:
            raise HostError(f"maya-usd cannot export {name}: {failure}") from None
        stage = Usd.Stage.Open(file.as_posix())
        _name_colour_spaces(stage)
        # the loaded plug-in has set the folders of its definitions
        return convert_from_stage(stage, engine.replace(":", "_"), name)


def _name_colour_spaces(stage: Usd.Stage) -> None:
    """Names the colour spaces in which Maya reads colours and files. maya-usd writes colours as
    they are in shaders, without a space, and files without the space that a file rule chooses."""
    from pxr import Sdf, UsdShade

    if not cmds.colorManagementPrefs(query=True, cmEnabled=True):
        return
    colours = Sdf.ValueTypeNames.Color3f, Sdf.ValueTypeNames.Color4f
    ports = [
        port
        for shader in map(UsdShade.Shader, stage.Traverse())
        for port in (shader.GetInputs() if shader else ())
        if port.GetAttr().HasAuthoredValue() and not port.GetAttr().HasColorSpace()
    ]
    for port in ports:
        value = port.Get()
        if port.GetTypeName() in colours:
            port.GetAttr().SetColorSpace(rendering_space())
        elif isinstance(value, Sdf.AssetPath) and value.path:
            path = value.resolvedPath or value.path
            rule = cmds.colorManagementFileRules(evaluate=path)
            port.GetAttr().SetColorSpace(rule)


def _export(file: Path, name: str, members: tuple[str, ...]) -> None:
    roots = [parent_of(members[0])] if members else []
    try:
        cmds.mayaUSDExport(
            file=file.as_posix(),
            exportRoots=roots,
            shadingMode="useRegistry",
            convertMaterialsTo=["MaterialX"],
            mergeTransformAndShape=True,
            exportAssignedMaterials=False,
            # without a root, the scene is exported for its materials only
            excludeExportTypes=[] if members else ["Meshes", "Cameras", "Lights"],
        )
    except TypeError:
        # maya-usd before June 2024 lacks these flags
        if not members:
            raise HostError(
                f"{name} is not assigned to a mesh: assign it, as this maya-usd exports assigned "
                "shaders only"
            ) from None
        cmds.mayaUSDExport(
            file=file.as_posix(),
            exportRoots=roots,
            shadingMode="useRegistry",
            convertMaterialsTo=["MaterialX"],
            mergeTransformAndShape=True,
        )
