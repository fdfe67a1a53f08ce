"""The hidden LOP network in which Houdini translates materials of networks to USD.

Nothing else in hou translates a material. The network is made at the first translation, outside of
undo, and reused; the artist's own networks stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import hou

from verdigris.core.base.errors import HostError

TRANSLATOR = "verdigris_translator"
_PLACE, _LIBRARY = "/obj", "library"
_PREFIX = "/materials/"


@contextmanager
def translation(node: hou.Node) -> Iterator[tuple[hou.LopNode, str]]:
    """A Material Library whose stage has the material of a node, and its path there."""
    try:
        with hou.undos.disabler():
            library = _require_library()
            library.parm("matnode1").set(node.path())
            library.parm("matpath1").set(node.name())
            yield library, f"{_PREFIX}{node.name()}"
            # the stage goes, and no node of the scene is watched
            library.parm("matnode1").set("")
    except hou.Error as failure:
        raise HostError(f"{node.path()} cannot be translated: Houdini reports: {failure}") from None


def require_network() -> hou.Node:
    """The hidden network. Call it outside of undo."""
    place = hou.node(_PLACE)
    if place is None:
        raise HostError(
            f"the scene has no network {_PLACE}, in which Verdigris translates materials"
        )
    network = place.node(TRANSLATOR)
    if network is None:
        network = place.createNode("lopnet", TRANSLATOR)
        network.hide(True)
    return network


def discard_network() -> None:
    """Removes the hidden network, before a program saves the scene."""
    network = hou.node(f"{_PLACE}/{TRANSLATOR}")
    if network is not None:
        with hou.undos.disabler():
            network.destroy()


def _require_library() -> hou.LopNode:
    network = require_network()
    library = network.node(_LIBRARY)
    if library is None:
        library = network.createNode("materiallibrary", _LIBRARY)
        library.parm("matpathprefix").set(_PREFIX)
        library.parm("materials").set(1)
        library.parm("assign1").set(0)
    return library
