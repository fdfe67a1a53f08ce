"""A host whose calls raise nothing but a HostError, whatever its application raises."""

from __future__ import annotations

import logging
import platform
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from verdigris.core.base.errors import HostError, VerdigrisError
from verdigris.core.base.process.worker_environment import package_folder
from verdigris.core.base.text import version
from verdigris.core.hosts.host import (
    WEIGHT_SET,
    BakedResult,
    Host,
    HostDocument,
    HostMaterial,
    HostMesh,
    LadderLook,
    MakesTextures,
    ShowsRungs,
    StopsPainting,
)
from verdigris.core.hosts.probe import ChecksWindow, Facts, KnowsFacts

LOG = logging.getLogger("verdigris.host")
Found = TypeVar("Found")
_NAMELESS = "The application"


class HostFailure(HostError):  # noqa: N818 - a HostError with a report
    """An exception of an application, or an error in an adapter."""

    def __init__(self, text: str, report: str) -> None:
        super().__init__(text)
        self.report = report
        """The call, the versions and the traceback, for whoever mends it."""


class GuardedHost:
    """Passes every call on to a host. An exception that is not a VerdigrisError is logged, reported
    to `note`, and raised as a HostFailure. What an artist cannot do without has a fallback: the
    name, the manual, and the last known file of the scene."""

    def __init__(self, host: Host, note: Callable[[HostFailure], None] = lambda _: None) -> None:
        self.host, self._note = host, note
        self._scene_file: Path | None = None
        self._failing: set[str] = set()
        """What failed at the last reading, which is not reported each time that a widget reads."""

    # what never fails

    @property
    def name(self) -> str:
        return self._read("tell its version", lambda: self.host.name, _NAMELESS)

    @property
    def can_paint(self) -> bool:
        return self._read("tell whether it has a brush", lambda: self.host.can_paint, False)

    @property
    def manual(self) -> Path:
        page = package_folder() / "docs" / "ARTISTS.md"
        return self._read("find its manual", lambda: self.host.manual, page)

    @property
    def export_steps(self) -> tuple[str, ...]:
        return self._read("tell how to export", lambda: self.host.export_steps, ())

    def scene_file(self) -> Path | None:
        what = "tell the file of the scene"
        self._scene_file = self._read(what, lambda: self.host.scene_file(), self._scene_file)
        return self._scene_file

    # what a host need not have

    @property
    def has_scene(self) -> bool:
        """Whether materials are exported from a scene, and are no files themselves."""
        return bool(self.export_steps)

    @property
    def can_show_rungs(self) -> bool:
        return isinstance(self.host, ShowsRungs)

    @property
    def can_stop_painting(self) -> bool:
        return isinstance(self.host, StopsPainting)

    @property
    def can_make_textures(self) -> bool:
        return isinstance(self.host, MakesTextures)

    @property
    def can_check_window(self) -> bool:
        return isinstance(self.host, ChecksWindow)

    def facts(self) -> Facts:
        host = self.host
        return (
            self._call("report its facts", host.facts) if isinstance(host, KnowsFacts) else Facts()
        )

    def check_window(self, report: Path) -> None:
        host = self.host
        if not isinstance(host, ChecksWindow):
            raise HostError(f"{self.name} has no window to check")
        self._call("check its window", lambda: host.check_window(report))

    def attach_rungs(self, material: HostMaterial, ladder: LadderLook) -> str:
        host = self.host
        if not isinstance(host, ShowsRungs):
            raise HostError(f"{self.name} cannot show the rungs of a ladder")
        what = f"attach the ladder to {material.name}"
        return self._call(what, lambda: host.attach_rungs(material, ladder))

    def stop_painting(self) -> None:
        host = self.host
        if isinstance(host, StopsPainting):
            self._call("end the brush", lambda: host.stop_painting())

    def make_textures(self, material: HostMaterial) -> str:
        host = self.host
        if not isinstance(host, MakesTextures):
            raise HostError(f"{self.name} cannot bake nodes to images")
        what = f"bake nodes of {material.name} to images"
        return self._call(what, lambda: host.make_textures(material))

    # what every host has

    def start_selftest(self, report: Path) -> None:
        self._call("start the self-test", lambda: self.host.start_selftest(report))

    def scene_warnings(self) -> tuple[str, ...]:
        return self._call("check the scene", lambda: self.host.scene_warnings())

    def open_scene(self, path: Path) -> None:
        self._call(f"open {path}", lambda: self.host.open_scene(path))

    def save_scene(self) -> None:
        self._call("save the scene", lambda: self.host.save_scene())

    def materials(self) -> tuple[HostMaterial, ...]:
        return self._call("list the materials", lambda: self.host.materials())

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        return self._call("find the selected materials", lambda: self.host.selected_materials())

    def identity(self, material: HostMaterial) -> str:
        return self._call(f"identify {material.name}", lambda: self.host.identity(material))

    def document(self, material: HostMaterial) -> HostDocument:
        return self._call(f"read {material.name}", lambda: self.host.document(material))

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        return self._call(f"list the meshes of {material.name}", lambda: self.host.meshes(material))

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        return self._call(
            f"read the mesh {name}", lambda: self.host.mesh(name, material, weight_set)
        )

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        return self._call(f"list the attributes of {mesh}", lambda: self.host.weight_sets(mesh))

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        what = f"start the brush on {mesh}"
        self._call(what, lambda: self.host.start_painting(mesh, weight_set))

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        what = f"note the result at {material.name}"
        self._call(what, lambda: self.host.attach(material, result))

    def attached(self, material: HostMaterial) -> Path | None:
        return self._call(
            f"find the result of {material.name}", lambda: self.host.attached(material)
        )

    def _call(self, what: str, call: Callable[[], Found]) -> Found:
        try:
            return call()
        except VerdigrisError:
            raise
        except Exception as failure:
            raise self._report(what, failure) from failure

    def _read(self, what: str, read: Callable[[], Found], fallback: Found) -> Found:
        try:
            found = read()
        except VerdigrisError:
            return fallback
        except Exception as failure:  # noqa: BLE001 - as above
            if what not in self._failing:
                self._failing.add(what)
                self._report(what, failure)
            return fallback
        self._failing.discard(what)
        return found

    def _report(self, what: str, failure: Exception) -> HostFailure:
        try:
            name = str(self.host.name)
        except Exception:  # noqa: BLE001 - the failure at hand is the one to report
            name = _NAMELESS
        lines = str(failure).strip().splitlines()
        text = f"{name} could not {what}: {lines[0] if lines else type(failure).__name__}"
        trace = "".join(traceback.format_exception(failure))
        found = HostFailure(text, failure_report(name, what, trace))
        LOG.error("%s\n%s", text, trace)
        self._note(found)
        return found


def failure_report(name: str, what: str, trace: str) -> str:
    """The text that an artist copies to whoever mends a failure."""
    return (
        f"Verdigris {version()} in {name}, Python {platform.python_version()}, "
        f"{platform.platform()}, {sys.executable}\nFailed: {what}\n\n{trace}"
    )
