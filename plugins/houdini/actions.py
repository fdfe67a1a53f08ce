"""What the shelf's tools do."""

from __future__ import annotations

import hou

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.programs import report_file, start_batch, telling
from verdigris.plugins.houdini.interpreter import hython

PANEL = "verdigris"


def _refuse(text: str) -> None:
    hou.ui.displayMessage(text, title="Verdigris")


@telling(_refuse)
def bake() -> None:
    """Opens the panel beside the network."""
    interfaces = hou.pypanel.interfaces()
    if PANEL not in interfaces:
        raise HostError("Houdini has not read Verdigris' panel: check the package's path")
    ours = interfaces[PANEL]
    # a tab with another panel in it is the artist's
    tab = next((each for each in hou.ui.paneTabs() if _shows(each, ours)), None)
    if tab is None:
        tab = hou.ui.curDesktop().createFloatingPaneTab(hou.paneTabType.PythonPanel)
        tab.setActiveInterface(ours)
    tab.setIsCurrentTab()


def _shows(tab: hou.PaneTab, ours: hou.PythonPanelInterface) -> bool:
    return isinstance(tab, hou.PythonPanel) and tab.activeInterface() == ours


@telling(_refuse)
def paint() -> None:
    """Starts the brush on the selected object."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    chosen = [node for node in hou.selectedNodes() if isinstance(node, hou.ObjNode)]
    if not chosen:
        raise HostError("no object is selected: select the object to paint on")
    HoudiniHost().start_painting(chosen[0].path())


@telling(_refuse)
def batch() -> None:
    """Bakes the saved scene in a hython of its own."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    summary = start_batch(hython, "houdini", HoudiniHost().scene_file())
    hou.ui.setStatusMessage(f"Verdigris bakes the saved scene in the background; see {summary}")


@telling(_refuse)
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
        _start_selftest()


def _start_selftest() -> None:
    from verdigris.plugins.houdini.adapter import HoudiniHost

    report = report_file("houdini")
    HoudiniHost().start_selftest(report)
    hou.ui.setStatusMessage(f"Verdigris tests this Houdini; the report will be {report}")
