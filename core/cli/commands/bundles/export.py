"""`verdigris export`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.cli.shared.options import Bundle

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle as OpenedBundle


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
    from verdigris.core.base.outputs import check_output, write_file
    from verdigris.core.bundle.export.rtxns import TARGETS
    from verdigris.core.bundle.export.textures import TARGETS as TEXTURE_TARGETS
    from verdigris.core.bundle.files.manifest import SUFFIX
    from verdigris.core.bundle.files.read import open_bundle
    from verdigris.core.bundle.files.replace_folder import bundle_name

    known = (*TEXTURE_TARGETS, *TARGETS)
    if target not in known:
        raise typer.BadParameter(
            f"{target!r} is not known: use one of {', '.join(known)}", param_hint="--target"
        )
    opened = open_bundle(bundle)
    if target in TEXTURE_TARGETS:
        beside = bundle.resolve().with_name(f"{bundle_name(bundle)}_{target}{SUFFIX}")
        _export_textures(opened, target, output or beside)
        return
    convert, suffix = TARGETS[target]
    data = convert(opened.parameters(), str(bundle))
    path = output or bundle.resolve().with_name(bundle_name(bundle) + suffix)
    check_output(path, [suffix])
    write_file(path, data)
    print(f"{path}: {len(data)} bytes, {opened.spec.name} for {target}")


def _export_textures(opened: OpenedBundle, target: str, folder: Path) -> None:
    from verdigris.core.base.text import format_bytes
    from verdigris.core.bundle.export.textures import export_textures

    found = export_textures(opened, target, folder)
    print(f"{found.folder}: latents of {format_bytes(found.latents_bytes)} for {target}")
    if found.errors:
        text = f"  re-encoding changed responses by a log error of {found.errors['log_mae']:.4f}"
        before = found.errors.get("material_log_mae_before")
        if before is not None:
            after = found.errors["material_log_mae_after"]
            text += f"; against the material it was {before:.4f} and is {after:.4f}"
        print(text)
