"""`verdigris render`"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import typer

from verdigris.core.base.device import open_device
from verdigris.core.base.outputs import check_apart
from verdigris.core.bundle.files.read import Bundle, is_bundle, open_bundle
from verdigris.core.cli.shared import picture_options as option
from verdigris.core.cli.shared.drawing import (
    Framing,
    in_studio,
    pictures_at,
    relief_of,
    under_environment,
)
from verdigris.core.cli.shared.opening import (
    open_teacher,
    require_own_material,
    subject_of_bundle,
    subject_of_document,
)
from verdigris.core.cli.shared.options import (
    CommandApp,
    DeviceChoice,
    DocumentOptions,
    FileOrBundle,
    require_in_range,
    require_known,
)
from verdigris.core.cli.shared.picture_options import (
    Hdri,
    LiveValues,
    Rotate,
    bundle_values,
    open_environment,
    parse_direction,
    parse_moved,
    parse_values,
    values_of_frames,
    wanted_values,
)
from verdigris.core.cli.shared.terminal import progress_line
from verdigris.core.geometry.mesh import in_atlas, load_mesh
from verdigris.core.geometry.shapes import find_shape
from verdigris.core.lighting.environment import ENVIRONMENTS
from verdigris.core.material.live_inputs.live_input import WantedInput
from verdigris.core.pictures.backdrop import BACKDROPS
from verdigris.core.pictures.moving_files import check_moving_path, write_moving
from verdigris.core.pictures.picture_files import check_picture_path, write_picture
from verdigris.core.pictures.render import MOST_STUDIO_SAMPLES, Lighting, largest_size
from verdigris.core.pictures.tone import CLIP, FILM, TONES

app = CommandApp()

_MOST_STOPS = 32.0
_MOST_FRAMES, _HIGHEST_RATE = 9999, 120.0
# Larger values could overflow single floats.
_BRIGHTEST_STUDIO = 1e6


@app.add("render copper_tray.mtlx --hdri sky -o tray.png")
def render(
    file: FileOrBundle,
    output: option.Output,
    view: option.Shape = None,
    mesh: option.ViewMesh = None,
    size: option.Size = 512,
    reference: option.Reference = False,
    displacement: option.Relief = option.RELIEF,
    hdri: Hdri = None,
    rotate: Rotate = 0.0,
    exposure: option.Exposure = None,
    backdrop: option.Backdrop = None,
    tone: option.ToneMapping = None,
    environment: option.Studio = None,
    light: option.Light = None,
    samples: option.Samples = None,
    live: LiveValues = None,
    animate: option.Animate = None,
    frames: option.Frames = 48,
    rate: option.Rate = 24.0,
    there_and_back: option.ThereAndBack = False,
    *,
    options: DocumentOptions,
    device: DeviceChoice = None,
) -> None:
    """Draws a material or a bundle on a sphere, a plane or a mesh."""
    if animate is None:
        check_picture_path(output)
    else:
        check_moving_path(output)
        require_in_range(frames, 2, _MOST_FRAMES, "--frames")
        require_in_range(rate, 1.0, _HIGHEST_RATE, "--rate")
    require_known(displacement, option.RELIEFS, "--displacement")
    values = parse_values(live)
    moved, part = parse_moved(animate) if animate else ("", None)
    require_in_range(size, 1, largest_size(), "--size")
    if samples is None:
        samples = option.SAMPLES if hdri else option.STUDIO_SAMPLES
    require_in_range(samples, 1, MOST_STUDIO_SAMPLES, "--samples")
    stops = require_in_range(exposure or 0.0, -_MOST_STOPS, _MOST_STOPS, "--exposure")
    kind = option.choose_view(view, mesh)
    is_png = output.suffix.lower() != ".exr"
    shown = _choose_tone(tone, bool(hdri), is_png=is_png)
    bundle = open_bundle(file) if is_bundle(file) else None
    if bundle:
        _check_bundle(bundle, file, options.material, reference)
    studio = Lighting(
        direction=parse_direction(light or option.LIGHT),
        environment=_studio_brightness(hdri, rotate, backdrop, environment),
        samples=samples,
    )
    around = open_environment(hdri, rotate, light) if hdri else None
    behind = _choose_backdrop(backdrop, kind, is_png=is_png) if hdri else ""
    if around and is_png and exposure is None:
        stops = around.exposure
    shape = load_mesh(mesh) if mesh else find_shape(kind)
    opened = open_device(device)
    if bundle:
        subject = subject_of_bundle(bundle, opened, bundle_values(bundle, values))
    else:
        wanted = _opened_inputs(values, moved, part)
        teacher = open_teacher(file, options, opened, wanted)
        subject = subject_of_document(teacher, reference)
    if shape and mesh:
        shape = in_atlas(shape, subject.drawn.tiles)
    maps = [Path(hdri)] if hdri and hdri not in ENVIRONMENTS else []
    check_apart(output, [*subject.read, *maps])
    framing = Framing(kind, size, shape, relief_of(subject, displacement, kind, shape))
    if around:
        picture = under_environment(subject, framing, around, behind, samples, stops, shown)
    else:
        picture = in_studio(subject, framing, studio, stops, shown)
    with progress_line() as line:
        show = partial(line, "drawing")
        if animate:
            # a document's input is open in just this range
            share = part if bundle else None
            start = subject.drawn.live
            each = values_of_frames(subject.inputs, start, moved, share, frames, there_and_back)
            write_moving(output, pictures_at(subject, picture, each, frames, show), frames, rate)
        else:
            write_picture(output, picture(show))
    how = f", exposure {stops:+.1f}" if stops else ""
    how += f", {frames} frames of {moved}" if animate else ""
    print(f"{output}: {subject.name}, {size} x {size}{how}, on {opened}")


def _check_bundle(bundle: Bundle, file: Path, material: str | None, reference: bool) -> None:
    """Refuses options of documents."""
    if reference:
        raise typer.BadParameter(
            f"{file} is a bundle, which is always drawn so: leave out --reference, or name the "
            "document instead of the bundle",
            param_hint="--reference",
        )
    require_own_material(bundle, file, material)


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
    for name, is_given in (("--rotate", rotate), ("--backdrop", backdrop)):
        if is_given and not hdri:
            raise typer.BadParameter("needs an environment: name it with --hdri", param_hint=name)
    brightness = option.STUDIO if environment is None else environment
    return require_in_range(brightness, 0.0, _BRIGHTEST_STUDIO, "--environment")


def _choose_tone(tone: str | None, has_environment: bool, is_png: bool) -> str:
    """The tone mapping; empty for a picture that holds the light itself."""
    if tone is not None:
        require_known(tone, TONES, "--tone")
        if not is_png:
            raise typer.BadParameter(
                "an .exr holds the light as it is: leave out --tone, or write a .png",
                param_hint="--tone",
            )
    if not is_png:
        return ""
    return tone or (FILM if has_environment else CLIP)


def _choose_backdrop(backdrop: str | None, view: str, is_png: bool) -> str:
    """The backdrop under an environment; empty for none."""
    if backdrop is not None:
        require_known(backdrop, BACKDROPS, "--backdrop")
    is_flat = view in ("sphere", "plane")
    if backdrop == "ground" and view == "plane":
        raise typer.BadParameter(
            "'ground' needs a shape that stands on it, and the shape is 'plane': use 'environment'",
            param_hint="--backdrop",
        )
    if backdrop or not is_png:
        return backdrop or ""
    return "environment" if is_flat else "ground"
