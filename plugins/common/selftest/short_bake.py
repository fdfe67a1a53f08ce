"""A bake of a few seconds in the worker, for the self-test."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import HostError
from verdigris.core.worker.client.client import GONE, WorkerClient
from verdigris.core.worker.protocol import commands

if TYPE_CHECKING:
    from verdigris.core.hosts.host import HostDocument

SECONDS = 10.0
# A first bake compiles everything; on a CPU that takes a minute.
MOST_SECONDS = 600.0
_BETWEEN_POLLS = 0.02


@dataclass(frozen=True)
class Baked:
    """The bundle of a short bake, and what baked it."""

    bundle: Path
    steps: int
    python: str = ""
    verdigris: str = ""
    device: str = ""
    trainer: str = ""

    def __str__(self) -> str:
        return (
            f"{self.steps} steps on {self.device} ({self.trainer}), by Verdigris {self.verdigris} "
            f"in Python {self.python}"
        )


def bake_briefly(
    document: HostDocument,
    folder: Path,
    request: BakeRequest,
    make_client: Callable[[], WorkerClient] = WorkerClient,
) -> Baked:
    """Bakes a document and returns its bundle. Raises the worker's own error."""
    client = make_client()
    facts: dict[str, Any] = {}
    ends = time.monotonic() + MOST_SECONDS
    try:
        client.send(commands.Open.of(document))
        while time.monotonic() < ends:
            for message in client.poll():
                found = _handle(message.header, facts)
                if found == "opened":
                    client.send(commands.Start(str(folder), document.material, request))
                elif found == "finished":
                    return Baked(**facts)
            health = client.health()
            if health.state == GONE:
                raise HostError(health.reason)
            time.sleep(_BETWEEN_POLLS)
    finally:
        client.close()
    why = health.reason or "the worker works"
    raise HostError(f"no result after {MOST_SECONDS:.0f} s: {why}")


def _handle(event: Mapping[str, Any], facts: dict[str, Any]) -> str:
    """Keeps the facts of an event. Returns its name."""
    name = str(event.get("event"))
    for fact in ("python", "verdigris", "device", "trainer"):
        if name in ("hello", "opened", "started") and fact in event:
            facts[fact] = str(event[fact])
    if name == "error":
        raise HostError(str(event.get("text")))
    if name == "opened" and not event.get("chosen"):
        problems = [each.get("problem") for each in event.get("materials", ())]
        raise HostError(str(next(filter(None, problems), "the material cannot be baked")))
    if name == "finished":
        facts["bundle"], facts["steps"] = Path(event["results"][0]), int(event["step"])
    return name
