"""The page of the ladder: a mesh, a card for each rung, and one button that bakes them all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QImage, QPainter, QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.base.text import format_bytes, format_share
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.ladder_looks import describe_switch
from verdigris.core.ladder.rungs.registry import RUNGS
from verdigris.core.ladder.rungs.rung import Rung
from verdigris.core.pictures.compare.verdict import judge
from verdigris.ui.model.ladder_work import FINISHED, FITTING, PAGE, SIZES, WAITING
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind
from verdigris.ui.qt.flow_layout import FlowLayout
from verdigris.ui.qt.text_widgets import Elided, Line, Note
from verdigris.ui.signals import capitalise
from verdigris.ui.status.progress_view import ProgressLine
from verdigris.ui.style.combo import Combo
from verdigris.ui.style.metrics import GAP, HALF, bold
from verdigris.ui.widgets.dots import Dots
from verdigris.ui.widgets.thumbnails import blank

PICTURE = 96
_EXPLAINED = (
    "One material for every device: a neural material, textures and vertex colours, fitted on a "
    "mesh under the light of the view."
)
_ATTACHED = (
    "Adds the ticked rungs to the scene as levels of detail of the mesh, with their materials, and "
    "notes the neural material. One undo step. The manual describes each of them here."
)
_BAKES = "Bakes and fits the chosen rungs, measures them, and writes a page"
_NOTED = (
    "Notes the neural material in the scene, and adds a material of the glTF textures. For all "
    "rungs as variants, reference the .usdc file of the folder."
)
_FILES = "Meshes (*.obj *.usd *.usda *.usdc *.usdz)"
_OPEN = "Open a file…"


class RungCard(QFrame):
    """One rung, named by its use, with a box that takes it into the ladder."""

    def __init__(self, kind: type[Rung]) -> None:
        super().__init__()
        self._kind = kind
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.box = QCheckBox(kind.use or kind.title)
        self.box.setFont(bold(self.box))
        self.box.setToolTip(f"Bakes this rung with the others. An engine needs: {kind.cost}")
        self.title = Elided()
        self.title.setText(kind.title)
        self.title.setToolTip(f"{kind.title}: {kind.cost}")
        self.picture = QLabel()
        self.picture.setFixedSize(PICTURE, PICTURE)
        self.picture.setAccessibleName(f"Picture: {kind.title}")
        self.progress = ProgressLine()
        self.progress.setAccessibleName(f"Progress: {kind.title}")
        self.progress.setToolTip("Progress of this rung")
        self.dots = Dots()
        self.figures, self.use = Note(), Note()
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.dots)
        row.addWidget(self.figures, 1)
        words = QVBoxLayout()
        words.setSpacing(HALF)
        for part in (self.box, self.title):
            words.addWidget(part)
        words.addLayout(row)
        words.addWidget(self.use)
        words.addWidget(self.progress)
        words.addStretch(1)
        across = QHBoxLayout(self)
        across.setContentsMargins(GAP, HALF, GAP, HALF)
        across.setSpacing(GAP)
        across.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
        across.addLayout(words, 1)

    def show_rung(self, rung: Mapping[str, Any] | None, folder: Path, waiting: QPixmap) -> None:
        """Shows what was measured. One that is not baked shows the material faintly."""
        self.dots.setVisible(rung is not None)
        if rung is None:
            self.picture.setPixmap(waiting)
            self.figures.setText(capitalise(self._kind.cost))
            self.figures.setToolTip("What an engine needs for it")
            self.use.setText("Not baked")
            self.use.setToolTip("")
            return
        found = QPixmap(str(folder / str(rung.get("picture", ""))))
        self.picture.setPixmap(blank(PICTURE) if found.isNull() else _fitted(found))
        flip = float(rung.get("flip", 0))
        verdict = judge({"sphere": {"ldr_flip": flip}})
        self.dots.show_dots(verdict.dots if verdict else 0)
        parts = [format_bytes(int(rung.get("bytes", 0))), f"FLIP {flip:.3f}"]
        if rung.get("nanoseconds"):
            parts.append(self._kind.describe_time(float(rung["nanoseconds"])))
        self.figures.setText(", ".join(parts))
        self.figures.setToolTip("Size of the files, and mean error over views that no fit has seen")
        good = f"Suffices {describe_switch(rung)} on the screen"
        self.use.setText(good if rung.get("switch_pixels") else "Differs at every size")
        self.use.setToolTip(
            "The height of the mesh on the screen below which its FLIP is under .02"
        )

    def show_work(self, state: str, part: float) -> None:
        """Shows what happens with it while a ladder is fitted."""
        self.progress.setVisible(bool(state))
        self.progress.show_share({FITTING: part, FINISHED: 1.0}.get(state, 0.0))
        words = {
            WAITING: "Waiting",
            FITTING: f"Fitting, {format_share(part)}",
            FINISHED: "Finished: measured when all are",
        }
        if state:
            self.use.setText(words[state])


def _fitted(picture: QPixmap) -> QPixmap:
    smooth = Qt.TransformationMode.SmoothTransformation
    return picture.scaled(PICTURE, PICTURE, Qt.AspectRatioMode.KeepAspectRatio, smooth)


def _faint(pixels: Any) -> QPixmap:
    """The picture of the material for what is not baked; that of a page without one."""
    if pixels is None:
        return blank(PICTURE)
    height, width = pixels.shape[:2]
    data = np.ascontiguousarray(pixels)
    image = QImage(data.data, width, height, 3 * width, QImage.Format.Format_RGB888)
    short = min(width, height)
    middle = image.copy((width - short) // 2, (height - short) // 2, short, short)
    made = QPixmap(PICTURE, PICTURE)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.setOpacity(0.3)
    painter.drawPixmap(0, 0, _fitted(QPixmap.fromImage(middle)))
    painter.end()
    return made


class LadderPage(QWidget):
    """Binds the widgets to the model's `ladder`."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model, self._work = model, model.ladder
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        explained = Line()
        explained.setText(_EXPLAINED)
        column.addWidget(explained)
        column.addLayout(self._row_of_choices())
        column.addWidget(self._row_of_buttons())
        self.progress = ProgressLine()
        self.progress.setToolTip("Progress of all rungs")
        self.progress.setAccessibleName("Progress of the ladder")
        self.doing = Elided()
        column.addWidget(self.progress)
        column.addWidget(self.doing)
        self.cards = {kind.name: RungCard(kind) for kind in RUNGS}
        for name, card in self.cards.items():
            card.box.toggled.connect(lambda is_on, name=name: self._work.set_rung(name, is_on))
            column.addWidget(card)
        bind(self, self._work.changed, self._show)
        bind(self, model.state.meshes.changed, self._show_meshes)
        bind(self, model.link.state_changed, self._show)
        bind(self, model.state.materials_changed, self._show)

    def _row_of_choices(self) -> QHBoxLayout:
        self.mesh, self.size = Combo(), Combo()
        self.mesh.setAccessibleName("Mesh of the ladder")
        self.size.setAccessibleName("Size of the ladder's textures")
        self.mesh.setToolTip("The mesh on which all rungs are fitted")
        self.mesh.setMinimumContentsLength(8)
        self.mesh.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.mesh.activated.connect(self._choose_mesh)
        for side in SIZES:
            self.size.addItem(f"{side} x {side}", side)
        self.size.setToolTip("Size of the textures in texels")
        self.size.activated.connect(lambda at: self._work.choose(size=self.size.itemData(at)))
        row = QHBoxLayout()
        row.setSpacing(GAP)
        for text, widget in (("&Mesh", self.mesh), ("Te&xtures", self.size)):
            label = QLabel(text)
            label.setBuddy(widget)
            row.addWidget(label)
            row.addWidget(widget, 1 if widget is self.mesh else 0)
        return row

    def _row_of_buttons(self) -> QWidget:
        self.bake = QPushButton("Bake &all")
        self.bake.clicked.connect(lambda _: self._model.ladder.bake())
        self.cancel = QPushButton("Cance&l")
        self.cancel.setToolTip("Ends the work; a ladder that is there stays")
        self.cancel.clicked.connect(lambda _: self._work.cancel())
        shows = self._model.host.can_show_rungs
        self.attach = QPushButton("Attac&h to mesh" if shows else "&Use in scene")
        self.attach.setToolTip(_ATTACHED if shows else _NOTED)
        self.attach.clicked.connect(lambda _: self._model.ladder.attach())
        self.page = QPushButton("Open &page")
        self.page.setToolTip("Shows all rungs with their error maps in the browser")
        self.page.clicked.connect(lambda _: self._open(self._work.folder / PAGE))
        self.folder = QPushButton("Open folde&r")
        self.folder.setToolTip(
            "Shows the folder with the textures, the glTF and the neural material"
        )
        self.folder.clicked.connect(lambda _: self._open(self._work.folder))
        row = QWidget()
        flow = FlowLayout(row)
        for button in (self.bake, self.cancel, self.attach, self.page, self.folder):
            flow.addWidget(button)
        return row

    def _choose_mesh(self, at: int) -> None:
        name = self.mesh.itemData(at)
        if name is None:
            name, _ = QFileDialog.getOpenFileName(self, "Mesh of the ladder", "", _FILES)
        if name:
            self._work.choose(mesh=name)
        self._show_meshes()

    def _show_meshes(self) -> None:
        names, chosen = list(self._model.state.meshes.names), self._work.choices.mesh
        if not chosen and names:
            self._work.choose(mesh=names[0])
            return
        self.mesh.blockSignals(True)
        self.mesh.clear()
        if not chosen:
            self.mesh.addItem("Choose a mesh", "")
        for name in dict.fromkeys([*names, *([chosen] if chosen else [])]):
            self.mesh.addItem(name if name in names else Path(name).name, name)
        self.mesh.addItem(_OPEN, None)
        self.mesh.setCurrentIndex(max(0, self.mesh.findData(chosen)))
        self.mesh.setToolTip(chosen or "The mesh on which all rungs are fitted")
        self.mesh.blockSignals(False)

    def _show(self) -> None:
        work = self._work
        if self.mesh.currentData() != work.choices.mesh or not self.mesh.count():
            self._show_meshes()
        self.size.setCurrentIndex(self.size.findData(work.choices.size))
        fitted = {each["name"]: each for each in (work.report or {}).get("rungs", ())}
        seen = self._model.state.pictures.parts.get("reference")
        waiting = _faint(seen.pixels if seen is not None else None)
        is_running = work.is_running
        for name, card in self.cards.items():
            card.box.blockSignals(True)
            card.box.setChecked(name in work.choices.rungs)
            card.box.blockSignals(False)
            card.box.setEnabled(not is_running)
            card.show_rung(fitted.get(name), work.folder, waiting)
            card.show_work(work.state_of(name), work.part)
        self.progress.setVisible(is_running)
        self.doing.setVisible(is_running)
        if is_running:
            self.progress.show_share(work.share)
            parts = (f"{work.what}, {format_share(work.part)}", work.left)
            self.doing.setText(", ".join(filter(None, parts)))
        for widget in (self.mesh, self.size):
            widget.setEnabled(not is_running)
        self.bake.setEnabled(self._model.ladder.can_bake)
        missing = not work.choices.mesh or not work.choices.rungs
        needed = f"Choose a {'rung' if work.choices.mesh else 'mesh'} first"
        self.bake.setToolTip(needed if missing else _BAKES)
        self.cancel.setVisible(is_running)
        can_attach = not isinstance(self._model.host, FilesHost) and work.result is not None
        self.attach.setVisible(can_attach and not is_running)
        for button in (self.page, self.folder):
            button.setVisible(work.report is not None)

    def _open(self, path: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
