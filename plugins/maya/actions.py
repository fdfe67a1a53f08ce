"""The actions of the shelf buttons."""

from __future__ import annotations

from collections.abc import Callable

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.programs import (
    default_report,
    describe_batch,
    describe_selftest,
    show_errors,
    start_batch,
)
from verdigris.plugins.maya.interpreter import mayapy

_NONE_SELECTED = "no material is selected: select a material or a mesh that has one"


def _show_error(text: str) -> None:
    cmds.confirmDialog(title="Verdigris", message=text, button=["OK"])


@show_errors(_show_error)
def bake() -> None:
    """Opens the panel."""
    from verdigris.plugins.maya import docked_panel

    docked_panel.show()


@show_errors(_show_error)
def bake_node(node: str) -> None:
    """Opens the panel with the material of a node."""
    from verdigris.plugins.maya import docked_panel
    from verdigris.plugins.maya.adapter import MayaHost

    docked_panel.show(MayaHost().require_material_of(node))


@show_errors(_show_error)
def paint() -> None:
    """Starts the brush on the selected mesh."""
    from verdigris.plugins.maya.adapter import MayaHost
    from verdigris.plugins.maya.scene.nodes import selected_meshes

    meshes = selected_meshes()
    if not meshes:
        raise HostError("no mesh is selected: select a mesh to paint on")
    MayaHost().start_painting(meshes[0])
    _show_message("Paint. Verdigris > Brush Weight changes the weight, Stop Painting ends it.")


@show_errors(_show_error)
def set_weight(weight: float) -> None:
    """Gives the brush a weight. Starts it on the selected mesh if it is not in use."""
    from verdigris.plugins.maya.adapter import MayaHost

    if not MayaHost().set_brush_weight(weight):
        paint()
        MayaHost().set_brush_weight(weight)


@show_errors(_show_error)
def stop_painting() -> None:
    """Ends the brush."""
    from verdigris.plugins.maya.adapter import MayaHost

    MayaHost().stop_painting()


@show_errors(_show_error)
def switch_look() -> None:
    """Assigns the baked look of the selected materials, or the materials again."""
    from verdigris.plugins.maya.adapter import MayaHost

    host = MayaHost()
    materials = host.selected_materials()
    if not materials:
        raise HostError(_NONE_SELECTED)
    _show_message(host.switch_look(materials))


@show_errors(_show_error)
def switch_neural_look() -> None:
    """Assigns the neural look of the selected materials, or the materials again."""
    from verdigris.plugins.maya.adapter import MayaHost
    from verdigris.plugins.maya.scene.neural_look import switch_neural_looks

    host = MayaHost()
    host.stop_painting()
    materials = host.selected_materials()
    if not materials:
        raise HostError(_NONE_SELECTED)
    meshes = {each: host.meshes(each) for each in materials}
    _show_message(switch_neural_looks(meshes, _tell_when_written))


@show_errors(_show_error)
def _tell_when_written(show: Callable[[], str]) -> None:
    _show_message(show())


@show_errors(_show_error)
def batch() -> None:
    """Bakes the saved scene in a new mayapy."""
    from verdigris.plugins.maya.adapter import MayaHost

    summary = start_batch(mayapy, MayaHost().scene_file())
    _show_message(describe_batch(summary))


@show_errors(_show_error)
def help_window() -> None:
    """Shows the path of the manual and offers the self-test."""
    from verdigris.plugins.maya.adapter import MayaHost

    chosen = cmds.confirmDialog(
        title="Verdigris",
        message=f"The manual is {MayaHost().manual}.\n"
        "The self-test runs in another Maya and does not change this scene.",
        button=["Self-test", "Check in This Window", "Close"],
        defaultButton="Close",
        cancelButton="Close",
        dismissString="Close",
    )
    if chosen == "Self-test":
        _start_selftest()
    elif chosen == "Check in This Window":
        MayaHost().check_window(default_report("maya_window"))


def _start_selftest() -> None:
    from verdigris.plugins.maya.adapter import MayaHost

    report = default_report("maya")
    MayaHost().start_selftest(report)
    _show_message(describe_selftest(report))


def _show_message(text: str) -> None:
    cmds.inViewMessage(assistMessage=text, position="topCenter", fade=True)
