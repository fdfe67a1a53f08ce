"""`verdigris link`"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import MANIFEST_FILE
from verdigris.core.base.text import counted
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
    bundles: Annotated[list[Path], path_argument("BUNDLE...", "Bundles (.vdg).")],
    at: At = None,
    origin: Origins = None,
    for_seconds: Annotated[float | None, typer.Option(hidden=True)] = None,
) -> None:
    """Shows bundles in games and pages that are running.

    A bundle is shown again whenever it is written. Prints the address for clients:
    `material.connect(ADDRESS)` in three.js, and others in docs/LINK.md. The first bundle is shown
    to clients that name none. Ctrl-C ends the link. A bake shows its training with `bake --link`.
    """
    names = _names_of(bundles)
    with open_link(at, origin) as server:
        shown = {path: _publish(server, path, name) for path, name in names.items()}
        print(f"{counted(len(bundles), 'bundle')}: {server.address}")
        print(f"page: {server.page}", flush=True)
        until = time.monotonic() + (float("inf") if for_seconds is None else for_seconds)
        try:
            while time.monotonic() < until:
                time.sleep(min(_INTERVAL, max(0.0, until - time.monotonic())))
                for path, name in names.items():
                    if _stamp(path) not in (None, shown[path]):
                        shown[path] = _publish_again(server, path, name)
        except KeyboardInterrupt:
            print("the link has ended")


def _names_of(bundles: list[Path]) -> dict[Path, str]:
    """The names by which clients ask for the bundles: those of their folders."""
    names = {path: path.resolve().stem for path in bundles}
    if len(set(names.values())) < len(names):
        raise VerdigrisError(
            f"{', '.join(map(str, bundles))}: have the same name twice: rename a folder"
        )
    return names


def _publish(server: LinkServer, path: Path, name: str) -> object:
    stamp = _stamp(path)
    server.publish(snapshot_of_bundle(path, name))
    return stamp


def _publish_again(server: LinkServer, path: Path, name: str) -> object:
    """Publishes a bundle that was replaced. One that cannot be read does not end the link."""
    stamp = _stamp(path)
    try:
        _publish(server, path, name)
    except VerdigrisError as failure:
        warn(str(failure))
    return stamp


def _stamp(path: Path) -> object:
    """What changes when a bundle is written; None while there is none."""
    try:
        found = (path / MANIFEST_FILE).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
