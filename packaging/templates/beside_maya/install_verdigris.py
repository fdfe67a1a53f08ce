"""Installs Verdigris in Maya: drag this file into a viewport. Drag it again to repair or update.

It writes verdigris.mod into the modules of this version of Maya, pointing at the folder beside this
file, and loads the plug-in without a restart. Keep the folder where it is, or drag again after
moving it.
"""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

from maya import cmds

HERE = Path(__file__).resolve().parent
MODULE, PLUGIN, PACKAGE = "verdigris.mod", "verdigris_maya", "verdigris"
QUESTIONS = (
    "Maya may ask now whether to load a plug-in from an untrusted place, and at its next start "
    "whether a changed userSetup may run. Choose Allow both times: without the first, Verdigris is "
    "installed and not loaded."
)
_HEADER = re.compile(r"\+ MAYAVERSION:(\S+) PLATFORM:(\S+) (\S+) (\S+) (.+)")
_LINE = re.compile(r"(\w+) ?\+?:?= ?(.+)")
# Folders of a module that Maya finds without a line.
_FOLDERS = {
    "plug-ins": "MAYA_PLUG_IN_PATH",
    "scripts": "MAYA_SCRIPT_PATH",
    "icons": "XBMLANGPATH",
    "presets": "MAYA_PRESET_PATH",
}


class InstallError(Exception):
    """Verdigris cannot be installed."""


def onMayaDroppedPythonFile(*_arguments):  # noqa: N802 - Maya calls this name
    try:
        text, is_loaded = install()
        show(text, offer_panel=is_loaded)
    except (InstallError, OSError, RuntimeError) as failure:
        show(f"Verdigris was not installed: {failure}")
    # Maya imports this file by its name: a later version is read again
    sys.modules.pop(Path(__file__).stem, None)


def install() -> tuple:
    """Installs the tree of this Maya. Returns what it did, and whether the plug-in is loaded."""
    block, tree = own_block()
    file = module_file()
    before = file.is_file()
    if not before and not cmds.about(batch=True):
        cmds.confirmDialog(title="Verdigris", message=QUESTIONS, button=["Continue"])
    is_unloaded = unload()
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.tmp")
    temporary.write_text(block, encoding="utf-8")
    temporary.replace(file)
    extend_session(block, tree, file)
    notes = load(tree) if is_unloaded else []
    loaded = "loaded" if is_unloaded else "will be loaded when Maya starts again: restart it"
    version = _HEADER.match(block)[4]
    lines = [
        f"Verdigris {version} is {'updated' if before else 'installed'}"
        f"{', but not loaded' if notes else f' and {loaded}'}.",
        *notes,
        f"Maya {maya_version()} finds it through {file}",
        f"in {tree}: keep this folder.",
    ]
    lines += [*quarantine_notes(tree), *worker_notes(tree)]
    return "\n".join(lines), not notes


def load(tree: Path) -> list:
    """Loads the plug-in. If Maya does not, because someone has denied it or for another reason,
    returns what is to be done. The list of trusted folders is the user's: it is not changed."""
    folder = tree / "plug-ins"
    why = "Maya gave no reason"
    try:
        cmds.loadPlugin(str(folder / f"{PLUGIN}.py"))
    except RuntimeError as failure:
        why = str(failure).strip()
    if cmds.pluginInfo(PLUGIN, query=True, loaded=True):
        return []
    return [
        f"Maya did not load the plug-in: {why}",
        "If Maya does not trust the folder: open Windows > Settings/Preferences > Preferences > "
        f"Security > Plug-ins, add {folder} to My trusted plugin locations, and drag this file "
        "again.",
    ]


def worker_notes(tree: Path) -> list:
    """What is to be done about the worker."""
    from verdigris.core.base.process.unpacked_worker import find_older_worker, find_worker

    package = tree / "scripts" / PACKAGE
    if find_worker(package) is not None:
        return []
    if not (tree / "wheels" / "packages.json").is_file():
        return [
            f"The packages of the worker are missing in {tree / 'wheels'}, and bakes need them: "
            "unzip the whole archive again, to the same place."
        ]
    older = find_older_worker(package)
    if older is not None:
        return [f"The worker has version {older.version}: the panel renews it."]
    return ["Bakes need a worker: the panel offers to set it up."]


def quarantine_notes(tree: Path) -> list:
    """On macOS, what a browser has marked as downloaded: Maya cannot load these libraries."""
    if sys.platform != "darwin":
        return []
    library = next((tree / "site-packages").rglob("*.so"), None)
    command = ["/usr/bin/xattr", "-p", "com.apple.quarantine", str(library)]
    if library is None or subprocess.run(command, check=False, capture_output=True).returncode:
        return []
    return [
        "macOS has put the folder into quarantine, and does not let Maya load its libraries. Enter "
        f'in a terminal: xattr -dr com.apple.quarantine "{HERE}", then drag this file again.'
    ]


