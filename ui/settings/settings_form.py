"""The settings of a bake: a few at the top, the rest folded. Defaults come from the preset."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from verdigris.core.network.spec import PRESETS as NETWORKS
from verdigris.core.pictures.compare.verdict import INDISTINGUISHABLE, MOST_DOTS, TARGETS
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.presets import PRESETS, default_preset
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.qt.binding import bind, blocked_signals
from verdigris.ui.qt.keys import Keys
from verdigris.ui.qt.scrub import RealBox, Scrub, WholeBox, label_of
from verdigris.ui.settings.preset_cards import PresetCards, PresetTools
from verdigris.ui.signals import capitalise
from verdigris.ui.style.combo import Combo
from verdigris.ui.style.icons import wear
from verdigris.ui.style.metrics import GAP, HALF
from verdigris.ui.style.section import Fold
from verdigris.ui.style.tick import Tick

_TIPS = {
    "resolution": "Texels along a side of the neural texture. Auto takes as many as the material "
    "needs, up to this number.",
    "network": "The size of the small network that a shader evaluates: layers x width. A larger "
    "one keeps sharper highlights, and takes longer to draw.",
    "target": "Training stops as soon as the result reaches this verdict",
    "iterations": "Training steps: more of them come closer, and take longer",
    "seed": "Another number gives another bake of about the same quality",
    "target_error": "Training stops when the error falls below this value. 0 never stops it.",
    "time_limit": "The training is planned to take this many seconds. 0 sets no limit.",
    "folder": "The folder of all results on this machine, also of the command. A relative one is "
    "next to each scene. The default is the folder 'neural' there.",
    "viewport_textures": "Also makes plain textures, for viewports that cannot show a neural "
    "material. In Maya and Houdini, a material with them is added to the scene.",
    "resume": "Goes on where the last bake with the same settings was stopped",
}
_RESOLUTIONS = (64, 128, 256, 512, 1024, 2048, 4096)
_LARGEST = {"iterations": 10_000_000, "seed": 1 << 30}
_SPIN_STEPS = {"iterations": 1000, "seed": 1}

_STRONG = Qt.FocusPolicy.StrongFocus


class SettingsForm(QWidget):
    """One control for each of the artist's choices."""

    def __init__(self, model: PanelModel) -> None:
        super().__init__()
        self._model = model
        self._preset: BakeSettings | None = None
        self._combos: dict[str, Combo] = {}
        self._spins: dict[str, WholeBox] = {}
        self._reals: dict[str, RealBox] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        self.presets = PresetCards(model)
        column.addWidget(self.presets)
        self.tools = PresetTools(model, self.presets)
        column.addWidget(self.tools)
        self.history = model.choices_undo
        column.addLayout(self._first())
        self.more = Fold("More settings")
        self.more.setToolTip("Settings that the preset defines, and that you can change")
        self.folded = QWidget()
        self.folded.setLayout(self._folded())
        self.more.toggled.connect(self._fold)
        self._fold(False)
        column.addWidget(self.more)
        column.addWidget(self.folded)
        keys, is_free = Keys(self), lambda: not self.folder.hasFocus()
        keys.add(QKeySequence.StandardKey.Undo, self.history.undo, is_free)
        keys.add(QKeySequence.StandardKey.Redo, self.history.redo, is_free)
        bind(self, model.state.choices_changed, self._show)
        bind(self, model.state.report_changed, self._show)
        bind(self, model.link.state_changed, self._enable)

    def _first(self) -> QFormLayout:
        form = _form()
        form.addRow("Resol&ution", self._combo("resolution", _RESOLUTIONS))
        form.addRow("&Good enough", self._target())
        form.addRow("Time &limit", self._real("time_limit", 1e6, 30.0, 0, "none", " s"))
        box = self._folder()
        form.addRow("Fol&der", box)
        # without a focus proxy, which the Tab key would also meet at the place of the box itself
        form.labelForField(box).setBuddy(self.folder)
        self._scrub(form, self._reals["time_limit"])
        return form

    def _folded(self) -> QFormLayout:
        form = _form()
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow("&Network", self._combo("network", tuple(NETWORKS)))
        form.addRow("&Training steps", self._spin("iterations"))
        form.addRow("Stop at &error", self._real("target_error", 1.0, 0.0005, 4, "never"))
        form.addRow("See&d", self._spin("seed"))
        self.resume = Tick("Go on with a stopped bake")
        self.resume.setToolTip(_TIPS["resume"])
        self.resume.toggled.connect(lambda on: self._model.set_choices(resume=on))
        form.addRow(self.resume)
        self.viewport = Tick("Textures for the viewport")
        self.viewport.setToolTip(_TIPS["viewport_textures"])
        self.viewport.toggled.connect(lambda on: self._model.set_choices(viewport_textures=on))
        form.addRow(self.viewport)
        for name, spin in self._spins.items():
            self._scrub(form, spin, name)
        self._scrub(form, self._reals["target_error"])
        return form

    def _scrub(self, form: QFormLayout, box: WholeBox | RealBox, name: str = "") -> None:
        """Lets the label of a number be dragged. A number without a value begins at that of the
        preset."""
        history = self.history
        start = (lambda: float(getattr(self._preset, name, 0))) if name else None
        Scrub(label_of(form, box), box, start, history.begin, history.end)

    def _combo(self, name: str, values: tuple[object, ...]) -> Combo:
        combo = Combo()
        combo.setToolTip(_TIPS[name])
        combo.setMinimumContentsLength(6)
        combo.addItem("", None)
        for value in values:
            combo.addItem(_square(value) if name == "resolution" else str(value), value)
        combo.activated.connect(
            lambda index: self._model.set_choices(**{name: combo.itemData(index)})
        )
        self._combos[name] = combo
        return combo

    def _target(self) -> Combo:
        self.target = Combo()
        self.target.setToolTip(_TIPS["target"])
        for name, dots in sorted(TARGETS.items(), key=lambda each: -each[1]):
            data = "" if name == INDISTINGUISHABLE else name
            self.target.addItem(f"{capitalise(name)}: {dots} of {MOST_DOTS} dots", data)
        self.target.activated.connect(
            lambda index: self._model.set_choices(target=self.target.itemData(index))
        )
        return self.target

    def _spin(self, name: str) -> WholeBox:
        spin = WholeBox()
        spin.setToolTip(_TIPS[name])
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
        spin.setToolTip(_TIPS[name])
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
        box.setToolTip(_TIPS["folder"])
        self.folder = QLineEdit()
        self.folder.setAccessibleName("Folder of the result")
        self.folder.setToolTip(_TIPS["folder"])
        self.folder.editingFinished.connect(
            lambda: self._model.set_choices(folder=self.folder.text().strip())
        )
        browse = QToolButton()
        wear(browse, "folder")
        browse.setFocusPolicy(_STRONG)
        browse.setAccessibleName("Choose the folder")
        browse.setToolTip("Chooses the folder")
        browse.clicked.connect(lambda _: self._browse())
        row = QHBoxLayout(box)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.folder)
        row.addWidget(browse)
        return box

    def _browse(self) -> None:
        found = QFileDialog.getExistingDirectory(self, "Folder of the result")
        if found:
            self._model.set_choices(folder=found)

    def _fold(self, is_open: bool) -> None:
        self.folded.setVisible(is_open)

    def _enable(self) -> None:
        self.setEnabled(not self._model.link.is_busy)

    def _show(self) -> None:
        model, choices = self._model, self._model.state.choices
        trainer = model.state.trainer or "numpy"
        suited = default_preset(trainer)
        recipe = PRESETS[trainer].get(choices.preset or suited)
        preset = self._preset = recipe.largest if recipe else None
        for name, combo in self._combos.items():
            value = getattr(preset, name, "")
            shown = _square(value) if name == "resolution" else value
            is_auto = name == "resolution" and preset is not None and preset.size.is_open
            combo.setItemText(0, f"Auto, up to {shown}" if is_auto else f"{shown} (preset)")
            with blocked_signals(combo):
                combo.setCurrentIndex(max(0, combo.findData(getattr(choices, name))))
        for name, spin in self._spins.items():
            value = getattr(choices, name)
            spin.setSpecialValueText(f"{getattr(preset, name, 0):,} (preset)")
            with blocked_signals(spin):
                spin.setValue(spin.minimum() if value is None else value)
        for name, real in self._reals.items():
            with blocked_signals(real):
                real.setValue(getattr(choices, name) or 0.0)
        with blocked_signals(self.folder, self.resume, self.viewport, self.target):
            self.target.setCurrentIndex(max(0, self.target.findData(choices.target or "")))
            self.folder.setText(choices.folder)
            self.folder.setPlaceholderText(str(model.scene.result_folder))
            self.resume.setChecked(bool(choices.resume))
            self.viewport.setChecked(bool(choices.viewport_textures))


def _square(size: object) -> str:
    """`64 x 64`, after a mark that keeps its direction in right-to-left layouts."""
    return f"\u200e{size} x {size}"


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.DontWrapRows)
    form.setHorizontalSpacing(GAP)
    form.setVerticalSpacing(HALF)
    return form
