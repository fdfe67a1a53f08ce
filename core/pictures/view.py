"""What a picture shows: a shape on which the material lies, a camera, and light."""

from __future__ import annotations

from dataclasses import dataclass, fields

from verdigris.core.pictures.gbuffer import Camera, placed_camera
from verdigris.core.pictures.tone import FILM

SOFT, GREY = "soft", "grey"
ALL, WIPE, REFERENCE, NEURAL = SHOWS = ("all", "wipe", "reference", "neural")
# Zoom from which pixels, and large texels, are drawn as squares.
PIXELATED_FROM = 8.0


@dataclass(frozen=True)
class View:
    """Camera, zoom and light of a picture, and which parts of it are in sight."""

    shape: str = "sphere"
    mesh: str = ""
    """For the shape `mesh`: its name, or a file."""
    turn: float = 0.0
    """Degrees about the vertical axis."""
    pitch: float = 0.0
    """Degrees up or down."""
    zoom: float = 1.0
    field_of_view: float = 24.0
    """Degrees that the whole picture spans. The shape keeps its size: a wide view is from near."""
    x: float = 0.0
    """The centre: -1 is the left edge of the whole picture, 1 the right one."""
    y: float = 0.0
    """The centre, upwards."""
    light: tuple[float, float, float] = (-0.45, 0.6, 0.66)
    """Direction to the light: x right, y up, z to the eye."""
    environment: float = 0.8
    """Brightness of the studio."""
    exposure: float = 0.0
    """In stops."""
    level: float = 0
    """The mip level, 0 the finest. The reference is averaged over a texel of that level."""
    size: int = 192
    """Pixels of the shorter side."""
    aspect: float = 1.0
    """Width by height."""
    lit_by: str = ""
    """An environment: a name, or a file (.hdr, .exr). Without one, plain lights."""
    rotate: float = 0.0
    """Degrees by which the environment is turned about the vertical axis."""
    blur: float = 0.0
    """Degrees by which the environment's light is blurred."""
    backdrop: str = SOFT
    """`soft`: the environment out of focus; `grey`."""
    ground: bool = False
    """Whether the shape lies on a ground that receives its shadow. Needs an environment."""
    tone: str = FILM
    """How light becomes what a screen shows: `film` compresses highlights, `clip` cuts them off,
    `aces` and `neutral` do as engines and web viewers."""
    shows: str = ALL
    """The parts in sight: `all`, `wipe` (reference left, neural right), `reference`, `neural`."""
    wipe: float = 0.5
    """The place of the wipe, 0 to 1."""
    live: tuple[float, ...] = ()
    """A number from 0 to 1 for each live input of the material; by default their defaults."""

    @property
    def camera(self) -> Camera:
        camera = Camera(
            self.turn, self.pitch, self.zoom, self.x, self.y, field_of_view=self.field_of_view
        )
        return placed_camera(self.shape, camera)


_NEED_NO_REDRAW = ("exposure", "tone", "shows", "wipe")
_NEED_REDRAW = tuple(item.name for item in fields(View) if item.name not in _NEED_NO_REDRAW)


def needs_redraw(before: View, after: View) -> bool:
    """Whether a change of the view changes light or geometry, and not only how they are shown."""
    return any(getattr(before, name) != getattr(after, name) for name in _NEED_REDRAW)
