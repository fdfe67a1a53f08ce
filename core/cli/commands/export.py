"""`verdigris export`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.cli.shared.options import Bundle


def export(
    bundle: Bundle,
    target: Annotated[str, typer.Option("--target", "-t", help="rtxns-bin or rtxns-json.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file. Default: beside BUNDLE.")
    ] = None,
) -> None:
    """Writes a bundle's decoder for another loader: NVIDIA's RTXNS, as .bin or as JSON.

    The file holds only the layers. docs/FORMAT.md describes the inputs and the output that an
    engine computes around them.
    """
    from verdigris.core.base.outputs import check_output, write_file
    from verdigris.core.bundle.files.read import open_bundle
    from verdigris.core.bundle.files.replace_folder import bundle_name
    from verdigris.core.bundle.files.rtxns import TARGETS

    if target not in TARGETS:
        raise typer.BadParameter(
            f"{target!r} is not known: use one of {', '.join(TARGETS)}", param_hint="--target"
        )
    convert, suffix = TARGETS[target]
    opened = open_bundle(bundle)
    data = convert(opened.parameters(), str(bundle))
    path = output or bundle.resolve().with_name(bundle_name(bundle) + suffix)
    check_output(path, [suffix])
    write_file(path, data)
    print(f"{path}: {len(data)} bytes, {opened.spec.name} for {target}")
