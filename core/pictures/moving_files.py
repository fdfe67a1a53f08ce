"""Writes moving pictures: a GIF, a WebP, an MP4 where ffmpeg is installed, or a folder of PNGs."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.errors import VerdigrisError, reason
from verdigris.core.base.files import make_own_folder, remove_folder, rename_file, temporary_name
from verdigris.core.base.images import ImageError, write_frames, write_texels
from verdigris.core.base.outputs import check_output
from verdigris.core.pictures.picture_files import rounded, srgb_from_linear, write_picture

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats


# Out of 100: no blocks are visible in textures, at an eighth of the bytes of a GIF.
_QUALITY = 80
_ANIMATION = 0x02
_REPLACES = 0x02
_HEAD = 12
SUFFIXES = (".gif", ".webp", ".mp4")
_FFMPEG = "ffmpeg"


def has_mp4() -> bool:
    """Whether MP4 can be written here."""
    return shutil.which(_FFMPEG) is not None


def check_moving_path(path: Path) -> Path:
    """Checks, before any work, that a moving picture can be written to this path."""
    if path.suffix and path.suffix.lower() not in SUFFIXES:
        raise VerdigrisError(
            f"{path}: moving pictures are written as {', '.join(SUFFIXES)} or into a folder of "
            "PNGs: change the suffix, or leave it out"
        )
    if not path.parent.is_dir():
        raise VerdigrisError(f"{path}: the folder {path.parent} does not exist: create it")
    if path.suffix:
        check_output(path)
    elif path.exists():
        raise VerdigrisError(f"{path}: exists: choose another name for the folder of PNGs")
    if path.suffix.lower() == ".mp4" and not has_mp4():
        raise VerdigrisError(
            f"{path}: MP4 is written by ffmpeg, which is not found: install it, or use .gif or a "
            "folder of PNGs"
        )
    return path


def write_moving(path: Path, frames: Iterator[Floats], count: int, rate: float) -> None:
    """Writes `count` pictures of linear colours (H, W, 3 or 4), at `rate` a second. The file
    appears when it is complete."""
    if path.suffix:
        write_frames_shown(path, map(_bytes_of, frames), count, rate)
    else:
        _write(path, lambda temporary: _write_folder(temporary, frames, count))


def write_frames_shown(
    path: Path, frames: Iterator[NDArray[np.uint8]], count: int, rate: float
) -> None:
    """Does the same with pictures (H, W, 3) as a screen shows them. The path has a suffix."""
    write: Callable[[Path, Iterator[NDArray[np.uint8]], int, float], None] = {
        ".gif": _write_gif,
        ".webp": lambda file, shown, _, speed: write_webp(file, shown, speed),
        ".mp4": _write_mp4,
    }[check_moving_path(path).suffix.lower()]
    _write(path, lambda temporary: write(temporary, frames, count, rate))


def _write(path: Path, write: Callable[[Path], None]) -> None:
    """Writes under a temporary name, and then renames."""
    check_moving_path(path)
    temporary = path.with_name(f"{temporary_name(path.stem)}{path.suffix}")
    try:
        write(temporary)
        rename_file(temporary, path)
    except (OSError, ImageError) as failure:
        why = failure.reason if isinstance(failure, ImageError) else reason(failure)
        raise VerdigrisError(
            f"{path}: cannot be written ({why}): choose another folder or name"
        ) from None
    finally:
        remove_folder(temporary)


def write_webp(path: Path, frames: Iterator[NDArray[np.uint8]], rate: float) -> None:
    """Writes an animated WebP that repeats, from pictures (H, W, 3) in sRGB. OpenImageIO compresses
    them one by one."""
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
    write_texels(file, frame, "uint8", {"compression": f"webp:{_QUALITY}"})
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


def _bytes_of(frame: Floats) -> NDArray[np.uint8]:
    return np.ascontiguousarray(rounded(srgb_from_linear(frame[..., :3])))


def _write_gif(path: Path, frames: Iterator[NDArray[np.uint8]], count: int, rate: float) -> None:
    speed = "rational", (round(100 * rate), 100)
    write_frames(path, frames, count, "uint8", {"FramesPerSecond": speed})


def _write_mp4(path: Path, frames: Iterator[NDArray[np.uint8]], _: int, rate: float) -> None:
    first = np.ascontiguousarray(next(frames))
    height, width, _channels = first.shape
    command = [shutil.which(_FFMPEG) or _FFMPEG, "-y", "-loglevel", "error"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}"]
    # players want even sizes and this format of pixels
    command += ["-r", f"{rate:g}", "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"]
    command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        try:
            process.stdin.write(first.tobytes())
            for frame in frames:
                process.stdin.write(frame.tobytes())
            process.stdin.close()
        except BrokenPipeError:
            # its own message follows
            pass
        told = process.stderr.read().decode(errors="replace").split("\n")[0]
    if process.returncode:
        raise OSError(f"ffmpeg: {told or f'exit code {process.returncode}'}")


def _write_folder(path: Path, frames: Iterator[Floats], count: int) -> None:
    make_own_folder(path)
    digits = max(4, len(str(count)))
    for number, frame in enumerate(frames, 1):
        write_picture(path / f"frame_{number:0{digits}}.png", frame)
