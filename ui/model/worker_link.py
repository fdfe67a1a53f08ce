"""The link to the panel's worker: its process, its state, and the commands to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from verdigris.core.worker.client.client import GONE, SILENT, WELL, Health, WorkerClient
from verdigris.core.worker.protocol import commands
from verdigris.core.worker.protocol.messages import Message
from verdigris.core.worker.protocol.worker_events import FAILED, IDLE, PREPARING, REFINING
from verdigris.ui.model import states
from verdigris.ui.signals import Signal

_ENDINGS = ("closing", "kept", "finished")


class WorkerLink:
    """Knows what the worker does, and what it can be asked to do. No method waits."""

    def __init__(self, make_client: Callable[[], WorkerClient]) -> None:
        self._make_client = make_client
        self._client: WorkerClient | None = None
        self._awaits_start = False
        """A bake is begun while the one before was refined, whose last events may still come."""
        self.state = IDLE
        self.doing = ""
        """What the worker does at the moment, if it is not baking."""
        self.pending = ""
        """The action that was sent to the worker and is not answered yet."""
        self.health = Health(WELL)
        self.state_changed = Signal()
        self.health_changed = Signal()

    @property
    def is_busy(self) -> bool:
        return self.state in states.BUSY

    @property
    def is_free(self) -> bool:
        """Whether the worker neither bakes nor refines a result."""
        return not self.is_busy and self.state != REFINING

    @property
    def is_lost(self) -> bool:
        return self.health.state in (GONE, SILENT)

    @property
    def log(self) -> str:
        """The last lines that the worker has logged."""
        return self._client.log if self._client is not None else ""

    @property
    def is_running(self) -> bool:
        return self._client is not None

    def start(self) -> None:
        """Starts a worker, if there is none. Raises an error if that is not possible."""
        if self._client is None:
            self._client = self._make_client()

    def make_another(self) -> WorkerClient:
        """A worker beside this one. Raises an error if that is not possible."""
        return self._make_client()

    def send(self, command: commands.Command) -> None:
        if self._client is not None:
            self._client.send(command)

    def allows(self, action: str) -> bool:
        """Whether the worker can be asked for an action in its present state."""
        is_free = not self.pending and states.allows(self.state, action)
        return is_free and self.health.state != GONE

    def request(self, action: str, command: commands.Command) -> None:
        """Sends the command of an action, which is pending until the worker answers."""
        self.pending = action
        self.send(command)
        self.state_changed.emit()

    def begin(self, start: commands.Start) -> None:
        """Sends the start of a bake."""
        self._awaits_start = self.state == REFINING
        self.send(start)
        self.set_state(PREPARING)

    def poll(self) -> list[Message]:
        """New messages of the worker. Of pictures of the same part, only the newest is taken: on a
        busy machine they come faster than they can be shown, and would pile up."""
        found, seen = [], set()
        for message in reversed(self._client.poll() if self._client is not None else []):
            header = message.header
            if header.get("event") == "picture":
                if header.get("part") in seen:
                    continue
                seen.add(header.get("part"))
            found.append(message)
        return found[::-1]

    def takes(self, event: Mapping[str, Any]) -> bool:
        """Whether an event is not a late one of the bake before the present one."""
        if event.get("event") == "started":
            self._awaits_start = False
        return not (self._awaits_start and event.get("event") in _ENDINGS)

    def watch(self) -> Health | None:
        """Checks the worker. Returns its health; None if there is no worker."""
        if self._client is None:
            return None
        health = self._client.health()
        if health.state == GONE and self.is_busy:
            self.pending = ""
            self.set_state(FAILED)
        self.set_health(health)
        return health

    def follow_state(self, event: Mapping[str, Any]) -> bool:
        """Takes over a state that the worker reports. Returns False for one that comes late."""
        state = str(event.get("state"))
        if state not in states.LABELS or not states.can_follow(state, self.state):
            return False
        # the worker is still idle when a start has just been sent to it
        if self.state == PREPARING and state == IDLE and self.pending != states.CANCEL:
            return False
        doing = str(event.get("doing", ""))
        if self.pending or (state, doing) != (self.state, self.doing):
            self.pending = ""
            self.set_state(state, doing)
        return True

    def note_refusal(self) -> None:
        """The worker refuses an action, which can be requested again."""
        if self.pending:
            self.pending = ""
            self.state_changed.emit()

    def set_state(self, state: str, doing: str = "") -> None:
        self.state, self.doing = state, doing
        self.state_changed.emit()

    def set_health(self, health: Health) -> None:
        if health != self.health:
            self.health = health
            self.health_changed.emit()
            self.state_changed.emit()

    def reset(self) -> None:
        """Drops the worker, for a new one."""
        self.drop()
        self.pending = ""
        self.set_health(Health(WELL))
        self.set_state(IDLE)

    def drop(self) -> None:
        """Ends the worker, and does not wait for it."""
        client, self._client = self._client, None
        if client is None:
            return
        if self.health.state == SILENT:
            client.kill()
        else:
            client.close()
