"""The pictures of `verdigris view`: camera, light and comparison of a bundle and its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.lighting.bvh import NOTHING, build_bvh
from verdigris.core.lighting.device_lighting import DeviceBvh, DeviceEnvironment
from verdigris.core.material.evaluator import POINT, DeviceMaterial, Footprint
from verdigris.core.pictures.backdrop import Ground, blurred, environment_behind, over
from verdigris.core.pictures.compare.heat import difference, heat_colours, with_colour_bar
from verdigris.core.pictures.environment_render import Converging, EnvironmentLighting
from verdigris.core.pictures.gbuffer import Camera, ground_gbuffer, make_gbuffer, placed_camera
from verdigris.core.pictures.picture_files import resized, with_shoulder
from verdigris.core.pictures.render import PIXELS_AT_ONCE, Lighting, draw_by_parts, over_backdrop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.lighting.environment import Environment

    Floats = NDArray[np.float32]
    # reference, if there is one, and neural material
    Sides = tuple[Floats | None, Floats]
    # a pass has stops, at which it could be given up

_DEGREES_A_WIDTH = 180.0
_STEP_OF_ZOOM = 1.15
_LARGEST_ZOOM = 64.0
_LARGEST_PITCH = 89.0
_STEP_OF_MIP = 0.5
_STEP_OF_EXPOSURE = 0.5
# Directions of each pass under an environment: 1, 4, 16, ... pairs in all, until a pass would take
# so long that the window stutters.
_QUICK_SAMPLES, _FIRST_SAMPLES = 4, 2
_MOST_IN_A_PASS, _MOST_ON_PROCESSOR = 32, 8
# On a processor, the first picture is that much smaller, and so many pixels are drawn between
# looks at the keyboard.
_SMALLER, _PIXELS_ON_PROCESSOR = 4, 1 << 11
_MOST_WITH_SUBPIXELS = 320

HELP = (
    "drag: orbit; right drag: light, or turn the environment; middle drag: wipe; wheel: zoom; "
    "H: heat map; [ ]: mip bias; - =: exposure; E: studio or environment on and off; R: reset; "
    "Esc: close; drop an .hdr or .exr file: light by it"
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
    """Light by the studio or the environment, and not only by one light."""

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

    @property
    def lit(self) -> Look:
        """What decides the light of the picture, without how it is shown."""
        return replace(self, wipe=0.5, shows_heat=False, exposure=0.0)

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
    """Draws a bundle, and its source beside it, for a look: coarsely first, then pass by pass."""

    def __init__(
        self,
        neural: BundleMaterial,
        width: int,
        levels: int,
        reference: DeviceMaterial | None = None,
        kind: str = "sphere",
        mesh: Mesh | None = None,
        samples: int = 256,
    ) -> None:
        """`samples` is the number of directions after which a picture under an environment is
        final."""
        self.levels = levels
        self._neural = neural
        self._width = width
        self._reference = reference
        self._kind = kind
        self._mesh = mesh
        self._samples = samples
        self._lighting: EnvironmentLighting | None = None
        self._soft: Environment | None = None
        occluders = build_bvh(mesh.position) if mesh else NOTHING
        self._occluders = DeviceBvh.upload(neural.device, occluders)
        self._ground = Ground(neural.device)
        self._drawing: Iterator[Sides | None] = iter(())
        self._lit: Look | None = None
        self._is_final = True
        self._shown: Look | None = None
        self._sides: Sides | None = None

    def light_by(self, environment: Environment) -> None:
        """Replaces the studio by an environment."""
        uploaded = DeviceEnvironment.upload(self._neural.device, environment)
        self._lighting = EnvironmentLighting(uploaded, self._occluders)
        self._soft = blurred(environment)
        self._lit = None

    def next_picture(
        self, look: Look, size: int, is_interrupted: Callable[[], bool] = lambda: False
    ) -> Floats | None:
        """The window's picture after one more pass, (size, size, 3), in linear light; displays show
        0 to 1. None when the last picture was final, or when the window has something better to
        do, which it is asked between dispatches."""
        if look.lit != self._lit:
            self._drawing = self._passes(look, size)
            self._sides, self._lit = None, look.lit
        if look == self._shown or self._sides is None:
            for sides in self._drawing:
                if sides is not None:
                    self._sides = sides
                    break
                if is_interrupted():
                    return None
            else:
                return None
        self._shown = look
        assert self._sides is not None
        reference, neural = self._sides
        if reference is None:
            return self._exposed(neural, look)
        return compose(reference, neural, look, lambda side: self._exposed(side, look))

    @property
    def is_final(self) -> bool:
        """Whether nothing is left to draw of the last look."""
        return self._is_final

    def _exposed(self, side: Floats, look: Look) -> Floats:
        """As pictures of `verdigris render` are."""
        exposed = side * np.float32(2.0**look.exposure)
        return with_shoulder(exposed) if self._lighting and look.has_studio else exposed

    def _passes(self, look: Look, size: int) -> Iterator[Sides | None]:
        self._is_final = False
        yield from self._all_passes(look, size)
        self._is_final = True

    def _all_passes(self, look: Look, size: int) -> Iterator[Sides | None]:
        self._neural.lod = look.mip
        # keys must not wait for a processor
        small = max(1, size // _SMALLER) if self._neural.device.is_software else size
        if self._lighting is None or not look.has_studio:
            for is_quick in (True, False):
                side = small if is_quick else size
                yield from _enlarged(self._in_studio(look, side, is_quick), size)
            return
        # the drag that moves a light turns an environment
        environment = self._lighting.environment.turned(look.light_turn - Look.light_turn)
        lighting = replace(self._lighting, environment=environment)
        quick = self._begin(look, small, lighting, is_quick=True)
        yield from _enlarged(quick.add(_QUICK_SAMPLES), size)
        picture = self._begin(look, size, lighting)
        done, samples = 0, _FIRST_SAMPLES
        most = _MOST_ON_PROCESSOR if self._neural.device.is_software else _MOST_IN_A_PASS
        while done < self._samples:
            samples = min(samples, self._samples - done)
            yield from picture.add(samples)
            # four times as many in all
            done += samples
            samples = min(3 * done, most)

    def _begin(
        self, look: Look, size: int, lighting: EnvironmentLighting, is_quick: bool = False
    ) -> _LitSides:
        subpixels = 1 if is_quick else self._finest(size)
        view = make_gbuffer(self._kind, size * subpixels, self._mesh, look.camera)
        neural = Converging(self._neural, view, lighting, subpixels, is_flat=True)
        reference = None
        if self._reference is not None:
            # each direction sees other places
            footprint = self._footprint(look, 1 if is_quick else 2)
            reference = Converging(self._reference, view, lighting, subpixels, True, footprint)
        seen = lighting.environment.environment
        assert self._soft is not None
        behind = environment_behind(replace(self._soft, turn=seen.turn), view.background, size)
        ground = None
        if self._mesh is not None:
            floor = ground_gbuffer(self._mesh, size, placed_camera(self._kind, look.camera))
            ground = Converging(self._ground, floor, lighting, 1)
        return _LitSides(reference, neural, ground, behind, seen.exposure)

    def _finest(self, size: int) -> int:
        """Sub-pixels of the final picture: on a processor, more of a large one take so long to
        find that keys would wait."""
        is_slow = self._neural.device.is_software and size > _MOST_WITH_SUBPIXELS
        return 1 if is_slow else 2

    def _footprint(self, look: Look, places: int) -> Footprint:
        return Footprint(2.0**look.mip / self._width, places)

    def _in_studio(self, look: Look, size: int, is_quick: bool) -> Iterator[Sides | None]:
        lighting = Lighting(
            direction=look.light,
            environment=0.8 if look.has_studio else 0.0,
            samples=8 if is_quick else 32,
        )
        subpixels = 1 if is_quick else self._finest(size)
        view = make_gbuffer(self._kind, size * subpixels, self._mesh, look.camera)
        most = _PIXELS_ON_PROCESSOR if self._neural.device.is_software else PIXELS_AT_ONCE
        materials: list[tuple[DeviceMaterial, Footprint]] = [(self._neural, POINT)]
        if self._reference is not None:
            footprint = self._footprint(look, 1 if is_quick else 16)
            materials.append((self._reference, footprint))
        found: list[Floats] = []
        for material, footprint in materials:
            parts = draw_by_parts(material, view, lighting, subpixels, True, footprint, most)
            for picture in parts:
                if picture is None:
                    yield None
                else:
                    found.append(over_backdrop(picture))
        yield (found[1] if self._reference is not None else None), found[0]


def _enlarged(passes: Iterator[Sides | None], size: int) -> Iterator[Sides | None]:
    """The pictures of passes in the size of the window."""
    for sides in passes:
        if sides is None:
            yield None
        else:
            first, second = (None if each is None else resized(each, size, size) for each in sides)
            assert second is not None
            yield first, second


@dataclass(frozen=True)
class _LitSides:
    """Both sides under an environment, and what is behind them."""

    reference: Converging | None
    neural: Converging
    ground: Converging | None
    behind: Floats
    exposure: float

    def add(self, samples: int) -> Iterator[Sides | None]:
        """Both sides after a pass, and stops between its dispatches."""
        parts = (self.reference, self.neural, self.ground)
        for part in parts:
            if part is not None:
                for _ in part.add_by_parts(samples):
                    # otherwise dispatches would only be queued
                    part.device.gpu.wait_for_idle()
                    yield None
        behind = over(self.ground.picture(), self.behind) if self.ground else self.behind
        reference, neural = (
            None if side is None else self._shown(side.picture(), behind)
            for side in (self.reference, self.neural)
        )
        assert neural is not None
        yield reference, neural

    def _shown(self, picture: Floats, behind: Floats) -> Floats:
        return over(picture, behind) * np.float32(2.0**self.exposure)


def compose(
    reference: Floats,
    neural: Floats,
    look: Look,
    expose: Callable[[Floats], Floats] = lambda side: side,
) -> Floats:
    """The reference left of the wipe; right of it the neural material or the heat map."""
    if look.shows_heat:
        right = with_colour_bar(heat_colours(difference(reference, neural)))
    else:
        right = expose(neural)
    width = reference.shape[1]
    split = round(look.wipe * width)
    picture = np.concatenate([expose(reference)[:, :split], right[:, split:]], axis=1)
    picture[:, min(split, width - 1)] = 1.0
    return picture
