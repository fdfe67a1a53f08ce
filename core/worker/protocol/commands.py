"""Commands to the worker. Each is a class whose fields are checked when it arrives."""

from __future__ import annotations

import math
import typing
from collections.abc import Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.baking.bake_request import BakeRequest, options_of
from verdigris.core.base.json_fields import Fields, shortened
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.importance.maps import LARGEST_SIDE
from verdigris.core.pictures.gbuffer import ALL_SHAPES
from verdigris.core.pictures.tone import TONES
from verdigris.core.pictures.view import GREY, SHOWS, SOFT, View
from verdigris.core.worker.protocol.messages import COMMAND, Message, ProtocolError

if TYPE_CHECKING:
    from verdigris.core.hosts.host import HostDocument

EVERYWHERE, PAINTED, IN_VIEW = "everywhere", "painted", "view"
REQUEST = "request"
_LIMITS = "time_limit", "target_error"
FOCUSES = (EVERYWHERE, PAINTED, IN_VIEW)
LEAST_PICTURE, LARGEST_PICTURE = 16, 2160
# Width by height, and height by width.
MOST_ASPECT = 8.0
LEAST_ZOOM, LARGEST_ZOOM = 0.125, 4096.0
FIELDS_OF_VIEW = 2.0, 120.0
MOST_BLUR = 90.0
MOST_RANGE, LARGEST_RANGE = 32, 256
MOST_COMPARED, MOST_PUBLISHED = 4, 64
# The coarsest level of a texture of 8192 texels per side, the largest size.
LARGEST_LEVEL = 13
# Three corners, each with a position, a normal and a uv.
BYTES_A_TRIANGLE = 3 * (3 + 3 + 2) * 4
# Digits of a number in an error.
_SHOWN_DIGITS = 20


@dataclass(frozen=True)
class Command:
    """A command to the worker."""

    def as_json(self) -> dict[str, Any]:
        """The header of the command, without fields that have their default. A request is spread in
        it."""
        values = {
            item.name: value
            for item in fields(self)
            if item.name not in ("payload", REQUEST)
            and (value := getattr(self, item.name)) != item.default
        }
        request = getattr(self, REQUEST, None)
        return {COMMAND: NAMES[type(self)], **values, **(request.as_json() if request else {})}


@dataclass(frozen=True)
class Hello(Command):
    """The first command: the protocol version of the other side."""

    protocol: int


@dataclass(frozen=True)
class Open(Command):
    """Reads a document, from a file or from the text that follows, and compiles one material."""

    path: str = ""
    name: str = "document"
    """The name of a document that comes as text."""
    search: tuple[str, ...] = ()
    confined: bool = False
    material: str = ""
    """The material; by default the first one that can be baked."""
    device: str = ""
    live: tuple[str, ...] = ()
    """Inputs that stay open, as for `bake --live`."""
    payload: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        if bool(self.path) == bool(self.payload):
            raise ProtocolError("open: give a path, or the text of a document after the line")

    @classmethod
    def of(
        cls, document: HostDocument, search: Sequence[str] = (), live: Sequence[str] | None = None
    ) -> Open:
        """Opens a material of a host, with further folders. By default its live inputs are those
        that the scene keeps open."""
        return cls(
            name=document.name,
            search=(*map(str, document.search), *search),
            confined=document.confined,
            material=document.material,
            live=tuple(document.live if live is None else live),
            payload=document.text.encode(),
        )


@dataclass(frozen=True)
class Start(Command):
    """Trains the open material."""

    folder: str
    name: str = ""
    """The name of the result; by default the material's."""
    request: BakeRequest = field(default_factory=BakeRequest)
    """How to bake it. Importance and live inputs are those of `SetImportance` and `Open`."""
    report_picture: bool = False
    """Whether to write a large picture for a report beside the bundle."""


@dataclass(frozen=True)
class Show(Command):
    """Shows a bundle of the open material in place of a bake's student."""

    path: str
    against: str = ""
    """A bundle in place of the reference; by default the material."""


@dataclass(frozen=True)
class Compare(Command):
    """Shows bundles side by side in the view, in place of an open document."""

    paths: tuple[str, ...]
    with_source: bool = False
    """Whether the open material is the first of the pictures."""

    def __post_init__(self) -> None:
        _within("compare: paths", len(self.paths), 1, MOST_COMPARED - self.with_source)


@dataclass(frozen=True)
class Publish(Command):
    """Writes a web page that shows bundles."""

    paths: tuple[str, ...]
    output: str
    """The page, NAME.html."""

    def __post_init__(self) -> None:
        _within("publish: paths", len(self.paths), 1, MOST_PUBLISHED)


@dataclass(frozen=True)
class Link(Command):
    """Opens or ends the live link, to programs that show what the panel bakes or shows."""

    token: str = ""
    """What clients have to know; by default a new one."""
    at: str = ""
    """HOST:PORT; by default the port of links on this machine, or a free one if it is taken."""
    is_on: bool = True


