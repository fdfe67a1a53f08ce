"""Checks the panel, the brush and undo in the open window, in a scene of its own.

The application draws between two steps, as it does when an artist works. It asks before it closes
the artist's scene, and opens that again at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from verdigris.core.base.errors import HostError
from verdigris.core.base.files import make_folders, remove_folder
from verdigris.core.hosts.host import BakedResult, Host, HostMaterial, StopsPainting
from verdigris.core.hosts.probe import probe
from verdigris.core.hosts.trouble_report import write_selftest
from verdigris.plugins.common.selftest.read_back import check_document
from verdigris.plugins.common.selftest.report import FAILED, DifferenceError, Report
from verdigris.plugins.common.selftest.scratch import Scratch

SAVE, DISCARD, CHECK, CANCEL = "Save and Check", "Check without Saving", "Check", "Cancel"
_PURPOSE = "The check opens a scene of its own, docks and closes the panel, paints and undoes. "
_Step = tuple[str, Callable[[], object]]


@dataclass(frozen=True)
class Window:
    """What the check needs of an application."""

    host: Host
    make_scene: Callable[[Path], Scratch]
    """Opens the scratch scene, whose files are in this folder."""

    clear_scene: Callable[[], object]
    has_changes: Callable[[], bool]
    """Whether the scene has changes that are not saved."""

    ask: Callable[[str, tuple[str, ...]], str]
    """Shows a question with buttons, and returns the chosen one. The last one is the default."""

    tell: Callable[[str], object]
    later: Callable[[Callable[[], None]], object]
    """Calls a function after the application has drawn."""

    show_panel: Callable[[], object]
    close_panel: Callable[[], object]
    is_panel_shown: Callable[[], bool]
    is_painting: Callable[[], bool] | None
    """None if the application does not tell."""

    undo: Callable[[], object]


class WindowCheck:
    """One check. It goes on by itself until the report is written."""

    def __init__(self, window: Window, file: Path) -> None:
        self._window, self._file = window, file
        self.report = Report(host=window.host.name)
        self._scratch: Scratch | None = None
        self._folder = Path()
        self._before: Path | None = None

    def begin(self) -> bool:
        """Asks, and begins the check. Returns False if the artist cancels it."""
        window, host = self._window, self._window.host
        self._before = host.scene_file()
        if not window.has_changes():
            chosen = window.ask(f"{_PURPOSE}Then it opens this scene again.", (CHECK, CANCEL))
        else:
            text = f"{_PURPOSE}This scene has changes that are not saved, which would be lost."
            can_save = (SAVE,) if self._before is not None else ()
            chosen = window.ask(text, (*can_save, DISCARD, CANCEL))
        if chosen == SAVE:
            host.save_scene()
        if chosen not in (SAVE, DISCARD, CHECK):
            return False
        self._folder = Path(tempfile.mkdtemp(prefix="verdigris_"))
        steps = self._steps()
        window.later(lambda: self._next(steps))
        return True

    def _next(self, steps: Iterator[_Step]) -> None:
        try:
            step = next(steps, None)
        except Exception as failure:  # noqa: BLE001 - the artist's scene must come back
            self.report.run("read the scene", lambda failure=failure: _raise(failure))
            step = None
        if step is None:
            self._end()
            return
        self.report.run(*step)
        self._window.later(lambda: self._next(steps))

    def _steps(self) -> Iterator[_Step]:
        window, host = self._window, self._window.host
        yield "make the scratch scene", self._make_scene
        yield "show the panel", window.show_panel
        yield "the panel is shown", lambda: _require(window.is_panel_shown(), "no panel is shown")
        yield "close the panel", window.close_panel
        shown = "the panel is still shown"
        yield "the panel is closed", lambda: _require(not window.is_panel_shown(), shown)
        yield "show the panel again", window.show_panel
        yield "the panel is shown again", lambda: _require(window.is_panel_shown(), "none is shown")
        if self._scratch is not None:
            expected = self._scratch.materials[0]
            material = next((m for m in host.materials() if m.name == expected.name), None)
            if material is None:
                yield "list the material", lambda: _require(False, f"{expected.name} is not listed")
                return
            yield (
                "the document has the material",
                lambda: check_document(host.document(material), expected),
            )
            yield from self._paint(material)
            yield from self._attach(material)

    def _paint(self, material: HostMaterial) -> Iterator[_Step]:
        window, host = self._window, self._window.host
        meshes = host.meshes(material)
        yield "the material has a mesh", lambda: _require(bool(meshes), "there is none")
        if not meshes:
            return
        is_painting = window.is_painting
        yield "start the brush", lambda: host.start_painting(meshes[0])
        if is_painting is not None:
            yield "the brush is in use", lambda: _require(is_painting(), "it is not")
        if isinstance(host, StopsPainting):
            yield "stop the brush", host.stop_painting
            if is_painting is not None:
                yield "the brush has ended", lambda: _require(not is_painting(), "it is in use")

    def _attach(self, material: HostMaterial) -> Iterator[_Step]:
        window, host = self._window, self._window.host
        bundle = self._folder / "scratch.vdg"
        make_folders(bundle)
        yield "attach a result", lambda: host.attach(material, BakedResult(bundle))
        yield (
            "the result is noted",
            lambda: _require(host.attached(material) == bundle, "it is not"),
        )
        yield "undo", window.undo
        yield "the result is gone", lambda: _require(host.attached(material) is None, "it is there")

    def _require_result(self, material: HostMaterial, bundle: Path | None) -> None:
        found = self._window.host.attached(material)
        _require(found == bundle, f"{found} is noted, not {bundle}")

    def _make_scene(self) -> object:
        self._scratch = self._window.make_scene(self._folder)
        return self._scratch

    def _end(self) -> None:
        """Opens the artist's scene again, and writes the report."""
        window, report, before = self._window, self.report, self._before
        if before is not None:
            report.run("open the scene again", lambda: window.host.open_scene(before))
        else:
            report.run("open an empty scene", window.clear_scene)
        remove_folder(self._folder)
        report.probe = report.run("probe", lambda: probe(window.host))
        failed = [step.name for step in report.steps if step.outcome == FAILED]
        outcome = f"failed at: {', '.join(failed)}" if failed else "passed"
        try:
            write_selftest(self._file, {**asdict(report), "passed": report.passed}, "")
        except HostError as failure:
            window.tell(f"The check {outcome}. {failure}")
        else:
            window.tell(f"The check {outcome}. Report: {self._file}")


def _require(is_met: bool, why: str) -> None:
    if not is_met:
        raise DifferenceError(why)


def _raise(failure: Exception) -> None:
    raise failure
