"""What the shelf's buttons do."""

from __future__ import annotations

from maya import cmds

from verdigris.core.errors import HostError
from verdigris.plugins.common.programs import report_file, run_action, start_batch
from verdigris.plugins.maya.interpreter import mayapy


def bake() -> None:
    """Opens the panel."""
    run_action(_show_panel, _refuse)


def paint() -> None:
    """Starts the brush on the selected mesh."""
    run_action(_start_brush, _refuse)


def batch() -> None:
    """Bakes the saved scene in a mayapy of its own."""
    run_action(_start_batch, _refuse)


def help_window() -> None:
    """Says where the manual is, and offers the self-test."""
    from verdigris.plugins.maya.adapter import MayaHost

    chosen = cmds.confirmDialog(
        title="Verdigris",
        message=f"How it works is written in {MayaHost().manual}.\n"
        "The self-test runs in a Maya of its own and leaves this scene alone.",
        button=["Self-test", "Close"],
        defaultButton="Close",
        cancelButton="Close",
        dismissString="Close",
    )
    if chosen == "Self-test":
        run_action(_start_selftest, _refuse)


def _show_panel() -> None:
    from verdigris.plugins.maya import panel

    panel.show()


def _start_brush() -> None:
    from verdigris.plugins.maya.adapter import MayaHost

    meshes = cmds.ls(selection=True, dagObjects=True, type="mesh", long=True) or []
    if not meshes:
        raise HostError("no mesh is selected: select the mesh to paint on")
    MayaHost().start_painting(meshes[0])


def _start_batch() -> None:
    from verdigris.plugins.maya.adapter import MayaHost

    summary = start_batch(mayapy, "maya", MayaHost().scene_file())
    _tell(f"Verdigris bakes the saved scene in the background; see {summary}")


def _start_selftest() -> None:
    from verdigris.plugins.maya.adapter import MayaHost

    report = report_file("maya")
    MayaHost().start_selftest(report)
    _tell(f"Verdigris tests this Maya; the report will be {report}")


def _tell(text: str) -> None:
    cmds.inViewMessage(assistMessage=text, position="topCenter", fade=True)


def _refuse(text: str) -> None:
    cmds.confirmDialog(title="Verdigris", message=text, button=["OK"])
