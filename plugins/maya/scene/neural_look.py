"""The neural material in Maya's viewport: the effect of a bundle, in a shader of a plug-in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostMaterial
from verdigris.plugins.common.programs import run_command
from verdigris.plugins.maya.scene.assignments import assign, assignment_of, read_former
from verdigris.plugins.maya.scene.materials import STAGED, engines_of
from verdigris.plugins.maya.scene.nodes import load_plugin, undo_step
from verdigris.plugins.maya.scene.results import find_result, hide_looks, put_back_looks
from verdigris.plugins.maya.scene.viewport import (
    EFFECT_SHADERS,
    make_neural_material,
    neural_engines,
)

TARGET = "maya"
"""The target of `verdigris export`, and the end of its folder."""

# Names of engines in the preferences, and in this variable, which wins.
_OVERRIDE = "MAYA_VP2_DEVICE_OVERRIDE"
_LEGACY = ("OpenGL", "VirtualDeviceGL")
_DIRECT3D = ("DirectX11", "VirtualDeviceDx11")
_ON_NO_MESH = "is on no mesh: assign the material to a mesh"


@dataclass(frozen=True)
class _Renderer:
    """What draws an effect in a viewport."""

    shader: str
    plugin: str
    suffix: str


_GLSL = _Renderer(EFFECT_SHADERS[0], "glslShader", ".ogsfx")
_DIRECTX = _Renderer(EFFECT_SHADERS[1], "dx11Shader", ".fx")


def switch_neural_looks(meshes: dict[HostMaterial, tuple[str, ...]]) -> str:
    """Displays the neural looks of materials on their meshes, or the materials again. Returns what
    it did."""
    shown = [each for each in meshes if any(read_former(engine) for engine in neural_engines(each))]
    if shown:
        hide_looks(shown)
        return f"The materials are shown again: {_listed(shown)}"
    own = [each for each in meshes if each.source != STAGED]
    if not own:
        raise HostError(
            f"{_listed(meshes)}: Maya's shaders do not reach USD stages: choose Baked Look"
        )
    bundles = {each: Path(found) for each in own if (found := find_result(each))}
    if not bundles:
        raise HostError(f"{_listed(own)}: has no bundle: bake the material first")
    there = {each: meshes[each] for each in bundles if meshes[each]}
    if not there:
        raise HostError(f"{_listed(bundles)}: {_ON_NO_MESH}")
    renderer = _require_renderer()
    # before the first change of the scene
    effects = {each: _export(bundles[each], renderer.suffix) for each in there}
    with undo_step("Verdigris neural look"):
        put_back_looks(there)
        for material, names in there.items():
            engines = engines_of(material)
            parts = [part for mesh in names for part in assignment_of(mesh, engines)]
            if not parts:
                raise HostError(f"{material.name}: {_ON_NO_MESH}")
            assign(make_neural_material(material, renderer.shader, effects[material]), parts)
    return f"Neural looks are shown: {_listed(there)}"


def _require_renderer() -> _Renderer:
    """What draws effects in this viewport. Loads its plug-in."""
    engine = os.environ.get(_OVERRIDE) or cmds.optionVar(query="vp2RenderingEngine")
    if engine in _LEGACY:
        raise HostError(
            "the viewport draws with OpenGL - Legacy, which has no effects: choose another "
            "Rendering engine in Windows > Settings/Preferences > Preferences > Display, and "
            "restart Maya"
        )
    renderer = _DIRECTX if engine in _DIRECT3D else _GLSL
    try:
        load_plugin(renderer.plugin)
    except HostError as failure:
        raise HostError(
            f"{failure}. The neural look needs it: load {renderer.plugin} in Windows > "
            "Settings/Preferences > Plug-in Manager"
        ) from None
    return renderer


def _export(bundle: Path, suffix: str) -> Path:
    """Writes the effects of a bundle into a folder beside it. Returns the one with this suffix."""
    folder = bundle.with_name(f"{bundle.stem}_{TARGET}")
    run_command(["export", str(bundle), "--target", TARGET, "-o", str(folder)])
    found = sorted(folder.glob(f"*{suffix}"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise HostError(f"{folder} has no {suffix} file: update the worker in the panel")
    return found[-1]


def _listed(materials: Iterable[HostMaterial]) -> str:
    return ", ".join(each.name for each in materials)
