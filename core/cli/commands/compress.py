"""`verdigris compress`"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.base.device import open_device
from verdigris.core.base.text import counted, format_bytes, format_seconds, parse_bytes
from verdigris.core.cli.shared.options import (
    AsJson,
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    as_usage_error,
    path_argument,
    require_in_range,
)
from verdigris.core.cli.shared.terminal import progress_line, warn
from verdigris.core.compress.compress import Compressed, Limits, compress_material, describe_size
from verdigris.core.compress.compress import picture as draw
from verdigris.core.compress.set_files import SUFFIX
from verdigris.core.compress.texture_set import LARGEST_SIDE
from verdigris.core.pictures.picture_files import check_picture_path, write_data

app = CommandApp()

_LEAST_TARGET, _MOST_TARGET = 10.0, 60.0
_LEAST_STEPS, _MOST_STEPS = 10, 1_000_000
_LEAST_SIDE = 16


@dataclass(frozen=True)
class SetOptions:
    """What a compressed set should fulfil, and how long it is trained."""

    target: Annotated[
        float | None,
        typer.Option(
            help="Take the smallest size that reaches this quality: the PSNR of all channels in "
            "dB. 30 shows some blur, 40 hardly any."
        ),
    ] = None
    most_bytes: Annotated[
        str | None,
        typer.Option(
            "--bytes", metavar="SIZE", help="The most bytes of the result, such as 500K or 2M."
        ),
    ] = None
    size: Annotated[
        int | None,
        typer.Option(
            help="Largest side of the textures in texels. Default: the side of the largest image, "
            "up to 4096."
        ),
    ] = None
    texture: Annotated[
        list[str] | None,
        typer.Option(help="Compress only the image of this node. Repeatable. Default: all images."),
    ] = None
    steps: Annotated[
        int | None, typer.Option(help="Training steps. Default: 6000 on a GPU, 800 on a CPU.")
    ] = None

    def limits(self) -> Limits:
        """The limits of the result. Refuses values outside of their ranges."""
        if self.target is not None:
            require_in_range(self.target, _LEAST_TARGET, _MOST_TARGET, "--target")
        if self.steps is not None:
            require_in_range(self.steps, _LEAST_STEPS, _MOST_STEPS, "--steps")
        if self.size is not None:
            require_in_range(self.size, _LEAST_SIDE, LARGEST_SIDE, "--size")
        with as_usage_error("--bytes"):
            most = None if self.most_bytes is None else parse_bytes(self.most_bytes)
            return Limits(self.target, most)


@app.add("compress copper_tray.mtlx --target 40")
def compress(
    file: Annotated[Path, path_argument("FILE", "A MaterialX document (.mtlx).")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The folder to write. Default: NAME.vdt here, for the material NAME.",
        ),
    ] = None,
    *,
    given: SetOptions,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Also draw the originals, the decoded textures and their differences (.png)."
        ),
    ] = None,
    options: DocumentOptions,
    as_json: AsJson = False,
    device: DeviceChoice = None,
) -> None:
    """Compresses all images of a material together.

    The result is two BC7 textures and a small network. A shader computes all channels, at any mip
    level, from two reads of each texture. The folder NAME.vdt contains them, with shaders in Slang
    and GLSL, and values to check a decoder. Unlike `bake`, `compress` keeps textures as textures:
    the material's graph stays as it is. `verify` and `inspect` also accept the folder.
    docs/COMPRESS.md explains the rest.
    """
    limits = given.limits()
    if picture:
        check_picture_path(picture)
    document = options.load(file)
    chosen = document.require_material(options.material)
    folder = output or Path(f"{chosen.file_name}{SUFFIX}")
    names, side = given.texture or (), given.size or LARGEST_SIDE
    with progress_line() as show:
        opened = open_device(device)
        done = compress_material(
            document, chosen, folder, opened, limits, names, side, given.steps, show
        )
    if picture:
        write_data(picture, draw(done))
    _warn_of_limits(done, given)
    if as_json:
        print(json.dumps(_facts(done), indent=1))
    else:
        _print(done)


def _warn_of_limits(done: Compressed, given: SetOptions) -> None:
    """Says which wish the result does not fulfil, and whether plain blocks are smaller."""
    result = done.result
    if given.target is not None and not result.reached:
        within = f" within {given.most_bytes}" if given.most_bytes else ""
        warn(
            f"no size{within} reaches {given.target:g} dB: the best has {result.psnr:.1f} dB; more "
            "--steps come closer"
        )
    if result.compressed.bytes >= done.block_bytes:
        warn(
            f"the result takes {format_bytes(result.compressed.bytes)}, and plain BC7 and BC4 "
            f"take {format_bytes(done.block_bytes)}: keep the images as they are, or use a "
            "smaller --bytes"
        )


def _facts(done: Compressed) -> dict[str, object]:
    compressed = done.result.compressed
    return {
        "folder": str(done.path),
        "bytes": compressed.bytes,
        "bits_a_texel": compressed.bits,
        "block_bytes_of_images": done.block_bytes,
        "sides": list(done.result.shares),
        "reached": done.result.reached,
        "seconds": done.result.seconds,
        "errors": done.errors,
    }


def _print(done: Compressed) -> None:
    result, textures = done.result, done.textures
    rows, columns = textures.size
    images = counted(len(textures.textures), "image")
    channels = counted(result.compressed.channels, "channel")
    print(f"{done.path}: {images} with {channels}, {columns} x {rows}")
    print(
        f"  {format_bytes(result.compressed.bytes)} with mip levels, as BC7 and BC4 "
        f"{format_bytes(done.block_bytes)}; latent textures with {describe_size(result.shares)}, "
        f"{format_seconds(result.seconds)}"
    )
    each = ", ".join(
        f"{name} {found:.1f}" for name, found in done.errors["psnr_by_texture"].items()
    )
    print(f"  PSNR {result.psnr:.1f} dB: {each}")
