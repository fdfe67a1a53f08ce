"""`verdigris render`"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.cli.shared.lighting import (
    Hdri,
    Rotate,
    drawing_line,
    open_environment,
    parse_direction,
)
from verdigris.core.cli.shared.live_values import (
    LiveValues,
    bundle_values,
    parse_moved,
    parse_values,
    values_of_frames,
    wanted_values,
)
from verdigris.core.cli.shared.opening import open_teacher, require_own_material
from verdigris.core.cli.shared.options import (
    VIEW_HELP,
    Confined,
    DeviceChoice,
    MaterialName,
    Search,
    choose_view,
    path_argument,
    require_in_range,
)
from verdigris.core.lighting.environment_names import ENVIRONMENTS
from verdigris.core.pictures.picture_limits import largest_size

if TYPE_CHECKING:
    from verdigris.core.material.evaluator import DeviceMaterial, Floats
    from verdigris.core.material.live_inputs.live_input import WantedInput

_STUDIO = 0.8
_LIGHT = "-0.45,0.6,0.66"
_STUDIO_SAMPLES, _SAMPLES = 32, 64
_MOST_STOPS = 32.0
_MOST_FRAMES, _HIGHEST_RATE = 9999, 120.0
# Larger values could overflow single floats.
_BRIGHTEST_STUDIO = 1e6


def render(
    file: Annotated[Path, path_argument("FILE", "A MaterialX document, or a bundle (.vdg).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The picture: .png or .exr.")],
    view: Annotated[str | None, typer.Option(help=VIEW_HELP)] = None,
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
    hdri: Hdri = None,
    rotate: Rotate = 0.0,
    exposure: Annotated[
        float | None,
        typer.Option(
            metavar="STOPS",
            help="Exposure. Default: 0, and for a .png with --hdri the one that shows white paper "
            "on the ground as white.",
        ),
    ] = None,
    backdrop: Annotated[
        str | None,
        typer.Option(
            help="With --hdri: ground (a grey floor with the shape's shadow), environment (out of "
            "focus) or plain. Default for .png: ground for a mesh, or else environment; for .exr: "
            "none, with coverage as alpha."
        ),
    ] = None,
    environment: Annotated[
        float | None,
        typer.Option(
            help=f"Brightness of the studio; 0: only one light. Default: {_STUDIO}.",
            show_default=False,
        ),
    ] = None,
    light: Annotated[
        str | None,
        typer.Option(
            help="Direction to the light, or to the sun of --hdri sky, x,y,z: x right, y up, z to "
            "the viewer. For a mesh, in its own axes with y up. Default: "
            f"{_LIGHT}; the sun stands at the right, a little behind the shape.",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            help="Directions of light that each sub-pixel sums: more are less noisy. Default: "
            f"{_STUDIO_SAMPLES}, with --hdri {_SAMPLES}.",
            show_default=False,
        ),
    ] = None,
    live: LiveValues = None,
    animate: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Move a live input through its range, and write a .gif, a .webp, an .mp4 (with "
            "ffmpeg) or a folder of PNGs. NAME=LOW..HIGH for a part of it, or for a document.",
        ),
    ] = None,
    frames: Annotated[int, typer.Option(help="With --animate: number of pictures.")] = 48,
    rate: Annotated[float, typer.Option(help="With --animate: pictures a second.")] = 24.0,
    there_and_back: Annotated[
        bool, typer.Option("--there-and-back", help="With --animate: end where it begins.")
    ] = False,
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
    from verdigris.core.geometry.mesh import in_atlas, load_mesh
    from verdigris.core.geometry.shapes import find_shape
    from verdigris.core.material.load.provenance import files_read
    from verdigris.core.pictures.backdrop import over
    from verdigris.core.pictures.environment_render import (
        EnvironmentLighting,
        draw_behind,
        render_under,
    )
    from verdigris.core.pictures.moving.moving_files import check_moving_path, write_moving
    from verdigris.core.pictures.picture_files import (
        check_picture_path,
        with_shoulder,
        write_picture,
    )
    from verdigris.core.pictures.render import MOST_STUDIO_SAMPLES, Lighting, over_backdrop
    from verdigris.core.pictures.render import render as draw

    if animate is None:
        check_picture_path(output)
    else:
        check_moving_path(output)
        require_in_range(frames, 2, _MOST_FRAMES, "--frames")
        require_in_range(rate, 1.0, _HIGHEST_RATE, "--rate")
    values = parse_values(live)
    moved, part = parse_moved(animate) if animate else ("", None)
    require_in_range(size, 1, largest_size(), "--size")
    samples = samples if samples is not None else _SAMPLES if hdri else _STUDIO_SAMPLES
    require_in_range(samples, 1, MOST_STUDIO_SAMPLES, "--samples")
    stops = require_in_range(exposure or 0.0, -_MOST_STOPS, _MOST_STOPS, "--exposure")
    chosen, is_png = choose_view(view, mesh), output.suffix.lower() != ".exr"
    bundle = open_bundle(file) if is_bundle(file) else None
    if bundle and reference:
        raise typer.BadParameter(
            f"{file} is a bundle, and bundles are always drawn so: leave out --reference, or name "
            "the document in place of the bundle",
            param_hint="--reference",
        )
    if bundle:
        require_own_material(bundle, file, material)
    lighting = Lighting(
        direction=parse_direction(light or _LIGHT),
        environment=_studio_brightness(hdri, rotate, backdrop, environment),
        samples=samples,
    )
    around = open_environment(hdri, rotate, light) if hdri else None
    behind = _choose_backdrop(backdrop, chosen, is_png=is_png) if hdri else ""
    if around and is_png and exposure is None:
        stops = around.exposure
    shape = load_mesh(mesh) if mesh else find_shape(chosen)
    opened = open_device(device)
    drawn: DeviceMaterial
    if bundle:
        drawn, name, read = BundleMaterial(bundle, opened), bundle.manifest.name, []
        inputs, drawn.live = bundle.manifest.live, bundle_values(bundle, values)
    else:
        wanted = _opened_inputs(values, moved, part)
        teacher = open_teacher(file, material, search, confined, opened, wanted)
        drawn, name, inputs = teacher, teacher.material.name, teacher.live_inputs
        read = list(files_read(teacher.document, teacher.material))
    if shape and mesh:
        shape = in_atlas(shape, drawn.tiles)
    check_apart(output, [*read, *([Path(hdri)] if hdri and hdri not in ENVIRONMENTS else [])])
    is_flat = reference or bundle is not None
    lit = EnvironmentLighting.upload(opened, around, shape) if around else None
    ground = None
    if lit and behind not in ("", "plain"):
        ground = draw_behind(opened, lit, behind, chosen, size, shape, samples)

    def picture_of(show: Callable[[float], None]) -> Floats:
        if lit is None:
            picture = draw(drawn, chosen, size, shape, lighting, is_flat=is_flat)
            picture = over_backdrop(picture) if is_png else picture
        else:
            picture = render_under(
                drawn, lit, chosen, size, shape, samples, is_flat=is_flat, on_progress=show
            )
            if behind == "plain":
                picture = over_backdrop(picture)
            elif ground is not None:
                picture = over(picture, ground)
        picture[..., :3] *= 2.0**stops
        return with_shoulder(picture) if lit and is_png else picture

    def moving(show: Callable[[float], None]) -> Iterator[Floats]:
        start = drawn.live
        each = values_of_frames(
            inputs, start, moved, part if bundle else None, frames, there_and_back
        )
        for number, drawn.live in enumerate(each):
            show(number / frames)
            yield picture_of(lambda done: None)

    with drawing_line() if around or animate else nullcontext(lambda done: None) as show:
        if animate:
            write_moving(output, moving(show), frames, rate)
        else:
            write_picture(output, picture_of(show))
    how = f", exposure {stops:+.1f}" if stops else ""
    how += f", {frames} frames of {moved}" if animate else ""
    print(f"{output}: {name}, {size} x {size}{how}, on {opened}")


def _opened_inputs(
    values: dict[str, float], moved: str, part: WantedInput | None
) -> list[WantedInput]:
    """Inputs of a document to open: those with a value, and the one that moves."""
    if moved and part is None:
        raise typer.BadParameter(
            f"a document needs a range: use --animate {moved}=0..1", param_hint="--animate"
        )
    still = [each for each in wanted_values(values) if each.name != moved]
    return [*still, part] if part else still


def _studio_brightness(
    hdri: str | None, rotate: float, backdrop: str | None, environment: float | None
) -> float:
    """The studio's brightness; refuses options of the other kind of light."""
    if hdri and environment is not None:
        raise typer.BadParameter(
            "--hdri replaces the studio: leave it out, or use --exposure",
            param_hint="--environment",
        )
    for option, is_given in (("--rotate", rotate), ("--backdrop", backdrop)):
        if is_given and not hdri:
            raise typer.BadParameter("needs an environment: name it with --hdri", param_hint=option)
    brightness = _STUDIO if environment is None else environment
    return require_in_range(brightness, 0.0, _BRIGHTEST_STUDIO, "--environment")


def _choose_backdrop(backdrop: str | None, view: str, is_png: bool) -> str:
    """The backdrop under an environment; empty for none."""
    from verdigris.core.pictures.backdrop import BACKDROPS

    if backdrop not in (None, *BACKDROPS):
        raise typer.BadParameter(
            f"{backdrop!r} is not known: use {', '.join(BACKDROPS)}", param_hint="--backdrop"
        )
    is_flat = view in ("sphere", "plane")
    if backdrop == "ground" and is_flat:
        raise typer.BadParameter(
            f"'ground' needs the view of a mesh, and this is {view!r}: use 'environment'",
            param_hint="--backdrop",
        )
    if backdrop or not is_png:
        return backdrop or ""
    return "environment" if is_flat else "ground"
