"""The pictures of `verdigris view`: camera, light and comparison of a bundle and its source."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.evaluator import POINT, DeviceMaterial, Footprint
from verdigris.core.pictures.heat import heat_colours
from verdigris.core.pictures.render import Lighting, draw, make_view, over_backdrop
from verdigris.core.pictures.views import Camera

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
    from verdigris.core.geometry.mesh import Mesh

    Floats = NDArray[np.float32]

_DEGREES_A_WIDTH = 180.0
_STEP_OF_ZOOM = 1.15
_LARGEST_ZOOM = 64.0
_LARGEST_PITCH = 89.0
_STEP_OF_MIP = 0.5
_STEP_OF_EXPOSURE = 0.5
# Difference of display values at the end of the heat map's scale, which anyone can see.
_HOTTEST = 0.1

HELP = (
    "drag: orbit; right drag: light; middle drag: wipe; wheel: zoom; H: heat map; [ ]: mip bias; "
    "- =: exposure; E: studio; R: reset; Esc: close"
)


@dataclass(frozen=True)
class Look:
    """All controls of the window."""

    camera: Camera = field(default_factory=Camera)
    """Orientation and zoom of the shape."""
    light_turn: float = -34.0
    """Azimuth of the light in degrees; at 0 it is behind the viewer."""
    light_height: float = 37.0
    """Elevation of the light in degrees."""
    wipe: float = 0.5
    """Position of the wipe, 0 to 1: the reference left of it, the neural material right."""
    shows_heat: bool = False
    """Show the difference in place of the neural material."""
    mip: float = 0.0
    """Level of detail of the neural material: log2 of the footprint in the finest texels. The
    reference averages the same footprint."""
    exposure: float = 0.0
    """Exposure in stops."""
    has_studio: bool = True
    """Light by the studio, too, and not only by the light."""

    def orbited(self, right: float, down: float) -> Look:
        """After a drag by this fraction of the window's width."""
        camera = self.camera
        pitch = camera.pitch + _DEGREES_A_WIDTH * down
        camera = replace(
            camera,
            turn=(camera.turn + _DEGREES_A_WIDTH * right) % 360,
            pitch=float(np.clip(pitch, -_LARGEST_PITCH, _LARGEST_PITCH)),
        )
        return replace(self, camera=camera)

    def light_moved(self, right: float, down: float) -> Look:
        height = self.light_height - _DEGREES_A_WIDTH * down
        return replace(
            self,
            light_turn=(self.light_turn + _DEGREES_A_WIDTH * right) % 360,
            light_height=float(np.clip(height, -_LARGEST_PITCH, _LARGEST_PITCH)),
        )

    def wiped(self, place: float) -> Look:
        return replace(self, wipe=float(np.clip(place, 0, 1)))

    def zoomed(self, steps: float) -> Look:
        zoom = self.camera.zoom * _STEP_OF_ZOOM**steps
        camera = replace(self.camera, zoom=float(np.clip(zoom, 1.0, _LARGEST_ZOOM)))
        return replace(self, camera=camera)

    def pressed(self, key: str, levels: int) -> Look:
        """After a key; unknown keys change nothing."""
        if key in "[]":
            mip = self.mip + (_STEP_OF_MIP if key == "]" else -_STEP_OF_MIP)
            return replace(self, mip=float(np.clip(mip, 0, levels - 1)))
        if key in "-=":
            step = _STEP_OF_EXPOSURE if key == "=" else -_STEP_OF_EXPOSURE
            return replace(self, exposure=float(np.clip(self.exposure + step, -8, 8)))
        if key == "h":
            return replace(self, shows_heat=not self.shows_heat)
        if key == "e":
            return replace(self, has_studio=not self.has_studio)
        return Look() if key == "r" else self

    @property
    def light(self) -> tuple[float, float, float]:
        """Towards the light: x to the right, y up, z to the viewer."""
        turn, height = np.radians(self.light_turn), np.radians(self.light_height)
        level = float(np.cos(height))
        return float(np.sin(turn)) * level, float(np.sin(height)), float(np.cos(turn)) * level


class Viewer:
    """Draws a bundle, and its source beside it, for a look."""

    def __init__(
        self,
        neural: BundleMaterial,
        width: int,
        levels: int,
        reference: DeviceMaterial | None = None,
        kind: str = "sphere",
        mesh: Mesh | None = None,
    ) -> None:
        self.levels = levels
        self._neural = neural
        self._width = width
        self._reference = reference
        self._kind = kind
        self._mesh = mesh

    def draw(self, look: Look, size: int, is_quick: bool = False) -> Floats:
        """The window's picture, (size, size, 3), in linear light; displays show 0 to 1."""
        self._neural.lod = look.mip
        neural = self._shown(self._neural, look, size, is_quick, POINT)
        if self._reference is None:
            return neural
        footprint = Footprint(2.0**look.mip / self._width, 1 if is_quick else 16)
        reference = self._shown(self._reference, look, size, is_quick, footprint)
        return compose(reference, neural, look)

    def _shown(
        self, material: DeviceMaterial, look: Look, size: int, is_quick: bool, footprint: Footprint
    ) -> Floats:
        lighting = Lighting(
            direction=look.light,
            environment=0.8 if look.has_studio else 0.0,
            samples=8 if is_quick else 32,
        )
        subpixels = 1 if is_quick else 2
        view = make_view(self._kind, size * subpixels, self._mesh, look.camera)
        picture = draw(material, view, lighting, subpixels, is_flat=True, footprint=footprint)
        return over_backdrop(picture) * np.float32(2.0**look.exposure)


def compose(reference: Floats, neural: Floats, look: Look) -> Floats:
    """The reference left of the wipe; right of it the neural material or the heat map."""
    right = neural
    if look.shows_heat:
        shown = (np.clip(each, 0, 1) ** (1 / 2.2) for each in (reference, neural))
        first, second = shown
        right = heat_colours(np.abs(first - second).max(-1), _HOTTEST)
    width = reference.shape[1]
    split = round(look.wipe * width)
    picture = np.concatenate([reference[:, :split], right[:, split:]], axis=1)
    picture[:, min(split, width - 1)] = 1.0
    return picture
