"""`verdigris versions`"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.history import MOST_KEPT, History, Version, keep_versions
from verdigris.core.bundle.scene.scene_pack import is_scene
from verdigris.core.cli.shared.options import AsJson, Bundle, CommandApp, require_in_range
from verdigris.core.pictures.compare.verdict import judge

app = CommandApp()


@app.add("versions copper_tray.vdg --keep 20")
def versions(
    bundle: Bundle,
    restore: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Make this version the bundle again.")
    ] = None,
    delete: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Move this version to the trash.")
    ] = None,
    undelete: Annotated[
        bool, typer.Option("--undelete", help="Bring back the version that was deleted last.")
    ] = False,
    pin: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Never remove it to make room.")
    ] = None,
    unpin: Annotated[str | None, typer.Option(metavar="VERSION", help="The opposite.")] = None,
    keep: Annotated[
        int | None,
        typer.Option(help="Versions that this machine keeps of each bundle, 1 to 1000."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists the versions of a bundle, or changes them.

    A bake keeps the bundle before it in the folder NAME.versions. The oldest versions are removed,
    but not the best one and pinned ones.
    """
    if keep is not None:
        require_in_range(keep, 1, MOST_KEPT, "--keep")
        keep_versions(keep)
    if is_scene(bundle):
        raise BundleError(f"{bundle}: is a scene pack, which has no versions: name a bundle")
    history = History(bundle)
    history.recover()
    if restore:
        history.restore(history.require(restore))
    if delete:
        history.delete(history.require(delete))
    if undelete:
        trash = history.trash()
        if not trash:
            raise BundleError(f"{bundle}: its trash is empty: there is no version to bring back")
        history.undelete(trash[0])
    for name, is_pinned in ((pin, True), (unpin, False)):
        if name:
            history.pin(history.require(name), is_pinned)
    found = history.versions()
    if not found:
        raise BundleError(f"{bundle}: there is no bundle and no version of one")
    if as_json:
        print(json.dumps([_as_json(each) for each in found], indent=2))
        return
    for each in found:
        print(_line(each))


def _line(version: Version) -> str:
    verdict = judge(version.errors)
    facts = [
        version.preset,
        f"{version.resolution} x {version.resolution}" if version.resolution else "",
        f"{version.loaded_bytes:,} bytes" if version.loaded_bytes else "",
        f"{version.seconds:.0f} s" if version.seconds else "",
        "pinned" if version.is_pinned else "",
        version.label,
    ]
    mark = "*" if version.is_present else " "
    line = verdict.line if verdict else "not measured"
    return f"{mark} {version.name}  {line}  ({', '.join(filter(None, facts))})"


def _as_json(version: Version) -> dict[str, object]:
    verdict = judge(version.errors)
    return {
        "name": version.name,
        "folder": str(version.folder),
        "is_present": version.is_present,
        "is_pinned": version.is_pinned,
        "label": version.label,
        "baked": version.baked.isoformat(),
        "preset": version.preset,
        "resolution": version.resolution,
        "bytes": version.loaded_bytes,
        "seconds": version.seconds,
        "dots": verdict.dots if verdict else None,
        "verdict": verdict.text if verdict else "",
    }
