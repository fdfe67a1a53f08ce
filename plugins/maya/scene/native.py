"""Shaders of Maya's own, translated by the export of maya-usd."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument
from verdigris.plugins.maya.scene.colours import rendering_space
from verdigris.plugins.maya.scene.documents import convert_from_stage
from verdigris.plugins.maya.scene.nodes import load_plugin, parent_of

if TYPE_CHECKING:
    from pxr import Usd

USD_PLUGIN = "mayaUsdPlugin"


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
    """Gives colours and files the spaces that Maya reads them in. maya-usd writes colours as they
    are in shaders, without their space, and leaves out that of files that a file rule chooses."""
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
