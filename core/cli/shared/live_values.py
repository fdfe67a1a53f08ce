"""Options of commands that set or move live inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from verdigris.core.cli.shared.options import as_usage_error

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.material.live_inputs.live_input import LiveInput, WantedInput

LiveValues = Annotated[
    list[str] | None,
    typer.Option(
        "--live",
        metavar="NAME=VALUE",
        help="Value of a live input, as in wetness=.5; of a document, of any open input. "
        "Repeatable.",
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
                f"{text!r} is not NAME=VALUE, as in wetness=.5", param_hint="--live"
            ) from None
    return found


def bundle_values(bundle: Bundle, given: dict[str, float]) -> tuple[float, ...]:
    """Live values of a bundle from 0 to 1: the given ones, and its defaults."""
    from verdigris.core.material.live_inputs.live_input import live_values

    with as_usage_error("--live"):
        return live_values(bundle.manifest.live, given, str(bundle.folder))


def wanted_values(given: dict[str, float]) -> list[WantedInput]:
    """Requests that open inputs of a document at these values."""
    from verdigris.core.material.live_inputs.live_input import WantedInput

    # any range that begins with the value
    return [
        WantedInput(name, (value,), (value + max(1.0, abs(value)),), value)
        for name, value in given.items()
    ]


def parse_moved(text: str) -> tuple[str, WantedInput | None]:
    """The name in `--animate NAME` or `NAME=LOW..HIGH`, and the range if there is one."""
    from verdigris.core.material.live_inputs.live_input import parse_wanted

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
    """Live values of each frame, of which one input moves through its range or a part of it."""
    number = next((index for index, each in enumerate(inputs) if each.name == name), None)
    if number is None:
        known = ", ".join(each.name for each in inputs) or "none"
        raise typer.BadParameter(
            f"there is no live input {name!r}: it has {known}", param_hint="--animate"
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
