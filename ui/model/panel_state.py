"""The state of the panel, and the actions that are possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from verdigris.core.hosts.host import Host, HostDocument, HostMaterial
from verdigris.core.pictures.compare.verdict import Verdict, judge
from verdigris.core.settings.presets import default_preset
from verdigris.core.worker.client.client import GONE, SILENT, WELL, Health, WorkerClient
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE
from verdigris.ui.estimates.predictions import Prediction, Predictions
from verdigris.ui.estimates.time_left import BakeClock, TimeLeft
from verdigris.ui.model import states
from verdigris.ui.model.parts.bake_history import BakeHistory
from verdigris.ui.model.parts.bake_log import BakeLog
from verdigris.ui.model.parts.choices import BakeChoices
from verdigris.ui.model.parts.ladder_work import LadderWork
from verdigris.ui.model.parts.live_values import LiveValues
from verdigris.ui.model.parts.own_presets import OwnPresets
from verdigris.ui.model.parts.scene_meshes import SceneMeshes
from verdigris.ui.model.parts.worker_pictures import Pictures
from verdigris.ui.model.parts.worker_set_up import WorkerSetUp
from verdigris.ui.paint.effect import Effects
from verdigris.ui.paint.scene_paint import ScenePaint
from verdigris.ui.paint.weight_map import WeightMap
from verdigris.ui.paint.weight_owners import WeightOwners
from verdigris.ui.signals.notices import Notices
from verdigris.ui.signals.signal import Signal


class PanelState:
    """Everything that widgets show. A signal says which part has changed."""

    def __init__(self, host: Host, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        self.host = host
        self._make_client = make_client
        self._client: WorkerClient | None = None
        self._after_open: Callable[[], None] | None = None
        self._document: HostDocument | None = None
        self._weights_sent = 0.0
        self._weights_changed = False
        self._has_run = False
        self._awaits_start = False
        """A bake is begun while the one before was refined, whose last events may still come."""
        self._is_attached = False
        """The result of the present bake is noted in the scene before its figures are there."""
        self._started: BakeChoices | None = None
        """The choices of the last bake."""
        self._is_outdated = False
        """The worker has not opened the chosen material yet."""
        self.state = IDLE
        self.doing = ""
        """What the worker does at the moment, if it is not baking."""
        self.pending = ""
        """The action that was sent to the worker and is not answered yet."""
        self.health = Health(WELL)
        self.materials: tuple[HostMaterial, ...] = ()
        self.current: HostMaterial | None = None
        self.report: Mapping[str, Any] | None = None
        self.search_folders: tuple[str, ...] = ()
        """Folders that were added to the search path of all materials."""
        self.trainer = ""
        self.device = ""
        self.choices = BakeChoices()
        self.own_presets = OwnPresets()
        self.bake = BakeLog()
        self.forecast: Mapping[str, Any] | None = None
        self.view = commands.SetView()
        self.focus = commands.Focus()
        self.pictures = Pictures()
        self.weights = WeightMap()
        self.notices = Notices()
        self.history = BakeHistory(self.notices)
        self.predictions = Predictions()
        self.predicted: Prediction | None = None
        """What was predicted of the current or the last bake."""
        self.took = 0.0
        """Seconds of the last bake, if it was not stopped, resumed or limited."""
        self.time_left = TimeLeft()
        self.bake_clock = BakeClock()
        self.set_up = WorkerSetUp()
        self.meshes = SceneMeshes(host, self.notices)
        self.ladder = LadderWork(self.notices, make_client)
        self.effects = Effects()
        self.live = LiveValues()
        self.living: dict[str, tuple[str, ...]] = {}
        """Chosen live inputs of materials, by their identities."""
        self._sent_live: tuple[str, ...] = ()
        """Those that the document was sent with."""
        self._live_changed = 0.0
        """When other live inputs were chosen, which the worker does not know yet; else 0."""
        self._range_sent = 0.0
        self._paint = ScenePaint(host, self.weights, self.notices)
        self._owners = WeightOwners(host, self.weights, self.notices)

        self.state_changed = Signal()
        self.health_changed = Signal()
        self.materials_changed = Signal()
        self.report_changed = Signal()
        self.choices_changed = Signal()
        self.forecast_changed = Signal()
        self.view_changed = Signal()
        self.focus_changed = Signal()

    @property
    def verdict(self) -> Verdict | None:
        """The verdict on the bake that has ended, or on the version in the pictures."""
        shown = self.history.find(self.history.shown[0])
        return judge(shown.errors if shown is not None else self.bake.measured)

    @property
    def is_constant(self) -> bool:
        """Whether the material seems to be the same everywhere: the bake decides it."""
        report = self.report
        return report is not None and not (report.get("textures") or report.get("varying_inputs"))

    def predict(self, choices: BakeChoices) -> Prediction:
        """What to expect of a bake with these choices."""
        trainer = self.trainer or "numpy"
        preset = choices.preset or default_preset(trainer)
        settings = choices.settings(trainer, self.is_constant)
        return self.predictions.predict(settings, trainer, preset, choices.time_limit or None)

    @property
    def bake_key(self) -> object:
        """What a bake depends on besides its weights."""
        choices = replace(self.choices, resume=False, folder="", viewport_textures=False)
        return self.current, self._document.text if self._document else "", choices

    def can(self, action: str) -> bool:
        """Whether an action is possible now."""
        if self.pending or not states.allows(self.state, action):
            return False
        if action == states.START:
            is_ready = self.report is not None and not self.is_refused
            return is_ready and self.health.state != GONE
        if action == states.FINISH and not self.has_trained:
            return False
        return self.health.state != GONE

    @property
    def has_trained(self) -> bool:
        """Whether a step is done. The worker keeps no result without one."""
        return self.bake.progress.step > 0

    @property
    def is_refused(self) -> bool:
        """Whether the material cannot be baked. The report has the reason."""
        return self.report is not None and bool(self.report.get("problem"))

    @property
    def missing_folders(self) -> tuple[str, ...]:
        """Folders that have missing images of the material, if the worker found any."""
        found = self.report.get("search_in", ()) if self.report is not None else ()
        return tuple(map(str, found))

    @property
    def is_busy(self) -> bool:
        return self.state in states.BUSY

    @property
    def can_recover(self) -> bool:
        """Whether the worker is lost and can be replaced."""
        is_lost = self.health.state in (GONE, SILENT) or (self.state == FAILED and self._has_run)
        return is_lost and self.current is not None

    @property
    def can_forecast(self) -> bool:
        return self.can(states.START) and not self.doing

    def _read_materials(self) -> None:
        """Lists the materials of the scene. The chosen material may have a new name."""
        self.materials = self.host.materials()
        if self.current is not None and self.current not in self.materials:
            self.current = self._owners.find_renamed(self.current, self.materials) or self.current

    def _send(self, command: commands.Command) -> None:
        if self._client is not None:
            self._client.send(command)

    def _set_health(self, health: Health) -> None:
        if health != self.health:
            self.health = health
            self.health_changed.emit()
            self.state_changed.emit()

    def _set_state(self, state: str, doing: str = "") -> None:
        self.state, self.doing = state, doing
        self.state_changed.emit()
