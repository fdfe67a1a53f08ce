"""Events of a bake, and the pace of what it repeats."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.text import format_bytes
from verdigris.core.pictures.compare.metrics import PictureMetrics, SampleMetrics, SkyMetrics
from verdigris.core.settings.bake_settings import MORE_LATENTS

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats


# Phases of a bake in order. The second and third belong to two-stage training, the last to a bake
# with viewport textures.
STARTS, SMALL_TEXTURE, ENCODING = "starts", "small texture", "encoding"
TRAINING, ROUNDING, MEASURING = "training", "rounding", "measuring"
FLATTENING = "flattening"
# What a person reads of them: events and checkpoints keep the names.
PHASE_WORDS = {
    STARTS: "finding a good start",
    SMALL_TEXTURE: "training a small texture",
    ENCODING: "enlarging the texture",
    TRAINING: "training",
    ROUNDING: "compressing",
    MEASURING: "measuring and writing",
    FLATTENING: "fitting textures for the viewport",
}
# Largest part of the time for a repeated action: copying and writing a large texture takes seconds.
_SHARE = 0.05


# eq=False: events with arrays would inherit an equality that compares no fields.
@dataclass(frozen=True, eq=False)
class Event:
    """Something that happened. `as_json` leaves out pixels."""

    def as_json(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"event": type(self).__name__.lower(), **_plain(values)}


@dataclass(frozen=True)
class Started(Event):
    """The materials are compiled, and training is about to begin."""

    materials: tuple[str, ...]
    device: str
    trainer: str
    network: str
    resolution: int
    steps: int
    step: int
    """Steps of the run that this one resumes."""


@dataclass(frozen=True)
class Phase(Event):
    """A part of the bake begins."""

    name: str
    number: int
    count: int


@dataclass(frozen=True)
class Step(Event):
    """Progress of training."""

    step: int
    steps: int
    """All steps. While starts are compared: the steps of all starts, which `step` then counts."""
    loss: float
    samples_per_second: float
    """Samples per second; while a texture is encoded, texels per second."""
    seconds: float
    """Seconds since the bake began."""
    seconds_left: float
    """An estimate; while a texture is encoded, of the encoding alone."""


@dataclass(frozen=True)
class Metrics(Event):
    """Errors on held-out samples, by material."""

    step: int
    samples: tuple[SampleMetrics, ...]
    pictures: tuple[PictureMetrics, ...] = ()


@dataclass(frozen=True, eq=False)
class Preview(Event):
    """A picture of the student in linear light. Two are equal only if they are the same object."""

    step: int
    material: str
    picture: Floats


@dataclass(frozen=True)
class Warning(Event):
    """A message for the artist; the bake continues."""

    text: str


@dataclass(frozen=True)
class SizeChosen(Event):
    """The bake has chosen the size of its latent texture."""

    width: int
    height: int
    loaded_bytes: int
    """Bytes of a bundle with this size on a GPU."""
    target: float
    """The largest accepted log MAE; 0 if only bytes counted."""
    channels: int = MORE_LATENTS
    """Latent channels per texel."""
    most_bytes: int = 0
    """The most bytes that were allowed: the requested limit, or one below the block-compressed
    images of the material. 0 if there was no limit, or if it gave way to the error."""
    images_bytes: int = 0
    """Bytes of the material's block-compressed images, if the bundle is larger than these because a
    smaller one would look different; otherwise 0."""
    tried: tuple[Mapping[str, Any], ...] = ()
    """All sizes that were tried: width, height, channels, bytes, and the log MAE after a short
    training, or a log MAE that is as visible as the error of a picture."""

    @property
    def text(self) -> str:
        """The choice for people, with the results of the next larger and the next smaller size."""
        chosen, others = "", []
        for each in sorted(self.tried, key=lambda each: -each["bytes"]):
            known = each["log_mae"] is not None
            numbers = each["width"], each["height"], each["channels"]
            text = _in_texels(*numbers)
            error = f" (log error {each['log_mae']:.4f})" if known else ""
            if numbers == (self.width, self.height, self.channels):
                chosen = error
            elif known:
                others.append(f"{text}: {each['log_mae']:.4f}")
        limit = f", at most {self.target:.4f} is the target" if self.target else ""
        if self.most_bytes:
            limit += f", and at most {format_bytes(self.most_bytes)}"
        if self.images_bytes:
            limit += (
                f", and more than the {format_bytes(self.images_bytes)} of the images, "
                "block-compressed, because fewer would be visible (a limit of bytes prevents that)"
            )
        rest = f"; {', '.join(others)}" if others else ""
        texels = _in_texels(self.width, self.height, self.channels)
        size = f"{texels}, {format_bytes(self.loaded_bytes)}"
        return f"texture of {size}{chosen}{limit}{rest}"


def _in_texels(width: int, height: int, channels: int) -> str:
    few = f" of {channels} latents" if channels < MORE_LATENTS else ""
    return f"{width} x {height} texels{few}"


@dataclass(frozen=True)
class Checkpointed(Event):
    """A checkpoint was written: a bake that is interrupted resumes from here."""

    step: int
    path: str


@dataclass(frozen=True)
class Closing(Event):
    """A part of measuring and writing is done."""

    done: int
    parts: int


@dataclass(frozen=True)
class Kept(Event):
    """A bake that was stopped has written its bundles, with rough measurements. It now refines
    them; nothing is lost if it is closed."""

    results: tuple[str, ...]
    step: int
    seconds: float


@dataclass(frozen=True)
class Finished(Event):
    """The bundles are written."""

    results: tuple[str, ...]
    """Their folders, one for each material."""
    step: int
    """Number of trained steps; early stopping leaves out the others."""
    seconds: float
    stopped_by: str
    """`steps`, `time limit`, `target error`, `quality` (indistinguishable) or `request`."""
    samples: tuple[SampleMetrics, ...]
    pictures: tuple[PictureMetrics, ...]
    textures: tuple[Mapping[str, str], ...] = ()
    """Files of viewport textures by their content, for each material; none by default."""
    hints: tuple[str, ...] = ()
    """A hint for each material; empty if there is none."""
    skies: tuple[SkyMetrics, ...] = ()
    """Errors of each material under a sky."""

    @property
    def result(self) -> str:
        """The first bundle; most bakes write only one."""
        return self.results[0]


_KINDS: dict[str, type[Event]] = {
    each.__name__.lower(): each
    for each in (
        Started, Phase, Step, Metrics, Warning, SizeChosen, Checkpointed, Closing, Kept, Finished
    )
}  # fmt: skip
_MEASURES: dict[str, Callable[..., Any]] = {
    "samples": SampleMetrics,
    "pictures": PictureMetrics,
    "skies": SkyMetrics,
}


def event_of(values: Mapping[str, Any]) -> Event | None:
    """The event of a bake that `as_json` wrote; None for any other. Pictures stay behind."""
    kind = _KINDS.get(str(values.get("event")))
    if kind is None:
        return None
    found: dict[str, Any] = {}
    for each in fields(kind):
        if each.name not in values:
            continue
        value = values[each.name]
        if each.name in _MEASURES:
            measure = _MEASURES[each.name]
            value = [measure(**{part: _number(of[part], part) for part in of}) for of in value]
        value = _number(value) if each.type == "float" else value
        found[each.name] = tuple(value) if isinstance(value, list) else value
    return kind(**found)


def _number(value: float | None, name: str = "") -> float:
    """A number that was written as null because it is not finite."""
    return value if value is not None else float("inf" if name == "psnr" else "nan")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape)}
    if isinstance(value, SampleMetrics | PictureMetrics | SkyMetrics):
        return asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


class Pace:
    """When to repeat an action of a bake: a checkpoint, a measurement, a picture. The interval in
    seconds grows if the action takes more than its share of the time."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is the interval; 0 repeats the action as often as possible."""
        self._seconds, self._clock = seconds, clock
        self._since, self._took = clock(), 0.0
        self._is_first = True

    @property
    def is_due(self) -> bool:
        wait = max(self._seconds, self._took / _SHARE) if self._seconds else 0.0
        return self._clock() - self._since > wait

    def restart(self) -> None:
        """Begins an interval now."""
        self._since = self._clock()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Encloses the action; the next interval begins at its end."""
        begun = self._clock()
        yield
        self._since = self._clock()
        # the first action may include compilation
        self._took = 0.0 if self._is_first else self._since - begun
        self._is_first = False
