"""What the shelf's tools do."""

from __future__ import annotations

import hou

from verdigris.core.errors import HostError
from verdigris.plugins.common.programs import report_file, run_action, start_batch
from verdigris.plugins.houdini.interpreter import hython

PANEL = "verdigris"


def bake() -> None:
    """Opens the panel beside the network."""
    run_action(_show_panel, _refuse)


def paint() -> None:
    """Starts the brush on the selected object."""
    run_action(_start_brush, _refuse)


def batch() -> None:
    """Bakes the saved scene in a hython of its own."""
    run_action(_start_batch, _refuse)


def help_window() -> None:
    """Says where the manual is, and offers the self-test."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    chosen = hou.ui.displayMessage(
        f"How it works is written in {HoudiniHost().manual}.\n"
        "The self-test runs in a Houdini of its own and leaves this scene alone.",
        buttons=("Self-test", "Close"),
        default_choice=1,
        close_choice=1,
        title="Verdigris",
    )
    if chosen == 0:
        run_action(_start_selftest, _refuse)


def _show_panel() -> None:
    interfaces = hou.pypanel.interfaces()
    if PANEL not in interfaces:
        raise HostError("Houdini has not read Verdigris' panel: check the package's path")
    desktop = hou.ui.curDesktop()
    tab = desktop.paneTabOfType(hou.paneTabType.PythonPanel)
    if tab is None:
        tab = desktop.createFloatingPaneTab(hou.paneTabType.PythonPanel)
    tab.setActiveInterface(interfaces[PANEL])
    tab.setIsCurrentTab()


def _start_brush() -> None:
    from verdigris.plugins.houdini.adapter import HoudiniHost

    chosen = [node for node in hou.selectedNodes() if isinstance(node, hou.ObjNode)]
    if not chosen:
        raise HostError("no object is selected: select the object to paint on")
    HoudiniHost().start_painting(chosen[0].path())


def _start_batch() -> None:
    from verdigris.plugins.houdini.adapter import HoudiniHost

    summary = start_batch(hython, "houdini", HoudiniHost().scene_file())
    hou.ui.setStatusMessage(f"Verdigris bakes the saved scene in the background; see {summary}")


def _start_selftest() -> None:
    from verdigris.plugins.houdini.adapter import HoudiniHost

    report = report_file("houdini")
    HoudiniHost().start_selftest(report)
    hou.ui.setStatusMessage(f"Verdigris tests this Houdini; the report will be {report}")


def _refuse(text: str) -> None:
    hou.ui.displayMessage(text, title="Verdigris")
