"""The window of `verdigris view`, with mouse and keyboard."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.device import Device
from verdigris.core.base.errors import DeviceError, VerdigrisError
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.core.pictures.viewer.viewer import Look, Viewer

if TYPE_CHECKING:
    import slangpy
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_KEYS = {"left_bracket": "[", "right_bracket": "]", "minus": "-", "equal": "=", "h": "h"}
_KEYS |= {"e": "e", "r": "r"}
_PAUSE_SECONDS = 0.01


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