@dataclass(frozen=True)
class Forecast(Command):
    """Measures the cost of the open material and of its bake. This takes a few seconds."""

    request: BakeRequest = field(default_factory=BakeRequest)


@dataclass(frozen=True)
class Ladder(Command):
    """Fits the open material on a mesh in several forms, and writes them into a folder. The worker
    answers nothing else until then; to cancel it, end the worker."""

    folder: str
    mesh: str
    """The name of a mesh from `SetMesh`, or a file."""
    rungs: tuple[str, ...]
    size: int = 256
    """Texels per side of the textures."""
    lit_by: str = ""
    """An environment, by name or file; by default the studio."""
    preset: str = ""
    """The preset of the neural rung's bake."""


@dataclass(frozen=True)
class Pause(Command):
    """Pauses after the current steps. The view can still be changed."""


@dataclass(frozen=True)
class Resume(Command):
    """Continues after a pause."""


@dataclass(frozen=True)
class Finish(Command):
    """Ends the training and writes the result."""


@dataclass(frozen=True)
class Cancel(Command):
    """Ends the training without a result. The last checkpoint remains."""


@dataclass(frozen=True)
class Quit(Command):
    """Ends the worker."""


@dataclass(frozen=True)
class SetImportance(Command):
    """Weights of places: floats, row 0 at v = 0. Without a size, all places are equal."""

    width: int = 0
    height: int = 0
    payload: bytes = field(default=b"", repr=False)

    @classmethod
    def of(cls, weights: NDArray[np.float32] | None) -> SetImportance:
        """The command for an array of weights; None resets them."""
        if weights is None:
            return cls()
        height, width = weights.shape
        return cls(width, height, weights.astype("<f4").tobytes())

    def __post_init__(self) -> None:
        _check_map("importance", self.width, self.height, self.payload)

    def weights(self) -> NDArray[np.float32] | None:
        return _map(self.width, self.height, self.payload)


@dataclass(frozen=True)
class Focus(Command):
    """Where training samples places."""

    where: str = EVERYWHERE
    """`everywhere`: by the map; `painted`: only above its lowest value; `view`: mostly in view."""
    strength: float = 8.0
    """How much more often places in view are trained."""

    def __post_init__(self) -> None:
        _one_of("focus: where", self.where, FOCUSES)
        _within("focus: strength", self.strength, 0.0, 1000.0)


@dataclass(frozen=True)
class SetView(View, Command):
    """Shows another view. Its mesh is a name from `SetMesh`, or a file."""

    level: int = 0
    number: int = 0
    """Returned with the pictures."""
    wants_places: bool = False
    """Whether to send the uv of every pixel, for painting."""

    def __post_init__(self) -> None:
        _one_of("view: shape", self.shape, ALL_SHAPES)
        _within("view: zoom", self.zoom, LEAST_ZOOM, LARGEST_ZOOM)
        _within("view: field_of_view", self.field_of_view, *FIELDS_OF_VIEW)
        _within("view: blur", self.blur, 0.0, MOST_BLUR)
        _within("view: environment", self.environment, 0.0, 100.0)
        _within("view: exposure", self.exposure, -16.0, 16.0)
        _within("view: level", self.level, 0, LARGEST_LEVEL)
        _within("view: size", self.size, LEAST_PICTURE, LARGEST_PICTURE)
        _within("view: aspect", self.aspect, 1 / MOST_ASPECT, MOST_ASPECT)
        _within("view: wipe", self.wipe, 0.0, 1.0)
        _one_of("view: shows", self.shows, SHOWS)
        _one_of("view: backdrop", self.backdrop, (SOFT, GREY))
        _one_of("view: tone", self.tone, TONES)
        for name in ("turn", "pitch", "x", "y", "rotate"):
            _within(f"view: {name}", getattr(self, name), -1e6, 1e6)
        for value in self.live:
            _within("view: live", value, 0.0, 1.0)
        if not 1e-6 < math.hypot(*self.light) < 1e6:
            raise ProtocolError(f"view: light is {self.light}: it must have a direction")
        if self.shape == "mesh" and not self.mesh:
            raise ProtocolError("view: the shape 'mesh' needs a name or a path: set mesh")


@dataclass(frozen=True)
class Range(Command):
    """Draws small pictures over the range of a live input, in the light of the view."""

    input: int = 0
    """The number of the live input; the others have their values of the view."""
    count: int = 8
    size: int = 48

    def __post_init__(self) -> None:
        _within("range: count", self.count, 2, MOST_RANGE)
        _within("range: size", self.size, LEAST_PICTURE, LARGEST_RANGE)


