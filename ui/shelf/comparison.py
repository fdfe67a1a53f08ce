"""Several entries of the shelf in the view of the panel, drawn by a worker of their own. Without
Qt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.pictures.view import ALL
from verdigris.core.worker.client.client import GONE, WorkerClient, pixels_of
from verdigris.core.worker.protocol import commands
from verdigris.ui.model.panel_model import PanelModel
from verdigris.ui.model.parts.worker_pictures import Picture
from verdigris.ui.shelf.entries import Entry
from verdigris.ui.signals import Signal

# As the worker names the pictures.
_PART = "compared"
# Pixels of the shorter side of each picture.
_LEAST, _MOST = 64, 1024


class Comparison:
    """Two to four bundles with the camera, light and tone mapping of the panel. A bake goes on
    beside it. Call `poll` a few times a second."""

    def __init__(self, model: PanelModel, entries: list[Entry]) -> None:
        self._model = model
        self._chosen = entries
        self.has_source = False
        """Whether the material of the panel is shown before the entries."""
        self.pictures: dict[int, Picture] = {}
        self.problem = ""
        self.changed = Signal()
        self._client: WorkerClient | None = None
        self._size, self._aspect, self._number = 256, 1.0, 0
        self._first = 0
        """The first view of what is compared now."""
        model.state.view_changed.connect(self.send_view)
        try:
            self._client = model.link.make_another()
        except VerdigrisError as failure:
            self.problem = str(failure)
            return
        self._send_mesh()
        self.send_view()
        self._compare()

    @property
    def entries(self) -> list[Entry]:
        """What is shown, in its order."""
        current = self._model.state.current
        if not self.has_source or current is None:
            return self._chosen
        return [Entry("source", current.name, detail="Source, without a bake"), *self._chosen]

    @property
    def can_show_source(self) -> bool:
        """Whether a material is open in the panel, and there is room for it."""
        state = self._model.state
        is_open = state.current is not None and state.document is not None
        return is_open and not state.is_refused and len(self._chosen) < commands.MOST_COMPARED

    def show_source(self, is_on: bool) -> None:
        """Shows the material of the panel before the entries, or only these."""
        document, client = self._model.state.document, self._client
        if is_on == self.has_source or client is None or document is None:
            return
        self.has_source, self.problem = is_on, ""
        self.pictures.clear()
        self.send_view()
        self._first = self._number
        if is_on:
            client.send(commands.Open.of(document, self._model.state.search_folders, ()))
        self._compare()
        self.changed.emit()

    def _compare(self) -> None:
        assert self._client is not None
        paths = tuple(str(each.bundle) for each in self._chosen)
        self._client.send(commands.Compare(paths, self.has_source))

    @property
    def refined(self) -> float:
        """The share of all pictures that is drawn."""
        shares = [each.sharp * (0.2 + 0.8 * each.refined) for each in self.pictures.values()]
        return sum(shares) / len(self.entries)

    def fit(self, size: int, aspect: float) -> None:
        """The pixels of the shorter side of each picture, and its width by its height."""
        size = max(_LEAST, min(_MOST, size))
        most = commands.MOST_ASPECT
        aspect = round(min(most, max(1 / most, aspect)), 4)
        if (size, aspect) != (self._size, self._aspect):
            self._size, self._aspect = size, aspect
            self.send_view()

    def send_view(self) -> None:
        """Sends the view of the panel, with the size of these pictures."""
        if self._client is None:
            return
        self._number += 1
        view = self._model.state.view
        # live inputs belong to the material in the panel
        self._client.send(
            replace(
                view, size=self._size, aspect=self._aspect, shows=ALL, live=(), wants_places=False,
                number=self._number,
            )
        )  # fmt: skip

    def _send_mesh(self) -> None:
        loaded, client = self._model.state.meshes.loaded, self._client
        if loaded is not None and client is not None:
            client.send(loaded)

    def poll(self) -> None:
        """Takes new pictures."""
        client = self._client
        if client is None:
            return
        has_changed = False
        for message in client.poll():
            event = message.header
            part, _, number = str(event.get("part", "")).partition(" ")
            is_of_these = int(event.get("view", 0)) >= self._first
            if part == _PART and number.isdecimal() and is_of_these:
                self.pictures[int(number)] = _picture(event, pixels_of(message))
                has_changed = True
            elif event.get("event") == "error":
                self.problem, has_changed = str(event.get("text", "")), True
        health = client.health()
        if health.state == GONE:
            self.problem, has_changed = health.reason, True
            self._client = None
        if has_changed:
            self.changed.emit()

    def close(self) -> None:
        """Ends the worker."""
        self._model.state.view_changed.disconnect(self.send_view)
        client, self._client = self._client, None
        if client is not None:
            client.close()


def _picture(event: Any, pixels: Any) -> Picture:
    return Picture(
        pixels, int(event.get("view", 0)), 0,
        float(event.get("sharp", 1.0)), float(event.get("refined", 1.0)),
    )  # fmt: skip
