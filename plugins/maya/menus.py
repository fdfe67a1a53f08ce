"""The shelf and the menu of Verdigris in Maya, and its entry in the menu of a node.

Maya finds `shelves/shelf_Verdigris.mel` through MAYA_SHELF_PATH when it starts. If the plug-in is
loaded later, it builds the shelf from the same file. When Maya quits, it writes every open shelf
into the preferences; the plug-in removes that copy, which would outlive an uninstall.

Maya offers a list of functions for the menu of a node in the Node Editor and the Hypershade.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maya import cmds, mel

from verdigris.core.base.files import remove_file
from verdigris.core.hosts.host import BRUSH_WEIGHTS

SHELF = "Verdigris"
SHELF_FILE = Path(__file__).parent / "shelves" / f"shelf_{SHELF}.mel"
MENU = "verdigrisMenu"
_TOP_LEVEL = "$verdigrisShelves = $gShelfTopLevel"
_MAIN_WINDOW = "$verdigrisWindow = $gMainWindow"
_PACKAGE = "verdigris.plugins.maya"
# What Maya keeps of each shelf, by the number of the shelf.
_SHELF_VARIABLES = {"shelfLoad": int, "shelfName": str, "shelfAlign": str, "shelfFile": str}


@dataclass(frozen=True)
class Button:
    """A button of the shelf, an entry of the menu, and their action."""

    label: str
    icon: str
    tip: str
    function: str

    @property
    def command(self) -> str:
        return f"from {_PACKAGE} import actions; actions.{self.function}()"


BUTTONS = (
    Button("Bake", "verdigris_bake.svg", "Open the panel and bake the selected material", "bake"),
    Button("Paint Weights", "verdigris_paint.svg", "Paint the places that matter most", "paint"),
    Button(
        "Stop Painting",
        "verdigris_stop.svg",
        "End the brush and show the materials again",
        "stop_painting",
    ),
    Button(
        "Baked Look",
        "verdigris_look.svg",
        "Show the baked look of the selected materials, or the materials again",
        "switch_look",
    ),
    Button(
        "Neural Look",
        "verdigris_neural.svg",
        "Show the neural material in the viewport, or the materials again",
        "switch_neural_look",
    ),
    Button(
        "Batch",
        "verdigris_batch.svg",
        "Bake every material of the scene in the background",
        "batch",
    ),
    Button(
        "Help",
        "verdigris_help.svg",
        "Find the manual, or test the plug-in in this Maya",
        "help_window",
    ),
)


class Shelf:
    """The shelf in this Maya."""

    def __init__(self) -> None:
        self._job = 0

    def build(self) -> None:
        """Builds the shelf unless Maya has found it. The current shelf stays in front."""
        if not cmds.shelfLayout(SHELF, exists=True):
            top = mel.eval(_TOP_LEVEL)
            current = cmds.shelfTabLayout(top, query=True, selectTab=True)
            cmds.setParent(cmds.shelfLayout(SHELF, parent=top))
            mel.eval(f"source {_quoted(SHELF_FILE.as_posix())}; shelf_{SHELF}();")
            if current:
                cmds.shelfTabLayout(top, edit=True, selectTab=current)
        if not self._job:
            self._job = cmds.scriptJob(event=["quitApplication", self._remove], protected=True)

    def remove(self) -> None:
        """Removes the shelf, and its copy in the preferences."""
        job, self._job = self._job, 0
        if job and cmds.scriptJob(exists=job):
            cmds.scriptJob(kill=job, force=True)
        self._remove()

    def _remove(self) -> None:
        if cmds.shelfLayout(SHELF, exists=True):
            _forget_shelf()
            cmds.deleteUI(SHELF, layout=True)
        # the directories of shelves may include that of the module, whose file must stay
        copy = Path(cmds.internalVar(userPrefDir=True)) / "shelves" / SHELF_FILE.name
        # an artist's own shelf may have this name
        if copy.is_file() and _PACKAGE in copy.read_text("utf-8", "replace"):
            remove_file(copy)


SHELF_OF_MAYA = Shelf()


def _forget_shelf() -> None:
    """Removes the shelf from Maya's numbered list of shelves, as deleteShelfTab.mel does: a gap, or
    a name without a shelf, is an error at the next start."""
    count = int(cmds.shelfTabLayout(mel.eval(_TOP_LEVEL), query=True, numberOfChildren=True))
    names = [cmds.optionVar(query=f"shelfName{number}") for number in range(1, count + 1)]
    if SHELF not in names:
        return
    for number in range(names.index(SHELF) + 1, count):
        for kind, flag in _SHELF_VARIABLES.items():
            if cmds.optionVar(exists=f"{kind}{number + 1}"):
                value = cmds.optionVar(query=f"{kind}{number + 1}")
                if flag is int:
                    cmds.optionVar(intValue=(f"{kind}{number}", int(value)))
                else:
                    cmds.optionVar(stringValue=(f"{kind}{number}", str(value)))
    for kind in _SHELF_VARIABLES:
        cmds.optionVar(remove=f"{kind}{count}")


def _quoted(text: str) -> str:
    """A string of MEL, in which a backslash escapes quotes and backslashes. MEL expands nothing
    else in it (Autodesk, MEL: Data types, String)."""
    escaped = text.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


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
    """The functions that Maya calls for the menu of a node; an empty list if this Maya has none."""
    try:
        from maya.app.general import nodeEditorMenus
    except ImportError:
        return []
    found: list[Any] = nodeEditorMenus.customInclusiveNodeItemMenuCallbacks
    return found


def _name(weight: float) -> str:
    meaning = {0: "does not matter", 1: "normal"}.get(weight)
    return f"{weight:g} ({meaning})" if meaning else f"{weight:g}"
