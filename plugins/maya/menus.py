"""The menu of Verdigris in the main window, and its entry in the menu of a node.

Maya offers a list of functions for the menu of a node in the Node Editor and the Hypershade.
"""

from __future__ import annotations

from typing import Any

from maya import cmds, mel

from verdigris.core.hosts.host import BRUSH_WEIGHTS
from verdigris.plugins.maya.shelf import BUTTONS

MENU = "verdigrisMenu"
_MAIN_WINDOW = "$verdigrisWindow = $gMainWindow"
_PACKAGE = "verdigris.plugins.maya"


def build() -> None:
    """Builds the menus. Replaces existing ones."""
    remove()
    cmds.menu(MENU, label="Verdigris", parent=mel.eval(_MAIN_WINDOW), tearOff=True)
    for button in BUTTONS:
        cmds.menuItem(
            parent=MENU,
            label=button.label,
            annotation=button.tip,
            image=button.icon,
            command=button.command,
            sourceType="python",
        )
    weights = cmds.menuItem(parent=MENU, label="Brush Weight", subMenu=True)
    for weight in BRUSH_WEIGHTS:
        cmds.menuItem(
            parent=weights,
            label=_name(weight),
            annotation="Give the brush this weight",
            command=f"from {_PACKAGE} import actions; actions.set_weight({weight:g})",
            sourceType="python",
        )
    _node_menus().append(add_to_node_menu)


def remove() -> None:
    """Removes the menus if they exist."""
    if cmds.menu(MENU, exists=True):
        cmds.deleteUI(MENU, menu=True)
    # a function of an earlier load is another object
    items = _node_menus()
    items[:] = [each for each in items if getattr(each, "__module__", "") != __name__]


def add_to_node_menu(_editor: object, node: str) -> bool:
    """Adds an entry to the menu of a material. Returns whether it did."""
    kind = cmds.nodeType(node)
    if kind != "shadingEngine" and not cmds.getClassification(kind, satisfies="shader/surface"):
        return False
    cmds.menuItem(
        label="Bake with Verdigris",
        image="verdigris_bake.svg",
        command=f"from {_PACKAGE} import actions; actions.bake_node({node!r})",
        sourceType="python",
    )
    return True


def _node_menus() -> list[Any]:
    """The functions that Maya calls for the menu of a node. Another list if this Maya has none."""
    try:
        from maya.app.general import nodeEditorMenus
    except ImportError:
        return []
    found: list[Any] = nodeEditorMenus.customInclusiveNodeItemMenuCallbacks
    return found


def _name(weight: float) -> str:
    meaning = {0: "does not matter", 1: "normal"}.get(weight)
    return f"{weight:g} ({meaning})" if meaning else f"{weight:g}"
