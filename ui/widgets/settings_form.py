"""The page of settings: a few at the top, the rest folded. Defaults come from the preset."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.network.spec import ACTIVATIONS
from verdigris.core.network.spec import PRESETS as NETWORKS
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.limits import MOST_STARTS
from verdigris.core.settings.presets import PRESETS, default_preset
from verdigris.ui.model.choices import BakeChoices
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.number_boxes import RealBox, WholeBox
from verdigris.ui.widgets.field_docs import field_docs
from verdigris.ui.widgets.preset_cards import PresetCards

_DOCS = {**field_docs(BakeSettings), **field_docs(BakeChoices)}
_RESOLUTIONS = (64, 128, 256, 512, 1024, 2048, 4096)
_LARGEST = {
    "iterations": 10_000_000,
    "batch": 1 << 20,
    "starts": MOST_STARTS,
    "seed": 1 << 30,
}
_SPIN_STEPS = {"iterations": 1000, "batch": 1024, "starts": 1, "seed": 1}


class SettingsForm(QScrollArea):
    """One control for each of the model's choices."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._combos: dict[str, QComboBox] = {}
        self._spins: dict[str, WholeBox] = {}
        self._reals: dict[str, RealBox] = {}
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(4, 4, 4, 4)
        self.presets = PresetCards(model)
        column.addWidget(self.presets)
        column.addLayout(self._first())
        self.more = QToolButton(text="More settings", checkable=True)
        self.more.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.more.setArrowType(Qt.ArrowType.RightArrow)
        self.more.setAutoRaise(True)
        self.more.setToolTip("Settings that the preset defines, and that you can change")
        self.folded = QWidget()
        self.folded.setLayout(self._folded())
        self.folded.hide()
        self.more.toggled.connect(self._fold)
        column.addWidget(self.more)
        column.addWidget(self.folded)
        column.addStretch(1)
        self.setWidget(inside)
        bind(self, model.choices_changed, self._show)
        bind(self, model.report_changed, self._show)
        bind(self, model.state_changed, self._enable)

    def _first(self) -> QFormLayout:
        form = _form()
        form.addRow("Resol&ution", self._combo("resolution", _RESOLUTIONS))
        form.addRow("Stop at &error", self._real("target_error", 1.0, 0.0005, 4, "never"))
        form.addRow("Time &limit", self._real("time_limit", 1e6, 30.0, 0, "none", " s"))
        form.addRow("&Folder", self._folder())
        return form

    def _folded(self) -> QFormLayout:
        form = _form()
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("Decoder", self._combo("network", tuple(NETWORKS)))
        form.addRow("Activation", self._combo("activation", tuple(ACTIVATIONS)))
        form.addRow("Steps", self._spin("iterations"))
        form.addRow("Batch", self._spin("batch"))
        form.addRow("Starts", self._spin("starts"))
        form.addRow("Seed", self._spin("seed"))
        self.resume = QCheckBox("Continue from a checkpoint")
        self.resume.setToolTip(_DOCS.get("resume", ""))
        self.resume.toggled.connect(lambda on: self._model.set_choices(resume=on))
        form.addRow(self.resume)
        self.viewport = QCheckBox("Textures for the viewport")
        self.viewport.setToolTip(_DOCS.get("viewport_textures", ""))
        self.viewport.toggled.connect(lambda on: self._model.set_choices(viewport_textures=on))
        form.addRow(self.viewport)
        return form

    def _combo(self, name: str, values: tuple[object, ...]) -> QComboBox:
        combo = QComboBox()
        combo.setToolTip(_DOCS.get(name, ""))
        combo.setMinimumContentsLength(6)
        combo.addItem("", None)
        for value in values:
            combo.addItem(_square(value) if name == "resolution" else str(value), value)
        combo.activated.connect(
            lambda index: self._model.set_choices(**{name: combo.itemData(index)})
        )
        self._combos[name] = combo
        return combo

    def _spin(self, name: str) -> WholeBox:
        spin = WholeBox()
        spin.setToolTip(_DOCS.get(name, ""))
        spin.setRange(-1 if name == "seed" else 0, _LARGEST[name])
        spin.setSingleStep(_SPIN_STEPS[name])
        spin.setGroupSeparatorShown(True)
        spin.setKeyboardTracking(False)
        nothing = spin.minimum()
        spin.valueChanged.connect(
            lambda value: self._model.set_choices(**{name: None if value == nothing else value})
        )
        self._spins[name] = spin
        return spin

    def _real(
        self, name: str, most: float, step: float, digits: int, none: str, unit: str = ""
    ) -> RealBox:
        spin = RealBox()
        spin.setToolTip(_DOCS.get(name, ""))
        spin.setDecimals(digits)
        spin.setRange(0.0, most)
        spin.setSingleStep(step)
        spin.setSpecialValueText(none)
        spin.setSuffix(unit)
        spin.setKeyboardTracking(False)
        spin.valueChanged.connect(lambda value: self._model.set_choices(**{name: value}))
        self._reals[name] = spin
        return spin

    def _folder(self) -> QWidget:
        box = QWidget()
        box.setToolTip(_DOCS.get("folder", ""))
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder of the result")
        self.folder.setToolTip(_DOCS.get("folder", ""))
        self.folder.editingFinished.connect(
            lambda: self._model.set_choices(folder=self.folder.text().strip())
        )
        browse = QToolButton(text="…")
        browse.setToolTip("Chooses the folder")
        browse.clicked.connect(lambda _: self._browse())
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.folder)
        row.addWidget(browse)
        box.setFocusProxy(self.folder)
        return box

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self, "Folder of the result")
        if found:
            self._model.set_choices(folder=found)

    def _fold(self, is_open: bool) -> None:
        self.folded.setVisible(is_open)
        self.more.setArrowType(Qt.ArrowType.DownArrow if is_open else Qt.ArrowType.RightArrow)

    def _enable(self) -> None:
        self.widget().setEnabled(not self._model.is_busy)

    def _show(self) -> None:
        model, choices = self._model, self._model.choices
        trainer = model.trainer or "numpy"
        suited = default_preset(trainer)
        recipe = PRESETS[trainer].get(choices.preset or suited)
        preset = recipe.largest if recipe else None
        for name, combo in self._combos.items():
            value = getattr(preset, name, "")
            shown = _square(value) if name == "resolution" else value
            is_auto = name == "resolution" and preset is not None and preset.size.is_open
            combo.setItemText(0, f"Auto, up to {shown}" if is_auto else f"{shown}  (preset)")
            with blocked_signals(combo):
                combo.setCurrentIndex(max(0, combo.findData(getattr(choices, name))))
        for name, spin in self._spins.items():
            value = getattr(choices, name)
            spin.setSpecialValueText(f"{getattr(preset, name, 0):,}  (preset)")
            with blocked_signals(spin):
                spin.setValue(spin.minimum() if value is None else value)
        for name, real in self._reals.items():
            with blocked_signals(real):
                real.setValue(getattr(choices, name))
        with blocked_signals(self.folder, self.resume, self.viewport):
            self.folder.setText(choices.folder)
            self.folder.setPlaceholderText(str(model.result_folder()))
            self.resume.setChecked(choices.resume)
            self.viewport.setChecked(choices.viewport_textures)


def _square(size: object) -> str:
    """`64 x 64`, after a mark that keeps its direction in right-to-left layouts."""
    return f"\u200e{size} x {size}"


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
    return form
