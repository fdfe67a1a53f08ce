"""What the shelf's buttons do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from maya import cmds

from verdigris.core.errors import HostError, VerdigrisError
from verdigris.core.worker_environment import package_folder

HELP = "docs/MAYA.md"
_BATCH_FOLDER = "verdigris"


def bake() -> None:
    """Opens the panel."""
    _told(_show_panel)


def paint() -> None:
    """Starts the brush on the selected mesh."""
    _told(_start_brush)


def batch() -> None:
    """Bakes the saved scene in a mayapy of its own."""
    _told(_start_batch)


def help_window() -> None:
    """Says where the manual is, and offers the self-test."""
    folder = package_folder()
    chosen = cmds.confirmDialog(
        title="Verdigris",
        message=f"How it works is written in {folder / HELP}.\n"
        "The self-test runs in a Maya of its own and leaves this scene alone.",
        button=["Self-test", "Close"],
        defaultButton="Close",
        cancelButton="Close",
        dismissString="Close",
    )
    if chosen == "Self-test":
        _told(_start_selftest)


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

    scene = MayaHost().scene_file()
    if scene is None:
        raise HostError("the scene was never saved, and the batch reads the file: save it first")
    out = scene.parent / _BATCH_FOLDER
    summary = out / f"{scene.stem}.json"
    arguments = [str(scene), "--out", str(out), "--summary", str(summary)]
    _start("verdigris.plugins.maya.batch", arguments)
    cmds.inViewMessage(
        assistMessage=f"Verdigris bakes {scene.name} in the background; see {summary}",
        position="topCenter",
        fade=True,
    )


def _start_selftest() -> None:
    report = Path.home() / "verdigris_selftest_maya.json"
    _start("verdigris.plugins.maya.selftest", [str(report)])
    cmds.inViewMessage(
        assistMessage=f"Verdigris tests this Maya; the report will be {report}",
        position="topCenter",
        fade=True,
    )


def _start(module: str, arguments: list[str]) -> None:
    subprocess.Popen([str(mayapy()), "-m", module, *arguments])


def mayapy() -> Path:
    """The interpreter beside the Maya that runs."""
    name = "mayapy.exe" if sys.platform == "win32" else "mayapy"
    found = Path(sys.executable).with_name(name)
    if not found.is_file():
        raise HostError(f"{found}: there is no such file: run mayapy by hand")
    return found


def _told(action: Callable[[], None]) -> None:
    """Runs an action; what goes wrong is told where the artist looks."""
    try:
        action()
    except VerdigrisError as failure:
        cmds.confirmDialog(title="Verdigris", message=str(failure), button=["OK"])
