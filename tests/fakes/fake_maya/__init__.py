"""A fake Maya that refuses unknown names and flags.

Each command is a function with the flags that the adapter may use, so a name or flag that is not
here is an error, as it is in Maya. tests/plugins/test_audit.py holds names and flags to the
published stubs. `scene.read(path)` reads Maya ASCII; node types are in nodes.json, with sources.
"""

from __future__ import annotations

import sys
from typing import Any

from .api import make_maya_usd, make_open_maya, make_ufe
from .attribute_commands import teach_attributes
from .dag_commands import teach_dag
from .paint_commands import teach_paint
from .scene import Scene, StrictModule
from .scene_commands import teach_scene
from .tables import plate
from .ui import find_icon, make_mel, run_shelf, teach_ui
from .usd_export import teach_usd_export

__all__ = [
    "Scene",
    "StrictModule",
    "find_icon",
    "forget",
    "install",
    "make_cmds",
    "make_maya_usd",
    "make_open_maya",
    "make_ufe",
    "plate",
    "run_shelf",
]


def make_cmds(scene: Scene) -> StrictModule:
    """maya.cmds of a scene."""
    cmds = StrictModule("maya.cmds")

    def teach(function: Any) -> Any:
        setattr(cmds, function.__name__, function)
        return function

    for group in (
        teach_scene,
        teach_attributes,
        teach_dag,
        teach_paint,
        teach_usd_export,
        teach_ui,
    ):
        group(scene, teach)
    return cmds


def install(monkeypatch: Any, scene: Scene) -> None:
    """Installs this as the module maya."""
    maya, api = StrictModule("maya"), StrictModule("maya.api")
    cmds, om = make_cmds(scene), make_open_maya(scene)
    maya.cmds, maya.api, api.OpenMaya = cmds, api, om  # type: ignore[attr-defined]
    mel, standalone = make_mel(scene, StrictModule("maya.mel")), StrictModule("maya.standalone")
    # without a window, Maya starts without undo
    standalone.initialize = lambda *, name: vars(scene).update(batch=True, has_undo=False)  # type: ignore[attr-defined]
    standalone.uninitialize = lambda: setattr(scene, "batch", False)  # type: ignore[attr-defined]
    maya.mel, maya.standalone = mel, standalone  # type: ignore[attr-defined]
    ui = StrictModule("maya.OpenMayaUI")
    ui.MQtUtil = StrictModule("maya.OpenMayaUI.MQtUtil")  # type: ignore[attr-defined]
    ui.MQtUtil.findControl = scene.panels.pointer  # type: ignore[attr-defined]
    maya.OpenMayaUI = ui  # type: ignore[attr-defined]
    utils = StrictModule("maya.utils")
    # from any thread, for when Maya is idle
    utils.executeDeferred = lambda action, *values: scene.deferred.append(  # type: ignore[attr-defined]
        lambda: action(*values)
    )
    maya.utils = utils  # type: ignore[attr-defined]
    node_menus = StrictModule("maya.app.general.nodeEditorMenus")
    node_menus.customInclusiveNodeItemMenuCallbacks = scene.node_menus  # type: ignore[attr-defined]
    app, general = StrictModule("maya.app"), StrictModule("maya.app.general")
    maya.app, app.general, general.nodeEditorMenus = app, general, node_menus  # type: ignore[attr-defined]
    maya_usd, lib = make_maya_usd(scene)
    modules = {
        "maya.app": app,
        "maya.app.general": general,
        "maya.app.general.nodeEditorMenus": node_menus,
        "maya": maya,
        "maya.mel": mel,
        "maya.utils": utils,
        "maya.standalone": standalone,
        "maya.OpenMayaUI": ui,
        "maya.cmds": cmds,
        "maya.api": api,
        "maya.api.OpenMaya": om,
        "ufe": make_ufe(scene),
        "mayaUsd": maya_usd,
        "mayaUsd.lib": lib,
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    forget(monkeypatch, "verdigris.plugins.maya")


def forget(monkeypatch: Any, package: str) -> None:
    """Removes the modules of a package, which keep a reference to the first host."""
    for name in [each for each in sys.modules if each.startswith(f"{package}.")]:
        monkeypatch.delitem(sys.modules, name)
        parent, _, child = name.rpartition(".")
        if parent in sys.modules and child in vars(sys.modules[parent]):
            delattr(sys.modules[parent], child)
