"""Options that choose the light of pictures."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.cli.shared.options import require_finite
from verdigris.core.lighting.environment_names import ENVIRONMENTS, SKY

if TYPE_CHECKING:
    from verdigris.core.lighting.environment import Environment

    Direction = tuple[float, float, float]

Hdri = Annotated[
    str | None,
    typer.Option(
        metavar=f"FILE|{'|'.join(ENVIRONMENTS)}",
        help="Light by an environment in place of the plain studio: a latitude-longitude map "
        "(.hdr, .exr), or one of those that the panel offers, by name.",
    ),
]
Rotate = Annotated[
    float,
    typer.Option(
        metavar="DEGREES",
        help="Turn the environment of --hdri about the vertical axis: counter-clockwise, seen from "
        "above.",
    ),
]
# Before it, a line of progress would only flicker.
_QUICK_SECONDS = 2.0


def open_environment(hdri: str, rotate: float, light: str | None = None) -> Environment:
    """The environment that `--hdri` names. `light` is the direction to the sky's sun."""
    from verdigris.core.lighting.named_environments import find_environment
    from verdigris.core.lighting.sky import make_sky

    require_finite(rotate, "--rotate")
    if hdri == SKY and light:
        return make_sky(parse_direction(light)).turned(rotate)
    if light:
        raise typer.BadParameter(
            f"the light of {hdri} is part of it: leave out --light, or turn it with --rotate",
            param_hint="--light",
        )
    return find_environment(hdri).turned(rotate)


def parse_direction(text: str) -> Direction:
    """A direction of `--light`."""
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


@contextmanager
def drawing_line() -> Iterator[Callable[[float], None]]:
    """A line on a terminal with the part of a picture that is drawn, and the time left."""
    begun, is_shown = time.monotonic(), False

    def show(part: float) -> None:
        nonlocal is_shown
        passed = time.monotonic() - begun
        if passed < _QUICK_SECONDS or not sys.stderr.isatty():
            return
        left = passed * (1 - part) / part
        print(
            f"\r\x1b[Kdrawing: {part:.0%}, {left:.0f} s left", end="", file=sys.stderr, flush=True
        )
        is_shown = True

    try:
        yield show
    finally:
        if is_shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
