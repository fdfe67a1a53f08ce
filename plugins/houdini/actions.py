"""What the shelf's tools do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hou

from verdigris.core.errors import HostError, VerdigrisError
from verdigris.core.worker_environment import package_folder

PANEL = "verdigris"
HELP = "docs/HOUDINI.md"
_BATCH_FOLDER = "verdigris"


def bake() -> None:
    """Opens the panel beside the network."""
    _told(_show_panel)


def paint() -> None:
    """Starts the brush on the selected object."""
    _told(_start_brush)


def batch() -> None:
    """Bakes the saved scene in a hython of its own."""
    _told(_start_batch)


def help_window() -> None:
    """Says where the manual is, and offers the self-test."""
    chosen = hou.ui.displayMessage(
        f"How it works is written in {package_folder() / HELP}.\n"
        "The self-test runs in a Houdini of its own and leaves this scene alone.",
        buttons=("Self-test", "Close"),
        default_choice=1,
        close_choice=1,
        title="Verdigris",
    )
    if chosen == 0:
        _told(_start_selftest)


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

    scene = HoudiniHost().scene_file()
    if scene is None:
        raise HostError("the scene was never saved, and the batch reads the file: save it first")
    out = scene.parent / _BATCH_FOLDER
    summary = out / f"{scene.stem}.json"
    arguments = [str(scene), "--out", str(out), "--summary", str(summary)]
    _start("verdigris.plugins.houdini.batch", arguments)
    hou.ui.setStatusMessage(f"Verdigris bakes {scene.name} in the background; see {summary}")


def _start_selftest() -> None:
    report = Path.home() / "verdigris_selftest_houdini.json"
    _start("verdigris.plugins.houdini.selftest", [str(report)])
    hou.ui.setStatusMessage(f"Verdigris tests this Houdini; the report will be {report}")


def _start(module: str, arguments: list[str]) -> None:
    subprocess.Popen([str(hython()), "-m", module, *arguments])


def hython() -> Path:
    """The interpreter of the Houdini that runs."""
    name = "hython.exe" if sys.platform == "win32" else "hython"
    home = os.environ.get("HFS", "")
    found = Path(home) / "bin" / name
    if not home or not found.is_file():
        raise HostError(f"{found}: there is no such file: run hython by hand")
    return found


def _told(action: Callable[[], None]) -> None:
    """Runs an action; what goes wrong is told where the artist looks."""
    try:
        action()
    except VerdigrisError as failure:
        hou.ui.displayMessage(str(failure), title="Verdigris")
