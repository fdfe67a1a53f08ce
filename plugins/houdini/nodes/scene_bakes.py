"""Bakes that nodes of the scene start: a LOP for its materials, or materials themselves."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import hou

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import HostError
from verdigris.core.base.text import unused_names
from verdigris.core.hosts.host import WEIGHT_SET, BakedResult, HostDocument, HostMaterial
from verdigris.core.hosts.painted_meshes import find_painted
from verdigris.core.hosts.result_folders import result_folder
from verdigris.core.worker.protocol.commands import Start
from verdigris.plugins.houdini.adapter import NETWORK, STAGE, HoudiniHost
from verdigris.plugins.houdini.nodes import bake_lop
from verdigris.plugins.houdini.scene.nodes import cooking, refuse_locked, set_text, undo_step
from verdigris.plugins.houdini.scene.results import record
from verdigris.plugins.houdini.scene.stage import SEPARATOR, materials_of_stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_HIP = "$HIP"
_SECONDS_BETWEEN_LINES, _SECONDS_BETWEEN_COMMENTS = 5.0, 2.0


def jobs_of_lop(node: hou.LopNode) -> list[NodeBake]:
    """The bakes that the parameters of a LOP request."""
    before = next((each for each in node.inputs() if each is not None), None)
    if before is None:
        raise HostError(f"{node.path()} has no input: connect a LOP with materials")
    refuse_locked(node)
    pattern = node.parm(bake_lop.MATERIALS).evalAsString()
    found = materials_of_stage(before)
    paths = [path for path in found if matches(pattern, path)]
    if not paths:
        listed = ", ".join(path.rpartition("/")[2] for path in found) or "none"
        raise HostError(
            f"{node.path()}: no material matches {pattern!r}. Those of its input with MaterialX: "
            f"{listed}"
        )
    names = [path.rpartition("/")[2] for path in paths]
    folder, preset = _folder(node), node.parm(bake_lop.PRESET).evalAsString()
    request = BakeRequest(
        preset=None if preset == bake_lop.AUTOMATIC else preset,
        viewport_textures=bool(node.parm(bake_lop.TEXTURES).evalAsInt()),
    )
    weights = node.parm(bake_lop.WEIGHTS).evalAsString()
    return [
        LopBake(
            node,
            HostMaterial(f"{before.path()}{SEPARATOR}{path}", name, STAGE),
            Start(folder=folder, name=file_name, request=request),
            weights,
        )
        for path, name, file_name in zip(paths, names, unused_names(names), strict=True)
    ]


def jobs_of_materials(nodes: Sequence[hou.Node]) -> list[NodeBake]:
    """The bakes of material nodes with the default preset, into the folder of the panel."""
    host = HoudiniHost()
    scene = host.scene_file()
    if scene is None:
        raise HostError("the scene is not saved: save it first, as results are written beside it")
    for node in nodes:
        refuse_locked(node)
    materials = host.materials()
    names = dict(
        zip(
            [each.key for each in materials],
            unused_names([each.name for each in materials]),
            strict=True,
        )
    )
    folder = str(result_folder(scene))
    return [
        NodeBake(
            node,
            HostMaterial(node.path(), node.name(), NETWORK),
            Start(folder=folder, name=names.get(node.path(), node.name())),
        )
        for node in nodes
    ]


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern matches a material. Each word is a name or, with a slash, a path. The last
    matching word decides; a word with ^ leaves the material out."""
    found = False
    for word in pattern.split():
        leaves_out = word.startswith("^")
        plain = word.removeprefix("^")
        if fnmatchcase(path if "/" in plain else path.rpartition("/")[2], plain):
            found = not leaves_out
    return found


def _folder(node: hou.LopNode) -> str:
    parm = node.parm(bake_lop.FOLDER)
    folder = parm.evalAsString()
    if not folder:
        raise HostError(f"{node.path()}: the folder is empty: set the folder of the bundles")
    if hou.hipFile.isNewFile() and _HIP in parm.rawValue():
        raise HostError(f"{node.path()}: {_HIP} is not known: save the scene, or set a folder")
    return folder


