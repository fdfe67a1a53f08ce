"""The export of maya-usd in the fake Maya, by its published sources (Autodesk/maya-usd).

Which materials, and their names: lib/mayaUsd/fileio/shading/shadingModeExporterContext.cpp
(`getMaterialName`, `shouldExportMaterial`); the walk, which skips every node without a writer and
says nothing: shadingModeUseRegistry.cpp; the writers of MaterialX: lib/usd/translators/shading.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from .node_types import node_types
from .scene import Scene
from .usd_material import Material
from .usd_writers import WRITERS

# `kTemplatedRegex`: a type, a number, and SG.
_TEMPLATE = re.compile(r"([a-zA-Z]+)([0-9]*)(SG)?")


def teach_usd_export(scene: Scene, teach: Any) -> None:
    """Adds the command."""

    @teach
    def mayaUSDExport(
        *,
        file: str,
        shadingMode: str,
        convertMaterialsTo: list[str],
        mergeTransformAndShape: bool,
        exportRoots: tuple[str, ...] | list[str] = (),
        exportAssignedMaterials: bool = True,
        excludeExportTypes: tuple[str, ...] | list[str] = (),
    ) -> None:
        assert scene.plugins["mayaUsdPlugin"]
        if scene.has_old_usd and not exportAssignedMaterials:
            raise TypeError("Invalid flag 'exportAssignedMaterials'")
        assert set(excludeExportTypes) <= {"Meshes", "Cameras", "Lights"}
        scene.exports.append((list(exportRoots), exportAssignedMaterials))
        assert shadingMode == "useRegistry" and convertMaterialsTo == ["MaterialX"]
        for root in exportRoots:
            assert scene.require(root)["type"] == "transform"
        if "export" in scene.refuses or {*exportRoots} & scene.refuses:
            raise RuntimeError("Maya command error")
        if scene.export is not None:
            # a file that a maya-usd has written
            shutil.copyfile(scene.export, file)
            return
        export(scene, Path(file), list(exportRoots), exportAssignedMaterials)
        if "Meshes" not in excludeExportTypes:
            scene.evaluated += [
                each
                for each, facts in scene.nodes.items()
                if facts["type"] == "mesh"
                and (not exportRoots or each.startswith(tuple(f"{r}|" for r in exportRoots)))
            ]


def export(scene: Scene, file: Path, roots: list[str], assigned_only: bool) -> None:
    """Writes the materials of the scene. Meshes are prims without points."""
    from pxr import Sdf, Usd, UsdGeom, UsdShade

    stage = Usd.Stage.CreateInMemory()
    above = "/"
    for root in roots:
        path = "/" + "/".join(sanitized(each) for each in scene.find(root).strip("|").split("|"))
        prim = UsdGeom.Xform.Define(stage, path).GetPrim()
        if above == "/":
            above = str(prim.GetPath().GetPrefixes()[0])
            stage.SetDefaultPrim(stage.GetPrimAtPath(above))
    scope = UsdGeom.Scope.Define(stage, Sdf.Path(above).AppendChild("mtl"))
    for engine, facts in scene.nodes.items():
        if facts["type"] != "shadingEngine" or (assigned_only and not scene.members.get(engine)):
            continue
        shader = scene.connections.get(f"{engine}.surfaceShader", "").partition(".")[0]
        name = sanitized(material_name(engine, shader))
        if not name:
            continue
        material = UsdShade.Material.Define(stage, scope.GetPath().AppendChild(name))
        surface = write_network(
            Material(scene, stage, material, file.parent, WRITERS), f"{engine}.surfaceShader"
        )
        if surface:
            ports = UsdShade.Shader(surface).GetOutputs()
            material.CreateSurfaceOutput("mtlx").ConnectToSource(ports[0])
    stage.GetRootLayer().Export(file.as_posix())


def sanitized(name: str) -> str:
    """`UsdUfe::sanitizeName`: namespaces become part of the name."""
    return name.replace(":", "_")


def material_name(engine: str, shader: str) -> str:
    """The name of a shading group, or of its shader where that was renamed and the group was
    not."""

    def is_surface(kind: str) -> bool:
        known = node_types().get(kind)
        return known is not None and known.classification == "shader/surface"

    found = _TEMPLATE.fullmatch(engine)
    if not found or not is_surface(found[1]):
        return engine
    own = _TEMPLATE.fullmatch(shader)
    if shader and not (own and is_surface(own[1])):
        return f"{shader}SG"
    return engine


def write_network(made: Material, root: str) -> Any:
    """Writes the nodes above a plug, and returns the first shader. A node without a writer is
    skipped with its connections; nodes above it are written all the same."""
    scene = made.scene
    first: Any = None
    reached, waiting = set(), [root]
    while waiting:
        plug = waiting.pop(0)
        node = plug.partition(".")[0]
        targets = [plug] if plug == root else [
            each for each in scene.connections if each.partition(".")[0] == node
        ]  # fmt: skip
        for target in targets:
            source = scene.connections.get(target)
            if source is None:
                continue
            above = source.partition(".")[0]
            writer = made.writer(above)
            first = first or (writer and writer.surface)
            below = made.writer(node) if scene.nodes[node]["type"] in WRITERS else None
            if writer and below:
                into = below.attribute(target.partition(".")[2], "")
                out = into and writer.attribute(source.partition(".")[2], into.GetTypeName())
                if out:
                    made.connect(into, out)
            if above not in reached:
                reached.add(above)
                waiting.append(f"{above}.")
    for writer in made.writers.values():
        writer.finish()
    return first
