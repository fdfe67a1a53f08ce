"""The actions of the shelf tools."""

from __future__ import annotations

import hou

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.programs import (
    default_report,
    describe_batch,
    describe_selftest,
    show_errors,
    start_batch,
)
from verdigris.plugins.houdini.interpreter import hython

PANEL = "verdigris"


def _show_error(text: str) -> None:
    hou.ui.displayMessage(text, title="Verdigris")


@show_errors(_show_error)
def bake() -> None:
    """Opens the panel or brings it to the front."""
    interfaces = hou.pypanel.interfaces()
    if PANEL not in interfaces:
        raise HostError("Houdini has not loaded the panel: check the path in verdigris.json")
    ours = interfaces[PANEL]
    # a tab with another panel stays as it is
    tab = next((each for each in hou.ui.paneTabs() if _shows(each, ours)), None)
    if tab is None:
        tab = hou.ui.curDesktop().createFloatingPaneTab(hou.paneTabType.PythonPanel)
        tab.setActiveInterface(ours)
    tab.setIsCurrentTab()


def _shows(tab: hou.PaneTab, ours: hou.PythonPanelInterface) -> bool:
    return isinstance(tab, hou.PythonPanel) and tab.activeInterface() == ours


@show_errors(_show_error)
def paint() -> None:
    """Starts the brush on the selected object."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    chosen = [node for node in hou.selectedNodes() if isinstance(node, hou.ObjNode)]
    if not chosen:
        raise HostError("no object is selected: select an object to paint on")
    HoudiniHost().start_painting(chosen[0].path())


@show_errors(_show_error)
def batch() -> None:
    """Bakes the saved scene in a new hython."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    summary = start_batch(hython, "houdini", HoudiniHost().scene_file())
    hou.ui.setStatusMessage(describe_batch(summary))


@show_errors(_show_error)
def help_window() -> None:
    """Shows the path of the manual and offers the self-test."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    chosen = hou.ui.displayMessage(
        f"The manual is {HoudiniHost().manual}.\n"
        "The self-test runs in another Houdini and does not change this scene.",
        buttons=("Self-test", "Close"),
        default_choice=1,
        close_choice=1,
        title="Verdigris",
    )
    if chosen == 0:
        _start_selftest()


def _start_selftest() -> None:
    from verdigris.plugins.houdini.adapter import HoudiniHost

    report = default_report("houdini")
    HoudiniHost().start_selftest(report)
    hou.ui.setStatusMessage(describe_selftest(report))
