"""What the panel knows, and what can be done now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verdigris.core.hosts.host import Host, HostDocument, HostMaterial
from verdigris.core.worker.client.client import GONE, SILENT, WELL, Health, WorkerClient
from verdigris.core.worker.protocol import commands as say
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE
from verdigris.ui import states
from verdigris.ui.bake_log import BakeLog
from verdigris.ui.choices import Choices
from verdigris.ui.notices import Notices
from verdigris.ui.pictures import Pictures
from verdigris.ui.scene_meshes import SceneMeshes
from verdigris.ui.scene_paint import ScenePaint
from verdigris.ui.signal import Signal
from verdigris.ui.weight_owners import WeightOwners
from verdigris.ui.weights import WeightMap


class PanelState:
    """Signals say what changed; widgets read it from here."""

    def __init__(self, host: Host, make_client: Callable[[], WorkerClient] = WorkerClient) -> None:
        self.host = host
        self._make_client = make_client
        self._client: WorkerClient | None = None
        self._then: Callable[[], None] | None = None
        self._document: HostDocument | None = None
        self._weights_sent = 0.0
        self._weights_are_new = False
        self._ran = False
        self._is_behind = False
        self.state = IDLE
        self.doing = ""
        self.asked = ""
        self.health = Health(WELL)
        self.materials: tuple[HostMaterial, ...] = ()
        self.current: HostMaterial | None = None
        self.report: Mapping[str, Any] | None = None
        self.trainer = ""
        self.device = ""
        self.choices = Choices()
        self.bake = BakeLog()
        self.forecast: Mapping[str, Any] | None = None
        self.view = say.View()
        self.focus = say.Focus()
        self.pictures = Pictures()
        self.weights = WeightMap()
        self.notices = Notices()
        self.meshes = SceneMeshes(host, self.notices)
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

    def can(self, action: str) -> bool:
        """Whether an action makes sense now."""
        if self.asked or not states.allows(self.state, action):
            return False
        if action == states.START:
            is_fit = self.report is not None and not self.is_refused
            return is_fit and self.health.state != GONE
        if action == states.FINISH and not self.has_learnt:
            return False
        return self.health.state != GONE

    @property
    def has_learnt(self) -> bool:
        """Whether there is something that a result could hold: the worker refuses to keep less."""
        return self.bake.progress.step > 0

    @property
    def is_refused(self) -> bool:
        """Whether the material cannot be baked; its report says why."""
        return self.report is not None and bool(self.report.get("problem"))

    @property
    def is_busy(self) -> bool:
        return self.state in states.BUSY

    @property
    def can_recover(self) -> bool:
        """Whether a worker that is gone or silent can be replaced."""
        is_lost = self.health.state in (GONE, SILENT) or (self.state == FAILED and self._ran)
        return is_lost and self.current is not None

    @property
    def can_forecast(self) -> bool:
        return self.can(states.START) and not self.doing

    def _read_materials(self) -> None:
        """The scene's as they are now, and the one that is chosen by the name that it has there."""
        self.materials = self.host.materials()
        if self.current is not None and self.current not in self.materials:
            self.current = self._owners.follow_name(self.current, self.materials) or self.current

    def _send(self, command: say.Command) -> None:
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