@dataclass(frozen=True)
class SetMesh(Command):
    """A mesh of the host's scene as floats of its triangles' corners: all positions (3 a corner),
    then all normals (3), then all uvs (2)."""

    name: str
    triangles: int
    payload: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        fits = divmod(len(self.payload), BYTES_A_TRIANGLE) == (self.triangles, 0)
        if not self.name or self.triangles < 1 or not fits:
            count = str(self.triangles)[:_SHOWN_DIGITS]
            raise ProtocolError(
                f"mesh: {self.name[:80]!r} of {count} triangles needs {BYTES_A_TRIANGLE} bytes for "
                f"each, and got {len(self.payload)}: give a name, and at least one triangle"
            )

    def mesh(self) -> Mesh:
        floats = np.frombuffer(self.payload, "<f4").astype(np.float32)
        if not np.isfinite(floats).all():
            raise ProtocolError(f"mesh: {self.name!r} has values that are not numbers: remove them")
        corners = 3 * self.triangles
        position, normal, uv = np.split(floats, [3 * corners, 6 * corners])
        return Mesh(position.reshape(-1, 3, 3), normal.reshape(-1, 3, 3), uv.reshape(-1, 3, 2))


@dataclass(frozen=True)
class ReadMap(Command):
    """Reads an importance map from an image."""

    path: str


@dataclass(frozen=True)
class WriteMap(Command):
    """Writes an importance map as EXR."""

    path: str
    width: int
    height: int
    payload: bytes = field(default=b"", repr=False)

    def __post_init__(self) -> None:
        _check_map("write_map", self.width, self.height, self.payload)
        if not self.payload:
            raise ProtocolError("write_map: the map is empty: send its floats")
        if Path(self.path).suffix.lower() != ".exr":
            raise ProtocolError(f"write_map: {self.path}: use the suffix .exr")

    def weights(self) -> NDArray[np.float32] | None:
        return _map(self.width, self.height, self.payload)


NAMES: dict[type[Command], str] = {
    Hello: "hello",
    Open: "open",
    Start: "start",
    Show: "show",
    Compare: "compare",
    Publish: "publish",
    Link: "link",
    Forecast: "forecast",
    Ladder: "ladder",
    Pause: "pause",
    Resume: "resume",
    Finish: "finish",
    Cancel: "cancel",
    Quit: "quit",
    SetImportance: "importance",
    Focus: "focus",
    SetView: "view",
    Range: "range",
    SetMesh: "mesh",
    ReadMap: "read_map",
    WriteMap: "write_map",
}
_KINDS = {name: kind for kind, name in NAMES.items()}


def parse(message: Message) -> Command:
    """The command of a message. Invalid fields are refused by name."""
    header = dict(message.header)
    name = header.pop(COMMAND, None)
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        known = ", ".join(_KINDS)
        raise ProtocolError(f"command {shortened(name)} is not known: use one of {known}")
    hints = typing.get_type_hints(kind)
    takes_bytes = hints.pop("payload", None) is not None
    takes_request = hints.pop(REQUEST, None) is not None
    found = Fields(str(name), "", header, ProtocolError)
    found.require_known((*hints, *(options_of() if takes_request else ())))
    values = {
        item.name: found.typed(item.name, hints[item.name])
        for item in fields(kind)
        if item.name in hints and (item.name in header or _is_required(item))
    }
    if takes_request:
        # 0 is no limit, as it always was here
        limits = {each for each in _LIMITS if header.get(each) == 0}
        given = {each: value for each, value in header.items() if each not in limits}
        values[REQUEST] = BakeRequest.from_json(replace(found, values=given))
    if takes_bytes:
        values["payload"] = message.payload
    elif message.payload:
        raise ProtocolError(f"{name}: takes no bytes: send none")
    return kind(**values)


def _is_required(item: Field[Any]) -> bool:
    return item.default is MISSING and item.default_factory is MISSING


def _one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise ProtocolError(f"{what} is {value!r}: use one of {', '.join(known)}")


def _within(what: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ProtocolError(f"{what} is {value}: use {low:g} to {high:g}")


def _check_map(what: str, width: int, height: int, payload: bytes) -> None:
    if not (0 <= width <= LARGEST_SIDE and 0 <= height <= LARGEST_SIDE):
        raise ProtocolError(f"{what}: {width} x {height}: use at most {LARGEST_SIDE} a side")
    if 4 * width * height != len(payload):
        raise ProtocolError(
            f"{what}: {width} x {height} floats are {4 * width * height} bytes, "
            f"and {len(payload)} were sent"
        )


def _map(width: int, height: int, payload: bytes) -> NDArray[np.float32] | None:
    if not payload:
        return None
    return np.frombuffer(payload, "<f4").reshape(height, width).astype(np.float32)


def command_line(command: Command) -> tuple[dict[str, Any], bytes]:
    """The header and payload of a command."""
    return command.as_json(), getattr(command, "payload", b"")
