"""The pages beside the viewport, and their summaries while they are folded."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from verdigris.core.settings.presets import default_preset
from verdigris.ui.brush.paint_page import PaintPage
from verdigris.ui.cards.bake_page import BakePage
from verdigris.ui.ladder import LadderPage
from verdigris.ui.live.live_page import LivePage
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.live_values import label_of
from verdigris.ui.qt.binding import bind
from verdigris.ui.settings.settings_form import SettingsForm
from verdigris.ui.shelf.shelf import Shelf
from verdigris.ui.shelf.shelf_page import ShelfPage
from verdigris.ui.signals import capitalise
from verdigris.ui.style.section import Sections
from verdigris.ui.viewport.viewport import Viewport
from verdigris.ui.widgets.material_picker import MaterialPage

OPEN_AT_FIRST = "Bake,Material"


class Pages(Sections):
    """All pages of the panel, below each other."""

    def __init__(self, model: PanelModel, viewport: Viewport) -> None:
        super().__init__()
        self._model = model
        self.bake = BakePage(model)
        self.material = MaterialPage(model)
        self.settings = SettingsForm(model)
        self.live = LivePage(model, self.settings.history)
        self.paint = PaintPage(model, viewport)
        self.shelf = ShelfPage(Shelf(model))
        self.ladder = LadderPage(model)
        for page, name in (
            (self.bake, "Bake"),
            (self.material, "Material"),
            (self.live, "Live"),
            (self.settings, "Settings"),
            (self.paint, "Paint"),
            (self.shelf, "Shelf"),
            (self.ladder, "Ladder"),
        ):
            self.add(name, page)
        bind(self, model.link.state_changed, self._place_presets)
        self._summaries = _Summaries(model, self)

    def _place_presets(self) -> None:
        """Shows the presets once: in the place of the chart, or with the settings."""
        self.settings.presets.setHidden(not self.bake.has_chart)


class _Summaries(QWidget):
    """Keeps the summaries of all sections. It is never shown."""

    def __init__(self, model: PanelModel, pages: Pages) -> None:
        super().__init__(pages)
        self.hide()
        self._model, self._shelf = model, pages.shelf.shelf
        self._heads = {name: each.head for name, each in pages.all.items()}
        bind(self, model.state.report_changed, self._show_material)
        bind(self, model.state.choices_changed, self._show_settings)
        bind(self, model.state.report_changed, self._show_settings)
        bind(self, model.state.choices_changed, self._show_live)
        bind(self, model.state.weights.changed, self._show_paint)
        bind(self, pages.shelf.shelf.changed, self._show_shelf)
        bind(self, model.state.history.changed, self._show_bake)
        bind(self, model.link.state_changed, self._show_bake)

    def _show_bake(self) -> None:
        verdict = None if self._model.link.is_busy else self._model.state.verdict
        self._heads["Bake"].show_summary(verdict.text if verdict else "")

    def _show_material(self) -> None:
        report = self._model.state.report or {}
        fates = [str(part.get("fate")) for part in report.get("parts", ())]
        counts = [
            f"{fates.count(fate)} {text}"
            for fate, text in (("approximated",) * 2, ("ignored",) * 2, ("dropped", "left out"))
            if fate in fates
        ]
        text = "cannot be baked" if report.get("problem") else ", ".join(counts)
        self._heads["Material"].show_summary(text or ("all kept" if fates else ""))

    def _show_settings(self) -> None:
        choices = self._model.state.choices
        preset = choices.preset or default_preset(self._model.state.trainer or "numpy")
        size = f", {choices.resolution} x {choices.resolution}" if choices.resolution else ""
        self._heads["Settings"].show_summary(capitalise(preset) + size)

    def _show_live(self) -> None:
        names = [label_of(text.partition("=")[0]) for text in self._model.state.choices.live]
        self._heads["Live"].show_summary(", ".join(names))

    def _show_paint(self) -> None:
        weights = self._model.state.weights
        text = "" if weights.is_constant else f"{weights.painted:.0%} painted"
        self._heads["Paint"].show_summary(text)

    def _show_shelf(self) -> None:
        waiting = sum(each.is_waiting for each in self._shelf.entries)
        count = len(self._model.state.history.versions)
        parts = (
            f"{waiting} waiting" if waiting else "",
            f"{count} version{'s' * (count != 1)}" if count else "",
        )
        self._heads["Shelf"].show_summary(", ".join(filter(None, parts)))
