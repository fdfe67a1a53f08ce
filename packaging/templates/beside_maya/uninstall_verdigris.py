"""Removes Verdigris from Maya: drag this file into a viewport. Bakes and scenes stay."""

import importlib
import shutil
import sys
from pathlib import Path

from maya import cmds

REMOVE, REMOVE_ALL, CANCEL = "Remove", "Remove with the worker", "Cancel"


def onMayaDroppedPythonFile(*_arguments):  # noqa: N802 - Maya calls this name
    # Maya has put this folder first
    sys.modules.pop("install_verdigris", None)
    installer = importlib.import_module("install_verdigris")
    try:
        answer = ask(installer)
        if answer != CANCEL:
            installer.show(uninstall(installer, answer == REMOVE_ALL))
    except (OSError, RuntimeError) as failure:
        installer.show(f"Verdigris was not removed: {failure}")
    for name in ("install_verdigris", Path(__file__).stem):
        sys.modules.pop(name, None)


def ask(installer) -> str:
    if cmds.about(batch=True):
        return REMOVE
    return cmds.confirmDialog(
        title="Verdigris",
        message=f"Remove Verdigris from Maya {installer.maya_version()}?\n"
        "Bakes and scenes stay as they are. The worker holds the packages of bakes.",
        button=[REMOVE, REMOVE_ALL, CANCEL],
        defaultButton=REMOVE,
        cancelButton=CANCEL,
        dismissString=CANCEL,
    )


def uninstall(installer, with_worker: bool) -> str:
    """Removes the module, and the workers on request. Returns what it did."""
    file = installer.module_file()
    shared = shared_workers()
    lines = [] if installer.unload() else ["The plug-in stays loaded until Maya is closed."]
    if file.is_file():
        tree = installer.tree_of(file)
        file.unlink()
        lines.append(f"Verdigris is removed: {file} is deleted.")
        worker = installer.worker_of(tree)
        if with_worker and worker.is_dir():
            shutil.rmtree(worker)
            lines.append(f"The worker is removed: {worker}")
        if with_worker and shared:
            lines.append(f"If no other plug-in uses its worker, delete {shared}, too.")
        lines.append(f"You can delete {tree.parent} now.")
    else:
        lines.append(f"Verdigris is not installed in this Maya: there is no {file}")
    return "\n".join(lines)


def shared_workers() -> str:
    """The user's folder of workers, if it has some. A plug-in that is read-only unpacks there."""
    try:
        from verdigris.core.base.process.unpacked_worker import user_place, workers_in
    except ImportError:
        return ""
    return str(user_place()) if workers_in(user_place()) else ""
