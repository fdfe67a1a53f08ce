"""Options of the commands that draw, and what their values mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from verdigris.core.bundle.files.read import Bundle
from verdigris.core.cli.shared.options import (
    as_usage_error,
    parse_three,
    require_finite,
    require_known,
)
from verdigris.core.lighting.environment import ENVIRONMENTS, SKY, Environment
from verdigris.core.lighting.named_environments import find_environment, make_sky
from verdigris.core.material.live_inputs.live_input import (
    LiveInput,
    WantedInput,
    live_values,
    parse_wanted,
)
from verdigris.core.pictures.gbuffer import ALL_SHAPES
from verdigris.core.pictures.render import largest_size
from verdigris.core.pictures.tone import TONES

STUDIO = 0.8
LIGHT = "-0.45,0.6,0.66"
STUDIO_SAMPLES, SAMPLES = 32, 64

Shape = Annotated[
    str | None, typer.Option("--view", help="The shape: sphere, plane, ball, cloth, tile or mesh.")
]
ViewMesh = Annotated[Path | None, typer.Option(help="The mesh (.obj, .usd) for the shape 'mesh'.")]

Output = Annotated[Path, typer.Option("--output", "-o", help="The picture: .png or .exr.")]
Size = Annotated[int, typer.Option(help=f"Width of the picture in pixels, 1 to {largest_size()}.")]
Reference = Annotated[
    bool,
    typer.Option(
        "--reference",
        help="Draw a document as its bundle is drawn: evaluated on the flat unit square and "
        "wrapped around the shape by uv. Without this option, 3D patterns are evaluated on the "
        "shape itself.",
    ),
]
RELIEF, DISPLACED, NO_RELIEF = RELIEFS = ("relief", "mesh", "none")
Relief = Annotated[
    str,
    typer.Option(
        "--displacement",
        metavar="|".join(RELIEFS),
        help="How displacement is drawn: relief as in an engine, on the shape as it "
        "is; mesh displaces the shape, to compare; none.",
    ),
]
Exposure = Annotated[
    float | None,
    typer.Option(
        metavar="STOPS",
        help="The exposure. Default: 0. For a .png with --hdri: the exposure that shows white "
        "paper on the ground as white.",
    ),
]
Backdrop = Annotated[
    str | None,
    typer.Option(
        help="With --hdri: ground (a grey floor with the shape's shadow), environment (out of "
        "focus) or plain. Default for a .png: ground for a mesh, environment for other shapes. "
        "Default for an .exr: none, with coverage as alpha."
    ),
]
ToneMapping = Annotated[
    str | None,
    typer.Option(
        "--tone",
        metavar="|".join(TONES),
        help="How a .png shows light: film compresses highlights, clip cuts them off, aces is "
        "Narkowicz's fit of ACES, and neutral is Khronos PBR Neutral. Default: film with --hdri, "
        "otherwise clip.",
        show_default=False,
    ),
]
Studio = Annotated[
    float | None,
    typer.Option(
        help=f"Brightness of the studio. 0 leaves only one light. Default: {STUDIO}.",
        show_default=False,
    ),
]
Light = Annotated[
    str | None,
    typer.Option(
        help="The direction to the light, or to the sun of --hdri sky: x,y,z with x to the "
        f"right, y up, z to the viewer. For a mesh, in its own axes with y up. Default: {LIGHT}. "
        "The sun's default is at the right, on the viewer's side.",
        show_default=False,
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        help="Directions of light for each sub-pixel. More give less noise. Default: "
        f"{STUDIO_SAMPLES}, or {SAMPLES} with --hdri.",
        show_default=False,
    ),
]
Animate = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Move a live input through its range, and write a .gif, a .webp, an .mp4 (needs "
        "ffmpeg) or a folder of PNGs. For a bundle, NAME=LOW..HIGH narrows its range; "
        "for a document, it sets the range.",
    ),
]
Frames = Annotated[int, typer.Option(help="Number of pictures of --animate.")]
Rate = Annotated[float, typer.Option(help="Pictures per second of --animate.")]
ThereAndBack = Annotated[
    bool, typer.Option("--there-and-back", help="Let --animate end where it begins.")
]


def choose_view(view: str | None, mesh: Path | None) -> str:
    """The shape to draw. A mesh file fits only the shape 'mesh', and makes it the default."""
    if view is not None:
        require_known(view, ALL_SHAPES, "--view")
    if view == "mesh" and not mesh:
        raise typer.BadParameter(
            "'mesh' needs a mesh file: name it with --mesh", param_hint="--view"
        )
    if mesh and view not in (None, "mesh"):
        raise typer.BadParameter(
            f"{mesh} cannot be drawn as the shape {view!r}: leave out --view", param_hint="--mesh"
        )
    return view or ("mesh" if mesh else "sphere")


LiveValues = Annotated[
    list[str] | None,
    typer.Option(
        "--live",
        metavar="NAME=VALUE",
        help="The value of a live input, such as wetness=.5. In a document, any input that can be "
        "kept open. Repeatable.",
    ),
]


def parse_values(texts: Sequence[str] | None) -> dict[str, float]:
    """The values of `--live NAME=VALUE`, by name."""
    found: dict[str, float] = {}
    for text in texts or ():
        name, _, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            raise typer.BadParameter(
                f"{text!r} is not NAME=VALUE, such as wetness=.5", param_hint="--live"
            ) from None
    return found


def bundle_values(bundle: Bundle, given: dict[str, float]) -> tuple[float, ...]:
    """Live values of a bundle, from 0 to 1: the given ones, and its defaults for the others."""
    with as_usage_error("--live"):
        return live_values(bundle.manifest.live, given, str(bundle.folder))


def wanted_values(given: dict[str, float]) -> list[WantedInput]:
    """Requests that open inputs of a document at these values."""
    # any range that begins with the value
    return [
        WantedInput(name, (value,), (value + max(1.0, abs(value)),), value)
        for name, value in given.items()
    ]


def parse_moved(text: str) -> tuple[str, WantedInput | None]:
    """The name in `--animate NAME` or `NAME=LOW..HIGH`, and the range if there is one."""
    with as_usage_error("--animate"):
        if "=" not in text:
            return text, None
        wanted = parse_wanted(text)
        return wanted.name, wanted


def values_of_frames(
    inputs: Sequence[LiveInput],
    start: tuple[float, ...],
    name: str,
    part: WantedInput | None,
    frames: int,
    is_returning: bool,
) -> Iterator[tuple[float, ...]]:
    """The live values of each frame: one input moves through its range, or through a part of it."""
    number = next((index for index, each in enumerate(inputs) if each.name == name), None)
    if number is None:
        known = ", ".join(each.name for each in inputs) or "none"
        raise typer.BadParameter(
            f"there is no live input {name!r}; the live inputs are: {known}", param_hint="--animate"
        )
    low, high = 0.0, 1.0
    if part is not None and not inputs[number].is_colour:
        with as_usage_error("--animate"):
            low, high = (inputs[number].share_of(end[0]) for end in (part.low, part.high))
    for frame in range(frames):
        share = frame / max(1, frames - 1)
        if is_returning:
            # the first frame follows the last
            share = 1 - abs(1 - 2 * frame / frames)
        values = list(start)
        values[number] = low + (high - low) * share
        yield tuple(values)


Direction = tuple[float, float, float]

Hdri = Annotated[
    str | None,
    typer.Option(
        metavar=f"FILE|{'|'.join(ENVIRONMENTS)}",
        help="Light with an environment instead of the plain studio: a latitude-longitude map "
        "(.hdr, .exr), or the name of a built-in environment.",
    ),
]
Rotate = Annotated[
    float,
    typer.Option(
        metavar="DEGREES",
        help="Turn the environment of --hdri about the vertical axis, counter-clockwise as seen "
        "from above.",
    ),
]


def open_environment(hdri: str, rotate: float, light: str | None = None) -> Environment:
    """The environment that `--hdri` names. `light` is the direction to the sky's sun."""
    require_finite(rotate, "--rotate")
    if hdri == SKY and light:
        return make_sky(parse_direction(light)).turned(rotate)
    if light:
        raise typer.BadParameter(
            f"{hdri} contains its light: leave out --light, or turn the environment with --rotate",
            param_hint="--light",
        )
    return find_environment(hdri).turned(rotate)


def parse_direction(text: str) -> Direction:
    """The direction that `--light` gives."""
    x, y, z = parse_three(text, "--light")
    largest = max(abs(x), abs(y), abs(z))
    if not largest:
        raise typer.BadParameter(
            f"{text!r} is not a direction: use numbers that are not all 0", param_hint="--light"
        )
    # scaled first: squares of very long vectors would overflow
    return x / largest, y / largest, z / largest
