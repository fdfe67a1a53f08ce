"""The shelf of Verdigris in Maya."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maya import cmds, mel

SHELF = "Verdigris"
ICONS = Path(__file__).parent / "icons"
_TOP_LEVEL = "$verdigrisShelves = $gShelfTopLevel"


@dataclass(frozen=True)
class Button:
    """A button of the shelf and its action."""

    label: str
    icon: str
    tip: str
    function: str

    @property
    def command(self) -> str:
        return f"from verdigris.plugins.maya import actions; actions.{self.function}()"


BUTTONS = (
    Button("Bake", "bake.svg", "Open the panel and bake the selected material", "bake"),
    Button("Paint Weights", "paint.svg", "Paint the places that matter most", "paint"),
    Button("Batch", "batch.svg", "Bake every material of the scene in the background", "batch"),
    Button("Help", "help.svg", "Find the manual, or test the plug-in in this Maya", "help_window"),
)


def build() -> None:
    """Builds the shelf. Replaces an existing one."""
    remove()
    shelf = cmds.shelfLayout(SHELF, parent=mel.eval(_TOP_LEVEL))
    for button in BUTTONS:
        cmds.shelfButton(
            parent=shelf,
            label=button.label,
            annotation=button.tip,
            image=(ICONS / button.icon).as_posix(),
            command=button.command,
            sourceType="python",
        )


def remove() -> None:
    """Removes the shelf if it exists."""
    if cmds.shelfLayout(SHELF, exists=True):
        cmds.deleteUI(SHELF, layout=True)
