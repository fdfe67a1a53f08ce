"""What a bake tells while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.pictures.metrics import PictureMetrics, SampleMetrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Phases of a bake in order. Two-stage training has the second and third, a bake with viewport
# textures the last.
STARTS, SMALL_TEXTURE, ENCODING = "starts", "small texture", "encoding"
TRAINING, ROUNDING, MEASURING = "training", "rounding", "measuring"
FLATTENING = "flattening"


# Without an equality of its own, which knows no fields, and which those would inherit that have
# arrays.
@dataclass(frozen=True, eq=False)
class Event:
    """Something that happened. `as_json` leaves out pixels, which are not for reading."""

    def as_json(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"event": type(self).__name__.lower(), **_plain(values)}


@dataclass(frozen=True)
class Started(Event):
    """The materials are compiled and the first step is near."""

    materials: tuple[str, ...]
    device: str
    trainer: str
    network: str
    resolution: int
    steps: int
    step: int
    """Steps that an earlier run has done."""


@dataclass(frozen=True)
class Phase(Event):
    """A part of the bake begins."""

    name: str
    number: int
    count: int


@dataclass(frozen=True)
class Step(Event):
    """Some steps were done."""

    step: int
    steps: int
    """In all; while starts are tried, those of all of them, which `step` then counts, too."""
    loss: float
    samples_per_second: float
    """While a texture is encoded, its texels."""
    seconds: float
    """Since the bake began."""
    seconds_left: float
    """About; while a texture is encoded, of that alone."""


@dataclass(frozen=True)
class Metrics(Event):
    """Errors on held-out samples, by material."""

    step: int
    samples: tuple[SampleMetrics, ...]
    pictures: tuple[PictureMetrics, ...] = ()


@dataclass(frozen=True, eq=False)
class Preview(Event):
    """A picture of the student in linear light. It equals itself alone: numpy compares arrays
    texel by texel, which is neither true nor false."""

    step: int
    material: str
    picture: Floats


@dataclass(frozen=True)
class Warning(Event):
    """Something that the artist should know and that does not stop the bake."""

    text: str


@dataclass(frozen=True)
class Checkpointed(Event):
    """The state was written: a bake that is cut off goes on from here."""

    step: int
    path: str


@dataclass(frozen=True)
class Finished(Event):
    """The bundles are written."""

    results: tuple[str, ...]
    """Their folders, one for each material."""
    step: int
    """Steps in all; of whole bakes that were tried, those of all of them."""
    seconds: float
    stopped_by: str
    """`steps`, `time limit`, `target error` or `request`."""
    samples: tuple[SampleMetrics, ...]
    pictures: tuple[PictureMetrics, ...]
    textures: tuple[Mapping[str, str], ...] = ()
    """Files of flattened textures by what they hold, for each material; none by default."""
    hints: tuple[str, ...] = ()
    """What would make each material better, or an empty text."""

    @property
    def result(self) -> str:
        """The first, which is the only one of most bakes."""
        return self.results[0]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape)}
    if isinstance(value, SampleMetrics | PictureMetrics):
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
