"""Files that a scene names: with $HIP or $JOB in front where they lie within, so that results are
found on a farm, and after the project has moved."""

from __future__ import annotations

from pathlib import Path

import hou

from verdigris.plugins.houdini.scene.nodes import escaped

_HIP = "$HIP"
_VARIABLES = (_HIP, "$JOB")


def named(file: Path) -> str:
    """The name of a file for notes in the scene."""
    file = file.absolute()
    for variable in _VARIABLES:
        root = _folder(variable)
        if root is not None and file.is_relative_to(root):
            return f"{variable}/{file.relative_to(root).as_posix()}"
    return file.as_posix()


def resolved(name: str) -> Path:
    """The file that a note names. Nothing but a first $HIP or $JOB is expanded."""
    variable, _, rest = name.partition("/")
    if variable not in _VARIABLES:
        return Path(name)
    return Path(hou.text.expandString(variable)) / rest


def set_file(parm: hou.Parm, file: Path) -> None:
    """Sets a file parameter to a file, whatever signs its name has."""
    name = named(file)
    variable, _, rest = name.partition("/")
    parm.set(f"{variable}/{escaped(rest)}" if variable in _VARIABLES else escaped(name))


def _folder(variable: str) -> Path | None:
    """The folder of a variable; None if it says nothing: a scene that was never saved has $HIP in
    the working folder."""
    if variable == _HIP and hou.hipFile.isNewFile():
        return None
    folder = Path(hou.text.expandString(variable))
    return folder if folder.is_absolute() and folder != Path(folder.anchor) else None
