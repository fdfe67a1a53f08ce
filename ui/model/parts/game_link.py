"""The switch of the live link, and what the worker reports of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from typing import Any

from verdigris.core.base.text import counted
from verdigris.core.link.protocol import TOKEN_VARIABLE
from verdigris.core.worker.protocol.commands import Link
from verdigris.ui.signals import Signal


class GameLink:
    """Games and pages keep the address when the worker is replaced. The link is off in each new
    session."""

    def __init__(self) -> None:
        self._token = os.environ.get(TOKEN_VARIABLE) or secrets.token_urlsafe(16)
        self.at = ""
        """Where to listen; empty for the usual place."""
        self.is_on = False
        self.address = self.page = self.problem = ""
        self.clients = 0
        self.changed = Signal()

    @property
    def command(self) -> Link:
        """What the worker is told."""
        return Link(self._token, self.at, self.is_on)

    @property
    def text(self) -> str:
        """The state, in words for people."""
        if self.problem:
            return f"No live link: {self.problem}"
        if not self.address:
            return "Live link: waits for the worker"
        if not self.clients:
            return "Live link: no client. Give a game this address:"
        return f"Live link: {counted(self.clients, 'client')} connected"

    def switch(self, is_on: bool) -> None:
        self.is_on = is_on
        self.forget()

    def fail(self, problem: str) -> None:
        self.forget()
        self.problem = problem
        self.changed.emit()

    def forget(self) -> None:
        """The worker has ended, or answers later."""
        self.address = self.page = self.problem = ""
        self.clients = 0
        self.changed.emit()

    def take(self, event: Mapping[str, Any]) -> None:
        """An event of the worker. One that comes late, after the switch, changes nothing."""
        if not self.is_on:
            return
        self.address, self.page = (str(event.get(name, "")) for name in ("address", "page"))
        self.problem = str(event.get("problem", ""))
        self.clients = int(event.get("clients", 0))
        if self.address:
            # the same port again, if the worker is replaced
            self.at = self.address.split("/")[2]
        self.changed.emit()