def own_block() -> tuple:
    """The block of the module for this Maya, with the full path of its tree, and the tree."""
    file = HERE / MODULE
    if not file.is_file():
        raise InstallError(f"{file} is missing: unzip the whole archive, then drag this file again")
    others = []
    for block in re.split(r"\n(?=\+ )", file.read_text(encoding="utf-8")):
        header = _HEADER.match(block)
        tree = (HERE / header[5].strip()).resolve()
        if not tree.is_dir():
            continue
        if (header[1], header[2]) == (maya_version(), platform()):
            end = block.partition("\n")[2].rstrip()
            start = f"+ MAYAVERSION:{header[1]} PLATFORM:{header[2]} {header[3]} {header[4]}"
            return f"{start} {tree.as_posix()}\n{end}\n", tree
        others.append(f"Maya {header[1]} on {header[2]}")
    raise InstallError(
        f"this is Maya {maya_version()} on {platform()}, and {HERE} is for "
        f"{', '.join(others) or 'no Maya'}: unzip the archive for this Maya to the same place, and "
        "drag the file again"
    )


def extend_session(block: str, tree: Path, file: Path) -> None:
    """Gives the running Maya the paths that it reads from modules when it starts."""
    # a module that was loaded before is refused; its paths are below
    with contextlib.suppress(RuntimeError):
        cmds.loadModule(load=str(file))
    for line in block.splitlines()[1:]:
        found = _LINE.match(line)
        if found:
            add_path(found[1], tree / found[2].strip() if ":=" in line else found[2].strip())
    # after the packages of Maya and of the studio, as the plug-in adds them
    packages = (tree / "site-packages").as_posix()
    if packages not in sys.path:
        sys.path.append(packages)
    for folder, variable in _FOLDERS.items():
        if (tree / folder).is_dir():
            # icons are found by a pattern on Linux
            pattern = "/%B" if folder == "icons" and platform() == "linux" else ""
            add_path(variable, f"{(tree / folder).as_posix()}{pattern}")
    cmds.rehash()


def add_path(variable: str, path) -> None:
    """Adds a path to a variable, and to sys.path if it is for Python."""
    path = path.as_posix() if isinstance(path, Path) else path
    paths = [each for each in os.environ.get(variable, "").split(os.pathsep) if each]
    if path not in paths:
        os.environ[variable] = os.pathsep.join([*paths, path])
    # at the end: Maya removes the first entry after a drop
    if variable == "PYTHONPATH" and path not in sys.path:
        sys.path.append(path)


def unload() -> bool:
    """Unloads the plug-in, and forgets its modules and paths, which may be of another folder.

    False if it stays loaded, for example because its folder was deleted.
    """
    is_unloaded = True
    if cmds.pluginInfo(PLUGIN, query=True, loaded=True):
        try:
            cmds.unloadPlugin(PLUGIN)
        except RuntimeError as failure:
            print(f"Verdigris: the plug-in cannot be unloaded: {failure}")
            is_unloaded = False
    for name in [each for each in sys.modules if each.partition(".")[0] == PACKAGE]:
        del sys.modules[name]
    trees = [Path(each).parent for each in sys.path if (Path(each) / PACKAGE / "VERSION").is_file()]
    for tree in trees:
        remove_paths(tree.as_posix())
    return is_unloaded


def remove_paths(top: str) -> None:
    """Removes the paths in a folder from the session."""
    sys.path[:] = [each for each in sys.path if not is_in(each, top)]
    for variable in ("PYTHONPATH", "MAYA_SHELF_PATH", *_FOLDERS.values()):
        if variable in os.environ:
            held = os.environ[variable].split(os.pathsep)
            kept = [each for each in held if each and not is_in(each, top)]
            os.environ[variable] = os.pathsep.join(kept)


def is_in(path: str, top: str) -> bool:
    return Path(path).as_posix().startswith(f"{top}/")


def worker_of(tree: Path) -> Path:
    """The folder of workers."""
    return tree / "worker"


def module_file() -> Path:
    """The module of this version of Maya in the folder of the user."""
    return Path(cmds.internalVar(userAppDir=True)) / maya_version() / "modules" / MODULE


def tree_of(file: Path) -> Path:
    """The folder that a module points at."""
    header = _HEADER.match(file.read_text(encoding="utf-8"))
    return Path(header[5].strip()) if header else HERE


def maya_version() -> str:
    return str(cmds.about(majorVersion=True))


def platform() -> str:
    """The system, as modules name it."""
    return {"win32": "win64", "darwin": "mac"}.get(sys.platform, "linux")


def show(text: str, offer_panel: bool = False) -> None:
    """Prints a message, and shows it if there is a window."""
    print(text)
    if cmds.about(batch=True):
        return
    buttons = ["Open the panel", "Self-test", "Close"] if offer_panel else ["Close"]
    chosen = cmds.confirmDialog(
        title="Verdigris", message=text, button=buttons, dismissString="Close"
    )
    if chosen in buttons[:-1]:
        from verdigris.plugins.maya import actions

        (actions.bake if chosen == "Open the panel" else actions.help_window)()
