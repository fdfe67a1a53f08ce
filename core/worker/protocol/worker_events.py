"""Events of the worker besides those of a bake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from verdigris.core.progress import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

IDLE = "idle"
PREPARING = "preparing"
TRAINING = "training"
PAUSED = "paused"
FINISHING = "finishing"
# The bundle of a stopped bake is written; measuring and rewriting it gives way to other commands.
REFINING = "refining"
DONE = "done"
FAILED = "failed"
_LONGEST_TEXT, _LONGEST_NAME = 4000, 80


@dataclass(frozen=True)
class Hello(Event):
    """The worker has started."""

    protocol: int
    verdigris: str
    python: str
    process: int


@dataclass(frozen=True)
class Alive(Event):
    """A heartbeat, several times a second."""

    stalled: float
    """Seconds without progress."""


@dataclass(frozen=True)
class Pace(Event):
    """How long work on a CPU has taken since the last such event: in an opening or in a bake."""

    seconds: float
    idle: float
    """Seconds that an otherwise idle machine would have needed, by CPU time."""


@dataclass(frozen=True)
class State(Event):
    """The state of the worker."""

    state: str
    doing: str
    """What the worker does, in words for people, or empty."""
    patience: float
    """Seconds of silence, or without progress, that are normal until the next state."""


@dataclass(frozen=True)
class Error(Event):
    """A command was refused, or the current work failed."""

    text: str
    command: str = ""
    """The refused command, if there was one."""
    kind: str = ""
    """The class of the error."""
    is_fatal: bool = False
    """Whether the worker ends with it."""

    def __post_init__(self) -> None:
        # a refused name can be as long as a line, and the event is a line, too
        for name, most in (("text", _LONGEST_TEXT), ("command", _LONGEST_NAME)):
            text = getattr(self, name)
            if len(text) > most:
                half = most // 2
                object.__setattr__(self, name, f"{text[:half]} … {text[-half:]}")


@dataclass(frozen=True)
class Showing(Event):
    """A view was refused because its mesh or light cannot be read: what is shown instead."""

    view: int
    """The number of the refused view."""
    shape: str
    mesh: str
    lit_by: str = ""


@dataclass(frozen=True)
class Shown(Event):
    """The pictures show a bundle."""

    path: str
    against: str = ""
    """The bundle in place of the reference, or empty."""


@dataclass(frozen=True)
class Fitting(Event):
    """The progress of a ladder."""

    what: str
    """A rung, or a step such as `views`."""
    part: float
    """The completed part, 0 to 1."""


@dataclass(frozen=True)
class Fitted(Event):
    """A ladder is written."""

    folder: str
    report: Mapping[str, Any]
    """The report, as in ladder.json."""


@dataclass(frozen=True)
class Opened(Event):
    """A document was read, and the teacher of one material compiled."""

    name: str
    chosen: str
    materials: tuple[Mapping[str, Any], ...]
    """Reports, as from `verdigris inspect --json`."""
    device: str
    trainer: str
    live: tuple[Mapping[str, Any], ...] = ()
    """The live inputs that are open, as in manifests. `request` is the text for `bake --live`."""


@dataclass(frozen=True)
class Forecast(Event):
    """Size and cost of the result."""

    texture_bytes: int
    decoder_bytes: int
    source_texture_bytes: int | None = None
    """Bytes of the graph's images with mips, as they are; None if unknown."""
    source_compressed_bytes: int | None = None
    """Bytes of the graph's images with mips, block-compressed."""
    may_be_smaller: bool = False
    """Whether the bake chooses the size of the texture. The bytes are then the most."""
    nanoseconds: float | None = None
    """Nanoseconds of an evaluation on this device; None unless measured."""
    source_nanoseconds: float | None = None
    """Nanoseconds of an evaluation of the material's graph."""
    verdict: str = ""
    """Whether a bake is worthwhile, in words for people."""
    answer: str = ""
    """The same as a sentence that begins with yes or no."""


@dataclass(frozen=True)
class Plan(Event):
    """The phases of a bake, in order."""

    parts: tuple[Mapping[str, Any], ...]
    """Each part has the `name` of the phase, and `first` and `last`: the range of its steps."""


@dataclass(frozen=True)
class Weighted(Event):
    """Training uses the last weights."""

    step: int
    """The last step of the first run with them."""


@dataclass(frozen=True)
class Errors(Event):
    """Errors of the first material on held-out samples, several times a second. Some of them are a
    moment old. `metrics` are rarer and evaluate all samples at once."""

    step: int
    log_mae: float
    relative_l1: float
    smape: float


@dataclass(frozen=True, eq=False)
class Pixels(Event):
    """An event with an array behind its line. Events are equal only to themselves."""

    array: NDArray[Any]

    def as_json(self) -> dict[str, Any]:
        values = super().as_json()
        del values["array"]
        return {**values, "shape": list(self.array.shape), "type": self.array.dtype.str}

    def payload(self) -> bytes:
        return self.array.tobytes()

    @property
    def replaces(self) -> str:
        """If several messages with the same text wait, only the newest is kept."""
        return type(self).__name__


@dataclass(frozen=True, eq=False)
class Picture(Pixels):
    """A picture for the screen: (height, width, 3) bytes of sRGB, row 0 at the top. The part `heat`
    contains the difference of display values, (height, width, 1): 65,535 is 100%, but a pixel with
    this very value is not compared."""

    array: NDArray[np.uint8] | NDArray[np.uint16]
    part: str
    """`reference`, `neural`, `heat`, `texture`: the material on the unit square, `light`: the map
    of an environment from a file, or `compared 0` and so on."""
    view: int
    """The number of the view that it shows."""
    step: int
    sharp: float
    """1 for a complete picture in full size."""
    refined: float = 1.0
    """The share of the passes that make it free of noise and stairs."""

    @property
    def replaces(self) -> str:
        return f"picture {self.part}"


@dataclass(frozen=True, eq=False)
class RangeDrawn(Pixels):
    """Small pictures over the range of a live input, from left to right: (size, count * size, 3)
    bytes of sRGB."""

    array: NDArray[np.uint8]
    input: int
    """The number of the live input."""
    part: str
    """What is drawn: `reference` or `neural`."""


@dataclass(frozen=True, eq=False)
class ErrorMap(Pixels):
    """Mean log error by place: (height, width) floats, row 0 at v = 0."""

    array: NDArray[np.float32]
    step: int


@dataclass(frozen=True, eq=False)
class Places(Pixels):
    """The uv of each pixel of a view: (height, width, 2) floats; NaN on the backdrop."""

    array: NDArray[np.float32]
    view: int
    texels: int = 0
    """Texels per side if each is drawn as a square; otherwise 0."""


@dataclass(frozen=True, eq=False)
class Importance(Pixels):
    """A map that was read from a file: (height, width) floats, row 0 at v = 0."""

    array: NDArray[np.float32]
    path: str


@dataclass(frozen=True)
class Linked(Event):
    """The live link was opened, its clients have changed, or it has ended."""

    address: str = ""
    """What clients connect to; empty without a link."""
    page: str = ""
    """A page that shows the material in a browser."""
    clients: int = 0
    problem: str = ""
    """Why there is no link."""


@dataclass(frozen=True)
class Written(Event):
    """A map or a page was written."""

    path: str
