"""Maya's own shaders as maya-usd exports them: one export for a state of the scene.

An export writes every material of the scene, and opens their textures. Its file is kept until a
shading node, a connection, a name or the scene changes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument
from verdigris.plugins.maya.scene.changes import CHANGES
from verdigris.plugins.maya.scene.colours import rendering_space
from verdigris.plugins.maya.scene.documents import convert_from_stage
from verdigris.plugins.maya.scene.nodes import load_plugin, of_type, parent_of, surface_of

if TYPE_CHECKING:
    from pxr import Usd
USD_PLUGIN = "mayaUsdPlugin"
# A transform of every scene, without geometry: roots below it keep the export from evaluating the
# meshes of the scene.
_CHEAP_ROOT = "|persp"
_SHADING = ("shader/", "texture/", "utility/")


@dataclass(frozen=True)
class _Kept:
    """The stage of the last export, and what it belongs to."""

    state: tuple[object, ...]
    stage: Any


_kept: list[_Kept] = []


def export_native(engine: str, name: str, members: tuple[str, ...]) -> HostDocument:
    """The material of a shading group. `members` are its meshes."""
    load_plugin(USD_PLUGIN)
    try:
        import pxr.Usd  # noqa: F401
    except ImportError as failure:
        raise HostError(
            f"{name}: the Python package of maya-usd is missing ({failure}): repair the "
            "installation of maya-usd"
        ) from None
    shader = surface_of(engine)
    stage = exported_stage(name, members)
    path = find_material(stage, shader)
    if not path:
        raise HostError(
            f"maya-usd does not export {shader} ({cmds.nodeType(shader)}): use a standardSurface "
            "or an openPBRSurface, or export the material as .mtlx and bake that file"
        )
    found = convert_from_stage(stage, path, name)
    left_out = missing_nodes(stage, path, shader)
    notes = tuple(
        f"maya-usd does not export {node} ({cmds.nodeType(node)}): its effect on the material is "
        "missing"
        for node in left_out
    )
    return HostDocument(
        found.name, found.text, found.material, found.search, (*notes, *found.notes)
    )


def find_material(stage: Usd.Stage, shader: str) -> str:
    """The path of the material whose surface is a shader of Maya; empty if there is none.

    maya-usd names a material after its shading group or after its shader, and it writes two
    materials into one prim if they get the same name. The prim of the shader has its name.
    """
    from pxr import UsdShade

    wanted = exported_name(shader)
    for prim in stage.TraverseAll():
        if not UsdShade.Material(prim):
            continue
        source, _, _ = UsdShade.Material(prim).ComputeSurfaceSource("mtlx")
        if source and source.GetPrim().GetName() == wanted:
            return str(prim.GetPath())
        if prim.GetChild(wanted) and UsdShade.Shader(prim.GetChild(wanted)):
            other = source.GetPrim().GetName() if source else "another shader"
            raise HostError(
                f"{shader}: maya-usd writes it and {other} as one material, {prim.GetName()}: "
                "rename the shading group of one of them"
            )
    return ""


def missing_nodes(stage: Usd.Stage, material: str, shader: str) -> list[str]:
    """The shading nodes above a shader that an export left out, the nearest first."""
    from pxr import Usd

    written = {prim.GetName() for prim in Usd.PrimRange(stage.GetPrimAtPath(material))}
    above = cmds.listHistory(shader, pruneDagObjects=True) or []
    return [
        node
        for node in dict.fromkeys(above)
        if exported_name(node) not in written
        and any(cmds.getClassification(cmds.nodeType(node), satisfies=each) for each in _SHADING)
    ]


def exported_name(node: str) -> str:
    """The name of the prim of a node: maya-usd joins namespaces by `_`."""
    return node.rpartition("|")[2].replace(":", "_")


def exported_stage(name: str, members: Sequence[str]) -> Usd.Stage:
    """The stage with the materials of the scene."""
    state = _state()
    if _kept and _kept[0].state == state:
        return _kept[0].stage
    stage, is_whole = _export(name, members)
    _name_colour_spaces(stage)
    _kept.clear()
    if is_whole:
        CHANGES.watch(_shading_nodes())
        _kept.append(_Kept(_state(), stage))
    return stage


def _state() -> tuple[object, ...]:
    return (
        CHANGES.number,
        cmds.file(query=True, sceneName=True),
        cmds.currentTime(query=True),
        cmds.colorManagementPrefs(query=True, cmEnabled=True) and rendering_space(),
    )


def _shading_nodes() -> list[str]:
    """The shading groups of the scene, their shaders, and the nodes above them."""
    engines = of_type("shadingEngine")
    shaders = [shader for engine in engines if (shader := surface_of(engine))]
    above = cmds.listHistory(*shaders, pruneDagObjects=True) if shaders else []
    return list(dict.fromkeys((*engines, *shaders, *(above or []))))


def _export(name: str, members: Sequence[str]) -> tuple[Usd.Stage, bool]:
    """Exports the materials. Returns the stage, and whether it has all materials of the scene."""
    from pxr import Sdf, Usd

    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / "material.usda"
        try:
            is_whole = _write(file.as_posix())
            if not is_whole:
                _write_assigned(file.as_posix(), name, members)
        except RuntimeError as failure:
            raise HostError(f"maya-usd cannot export {name}: {failure}") from None
        # the layer outlives its file
        stage = Usd.Stage.Open(Sdf.Layer.OpenAsAnonymous(file.as_posix()))
        _anchor_files(stage, folder)
        return stage, is_whole


def _write(file: str) -> bool:
    """Exports all materials of the scene. Returns whether this maya-usd can."""
    roots = [[_CHEAP_ROOT]] if cmds.objExists(_CHEAP_ROOT) else []
    refused: RuntimeError | None = None
    for each in (*roots, []):
        try:
            cmds.mayaUSDExport(
                file=file,
                exportRoots=each,
                exportAssignedMaterials=False,
                excludeExportTypes=["Meshes", "Cameras", "Lights"],
                shadingMode="useRegistry",
                convertMaterialsTo=["MaterialX"],
                mergeTransformAndShape=True,
            )
            return True
        except TypeError:
            # maya-usd before June 2024 lacks these flags
            return False
        except RuntimeError as failure:
            refused = failure
    raise refused or RuntimeError("nothing was exported")


def _write_assigned(file: str, name: str, members: Sequence[str]) -> None:
    """Exports the materials of a mesh."""
    if not members:
        raise HostError(
            f"{name} is not assigned to a mesh: assign it, as this maya-usd exports assigned "
            "shaders only"
        )
    cmds.mayaUSDExport(
        file=file,
        exportRoots=[parent_of(members[0])],
        shadingMode="useRegistry",
        convertMaterialsTo=["MaterialX"],
        mergeTransformAndShape=True,
    )


def _anchor_files(stage: Usd.Stage, folder: str) -> None:
    """Makes the files of a stage absolute. maya-usd writes those of the project relative to the
    file that it exports."""
    from pxr import Sdf

    for prim in stage.TraverseAll():
        for attribute in prim.GetAttributes():
            value = attribute.Get()
            if isinstance(value, Sdf.AssetPath) and value.path:
                path = Path(os.path.normpath(Path(folder) / value.path))
                attribute.Set(Sdf.AssetPath(path.as_posix()))


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
