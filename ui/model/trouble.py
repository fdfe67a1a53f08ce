"""What helps when something does not work: what is here, and a report to send."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.json_fields import find_json_file
from verdigris.core.hosts.host import Host, log_beside
from verdigris.core.hosts.probe import Probe, probe
from verdigris.core.hosts.trouble_report import (
    LOG,
    MESSAGES,
    PROBE,
    SELFTEST,
    SUFFIXES,
    TRACEBACK,
    read_tail,
    write_trouble_report,
)
from verdigris.core.hosts.troubles import PAGE, find_trouble, read_entry
from verdigris.ui.signals import INFO, WARNING, Signal

if TYPE_CHECKING:
    from verdigris.ui.model.panel_state import PanelState
    from verdigris.ui.model.parts.selftest import Selftest
    from verdigris.ui.model.worker_link import WorkerLink


class Trouble:
    """Reads the state when a report is written."""

    def __init__(self, host: Host, state: PanelState, link: WorkerLink, selftest: Selftest) -> None:
        self._host, self._state, self._link, self._selftest = host, state, link, selftest
        self.explained = Signal()
        """A widget shows the text, which is Markdown."""

    @property
    def page(self) -> Path:
        """The page of troubleshooting, beside the manual."""
        return self._host.manual.with_name(PAGE)

    def probe(self) -> Probe:
        """What is here."""
        state = self._state
        known = {"device": state.device, "trainer": state.trainer}
        return probe(self._host, {name: each for name, each in known.items() if each})

    def show(self, message: str) -> None:
        """Explains a message with the entry of the page, or with the whole message."""
        title = find_trouble(message)
        text = read_entry(self.page, title) if title else ""
        self.explained.emit(f"**{title}**\n\n{text}" if text else message)

    def save(self, file: Path, is_redacted: bool) -> None:
        """Writes a report of all that is known into a file."""
        state = self._state
        if file.suffix.lower() not in SUFFIXES:
            file = file.with_name(f"{file.name}.zip")
        tested = self._selftest.last_report
        document, failure = state.document, state.failure
        parts = {
            PROBE: self.probe(),
            SELFTEST: find_json_file(tested) if tested.is_file() else None,
            LOG: read_tail(log_beside(tested)),
            "worker": self._link.log,
            TRACEBACK: failure.report if failure is not None else "",
            MESSAGES: [f"{each.severity}: {each.text}" for each in state.notices],
        }
        try:
            write_trouble_report(
                file,
                parts,
                {document.material: document.text} if document is not None else {},
                self._projects() if is_redacted else None,
            )
        except VerdigrisError as failed:
            state.notices.add(WARNING, str(failed))
        else:
            state.notices.add(INFO, f"The report is {file}. Nothing was sent.", names_folder=True)

    def _projects(self) -> list[Path]:
        state, scene = self._state, self._host.scene_file()
        folders = [scene.parent] if scene is not None else []
        if state.choices.folder:
            folders.append(Path(state.choices.folder))
        return [*folders, *(state.document.search if state.document is not None else ())]
