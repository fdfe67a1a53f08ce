"""The window of `verdigris view`: a bundle beside its source, with wipe, heat map and any light.

A `Look` has all controls, a `Viewer` draws it, and a `ViewWindow` changes it with mouse and keys.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.errors import DeviceError, VerdigrisError
from verdigris.core.material.evaluator import POINT, DeviceMaterial, Footprint
from verdigris.core.pictures.compare.heat import difference, heat_colours, with_colour_bar
from verdigris.core.pictures.gbuffer import Camera
from verdigris.core.pictures.illumination import Effort, Illumination
from verdigris.core.pictures.picture_files import resized, srgb_from_linear
from verdigris.core.pictures.renderer import GROUND, Renderer
from verdigris.core.pictures.tone import CLIP, FILM, Tone
from verdigris.core.pictures.view import NEURAL, REFERENCE, View

if TYPE_CHECKING:
    import slangpy

    from verdigris.core.base.array_types import Floats
    from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
    from verdigris.core.geometry.mesh import Mesh
    from verdigris.core.pictures.canvas import Canvas


_DEGREES_A_WIDTH = 180.0
_STEP_OF_ZOOM = 1.15
_LARGEST_ZOOM = 64.0
_LARGEST_PITCH = 89.0
_STEP_OF_MIP = 0.5
_STEP_OF_EXPOSURE = 0.5
# The first picture is smaller by this factor.
_SMALLER = 4
# Pairs of directions in a pass under an environment, and sub-pixels in the studio.
_PAIRS_ON_CPU, _PAIRS_ON_GPU, _STUDIO_SUBPIXELS = 4, 16, 2
# On a CPU, a larger window has a quarter of the passes, which take long there.
_PASSES_A_SAMPLE, _MOST_WITH_ALL_PASSES = 4, 320
# Places of the reference's footprint for each direction: each has others.
_PLACES = 2
_KEYS = {"left_bracket": "[", "right_bracket": "]", "minus": "-", "equal": "=", "h": "h"}
_KEYS |= {"e": "e", "r": "r"}
_PAUSE_SECONDS = 0.01
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
    """Whether the studio or the environment lights the picture, and not only one light."""

    def orbited(self, right: float, down: float) -> Look:
        """The look after a drag by this fraction of the window's width."""
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
        """The look without what changes only how light is shown."""
        return replace(self, wipe=0.5, shows_heat=False, exposure=0.0)

    def wiped(self, place: float) -> Look:
        return replace(self, wipe=float(np.clip(place, 0, 1)))

    def zoomed(self, steps: float) -> Look:
        zoom = self.camera.zoom * _STEP_OF_ZOOM**steps
        camera = replace(self.camera, zoom=float(np.clip(zoom, 1.0, _LARGEST_ZOOM)))
        return replace(self, camera=camera)

    def pressed(self, key: str, levels: int) -> Look:
        """The look after a key; unknown keys change nothing."""
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
        """Direction to the light: x to the right, y up, z to the eye."""
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
        """`width` is that of the latent texture. After `samples` directions at each of four places
        in a pixel, a picture under an environment is final."""
        self.levels = levels
        self._neural, self._source, self._width = neural, reference, width
        self._kind, self._mesh, self._samples = kind, mesh, samples
        self._illumination = Illumination(neural.device, self._prepare, Effort())
        self._lit_by, self._rotate = "", 0.0
        self._renderer: Renderer | None = None
        self._size = 0
        # the passes of the last picture: None before the first one
        self._passes: int | None = None
        self._shown: Look | None = None

    def light_by(self, lit_by: str, rotate: float = 0.0) -> None:
        """Replaces the studio with an environment, by name or file."""
        self._illumination.check(View(lit_by=lit_by))
        self._lit_by, self._rotate = lit_by, rotate
        self._passes = None

    def next_picture(
        self, look: Look, size: int, is_interrupted: Callable[[], bool] = lambda: False
    ) -> Floats | None:
        """The window's picture after one more pass, (size, size, 3), in linear light; displays show
        0 to 1. None when the last picture was final, or when the window has something better to
        do. The window is asked between dispatches."""
        renderer = self._show(look, size)
        has_picture = look != self._shown and self._passes is not None
        if not has_picture and not self._draw_next(renderer, is_interrupted):
            return None
        self._shown = look
        return self._compose(renderer, look)

    @property
    def is_final(self) -> bool:
        """Whether nothing is left to draw for the last look."""
        return self._renderer is not None and self._renderer.is_complete(self._beside)

    @property
    def _beside(self) -> BundleMaterial | None:
        """The bundle beside its source; without a source, the bundle is the reference itself."""
        return self._neural if self._source is not None else None

    def _show(self, look: Look, size: int) -> Renderer:
        """Starts another picture if the light or the shape of this look differ from the last."""
        view = self._view(look, size)
        if self._renderer is None or size != self._size:
            self._size = size
            self._illumination = Illumination(
                self._neural.device, self._prepare, self._effort(size)
            )
            self._renderer = Renderer(
                self._illumination,
                self._source or self._neural,
                view,
                self._mesh,
                coarse=max(1, size // _SMALLER),
                has_ground=True,
            )
            self._renderer.expect(has_neural=self._beside is not None)
            self._passes = None
        elif self._renderer.look(view, self._mesh, is_new=self._passes is None):
            self._passes = None
        return self._renderer

    def _view(self, look: Look, size: int) -> View:
        is_lit = bool(self._lit_by) and look.has_studio
        view = View(
            shape=self._kind,
            turn=look.camera.turn,
            pitch=look.camera.pitch,
            zoom=look.camera.zoom,
            x=look.camera.x,
            y=look.camera.y,
            exposure=look.exposure,
            level=look.mip,
            size=size,
        )
        if is_lit:
            # the drag that moves a light turns an environment
            rotate = self._rotate + look.light_turn - Look.light_turn
            return replace(view, lit_by=self._lit_by, rotate=rotate)
        return replace(view, light=look.light, environment=0.8 if look.has_studio else 0.0)

    def _effort(self, size: int) -> Effort:
        is_slow = self._neural.device.is_software
        pairs = _PAIRS_ON_CPU if is_slow else _PAIRS_ON_GPU
        samples = self._samples
        if not is_slow or size <= _MOST_WITH_ALL_PASSES:
            samples *= _PASSES_A_SAMPLE
        return Effort(max(1, -(-samples // (2 * pairs))), pairs, _STUDIO_SUBPIXELS, emission=1.0)

    def _prepare(
        self, material: DeviceMaterial, view: View, places: int
    ) -> tuple[DeviceMaterial, Footprint]:
        if material is self._neural:
            self._neural.lod = view.level
        elif material is self._source:
            return material, Footprint(2.0**view.level / self._width, max(places, _PLACES))
        return material, POINT

    def _draw_next(self, renderer: Renderer, is_interrupted: Callable[[], bool]) -> bool:
        """Draws until there is a better picture. Returns False if there is none."""
        if self._passes is None:
            if self._beside is not None:
                renderer.draw_neural(self._beside)
            self._passes = -1
            return True
        while not renderer.is_complete(self._beside):
            renderer.complete(self._beside)
            passes = renderer.passes(self._beside)
            if passes > self._passes:
                self._passes = passes
                return True
            if is_interrupted():
                return False
        return False

    def _compose(self, renderer: Renderer, look: Look) -> Floats:
        canvases = renderer.canvases(self._beside)
        ground = canvases.get(GROUND)
        behind = ground.linear() if ground is not None else None
        gain = np.float32(2.0 ** self._illumination.exposure(renderer.view))

        def side(canvas: Canvas) -> Floats:
            return resized(canvas.linear(behind) * gain, renderer.view.size, renderer.view.size)

        # as the pictures of `verdigris render`
        expose = Tone(look.exposure, FILM if renderer.view.lit_by else CLIP).linear
        reference = side(canvases[REFERENCE])
        if self._beside is None:
            return expose(reference)
        return compose(reference, side(canvases[NEURAL]), look, expose)


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


class ViewWindow:
    """Changes a look by events, and draws it: coarsely during changes, then finely."""

    def __init__(
        self,
        viewer: Viewer,
        device: Device,
        size: int,
        title: str,
        on_drop: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`on_drop` gets the name of a file that is dropped on the window."""
        import slangpy

        self._viewer, self._device, self._size = viewer, device, size
        self.look = Look()
        self._held: slangpy.MouseButton | None = None
        self._last = (0.0, 0.0)
        try:
            self._window = slangpy.Window(size, size, title, resizable=False)
            self._surface = device.gpu.create_surface(self._window)
            self._surface.configure(size, size)
        except RuntimeError as failure:
            raise DeviceError(
                f"no window can be opened ({str(failure).splitlines()[0]}): use a display, or draw "
                "pictures with `verdigris render` and `verdigris compare`"
            ) from None
        self._title, self._on_drop, self._problem = title, on_drop, ""
        self._window.on_mouse_event = self._on_mouse
        self._window.on_keyboard_event = self._on_key
        self._window.on_drop_files = self._on_files

    def run(self, on_drawn: Callable[[Floats], bool] | None = None) -> None:
        """Runs until the window is closed, or `on_drawn` returns True for a final picture."""
        try:
            self._run(on_drawn)
        finally:
            self._close()

    def _close(self) -> None:
        """Closes the surface before the device; the process would crash otherwise."""
        self._device.gpu.wait_for_idle()
        self._surface.unconfigure()
        del self._surface
        self._window.on_mouse_event = self._window.on_keyboard_event = None
        self._window.on_drop_files = None
        self._window.close()

    def _run(self, on_drawn: Callable[[Floats], bool] | None) -> None:
        last: Floats | None = None
        while not self._window.should_close():
            self._window.process_events()
            look = self.look
            picture = self._viewer.next_picture(look, self._size, self._is_interrupted)
            if picture is not None:
                last = picture
                self._present(picture)
                stops, mip = f"{look.exposure:+g}", f"{look.mip:g}"
                state = self._problem or f"mip {mip}   exposure {stops}"
                self._window.title = f"{self._title}   {state}"
                continue
            if not self._viewer.is_final:
                continue
            if last is not None and on_drawn and on_drawn(last):
                return
            last = None
            time.sleep(_PAUSE_SECONDS)

    def _is_interrupted(self) -> bool:
        """Handles events between dispatches. Returns whether another picture is wanted."""
        before = self.look
        self._window.process_events()
        return self.look != before or self._window.should_close()

    def _present(self, picture: Floats) -> None:
        import slangpy

        image = self._surface.acquire_next_image()
        if not image:
            return
        config = self._surface.config
        shown = np.clip(picture, 0, 1)
        is_srgb = config is not None and "srgb" in str(config.format)
        shown = shown if is_srgb else srgb_from_linear(shown)
        texels = np.concatenate([shown, np.ones_like(shown[..., :1])], axis=-1)
        gpu = self._device.gpu
        source = gpu.create_texture(
            format=slangpy.Format.rgba32_float,
            width=self._size,
            height=self._size,
            usage=slangpy.TextureUsage.shader_resource,
            data=np.ascontiguousarray(texels, np.float32),
        )
        encoder = gpu.create_command_encoder()
        encoder.blit(image, source)
        encoder.set_texture_state(image, slangpy.ResourceState.present)
        gpu.submit_command_buffer(encoder.finish())
        del image
        self._surface.present()

    def _on_mouse(self, event: slangpy.MouseEvent) -> None:
        import slangpy

        place = event.pos.x / self._size, event.pos.y / self._size
        if event.is_button_down():
            self._held = event.button
        elif event.is_button_up():
            self._held = None
        elif event.is_scroll():
            self.look = self.look.zoomed(event.scroll.y)
        right, down = place[0] - self._last[0], place[1] - self._last[1]
        self._last = place
        if self._held == slangpy.MouseButton.middle:
            self.look = self.look.wiped(place[0])
        elif event.is_move() and self._held == slangpy.MouseButton.left:
            self.look = self.look.orbited(right, down)
        elif event.is_move() and self._held == slangpy.MouseButton.right:
            self.look = self.look.light_moved(right, down)

    def _on_files(self, files: Sequence[str]) -> None:
        try:
            self._on_drop(files[0])
            self._problem = ""
        except VerdigrisError as failure:
            self._problem = str(failure)
            self._window.title = f"{self._title}   {failure}"
            print(f"verdigris: {failure}", file=sys.stderr)

    def _on_key(self, event: slangpy.KeyboardEvent) -> None:
        if not event.is_key_press():
            return
        name = event.key.name
        if name == "escape":
            self._window.close()
        elif name in _KEYS:
            self.look = self.look.pressed(_KEYS[name], self._viewer.levels)
