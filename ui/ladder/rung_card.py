"""A rung as a card: picture, bytes, error, and where it suffices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QLabel

from verdigris.core.base.text import format_bytes
from verdigris.core.hosts.ladder_looks import describe_switch
from verdigris.core.ladder.rungs.rung import Rung
from verdigris.ui.qt.text_widgets import Line
from verdigris.ui.signals.notices import capitalise
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.widgets.thumbnails import blank

PICTURE = 64


class RungCard(QFrame):
    """One rung, with a box that takes it into the ladder."""

    def __init__(self, kind: type[Rung]) -> None:
        super().__init__()
        self._kind = kind
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.box = QCheckBox(kind.title)
        self.box.setToolTip(f"Bakes this rung with the others. An engine needs: {kind.cost}")
        self.picture = QLabel()
        self.picture.setFixedSize(PICTURE, PICTURE)
        self.picture.setAccessibleName(f"Picture: {kind.title}")
        self.figures, self.use = Line(), Line()
        grid = QGridLayout(self)
        grid.setContentsMargins(GAP, HALF, GAP, HALF)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(HALF)
        grid.addWidget(self.picture, 0, 0, 3, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.box, 0, 1)
        grid.addWidget(self.figures, 1, 1)
        grid.addWidget(self.use, 2, 1)
        grid.setColumnStretch(1, 1)

    def show_rung(self, rung: Mapping[str, Any] | None, folder: Path) -> None:
        """Shows what was measured; nothing for a rung that is not fitted."""
        if rung is None:
            self.picture.setPixmap(blank(PICTURE))
            self.figures.setText(capitalise(self._kind.cost))
            self.use.setText("Not baked")
            return
        found = QPixmap(str(folder / str(rung.get("picture", ""))))
        smooth, whole = (
            Qt.TransformationMode.SmoothTransformation,
            Qt.AspectRatioMode.KeepAspectRatio,
        )
        self.picture.setPixmap(
            blank(PICTURE) if found.isNull() else found.scaled(PICTURE, PICTURE, whole, smooth)
        )
        parts = [format_bytes(int(rung.get("bytes", 0))), f"FLIP {float(rung.get('flip', 0)):.3f}"]
        if rung.get("nanoseconds"):
            parts.append(self._kind.describe_time(float(rung["nanoseconds"])))
        self.figures.setText(", ".join(parts))
        self.figures.setToolTip("Size of the files, and mean error over views that no fit has seen")
        good = f"Suffices {describe_switch(rung)} on the screen"
        self.use.setText(good if rung.get("switch_pixels") else "Differs at every size")
        self.use.setToolTip(
            "The height of the mesh on the screen below which its FLIP is under .02"
        )
