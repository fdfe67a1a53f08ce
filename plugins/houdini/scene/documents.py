"""Materials as MaterialX documents: of stages, and of networks by Houdini's own translation."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostDocument
from verdigris.core.material.usd.usdshade import ConvertedMaterial, convert
from verdigris.plugins.common.usd_stages import listed
from verdigris.plugins.houdini.scene.geometry import uncooked_objects
from verdigris.plugins.houdini.scene.left_out import left_out
from verdigris.plugins.houdini.scene.networks import find_problem
from verdigris.plugins.houdini.scene.nodes import is_ready, text_of
from verdigris.plugins.houdini.scene.stage import stage_of
from verdigris.plugins.houdini.scene.textures import with_file_rules, without_nodes
from verdigris.plugins.houdini.scene.translator import translation

_LIBRARY = "materiallibrary"


def document_of_stage(name: str, node: hou.LopNode, path: str) -> HostDocument:
    """A material of a stage. `name` names the document in messages."""
    return _document(name, convert(stage_of(node), path), ())


def document_of_network(name: str, node: hou.VopNode) -> HostDocument:
    """A material of a network, with notes on what its translation leaves out."""
    problem = find_problem(node)
    if problem:
        raise HostError(f"{node.path()} {problem}")
    with _staged(node) as (library, path):
        # the stage is kept, without which its prims expire
        stage = stage_of(library)
        if hou.updateModeSetting() == hou.updateMode.Manual and not stage.GetPrimAtPath(path):
            raise HostError(
                f"{node.path()} is not translated, because Houdini's update mode is Manual: choose "
                "Auto Update in its main window, and refresh"
            )
        found = convert(stage, path)
    notes = left_out(node, found.notes)
    uncooked = uncooked_objects(node.path())
    if uncooked:
        notes.append(
            "painted weights of objects that have not been cooked are not known: display "
            f"{listed(uncooked)}, and press Take weights"
        )
    return _document(name, found, notes)


def _staged(node: hou.VopNode) -> AbstractContextManager[tuple[hou.LopNode, str]]:
    """A LOP whose stage has the material of a node, and its path there: the artist's own library,
    if it shows all its nodes and has been cooked, or the hidden one."""
    library = node.parent()
    if library.type().name() == _LIBRARY and is_ready(library):
        texts = [text_of(library.parm(name)) for name in ("materials", "matnode1", "matpath1")]
        path = f"{text_of(library.parm('matpathprefix'))}{node.name()}"
        stage = stage_of(library)
        if texts == ["1", "*", ""] and stage.GetPrimAtPath(path):
            return nullcontext((library, path))
    return translation(node)


def _document(name: str, found: ConvertedMaterial, notes: Iterable[str]) -> HostDocument:
    is_new = hou.hipFile.isNewFile()
    text, images = without_nodes(found.text)
    lines = [*found.notes, *notes, *images]
    if is_new:
        lines.append("the scene is not saved: $HIP is Houdini's working folder")
    scene = [] if is_new else [Path(hou.hipFile.path()).parent]
    folders = tuple(dict.fromkeys((*scene, *found.folders)))
    return HostDocument(name, with_file_rules(text), found.name, folders, tuple(lines))
