"""`verdigris render`"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.cli.shared.opening import open_teacher, require_own_material
from verdigris.core.cli.shared.options import (
    Confined,
    DeviceChoice,
    MaterialName,
    Search,
    choose_view,
    path_argument,
    require_in_range,
)
from verdigris.core.pictures.picture_limits import largest_size

# Larger values could overflow single floats.
_BRIGHTEST_STUDIO = 1e6


def render(
    file: Annotated[Path, path_argument("FILE", "A MaterialX document, or a bundle (.vdg).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .png or .exr.")],
    view: Annotated[str | None, typer.Option(help="sphere, plane or mesh.")] = None,
    mesh: Annotated[
        Path | None, typer.Option(help="A mesh (.obj, .usd) for the view 'mesh'.")
    ] = None,
    size: Annotated[
        int, typer.Option(help=f"Width of the picture in pixels, 1 to {largest_size()}.")
    ] = 512,
    reference: Annotated[
        bool,
        typer.Option(
            "--reference",
            help="Draw a document like its bundle: evaluated on the flat unit square, and wrapped "
            "around the shape by uv. Otherwise 3D patterns are evaluated on the shape itself.",
        ),
    ] = False,
    environment: Annotated[
        float, typer.Option(help="Brightness of the studio environment; 0: only one light.")
    ] = 0.8,
    light: Annotated[
        str,
        typer.Option(
            help="Direction to the light, x,y,z: x right, y up, z to the viewer. For a mesh, in "
            "its own axes with y up."
        ),
    ] = "-0.45,0.6,0.66",
    samples: Annotated[
        int, typer.Option(help="Directions of the studio that each sub-pixel sums.")
    ] = 32,
    material: MaterialName = None,
    search: Search = None,
    confined: Confined = False,
    device: DeviceChoice = None,
) -> None:
    """Draws a material or a bundle on a sphere, a plane or a mesh."""
    from verdigris.core.base.device import open_device
    from verdigris.core.base.outputs import check_apart
    from verdigris.core.bundle.files.read import is_bundle, open_bundle
    from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
    from verdigris.core.geometry.mesh import load_mesh
    from verdigris.core.material.load.provenance import files_read
    from verdigris.core.pictures.picture_files import check_picture_path, write_picture
    from verdigris.core.pictures.render import MOST_STUDIO_SAMPLES, Lighting, over_backdrop
    from verdigris.core.pictures.render import render as draw

    check_picture_path(output)
    require_in_range(size, 1, largest_size(), "--size")
    lighting = Lighting(
        direction=_direction(light),
        environment=require_in_range(environment, 0.0, _BRIGHTEST_STUDIO, "--environment"),
        samples=require_in_range(samples, 1, MOST_STUDIO_SAMPLES, "--samples"),
    )
    chosen = choose_view(view, mesh)
    shape = load_mesh(mesh) if mesh else None
    bundle = open_bundle(file) if is_bundle(file) else None
    if bundle and reference:
        raise typer.BadParameter(
            f"{file} is a bundle, and bundles are always drawn so: leave out --reference, or name "
            "the document in place of the bundle",
            param_hint="--reference",
        )
    if bundle:
        require_own_material(bundle, file, material)
    opened = open_device(device)
    if bundle:
        name = bundle.manifest.name
        baked = BundleMaterial(bundle, opened)
        picture = draw(baked, chosen, size, shape, lighting, is_flat=True)
    else:
        teacher = open_teacher(file, material, search, confined, opened)
        name = teacher.material.name
        check_apart(output, files_read(teacher.document, teacher.material))
        picture = draw(teacher, chosen, size, shape, lighting, is_flat=reference)
    is_png = output.suffix.lower() == ".png"
    write_picture(output, over_backdrop(picture) if is_png else picture)
    print(f"{output}: {name}, {size} x {size}, on {opened}")


def _direction(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(word) for word in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a direction: use three numbers, x,y,z", param_hint="--light"
        ) from None
    largest = max(abs(x), abs(y), abs(z))
    if not 0 < largest < math.inf:
        raise typer.BadParameter(
            f"{text!r} is not a direction: use finite numbers that are not all 0",
            param_hint="--light",
        )
    # scaled first: squares of very long vectors would overflow
    return x / largest, y / largest, z / largest
