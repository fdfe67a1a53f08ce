"""What the examples share: kernels of a Slang file, Adam, pictures, animations and a table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import OpenImageIO as oiio
import slangpy as spy
from numpy.typing import NDArray

from verdigris.core.base.device import Device, open_device
from verdigris.core.base.errors import VerdigrisError
from verdigris.core.compress import mlp
from verdigris.core.compress.mlp import Adam, read
from verdigris.core.compress.texture_set import resized

__all__ = ["Adam", "read", "resized"]
HERE = Path(__file__).parent
TEXTURES = HERE.parent / "textures"
Floats = NDArray[np.float32]


class Program(mlp.Program):
    """The kernels of an example's Slang file. It can import `kit`, its neighbours, and project
    modules."""

    def __init__(self, device: Device, path: Path, **defines: Any) -> None:
        super().__init__(device, path.stem, [path.parent, HERE], **defines)


class Window:
    """A window that shows pictures."""

    def __init__(self, device: Device, width: int, height: int, title: str) -> None:
        self._gpu, self._size = device.gpu, (width, height)
        try:
            self._window = spy.Window(width, height, title, resizable=False)
            self._surface = self._gpu.create_surface(self._window)
            self._surface.configure(width, height)
        except RuntimeError as failure:
            reason = str(failure).splitlines()[0]
            raise VerdigrisError(
                f"no window can be opened ({reason}): leave --window out"
            ) from None

    def show(self, picture: Floats) -> bool:
        """Shows stored colours. False once the window was closed."""
        self._window.process_events()
        image = self._surface.acquire_next_image()
        if self._window.should_close() or not image:
            return not self._window.should_close()
        is_srgb = "srgb" in str(self._surface.config.format)
        shown = from_srgb(np.clip(picture, 0, 1)) if is_srgb else picture
        width, height = self._size
        texture = self._gpu.create_texture(
            format=spy.Format.rgba32_float,
            width=width,
            height=height,
            usage=spy.TextureUsage.shader_resource,
            data=np.concatenate([shown, np.ones_like(shown[..., :1])], -1).astype(np.float32),
        )
        encoder = self._gpu.create_command_encoder()
        encoder.blit(image, texture)
        encoder.set_texture_state(image, spy.ResourceState.present)
        self._gpu.submit_command_buffer(encoder.finish())
        del image
        self._surface.present()
        return True


def load_image(path: Path) -> Floats:
    """Rows of pixels, as numbers from 0 to 1."""
    image = oiio.ImageBuf(str(path))
    if image.has_error:
        sys.exit(f"{path}: not a readable image: {image.geterror()}")
    return image.get_pixels(oiio.FLOAT)


def load_square(path: Path, side: int) -> Floats:
    """The middle of a picture, with `side` pixels or fewer."""
    picture = load_image(path)[..., :3]
    most = min(picture.shape[:2])
    rows, columns = ((each - most) // 2 for each in picture.shape[:2])
    square = picture[rows : rows + most, columns : columns + most]
    factor = max(most // side, 1)
    return smaller(square[: most // factor * factor, : most // factor * factor], factor)


def save_image(path: Path, pixels: Floats) -> None:
    """Writes numbers from 0 to 1 as they are to be stored."""
    save_animation(path, [pixels])


def save_animation(path: Path, frames: Sequence[Floats], rate: float = 12.0) -> None:
    """Writes a GIF, or with one frame any kind of image."""
    specs = []
    for frame in frames:
        rows, columns = frame.shape[:2]
        spec = oiio.ImageSpec(columns, rows, 3, "uint8")
        spec.attribute("FramesPerSecond", "rational", (round(rate), 1))
        spec.attribute("compression", "jpeg:88")
        specs.append(spec)
    output = oiio.ImageOutput.create(str(path))
    if output is None or not (
        output.open(str(path), specs[0]) if len(specs) == 1 else output.open(str(path), specs)
    ):
        sys.exit(
            f"{path}: cannot be written: {oiio.geterror() if output is None else output.geterror()}"
        )
    for index, frame in enumerate(frames):
        if index:
            output.open(str(path), specs[index], "AppendSubimage")
        output.write_image(np.round(np.clip(frame[..., :3], 0, 1) * 255).astype(np.uint8))
    output.close()
    print(path)


def beside(*pictures: Floats, gap: int = 4) -> Floats:
    """Pictures of one height in a row, on white."""
    height = pictures[0].shape[0]
    line = np.ones((height, gap, 3), np.float32)
    parts = [part for picture in pictures for part in (line, picture)][1:]
    return np.concatenate(parts, 1)


def smaller(texels: Floats, factor: int) -> Floats:
    """Means of squares of texels."""
    rows, columns = (side // factor for side in texels.shape[:2])
    return texels.reshape(rows, factor, columns, factor, -1).mean((1, 3))


def to_srgb(linear: Floats) -> Floats:
    value = np.clip(linear, 0.0, 1.0)
    return np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)


def from_srgb(stored: Floats) -> Floats:
    return np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)


def psnr(found: Floats, wanted: Floats) -> float:
    """Peak signal-to-noise ratio in decibels, for numbers from 0 to 1."""
    return float(-10 * np.log10(np.mean((found - wanted) ** 2, dtype=np.float64) + 1e-12))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(columns) + " |\n" + "| --- " * len(columns) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def parser(description: str | None, small: str, full: str) -> argparse.ArgumentParser:
    """The options that all examples have."""
    result = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    result.add_argument("--full", action="store_true", help=f"{full}; without it: {small}")
    result.add_argument("--out", type=Path, default=Path("out"), help="folder of the pictures")
    result.add_argument("--device", help="as for verdigris: auto, software, vulkan:1 …")
    return result


def run(main: Callable[[argparse.Namespace, Device], None], options: argparse.Namespace) -> None:
    """Opens the device and runs an example. A failure that a user can mend ends in one line."""
    try:
        options.out.mkdir(parents=True, exist_ok=True)
        device = open_device(options.device)
        print(device)
        main(options, device)
    except (VerdigrisError, OSError) as failure:
        sys.exit(str(failure))
