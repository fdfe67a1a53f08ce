"""`verdigris pack`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.cli.shared.options import path_argument


def pack(
    bundles: Annotated[list[Path], path_argument("BUNDLE...", "Bundles (.vdg).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The scene pack, NAME.vdg.")],
) -> None:
    """Joins bundles of one decoder shape into a scene pack.

    The pack has one buffer with all weights, without duplicates, and one shader for these
    materials.
    """
    from verdigris.core.bundle.files.read import open_bundle
    from verdigris.core.bundle.scene.pack import describe
    from verdigris.core.bundle.scene.pack import pack as join

    scene = join([open_bundle(path) for path in bundles], output)
    decoders = scene.weights.bytes // scene.decoder_bytes
    count = len(scene.materials)
    print(
        f"{output}: {count} material{'s' * (count != 1)}, {describe(scene.spec)}, "
        f"{decoders} decoder{'s' * (decoders != 1)} in {scene.weights.bytes:,} bytes"
    )
