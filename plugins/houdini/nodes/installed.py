"""Finds the digital asset of the LOP, and builds it at its first use."""

from __future__ import annotations

import os
from pathlib import Path

import hou

from verdigris.core.base.errors import HostError
from verdigris.plugins.common.version import version
from verdigris.plugins.houdini.nodes import bake_lop
from verdigris.plugins.houdini.nodes.build_assets import build, file_name

TREE_VARIABLE = "VERDIGRIS_TREE"
_FOLDER = "otls"


def require_lop() -> None:
    """Installs the type of the LOP in this session. A file of another version is built again."""
    if _is_installed():
        return
    problems = []
    for file in _places():
        try:
            if not file.is_file():
                build(file)
            hou.hda.installFile(file.as_posix(), change_oplibraries_file=False)
        except (HostError, hou.OperationFailed, OSError) as failure:
            problems.append(str(failure))
        else:
            return
    raise HostError("; ".join(problems) or "Houdini names no folder for the file of the node")


def _is_installed() -> bool:
    kind = hou.lopNodeTypeCategory().nodeType(bake_lop.TYPE_NAME)
    definition = kind.definition() if kind is not None else None
    return definition is not None and bool(definition.version() == version())


def _places() -> list[Path]:
    """Files of the asset, best first: in the package, which may be read-only, and in the
    preferences. Houdini loads both when it starts."""
    tree = os.environ.get(TREE_VARIABLE)
    folders = (tree, hou.homeHoudiniDirectory())
    return [Path(folder) / _FOLDER / file_name() for folder in folders if folder]
