"""Files that are dropped on the window: what each does is shown while it hovers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QLabel, QWidget

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.bundle.files.manifest import SUFFIX as BUNDLE
from verdigris.core.geometry.mesh import MESH_SUFFIXES
from verdigris.core.lighting.environment_file import SUFFIXES as LIGHTS
from verdigris.core.material.shader.expand import is_document
from verdigris.core.worker.protocol.commands import MOST_COMPARED
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.own_presets import SUFFIX as PRESET
from verdigris.ui.shelf.bake_queue import documents_in
from verdigris.ui.shelf.entries import entry_of_bundle
from verdigris.ui.shelf.shelf import Shelf
from verdigris.ui.signals import INFO, WARNING
from verdigris.ui.style.colours import colours_for
from verdigris.ui.style.metrics import RADIUS, title_font

_IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".tga", ".webp", ".bmp", ".tx")
_KNOWN = "drop a .mtlx, a folder, a result (.vdg), a mesh (.obj, .usd) or a light (.hdr, .exr)"
# Milliseconds for which a refusal stays after a drop.
_STAYS = 5000


@dataclass(frozen=True)
class Step:
    """Something that dropped files do."""

    text: str
    do: Callable[[], object]


@dataclass(frozen=True)
class Plan:
    """What all dropped files do, and why some do nothing."""

    steps: tuple[Step, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join((*(each.text for each in self.steps), *self.refused))


class Drops:
    """Finds what dropped files do in the present state. Without Qt."""

    def __init__(self, model: PanelModel, shelf: Shelf) -> None:
        self._model, self._shelf = model, shelf

    def plan(self, paths: Sequence[Path]) -> Plan:
        """One step for documents, one for results, one for the light and one for the mesh."""
        documents, bundles, steps, refused = [], [], [], []
        lights, meshes = [], []
        for path in paths:
            kind = path.suffix.lower()
            if kind == BUNDLE:
                is_whole = (path / MANIFEST_FILE).is_file()
                (bundles if is_whole else refused).append(path)
            elif path.is_dir() or is_document(path):
                documents.append(path)
            elif kind in LIGHTS:
                lights.append(path)
            elif kind in MESH_SUFFIXES:
                meshes.append(path)
            elif kind == PRESET:
                steps.append(Step(f"Take the preset {path.stem}", partial(self._take, path)))
            else:
                refused.append(path)
        reasons = [_why(path) for path in refused]
        steps = [*self._open(documents, reasons), *self._show(bundles, reasons), *steps]
        view = self._model.set_view
        for path in lights[:1]:
            light = partial(view, lit_by=str(path), rotate=0.0)
            steps.append(Step(f"Light with {path.name}", light))
        for path in meshes[:1]:
            mesh = partial(view, shape="mesh", mesh=str(path), zoom=1.0, x=0.0, y=0.0)
            steps.append(Step(f"Show on {path.name}", mesh))
        reasons += [f"{each.name}: one light at a time" for each in lights[1:]]
        reasons += [f"{each.name}: one mesh at a time" for each in meshes[1:]]
        return Plan(tuple(steps), tuple(reasons))

    def _open(self, paths: list[Path], reasons: list[str]) -> list[Step]:
        found = {path: documents_in(path) for path in paths}
        reasons += [
            f"{path.name}: contains no materials (.mtlx)" for path in paths if not found[path]
        ]
        paths = [path for path in paths if found[path]]
        count = sum(map(len, found.values()))
        if not paths:
            return []
        first, documents = paths[0], self._shelf.documents
        if documents is None:
            reasons += [f"{each.name}: one file at a time" for each in paths[1:]]
            text = f"Read {first.name} in place of the scene"
            return [Step(text, partial(self._model.documents.take_file, first))]
        # while something is baked or waits, a document waits, too
        is_free = not self._model.link.is_busy and not documents.queue.is_open
        if is_free and paths == [first] and not first.is_dir():
            return [Step(f"Open {first.name}", partial(documents.open, first))]
        which = f"the {count} materials in {first.name}" if first.is_dir() else f"{count} materials"
        which = which if count > 1 else found[first][0].name
        return [Step(f"Add {which} to what waits", partial(documents.add, paths))]

    def _show(self, bundles: list[Path], reasons: list[str]) -> list[Step]:
        reasons += [
            f"{each.name}: at most {MOST_COMPARED} results at a time"
            for each in bundles[MOST_COMPARED:]
        ]
        shown = bundles[:MOST_COMPARED]
        if not shown:
            return []
        text = f"Compare {len(shown)} results" if len(shown) > 1 else f"Show {shown[0].name}"
        entries = [entry_of_bundle(each) for each in shown]
        return [Step(text, lambda: self._shelf.compare(entries))]

    def _take(self, path: Path) -> None:
        notices = self._model.state.notices
        try:
            taken = self._model.state.own_presets.take(path)
        except VerdigrisError as failure:
            notices.add(WARNING, str(failure))
        else:
            notices.add(INFO, f"{taken.name} is among your presets, in the section Settings.")


def _why(path: Path) -> str:
    """Why a file does nothing."""
    kind = path.suffix.lower()
    if kind == BUNDLE:
        return f"{path.name}: is not a whole result: drop the folder that a bake wrote"
    if kind in _IMAGES:
        return f"{path.name}: an image alone is no material: drop the .mtlx that reads it"
    return f"{path.name}: is of an unknown kind: {_KNOWN}"


class DropTarget:
    """Shows over a widget what dropped files would do, and does it."""

    def __init__(self, over: QWidget, drops: Drops) -> None:
        self._over, self._drops = over, drops
        over.setAcceptDrops(True)
        self.sign = QLabel(over)
        self.sign.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sign.setWordWrap(True)
        self.sign.setTextFormat(Qt.TextFormat.PlainText)
        self.sign.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.sign.hide()
        self._timer = QTimer(over)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_STAYS)
        self._timer.timeout.connect(self.sign.hide)

    def enter(self, event: QDragEnterEvent) -> None:
        """Files come over the widget."""
        paths = _files(event.mimeData())
        event.setAccepted(bool(paths))
        if paths:
            self._timer.stop()
            self._tell(self._drops.plan(paths))
            event.acceptProposedAction()

    def leave(self) -> None:
        self.sign.hide()

    def drop(self, event: QDropEvent) -> None:
        """Does what is possible. Refusals stay for a moment."""
        plan = self._drops.plan(_files(event.mimeData()))
        self.sign.hide()
        if plan.steps or plan.refused:
            event.acceptProposedAction()
        for step in plan.steps:
            step.do()
        if plan.refused:
            self._tell(Plan((), plan.refused))
            self._timer.start()

    def _tell(self, plan: Plan) -> None:
        colours = colours_for(self._over)
        edge = colours.good if plan.steps else colours.bad
        ground = self._over.palette().color(self._over.palette().ColorRole.Window)
        self.sign.setStyleSheet(
            f"background: rgba({ground.red()}, {ground.green()}, {ground.blue()}, 225); "
            f"border: 3px solid {edge.name()}; border-radius: {RADIUS}px; padding: 16px"
        )
        self.sign.setFont(title_font(self._over))
        self.sign.setText(plan.text)
        self.sign.setAccessibleName(plan.text)
        self.sign.setGeometry(self._over.rect())
        self.sign.show()
        self.sign.raise_()


def _files(dropped: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in dropped.urls() if url.isLocalFile()]
