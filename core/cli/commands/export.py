"""`verdigris export`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.outputs import check_output, write_file
from verdigris.core.base.text import format_bytes
from verdigris.core.bundle.export import RTXNS_TARGETS, TEXTURE_TARGETS, export_textures
from verdigris.core.bundle.files.manifest import SUFFIX
from verdigris.core.bundle.files.read import Bundle as OpenedBundle
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.replace_folder import bundle_name
from verdigris.core.bundle.scene.pack import describe
from verdigris.core.bundle.scene.pack import pack as join
from verdigris.core.cli.shared.options import Bundle, CommandApp, path_argument

app = CommandApp()


@app.add("export copper_tray.vdg --target astc")
def export(
    bundle: Bundle,
    target: Annotated[
        str, typer.Option("--target", "-t", help="astc, rgba8, rtxns-bin or rtxns-json.")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder or file. Default: beside BUNDLE."),
    ] = None,
) -> None:
    """Writes a bundle for phones, for other devices or for RTXNS.

    `astc` writes the bundle with latents as ASTC 4 x 4 blocks, for phones, and `rgba8` with plain
    bytes, for devices with neither BC7 nor ASTC. `rtxns-bin` and `rtxns-json` write the decoder for
    NVIDIA's RTXNS: only the layers. docs/FORMAT.md describes what an engine computes around them.
    """
    known = (*TEXTURE_TARGETS, *RTXNS_TARGETS)
    if target not in known:
        raise typer.BadParameter(
            f"{target!r} is not known: use one of {', '.join(known)}", param_hint="--target"
        )
    opened = open_bundle(bundle)
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
    found = export_textures(opened, target, folder)
    print(f"{found.folder}: latents of {format_bytes(found.latents_bytes)} for {target}")
    if found.errors:
        text = f"  re-encoding changed responses by a log error of {found.errors['log_mae']:.4f}"
        before = found.errors.get("material_log_mae_before")
        if before is not None:
            after = found.errors["material_log_mae_after"]
            text += f"; against the material it was {before:.4f} and is {after:.4f}"
        print(text)


@app.add("pack copper_tray.vdg car_paint.vdg -o scene.vdg")
def pack(
    bundles: Annotated[list[Path], path_argument("BUNDLE...", "Bundles (.vdg).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The scene pack, NAME.vdg.")],
) -> None:
    """Joins bundles of one decoder shape into a scene pack.

    The pack has one buffer with all weights, without duplicates, and one shader for these
    materials.
    """
    scene = join([open_bundle(path) for path in bundles], output)
    decoders = scene.weights.bytes // scene.decoder_bytes
    count = len(scene.materials)
    print(
        f"{output}: {count} material{'s' * (count != 1)}, {describe(scene.spec)}, "
        f"{decoders} decoder{'s' * (decoders != 1)} in {scene.weights.bytes:,} bytes"
    )
