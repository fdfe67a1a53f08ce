"""An animated WebP: pictures that OpenImageIO compresses one by one, in the container of WebP."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Of 100: no blocks are seen in textures, at an eighth of the bytes of a GIF.
_QUALITY = 80
_ANIMATION = 0x02
_REPLACES = 0x02
_HEAD = 12


def write_webp(path: Path, frames: Iterator[NDArray[np.uint8]], rate: float) -> None:
    """Writes pictures (H, W, 3) in sRGB that are shown again and again."""
    shown, parts = 0.0, [b""]
    height = width = 0
    with tempfile.TemporaryDirectory() as folder:
        for frame in frames:
            height, width, _ = frame.shape
            # durations are whole milliseconds: the sum stays exact
            begun, shown = round(shown), shown + 1000 / rate
            place = _whole(0, 3) + _whole(0, 3) + _whole(width - 1, 3) + _whole(height - 1, 3)
            until = _whole(round(shown) - begun, 3)
            stored = _compressed(frame, Path(folder) / "frame.webp")
            parts.append(_chunk(b"ANMF", place + until + _whole(_REPLACES, 1) + stored))
    size = _whole(width - 1, 3) + _whole(height - 1, 3)
    parts[0] = _chunk(b"VP8X", _whole(_ANIMATION, 4) + size) + _chunk(b"ANIM", bytes(6))
    path.write_bytes(_chunk(b"RIFF", b"WEBP" + b"".join(parts)))


def _compressed(frame: NDArray[np.uint8], file: Path) -> bytes:
    """The chunk of one picture."""
    import OpenImageIO as oiio

    height, width, channels = frame.shape
    spec = oiio.ImageSpec(width, height, channels, "uint8")
    spec.attribute("compression", f"webp:{_QUALITY}")
    written = oiio.ImageOutput.create(str(file))
    if written is None or not written.open(str(file), spec):
        raise OSError(oiio.geterror())
    if not (written.write_image(frame) and written.close()):
        raise OSError(" ".join(written.geterror().split()))
    data = file.read_bytes()
    while data[_HEAD : _HEAD + 4] not in (b"VP8 ", b"VP8L"):
        # what describes the picture comes before it
        after = _HEAD + 8 + _padded(int.from_bytes(data[_HEAD + 4 : _HEAD + 8], "little"))
        data = data[:_HEAD] + data[after:]
    size = 8 + _padded(int.from_bytes(data[_HEAD + 4 : _HEAD + 8], "little"))
    return data[_HEAD : _HEAD + size]


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + _whole(len(content), 4) + content + bytes(_padded(len(content)) - len(content))


def _padded(size: int) -> int:
    return size + size % 2


def _whole(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little")
