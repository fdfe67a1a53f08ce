"""The actions of the shelf tools."""

from __future__ import annotations

from collections.abc import Sequence

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
    """Opens the panel or brings it to the front. The first use installs the LOP."""
    interfaces = hou.pypanel.interfaces()
    if PANEL not in interfaces:
        raise HostError("Houdini has not loaded the panel: check the path in verdigris.json")
    # a tab with another panel stays as it is
    tab = panel_tab()
    if tab is None:
        tab = hou.ui.curDesktop().createFloatingPaneTab(hou.paneTabType.PythonPanel)
        tab.setActiveInterface(interfaces[PANEL])
    tab.setIsCurrentTab()
    _install_lop()


def panel_tab() -> hou.PythonPanel | None:
    """The tab with the panel."""
    ours = hou.pypanel.interfaces().get(PANEL)
    return next((each for each in hou.ui.paneTabs() if _shows(each, ours)), None)


def _install_lop() -> None:
    """Adds the LOP to the menu of nodes. The panel works without it."""
    from verdigris.plugins.houdini.nodes.build_assets import offer_lop

    try:
        offer_lop()
    except HostError as failure:
        hou.ui.setStatusMessage(f"Verdigris: {failure}")


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
def stop_painting() -> None:
    """Leaves the brush and returns to the objects."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    HoudiniHost().stop_painting()


@show_errors(_show_error)
def batch() -> None:
    """Bakes the saved scene in a new hython."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    summary = start_batch(hython, HoudiniHost().scene_file())
    hou.ui.setStatusMessage(describe_batch(summary))


@show_errors(_show_error)
def help_window() -> None:
    """Shows the path of the manual and offers the self-test."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    chosen = hou.ui.displayMessage(
        f"The manual is {HoudiniHost().manual}.\n"
        "The self-test runs in another Houdini and does not change this scene.",
        buttons=("Self-test", "Check in This Window", "Close"),
        default_choice=2,
        close_choice=2,
        title="Verdigris",
    )
    if chosen == 0:
        _start_selftest()
    elif chosen == 1:
        HoudiniHost().check_window(default_report("houdini_window"))


@show_errors(_show_error)
def bake_selected() -> None:
    """Bakes the materials of the selected nodes in the background."""
    _bake_nodes(hou.selectedNodes())


def bake_clicked(node: hou.Node) -> None:
    """Bakes a material; if it is selected, also the other selected ones."""
    selected = hou.selectedNodes()
    show_errors(_show_error)(lambda: _bake_nodes(selected if node in selected else (node,)))()


def _bake_nodes(nodes: Sequence[hou.Node]) -> None:
    from verdigris.plugins.houdini.nodes.buttons import bake_materials
    from verdigris.plugins.houdini.scene.networks import material_around

    found = {}
    for node in nodes:
        material = material_around(node)
        if material is not None:
            found[material.path()] = material
    if not found:
        raise HostError(
            "no MaterialX material is selected: select materials of a network. Those of a stage "
            "are baked by the panel or by a Verdigris Bake LOP"
        )
    bake_materials(tuple(found.values()))


@show_errors(_show_error)
def cancel_bakes() -> None:
    """Ends all bakes that were started by nodes and menus."""
    from verdigris.plugins.houdini.nodes.buttons import cancel_all

    cancel_all()


@show_errors(_show_error)
def add_lop() -> None:
    """Adds a Verdigris Bake after the selected LOP, or after the display node of /stage."""
    from verdigris.plugins.houdini.nodes.build_assets import require_lop
    from verdigris.plugins.houdini.scene.results import add_bake_lop

    require_lop()
    add_bake_lop()


@show_errors(_show_error)
def add_tops() -> None:
    """Adds a network of TOPs that bakes each material as a work item."""
    from verdigris.plugins.houdini.nodes.top_recipe import add_top_network

    hou.ui.setStatusMessage(f"Verdigris added {add_top_network().path()}: cook its last node")


def _start_selftest() -> None:
    from verdigris.plugins.houdini.adapter import HoudiniHost

    report = default_report("houdini")
    HoudiniHost().start_selftest(report)
    hou.ui.setStatusMessage(describe_selftest(report))
