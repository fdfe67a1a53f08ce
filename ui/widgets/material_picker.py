"""The list of materials, and the report of a material."""

from __future__ import annotations

import html
import math
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QTextBrowser,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.worker.client.client import GONE
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.signals import capitalise, short_paths
from verdigris.ui.style.colours import colours_for, quiet_text
from verdigris.ui.style.combo import Combo
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF, small_font
from verdigris.ui.widgets.thumbnails import PICTURE, blank, icon_of
from verdigris.ui.widgets.wording import describe_textures, describe_verdict, parts_by_fate

_PARTS_TIP = "The parts of this material that a bake keeps, approximates or leaves out"
_TIP = "The material to bake (Alt+M)"
_SEARCH = "Also looks for images in these folders, and opens the material again"


class MaterialPicker(QWidget):
    """The materials of the scene."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.combo = Combo()
        self.combo.setAccessibleName("Material")
        self.combo.setToolTip(_TIP)
        self.combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.combo.setSizeAdjustPolicy(Combo.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.combo.setMinimumContentsLength(8)
        self.combo.setIconSize(QSize(PICTURE, PICTURE))
        self.reload = QToolButton()
        self.reload.setAutoRaise(True)
        self.reload.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.reload.setAccessibleName("Read the materials again")
        wear(self.reload, "reload")
        self.reload.setToolTip("Reads the materials again, and compares them with their bakes (F5)")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(HALF)
        for widget in (self.combo, self.reload):
            row.addWidget(widget)
        self.combo.activated.connect(lambda index: model.choose(model.state.materials[index]))
        self.reload.clicked.connect(lambda _: self._read_again())
        bind(self, model.state.materials_changed, self._show)
        bind(self, model.state.changes.changed, self._show)
        bind(self, model.link.state_changed, self._enable)

    def _show(self) -> None:
        model = self._model
        with blocked_signals(self.combo):
            self.combo.clear()
            grey, empty = quiet_text(self.palette()), QIcon(blank(PICTURE))
            bundles = model.scene.bundles()
            for number, (material, bundle) in enumerate(
                zip(model.state.materials, bundles, strict=True)
            ):
                changes = model.state.changes.of(material)
                name = f"{material.name}  ({material.source}){' · changed' if changes else ''}"
                picture = icon_of(bundle, PICTURE, has_badge=bool(changes))
                self.combo.addItem(empty if picture.isNull() else picture, name)
                tip = "\n".join(filter(None, (name, material.problem, *changes)))
                self.combo.setItemData(number, tip, Qt.ItemDataRole.ToolTipRole)
                if material.problem:
                    # it can be chosen: its card offers the way around
                    self.combo.setItemData(number, grey, Qt.ItemDataRole.ForegroundRole)
            # a material in a bake may have been removed from the scene
            current, materials = model.state.current, model.state.materials
            is_known = current in materials
            gone = f"{current.name}  (no longer in the scene)" if current else ""
            self.combo.setPlaceholderText("" if is_known else gone)
            self.combo.setCurrentIndex(materials.index(current) if is_known else -1)
        # the list cuts off long names
        shown = self.combo.currentText()
        self.combo.setToolTip(f"{_TIP}:\n{shown}" if shown else _TIP)

    def _read_again(self) -> None:
        self._model.refresh_materials()
        self._model.documents.compare_all()

    def _enable(self) -> None:
        self.combo.setEnabled(not self._model.link.is_busy and bool(self._model.state.materials))


class ReportView(QTextBrowser):
    """The parts of a material: kept, approximated and left out."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setToolTip(_PARTS_TIP)
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setAccessibleName("Parts of the material")
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(lambda _: self._fit())
        bind(self, model.state.report_changed, self._show)
        bind(self, model.link.health_changed, self._show_waiting)

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_model"):
            self._show()

    def _fit(self) -> None:
        """The page around it scrolls."""
        self.setFixedHeight(math.ceil(self.document().size().height()))

    def _show_waiting(self) -> None:
        if self._model.state.report is None:
            self._show()

    def _show(self) -> None:
        report = self._model.state.report
        if report is None:
            is_gone = self._model.link.health.state == GONE
            text = "The material was not read." if is_gone else "Reading the material…"
            self.setHtml(
                f"<p>{text if self._model.state.current else 'There is no material yet.'}</p>"
            )
            return
        colours = colours_for(self)
        marks = {
            "kept": ("✓", colours.good),
            "approximated": ("≈", colours.middling),
            "ignored": ("○", colours.middling),
            "dropped": ("✗", colours.bad),
        }
        lines = []
        # with whole paths
        self.setToolTip(str(report.get("problem") or _PARTS_TIP))
        if report.get("problem"):
            problem = html.escape(capitalise(short_paths(str(report["problem"]))))
            lines.append(
                f"<p><b style='color:{colours.bad.name()}'>Cannot be baked.</b> {problem}</p>"
            )
        else:
            lines.append(f"<p>{html.escape(describe_verdict(report))}</p>")
        for fate, title, parts in parts_by_fate(report):
            mark, colour = marks[fate]
            lines.append(f"<p><b style='color:{colour.name()}'>{mark} {title}</b><br>")
            lines.append("<br>".join(html.escape(part) for part in parts) + "</p>")
        problems, images = describe_textures(report)
        if problems:
            wrong = "<br>".join(map(html.escape, problems))
            lines.append(f"<p style='color:{colours.bad.name()}'>{wrong}</p>")
        if images:
            # what is looked up weighs less than what is kept
            size, quiet = small_font(self).pointSizeF(), quiet_text(self.palette()).name()
            found = "<br>".join(map(html.escape, images))
            style = f"font-size:{size:.1f}pt; color:{quiet}"
            lines.append(f"<p style='{style}'>Images of {found}</p>")
        self.setHtml("".join(lines))


class SearchButton(QPushButton):
    """Adds the folder of missing images to the search path. Hidden while there is none."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setToolTip(_SEARCH)
        self.clicked.connect(lambda _: model.search_missing_folders())
        bind(self, model.state.report_changed, self._show)

    def _show(self) -> None:
        folders = self._model.state.missing_folders
        self.setVisible(bool(folders))
        if folders:
            more = f" and {len(folders) - 1} more" if len(folders) > 1 else ""
            self.setText(
                f"Search in {Path(folders[0]).name or folders[0]}{more}".replace("&", "&&")
            )
            self.setToolTip("\n".join((f"{_SEARCH}:", *folders)))


class MaterialPage(QWidget):
    """The page with the report."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(GAP)
        self.report = ReportView(model)
        self.search = SearchButton(model)
        layout.addWidget(self.search)
        layout.addWidget(self.report)
