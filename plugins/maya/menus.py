"""The menu of Verdigris in the main window, and its entry in the menu of a node.

Maya offers a list of functions for the menu of a node in the Node Editor and the Hypershade.
"""

from __future__ import annotations

from maya import cmds, mel
from maya.app.general import nodeEditorMenus

from verdigris.core.hosts.host import BRUSH_WEIGHTS
from verdigris.plugins.maya.shelf import BUTTONS

MENU = "verdigrisMenu"
_MAIN_WINDOW = "$verdigrisWindow = $gMainWindow"
_PACKAGE = "verdigris.plugins.maya"
_ITEMS = nodeEditorMenus.customInclusiveNodeItemMenuCallbacks


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
    _ITEMS.append(add_to_node_menu)


def remove() -> None:
    """Removes the menus if they exist."""
    if cmds.menu(MENU, exists=True):
        cmds.deleteUI(MENU, menu=True)
    # a function of an earlier load is another object
    _ITEMS[:] = [each for each in _ITEMS if getattr(each, "__module__", "") != __name__]


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


def _name(weight: float) -> str:
    meaning = {0: "does not matter", 1: "normal"}.get(weight)
    return f"{weight:g} ({meaning})" if meaning else f"{weight:g}"
