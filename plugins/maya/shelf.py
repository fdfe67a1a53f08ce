"""The shelf of Verdigris in Maya.

Maya finds `shelves/shelf_Verdigris.mel` through MAYA_SHELF_PATH when it starts. When the plug-in is
loaded later, it builds the shelf from the same file. Maya writes every shelf that is open when it
quits into the preferences. Such a copy would stay there after an uninstall, so that none is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maya import cmds, mel

SHELF = "Verdigris"
SHELF_FILE = Path(__file__).parent / "shelves" / f"shelf_{SHELF}.mel"
_TOP_LEVEL = "$verdigrisShelves = $gShelfTopLevel"
_PACKAGE = "verdigris.plugins.maya"


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
            mel.eval(f'source "{SHELF_FILE.as_posix()}"; shelf_{SHELF}();')
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
            cmds.deleteUI(SHELF, layout=True)
        # the directories of shelves may include that of the module, whose file must stay
        copy = Path(cmds.internalVar(userPrefDir=True)) / "shelves" / SHELF_FILE.name
        # an artist's own shelf may have this name
        if copy.is_file() and _PACKAGE in copy.read_text("utf-8", "replace"):
            copy.unlink()


SHELF_OF_MAYA = Shelf()
