"""What the worker tells beside the events of a bake. All are written by one encoder, `as_json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.progress.events import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

IDLE = "idle"
PREPARING = "preparing"
TRAINING = "training"
PAUSED = "paused"
FINISHING = "finishing"
DONE = "done"
FAILED = "failed"
_LONGEST_TEXT, _LONGEST_NAME = 4000, 80
STATES = (IDLE, PREPARING, TRAINING, PAUSED, FINISHING, DONE, FAILED)


@dataclass(frozen=True)
class Hello(Event):
    """The worker is there."""

    protocol: int
    verdigris: str
    python: str
    process: int


@dataclass(frozen=True)
class Alive(Event):
    """A sign of life, several times a second."""

    stalled: float
    """Seconds for which the work has not got on."""


@dataclass(frozen=True)
class State(Event):
    """What the worker is doing now."""

    state: str
    doing: str
    """In words, or nothing."""
    patience: float
    """Seconds of silence, or without progress, that are no reason to worry until the next state."""


@dataclass(frozen=True)
class Error(Event):
    """A command could not be obeyed, or what was going on has failed."""

    text: str
    command: str = ""
    """That was refused, if it was one."""
    kind: str = ""
    """The class of the error."""
    is_fatal: bool = False
    """The worker ends."""

    def __post_init__(self) -> None:
        # a name that is refused may be as long as a line may be, and the answer is a line, too
        for name, most in (("text", _LONGEST_TEXT), ("command", _LONGEST_NAME)):
            said = getattr(self, name)
            if len(said) > most:
                half = most // 2
                object.__setattr__(self, name, f"{said[:half]} … {said[-half:]}")


@dataclass(frozen=True)
class Showing(Event):
    """A view was refused, since its mesh cannot be read: what the pictures show instead."""

    view: int
    """The number of the one that was refused."""
    shape: str
    mesh: str


@dataclass(frozen=True)
class Opened(Event):
    """A document is read, and of one material the teacher is compiled."""

    name: str
    chosen: str
    materials: tuple[Mapping[str, Any], ...]
    """A report for each, as `verdigris inspect --json` prints it."""
    device: str
    trainer: str


@dataclass(frozen=True)
class Forecast(Event):
    """What the result will be, before it is there."""

    texture_bytes: int
    decoder_bytes: int
    source_texture_bytes: int | None = None
    """Of the images that the graph reads, with mips; nothing where it was not asked for."""
    nanoseconds: float | None = None
    """An evaluation on this device; nothing where it was not measured."""
    source_nanoseconds: float | None = None
    """An evaluation of the material's own graph there."""
    verdict: str = ""
    """Whether it is worth baking, in words."""


@dataclass(frozen=True)
class Plan(Event):
    """In which parts a bake falls, in their order."""

    parts: tuple[Mapping[str, Any], ...]
    """The `name` of the phase, and `first` and `last`: what steps are counted from and to in it."""


@dataclass(frozen=True)
class Weighted(Event):
    """Training draws places by the weights that it was last given."""

    step: int
    """The first run of steps with them ended here."""


@dataclass(frozen=True)
class Errors(Event):
    """Errors on held-out samples, several times a second: of the first material, and some of the
    samples as they were a moment ago. `metrics` are measured at once, and seldom."""

    step: int
    log_mae: float
    relative_l1: float
    smape: float


@dataclass(frozen=True, eq=False)
class Pixels(Event):
    """Anything with an array behind its line: `array` is written as it lies in memory.
    Each equals itself alone, as previews do."""

    array: NDArray[Any]

    def as_json(self) -> dict[str, Any]:
        values = super().as_json()
        del values["array"]
        return {**values, "shape": list(self.array.shape), "type": self.array.dtype.str}

    def payload(self) -> bytes:
        return self.array.tobytes()

    @property
    def replaces(self) -> str:
        """Of messages with the same text only the newest is of use."""
        return type(self).__name__


@dataclass(frozen=True, eq=False)
class Picture(Pixels):
    """A picture for the screen: (height, width, 3) bytes of sRGB, row 0 at the top."""

    array: NDArray[np.uint8]
    part: str
    """`reference`, `neural`, `heat`, or `texture`: the material on the unit square."""
    view: int
    """The number of the view that it shows."""
    step: int
    sharp: float
    """1 when it has the size that was asked for, and all of it is drawn."""
    top: float = 0.0
    """Of heat: the difference of display values, 0 to 1, that has the brightest colour."""

    @property
    def replaces(self) -> str:
        return f"picture {self.part}"


@dataclass(frozen=True, eq=False)
class ErrorMap(Pixels):
    """Mean log error by place: (height, width) floats, row 0 at v = 0."""

    array: NDArray[np.float32]
    step: int


@dataclass(frozen=True, eq=False)
class Places(Pixels):
    """The uv that each pixel of a view shows: (height, width, 2) floats; NaN on the backdrop."""

    array: NDArray[np.float32]
    view: int
    texels: int = 0
    """Where each texel is drawn as a square: how many there are a side on the level shown."""


@dataclass(frozen=True, eq=False)
class Importance(Pixels):
    """A map that was read from a file: (height, width) floats, row 0 at v = 0."""

    array: NDArray[np.float32]
    path: str


@dataclass(frozen=True)
class Written(Event):
    """A map was written."""

    path: str
