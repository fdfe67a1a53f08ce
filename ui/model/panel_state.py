"""The state of the panel: everything that widgets show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from verdigris.core.hosts.guarded_host import HostFailure
from verdigris.core.hosts.host import Host, HostDocument, HostMaterial
from verdigris.core.hosts.own_files import OwnFile
from verdigris.core.lighting.environment import STUDIO
from verdigris.core.pictures.compare.verdict import Verdict, judge
from verdigris.core.settings.presets import default_preset
from verdigris.core.worker.protocol.commands import Focus, SetView
from verdigris.ui.estimates import BakeTimes, Prediction, difficulty_of
from verdigris.ui.model.parts.bake_history import BakeHistory
from verdigris.ui.model.parts.bake_log import BakeLog
from verdigris.ui.model.parts.changes import Changes
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.model.parts.film import Film
from verdigris.ui.model.parts.game_link import GameLink
from verdigris.ui.model.parts.live_values import LiveValues
from verdigris.ui.model.parts.own_presets import OwnPresets
from verdigris.ui.model.parts.scene_meshes import SceneMeshes
from verdigris.ui.model.parts.worker_pictures import Pictures
from verdigris.ui.paint.effect import Effects
from verdigris.ui.paint.weight_map import WeightMap
from verdigris.ui.signals import Notices, Signal


class PanelState:
    """A signal says which part has changed. Actions are those of the `PanelModel`."""

    def __init__(self, host: Host) -> None:
        self.notices = Notices()

        self.hidden_cards: set[tuple[HostMaterial | None, str]] = set()
        """By material: a card that was hidden comes again with another one."""
        self.failure: HostFailure | None = None
        """What the application failed at last, with a report of it."""
        self.failure_changed = Signal()

        self.materials: tuple[HostMaterial, ...] = ()
        self.current: HostMaterial | None = None
        self.materials_changed = Signal()
        self.meshes = SceneMeshes(host, self.notices)
        self.weights = WeightMap()
        self.search_folders: tuple[str, ...] = ()
        """Folders that were added to the search path of all materials."""

        self.own_files: dict[tuple[str, str], OwnFile] = {}
        """Files that are read in place of materials, by scene and key."""
        self.own_files_changed = Signal()
        self.noted: Path | None = None
        """The result that the scene notes at the chosen material, if that was looked up."""
        self.for_textures: tuple[str, ...] = ()
        """Nodes of the chosen material that the application can bake to images."""

        self.document: HostDocument | None = None
        """The document that was sent to the worker last."""
        self.is_outdated = False
        """The worker has not opened the chosen material yet."""
        self.report: Mapping[str, Any] | None = None
        self.trainer = ""
        self.device = ""
        self.report_changed = Signal()
        self.forecast: Mapping[str, Any] | None = None
        self.forecast_changed = Signal()

        self.view = SetView(lit_by=STUDIO)
        self.view_changed = Signal()
        self.focus = Focus()
        self.focus_changed = Signal()
        self.pictures = Pictures()
        self.film = Film()
        self.live = LiveValues()
        self.game = GameLink()
        self.living: dict[str, tuple[str, ...]] = {}
        """Chosen live inputs of materials, by their identities."""

        self.choices = BakeChoices()
        self.choices_changed = Signal()
        self.own_presets = OwnPresets()
        self.bake = BakeLog()
        self.has_run = False
        """Whether a bake was begun that can be continued."""
        self.started: BakeChoices | None = None
        """The choices of the last bake."""
        self.history = BakeHistory(self.notices)
        self.changes = Changes()
        self.times = BakeTimes()
        self.effects = Effects()

    def note_failure(self, failure: HostFailure | None) -> None:
        """Keeps a failure of the application for its report. None: it is forgotten."""
        self.failure = failure
        self.failure_changed.emit()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the bake that has ended, or on the version in the pictures."""
        shown = self.history.find(self.history.shown[0])
        if shown is not None:
            return judge(shown.errors, shown.preset)
        preset = self.started.preset if self.started is not None else ""
        return judge(self.bake.measured, preset or default_preset(self.trainer or "numpy"))

    @property
    def is_constant(self) -> bool:
        """Whether the material seems to be the same everywhere. The bake decides this."""
        report = self.report
        return report is not None and not (report.get("textures") or report.get("varying_inputs"))

    @property
    def is_refused(self) -> bool:
        """Whether the material cannot be baked. The report has the reason."""
        return self.report is not None and bool(self.report.get("problem"))

    @property
    def missing_folders(self) -> tuple[str, ...]:
        """Folders that contain missing images of the material, if the worker found any."""
        folders = self.report.get("search_in", ()) if self.report is not None else ()
        return tuple(map(str, folders))

    @property
    def has_trained(self) -> bool:
        """Whether a step is done. The worker keeps no result without one."""
        return self.bake.progress.step > 0

    def predict(self, choices: BakeChoices) -> Prediction:
        """What to expect of a bake with these choices."""
        trainer = self.trainer or "numpy"
        preset = choices.preset or default_preset(trainer)
        settings = choices.settings(trainer, self.is_constant)
        predictions = self.times.predictions
        difficulty = difficulty_of(self.report, self.is_constant)
        limit, slower = choices.time_limit, self.times.slower
        return predictions.predict(settings, trainer, preset, limit, difficulty, slower)

    def learn_time(self) -> None:
        """Compares the time of a whole bake with its prediction, for the next one."""
        choices = self.started
        if choices is None or choices.resume or self.bake.stopped_by != "steps":
            return
        trainer = self.trainer or "numpy"
        # a constant material has a smaller texture and fewer steps than its preset
        settings = replace(choices.settings(trainer), iterations=self.bake.progress.steps)
        if self.bake.resolution:
            settings = replace(settings, resolution=self.bake.resolution)
        verdict = judge(self.bake.measured)
        preset, dots = choices.preset or default_preset(trainer), verdict.dots if verdict else 0
        self.times.learn(
            settings, trainer, preset, difficulty_of(self.report, self.is_constant), dots
        )

    @property
    def bake_key(self) -> object:
        """What a bake depends on besides its weights."""
        other = {"resume": False, "folder": "", "viewport_textures": False}
        choices = self.choices.with_values(other)
        return self.current, self.document.text if self.document else "", choices
