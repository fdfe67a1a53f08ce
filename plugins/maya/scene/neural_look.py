"""The neural material in Maya's viewport: the effect of a bundle, in a shader of a plug-in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread

from maya import cmds, utils

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.hosts.host import HostMaterial
from verdigris.plugins.common.programs import run_command
from verdigris.plugins.maya.scene.assignments import assign, assignment_of, read_former
from verdigris.plugins.maya.scene.materials import STAGED, engines_of, list_materials
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
# the drawing of maya-usd (vp2RenderDelegate) makes its own shaders from materials of stages
_NOT_ON_STAGES = "Maya draws USD stages without effects: choose Baked Look"


@dataclass(frozen=True)
class _Renderer:
    """What draws an effect in a viewport."""

    shader: str
    plugin: str
    suffix: str


_GLSL = _Renderer(EFFECT_SHADERS[0], "glslShader", ".ogsfx")
_DIRECTX = _Renderer(EFFECT_SHADERS[1], "dx11Shader", ".fx")


Meshes = Mapping[HostMaterial, tuple[str, ...]]
Then = Callable[[Callable[[], str]], object]
"""Runs a function that shows looks, and tells the artist what it returns or raises."""

_writing: set[str] = set()
"""The keys of materials whose effects are being written."""


def switch_neural_looks(meshes: Meshes, then: Then) -> str:
    """Displays the neural looks of materials on their meshes, or the materials again. Returns what
    it did or has begun. Effects are written in the background, so that Maya can be used: `then` is
    called when they are there, on Maya's own thread."""
    shown = [each for each in meshes if any(read_former(engine) for engine in neural_engines(each))]
    if shown:
        hide_looks(shown)
        return f"The materials are shown again: {_listed(shown)}"
    own = [each for each in meshes if each.source != STAGED]
    if not own:
        raise HostError(f"{_listed(meshes)}: {_NOT_ON_STAGES}")
    bundles = {each: Path(found) for each in own if (found := find_result(each))}
    if not bundles:
        raise HostError(f"{_listed(own)}: has no bundle: bake the material first")
    there = [each for each in bundles if meshes[each]]
    if not there:
        raise HostError(f"{_listed(bundles)}: {_ON_NO_MESH}")
    busy = [each for each in there if each.key in _writing]
    if busy:
        raise HostError(f"{_listed(busy)}: the effect is still being written: wait for its look")
    renderer = _require_renderer()
    left = [f"{each.name}: {_NOT_ON_STAGES}" for each in meshes if each.source == STAGED]

    def write() -> Callable[[], str]:
        try:
            effects = {each: _export(bundles[each], renderer.suffix) for each in there}
        except VerdigrisError as failure:
            return partial(_fail, failure)
        wanted = {each: (effects[each], meshes[each]) for each in there}
        return partial(_show, wanted, renderer.shader, left)

    if cmds.about(batch=True):
        # nothing runs what waits for an idle Maya
        return write()()
    _writing.update(each.key for each in there)

    def work() -> None:
        try:
            end = write()
        finally:
            _writing.difference_update(each.key for each in there)
        utils.executeDeferred(then, end)

    Thread(target=work, name="Verdigris effects", daemon=True).start()
    return f"Writing the effect of {_listed(there)}: the look appears in some seconds"


def _show(
    effects: Mapping[HostMaterial, tuple[Path, tuple[str, ...]]], shader: str, left: Sequence[str]
) -> str:
    """Displays effects on meshes. The artist has worked on since they were asked for."""
    present = set(list_materials())
    gone = [each for each in effects if each not in present]
    if gone:
        raise HostError(f"{_listed(gone)} is no longer in the scene: its effect is written")
    with undo_step("Verdigris neural look"):
        put_back_looks(effects)
        for material, (effect, meshes) in effects.items():
            engines = engines_of(material)
            names = [mesh for mesh in meshes if cmds.objExists(mesh)]
            parts = [part for mesh in names for part in assignment_of(mesh, engines)]
            if not parts:
                raise HostError(f"{material.name}: {_ON_NO_MESH}")
            assign(make_neural_material(material, shader, effect), parts)
    return "; ".join((f"Neural looks are shown: {_listed(effects)}", *left))


def _fail(failure: VerdigrisError) -> str:
    raise failure


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
