"""`verdigris export`, `versions` and `pack`: commands for finished bundles"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.errors import BundleError
from verdigris.core.base.outputs import check_output, write_file
from verdigris.core.base.text import counted, format_bytes
from verdigris.core.bundle.engines.export_engine import ENGINES, export_engine
from verdigris.core.bundle.export import RTXNS_TARGETS, TEXTURE_TARGETS, export_textures
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.bundle.files.read import Bundle as OpenedBundle
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.replace_folder import bundle_name
from verdigris.core.bundle.history import MOST_KEPT, History, Version, keep_versions
from verdigris.core.bundle.maya_effect import write_maya_effect
from verdigris.core.bundle.scene.pack import describe
from verdigris.core.bundle.scene.pack import pack as join
from verdigris.core.bundle.scene.scene_pack import is_scene
from verdigris.core.cli.shared.options import (
    AsJson,
    Bundle,
    CommandApp,
    path_argument,
    require_in_range,
    require_known,
)
from verdigris.core.cli.shared.terminal import warn_of_light_from_below
from verdigris.core.pictures.compare.verdict import judge

app = CommandApp()
MAYA = "maya"


@app.add("export copper_tray.vdg --target astc")
def export(
    bundle: Bundle,
    target: Annotated[
        str,
        typer.Option(
            "--target",
            "-t",
            help=f"astc, rgba8, {', '.join(ENGINES)}, maya, rtxns-bin or rtxns-json.",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder or file. Default: beside BUNDLE."),
    ] = None,
) -> None:
    """Writes a bundle for other devices, an engine, Maya or RTXNS.

    `astc` stores the latents as ASTC 4 x 4 blocks, for phones. `rgba8` stores them as plain bytes,
    for devices with neither BC7 nor ASTC. `babylon`, `godot`, `react`, `unity` and `unreal` write a
    folder to copy into a project; docs/engines has a page for each. `maya` writes a folder with
    effects for the plug-ins glslShader and dx11Shader; docs/MAYA.md describes them. `rtxns-bin` and
    `rtxns-json` write only the layers of the decoder, for NVIDIA's RTXNS; docs/FORMAT.md describes
    what an engine computes around them.
    """
    require_known(target, (*TEXTURE_TARGETS, *ENGINES, MAYA, *RTXNS_TARGETS), "--target")
    opened = open_bundle(bundle)
    if target in RTXNS_TARGETS:
        warn_of_light_from_below([opened], f"what is written for {target} has")
    if target == MAYA:
        beside = bundle.resolve().with_name(f"{bundle_name(bundle)}_{target}")
        print("\n".join(map(str, write_maya_effect(opened, output or beside))))
        return
    if target in ENGINES:
        folder = output or bundle.resolve().with_name(f"{bundle_name(bundle)}_{target}")
        print(f"{folder}: {counted(len(export_engine(opened, target, folder)), 'file')}")
        return
    if target in TEXTURE_TARGETS:
        beside = bundle.resolve().with_name(f"{bundle_name(bundle)}_{target}{SUFFIX}")
        _export_textures(opened, target, output or beside)
        return
    convert, suffix = RTXNS_TARGETS[target]
    data = convert(opened.parameters(), str(bundle))
    path = output or bundle.resolve().with_name(bundle_name(bundle) + suffix)
    check_output(path, [suffix])
    write_file(path, data)
    print(f"{path}: {len(data)} bytes, {opened.spec.name} for {target}")


def _export_textures(opened: OpenedBundle, target: str, folder: Path) -> None:
    exported = export_textures(opened, target, folder)
    size, errors = format_bytes(exported.latents_bytes), exported.errors
    print(f"{exported.folder}: {size} of latents for {target}")
    if errors:
        text = f"  re-encoding changed responses by a log error of {errors['log_mae']:.4f}"
        before = errors.get("material_log_mae_before")
        if before is not None:
            after = errors["material_log_mae_after"]
            text += f"; the error against the material was {before:.4f} and is {after:.4f}"
        print(text)


@app.add("pack copper_tray.vdg car_paint.vdg -o scene.vdg")
def pack(
    bundles: Annotated[list[Path], path_argument("BUNDLE...", "Bundles (.vdg).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The scene pack, NAME.vdg.")],
) -> None:
    """Joins bundles with the same architecture into a scene pack.

    The pack contains one buffer with all weights, without duplicates, and one shader for all
    materials.
    """
    opened = [open_bundle(path) for path in bundles]
    scene = join(opened, output)
    decoders = counted(scene.weights.bytes // scene.decoder_bytes, "decoder")
    print(
        f"{output}: {counted(len(scene.materials), 'material')}, {describe(scene.spec)}, "
        f"{decoders} in {scene.weights.bytes:,} bytes"
    )


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
        str | None, typer.Option(metavar="VERSION", help="Never remove this version to make room.")
    ] = None,
    unpin: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Allow this version to be removed again.")
    ] = None,
    keep: Annotated[
        int | None,
        typer.Option(help="Keep this many versions of each bundle on this machine, 1 to 1000."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists the versions of a bundle, or changes them.

    A bake keeps the previous bundle in the folder NAME.versions. Old versions are removed first;
    the best one and the pinned ones are always kept.
    """
    if keep is not None:
        require_in_range(keep, 1, MOST_KEPT, "--keep")
        keep_versions(keep)
    if is_scene(bundle):
        raise BundleError(f"{bundle} is a scene pack, which has no versions: name a bundle")
    history = History(bundle)
    history.recover()
    if restore:
        history.restore(history.require(restore))
    if delete:
        history.delete(history.require(delete))
    if undelete:
        trash = history.trash()
        if not trash:
            raise BundleError(f"{bundle}: the trash is empty, so there is no version to bring back")
        history.undelete(trash[0])
    for name, is_pinned in ((pin, True), (unpin, False)):
        if name:
            history.pin(history.require(name), is_pinned)
    found = history.versions()
    if not found:
        raise BundleError(f"{bundle}: there is neither a bundle nor a version of one")
    if as_json:
        print(json.dumps([_as_json(each) for each in found], indent=2))
        return
    for each in found:
        print(_line(each))
        for line in each.note.splitlines():
            print(f"    {line}".rstrip())


def _line(version: Version) -> str:
    verdict = judge(version.errors, version.preset)
    facts = [
        version.preset,
        *version.facts,
        f"{version.seconds:.0f} s" if version.seconds else "",
        "pinned" if version.is_pinned else "",
        version.label,
    ]
    mark = "*" if version.is_present else " "
    line = verdict.line if verdict else "not measured"
    return f"{mark} {version.name}  {line}  ({', '.join(filter(None, facts))})"


def _as_json(version: Version) -> dict[str, object]:
    verdict = judge(version.errors, version.preset)
    return {
        "name": version.name,
        "folder": str(version.folder),
        "is_present": version.is_present,
        "is_pinned": version.is_pinned,
        "label": version.label,
        "note": version.note,
        "baked": version.baked.isoformat(),
        "preset": version.preset,
        "resolution": version.resolution,
        "size": version.size,
        "live": version.live,
        "limits": version.limits,
        "bytes": version.loaded_bytes,
        "seconds": version.seconds,
        "dots": verdict.dots if verdict else None,
        "verdict": verdict.text if verdict else "",
    }
