"""Verdigris' shelf: built when the plug-in is loaded into a Maya with a window."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from maya import cmds, mel

SHELF = "Verdigris"
ICONS = Path(__file__).parent / "icons"
_TOP_LEVEL = "$verdigrisShelves = $gShelfTopLevel"


@dataclass(frozen=True)
class Button:
    """A button and what it runs."""

    label: str
    icon: str
    tip: str
    function: str

    @property
    def command(self) -> str:
        return f"from verdigris.plugins.maya import actions; actions.{self.function}()"


BUTTONS = (
    Button("Bake", "bake.svg", "Open the panel and bake the selected material", "bake"),
    Button("Paint Weights", "paint.svg", "Paint where the bake should be sharpest", "paint"),
    Button("Batch", "batch.svg", "Bake every material of the scene in the background", "batch"),
    Button("Help", "help.svg", "Read how it works, or test this Maya", "help_window"),
)


def build() -> None:
    """Makes the shelf, or makes it anew."""
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
    """Takes the shelf away, if it is there."""
    if cmds.shelfLayout(SHELF, exists=True):
        cmds.deleteUI(SHELF, layout=True)
