"""What the shelf's buttons do."""

from __future__ import annotations

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.programs import report_file, start_batch, telling
from verdigris.plugins.maya.interpreter import mayapy


def _refuse(text: str) -> None:
    cmds.confirmDialog(title="Verdigris", message=text, button=["OK"])


@telling(_refuse)
def bake() -> None:
    """Opens the panel."""
    from verdigris.plugins.maya import panel

    panel.show()


@telling(_refuse)
def paint() -> None:
    """Starts the brush on the selected mesh."""
    from verdigris.plugins.maya.adapter import MayaHost
    from verdigris.plugins.maya.scene_nodes import selected_meshes

    meshes = selected_meshes()
    if not meshes:
        raise HostError("no mesh is selected: select the mesh to paint on")
    MayaHost().start_painting(meshes[0])


@telling(_refuse)
def batch() -> None:
    """Bakes the saved scene in a mayapy of its own."""
    from verdigris.plugins.maya.adapter import MayaHost

    summary = start_batch(mayapy, "maya", MayaHost().scene_file())
    _tell(f"Verdigris bakes the saved scene in the background; see {summary}")


@telling(_refuse)
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
        _start_selftest()


def _start_selftest() -> None:
    from verdigris.plugins.maya.adapter import MayaHost

    report = report_file("maya")
    MayaHost().start_selftest(report)
    _tell(f"Verdigris tests this Maya; the report will be {report}")


def _tell(text: str) -> None:
    cmds.inViewMessage(assistMessage=text, position="topCenter", fade=True)