class NodeBake:
    """The bake of a material that is a node. It finds its node again after a renaming."""

    def __init__(
        self, node: hou.Node, material: HostMaterial, start: Start, weight_set: str = WEIGHT_SET
    ) -> None:
        self.material, self.start = material, start
        self.problem = ""
        self._silent_until = 0.0
        self._id = node.sessionId()
        self._weight_set = weight_set

    @property
    def owner(self) -> object:
        return self._id

    @property
    def name(self) -> str:
        return self.material.name

    def node(self) -> hou.Node | None:
        """The node, unless it was deleted."""
        return hou.nodeBySessionId(self._id)

    def read(self) -> tuple[HostDocument, NDArray[np.float32] | None]:
        host = HoudiniHost()
        try:
            with cooking():
                document = host.document(self.material)
                painted = (
                    find_painted(host, self.material, self._weight_set)
                    if self._weight_set
                    else None
                )
        except hou.Error as failure:
            raise HostError(f"{self.name}: Houdini reports: {failure}") from None
        return document, None if painted is None else painted.weights

    def report(self, text: str) -> None:
        self.show(text if text.startswith("waiting") else f"baking {self.name}: {text}")

    def finish(self, result: BakedResult, warnings: list[str]) -> None:
        node = self.node()
        if node is None:
            raise HostError(
                f"{self.name}: its node was deleted during the bake. The result is written to "
                f"{result.bundle}, and is not noted in the scene"
            )
        self.note(node, result)
        self.show("; ".join((f"written: {result.bundle}", *warnings)))

    def note(self, node: hou.Node, result: BakedResult) -> None:
        """Notes the result in the scene."""
        HoudiniHost().attach(HostMaterial(node.path(), node.name(), NETWORK), result)

    def fail(self, text: str) -> None:
        self.problem = text if self.name in text else f"{self.name}: {text}"
        self.show(self.problem)

    def cancel(self) -> None:
        self.problem = f"{self.name}: the bake was cancelled"
        self.show("cancelled")

    def show(self, text: str) -> None:
        """Shows what happens to people: in the status bar, or in the terminal."""
        if hou.isUIAvailable():
            hou.ui.setStatusMessage(f"Verdigris: {self.name}: {text}")
        elif not text.startswith("baking") or time.monotonic() > self._silent_until:
            self._silent_until = time.monotonic() + _SECONDS_BETWEEN_LINES
            print(f"verdigris: {self.name}: {text}", flush=True)


class LopBake(NodeBake):
    """The bake of one material of a LOP, which shows its state and its progress."""

    def __init__(
        self, node: hou.Node, material: HostMaterial, start: Start, weight_set: str = WEIGHT_SET
    ) -> None:
        super().__init__(node, material, start, weight_set)
        self._begun = False
        self._had_comment = node.isGenericFlagSet(hou.nodeFlag.DisplayComment)

    def note(self, node: hou.Node, result: BakedResult) -> None:
        path = self.material.key.partition(SEPARATOR)[2]
        with undo_step("Verdigris result"):
            record(node, path, result)

    def report(self, text: str) -> None:
        if text.startswith("waiting"):
            self.show(text)
            return
        node = self.node()
        if node is not None and not self._begun:
            self._begun = True
            show_state(node, f"baking {self.name}")
        if not hou.isUIAvailable():
            NodeBake.show(self, f"baking {self.name}: {text}")
        elif time.monotonic() >= self._silent_until:
            self._silent_until = time.monotonic() + _SECONDS_BETWEEN_COMMENTS
            self._show_progress(f"{bake_lop.PROGRESS}baking {self.name}: {text}")

    def show(self, text: str) -> None:
        self._show_progress("")
        node = self.node()
        if node is None or not show_state(node, text) or not hou.isUIAvailable():
            super().show(text)

    def _show_progress(self, text: str) -> None:
        """Shows a line under the artist's own comment of the node, or removes it: comments do not
        cook, and a change of a parameter does."""
        node = self.node()
        if node is None:
            return
        before = node.comment()
        lines = [line for line in before.split("\n") if not line.startswith(bake_lop.PROGRESS)]
        comment = "\n".join((*filter(None, lines), *([text] if text else ())))
        if comment == before:
            return
        with contextlib.suppress(hou.Error), hou.undos.disabler():
            node.setComment(comment)
            if text and not self._had_comment:
                node.setGenericFlag(hou.nodeFlag.DisplayComment, True)
            elif not text:
                node.setGenericFlag(hou.nodeFlag.DisplayComment, bool(self._had_comment))


def show_state(node: hou.Node, text: str) -> bool:
    """Shows the state of a LOP on the node. Returns whether it could."""
    parm = node.parm(bake_lop.STATE)
    if parm is None:
        return False
    if parm.evalAsString() == text:
        return True
    try:
        # progress is not a step that an artist would undo
        with hou.undos.disabler():
            set_text(parm, text)
    except hou.Error:
        # a locked parameter
        return False
    return True
