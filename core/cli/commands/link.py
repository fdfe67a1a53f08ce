"""`verdigris link`"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.text import counted
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.cli.shared.link_options import At, Origins, open_link
from verdigris.core.cli.shared.options import CommandApp, path_argument
from verdigris.core.cli.shared.terminal import warn
from verdigris.core.link.server import LinkServer
from verdigris.core.link.snapshot import snapshot_of_bundle

app = CommandApp()

# Seconds between looks at the bundles' manifests.
_INTERVAL = 0.3


@app.add("link neural/copper_tray.vdg")
def link(
    bundles: Annotated[
        list[Path],
        path_argument(
            "BUNDLE...", "Bundles (.vdg), or folders, whose bundles are shown as they come."
        ),
    ],
    at: At = None,
    origin: Origins = None,
    for_seconds: Annotated[float | None, typer.Option(hidden=True)] = None,
) -> None:
    """Shows bundles in games and pages that are running.

    A bundle is shown again whenever it is written, and a folder may be filled meanwhile, as by
    `scene run`. Prints the address for clients:
    `material.connect(ADDRESS)` in three.js, and others in docs/LINK.md. The first bundle is shown
    to clients that name none. Ctrl-C ends the link. A bake shows its training with `bake --link`.
    """
    with open_link(at, origin) as server:
        shown = _Shown(server, bundles)
        shown.look(is_first=True)
        print(f"{counted(len(shown.stamps), 'bundle')}: {server.address}")
        print(f"page: {server.page}", flush=True)
        until = time.monotonic() + (float("inf") if for_seconds is None else for_seconds)
        try:
            while time.monotonic() < until:
                time.sleep(min(_INTERVAL, max(0.0, until - time.monotonic())))
                shown.look()
        except KeyboardInterrupt:
            print("the link has ended")


class _Shown:
    """The bundles that a server shows, by the names of their folders."""

    def __init__(self, server: LinkServer, places: Sequence[Path]) -> None:
        self._server, self._places = server, places
        self.stamps: dict[str, object] = {}
        """What changes when a bundle is written."""

    def look(self, is_first: bool = False) -> None:
        """Shows what is new. One that cannot be read later does not end the link."""
        for name, path in self._find(is_first).items():
            stamp = _stamp(path)
            if (stamp is None and not is_first) or stamp == self.stamps.get(name):
                continue
            self.stamps[name] = stamp
            try:
                self._server.publish(snapshot_of_bundle(path, name))
            except VerdigrisError as failure:
                if is_first:
                    raise
                warn(str(failure))

    def _find(self, is_first: bool) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for place in self._places:
            is_folder = place.is_dir() and place.suffix != SUFFIX
            for path in sorted(place.glob(f"*{SUFFIX}")) if is_folder else (place,):
                name = path.resolve().stem
                if is_first and name in found:
                    raise VerdigrisError(
                        f"{found[name]} and {path}: have the same name: rename a folder"
                    )
                found.setdefault(name, path)
        return found


def _stamp(path: Path) -> object:
    """What changes when a bundle is written; None while there is none."""
    try:
        found = (path / MANIFEST_FILE).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
