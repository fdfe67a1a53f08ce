"""Options of commands that draw, and those of `verdigris render`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.cli.shared.options import path_argument
from verdigris.core.pictures.picture_limits import largest_size

STUDIO = 0.8
LIGHT = "-0.45,0.6,0.66"
STUDIO_SAMPLES, SAMPLES = 32, 64

Shape = Annotated[
    str | None, typer.Option("--view", help="Shape: sphere, plane, ball, cloth, tile or mesh.")
]
ViewMesh = Annotated[Path | None, typer.Option(help="A mesh (.obj, .usd) for the view 'mesh'.")]

File = Annotated[Path, path_argument("FILE", "A MaterialX document, or a bundle (.vdg).")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The picture: .png or .exr.")]
Size = Annotated[int, typer.Option(help=f"Width of the picture in pixels, 1 to {largest_size()}.")]
Reference = Annotated[
    bool,
    typer.Option(
        "--reference",
        help="Draw a document like its bundle: evaluated on the flat unit square, and wrapped "
        "around the shape by uv. Otherwise 3D patterns are evaluated on the shape itself.",
    ),
]
Exposure = Annotated[
    float | None,
    typer.Option(
        metavar="STOPS",
        help="Exposure. Default: 0, and for a .png with --hdri the one that shows white paper "
        "on the ground as white.",
    ),
]
Backdrop = Annotated[
    str | None,
    typer.Option(
        help="With --hdri: ground (a grey floor with the shape's shadow), environment (out of "
        "focus) or plain. Default for .png: ground for a mesh, or else environment; for .exr: "
        "none, with coverage as alpha."
    ),
]
Studio = Annotated[
    float | None,
    typer.Option(
        help=f"Brightness of the studio; 0: only one light. Default: {STUDIO}.",
        show_default=False,
    ),
]
Light = Annotated[
    str | None,
    typer.Option(
        help="Direction to the light, or to the sun of --hdri sky, x,y,z: x right, y up, z to "
        f"the viewer. For a mesh, in its own axes with y up. Default: {LIGHT}; the sun stands at "
        "the right, a little behind the shape.",
        show_default=False,
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        help="Directions of light that each sub-pixel sums: more are less noisy. Default: "
        f"{STUDIO_SAMPLES}, with --hdri {SAMPLES}.",
        show_default=False,
    ),
]
Animate = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Move a live input through its range, and write a .gif, a .webp, an .mp4 (with "
        "ffmpeg) or a folder of PNGs. NAME=LOW..HIGH for a part of it, or for a document.",
    ),
]
Frames = Annotated[int, typer.Option(help="With --animate: number of pictures.")]
Rate = Annotated[float, typer.Option(help="With --animate: pictures a second.")]
ThereAndBack = Annotated[
    bool, typer.Option("--there-and-back", help="With --animate: end where it begins.")
]


def choose_view(view: str | None, mesh: Path | None) -> str:
    """The view to draw. A mesh file fits only the view 'mesh', and makes it the default."""
    from verdigris.core.pictures.render import ALL_SHAPES

    if view not in (None, *ALL_SHAPES):
        raise typer.BadParameter(
            f"{view!r} is not known: use {' or '.join(ALL_SHAPES)}", param_hint="--view"
        )
    if view == "mesh" and not mesh:
        raise typer.BadParameter(
            "'mesh' needs a mesh file: name it with --mesh", param_hint="--view"
        )
    if mesh and view not in (None, "mesh"):
        raise typer.BadParameter(
            f"{mesh} cannot be drawn in the view {view!r}: leave out --view", param_hint="--mesh"
        )
    return view or ("mesh" if mesh else "sphere")
