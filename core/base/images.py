"""Reads and writes images with OpenImageIO. No other module calls it.

A message of OpenImageIO can quote bytes of a damaged file, which are not always UTF-8: its bindings
then raise a UnicodeDecodeError in place of the message. Here each fault is an ImageError, and what
a header claims is checked before memory is reserved for it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.text import printable

if TYPE_CHECKING:
    import OpenImageIO as oiio
    from numpy.typing import NDArray

    Attributes = Mapping[str, Any]

# 16,384 x 16,384 texels of four single floats.
MOST_BYTES = 4 << 30
_MOST_RESERVED = 64 << 20
# Texels for each byte of a file: deflate makes 1 byte of 1,032, and a texel has a bit or more.
_MOST_TEXELS = 8 * 1100
_DEFLATED = ("bmp", "hdr", "png", "sgi", "targa")
_ITEM_BYTES = {"uint8": 1, "uint16": 2, "half": 2, "float": 4}
# The EXIF orientation without rotation.
AS_STORED = 1
_READS_STRAIGHT_ALPHA = "oiio:UnassociatedAlpha"


class ImageError(Exception):
    """What is wrong with an image, as in "is damaged (the file ends early)". The caller names the
    file and the remedy."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"{what} ({reason})" if reason else what)
        self.what, self.reason = what, reason


UNREADABLE = "is not a readable image"
DAMAGED = "is damaged"
NOT_WRITTEN = "cannot be written"


class OpenImage:
    """The header of an open image, whose texels can be decoded."""

    def __init__(self, source: oiio.ImageInput, file_bytes: int) -> None:
        self._source, self._file_bytes = source, file_bytes
        self._spec = source.spec()
        self.channels, self.format_name = int(self._spec.nchannels), str(source.format_name())
        if self._spec.depth > 1 or self.channels < 1 or self._spec.deep:
            raise ImageError("is not a flat image", "")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the part that texture coordinates span. In OpenEXR that is the
        display window, which can be smaller or larger than the stored texels. Offsets of other
        formats have other meanings."""
        spec = self._spec
        if self.format_name != "openexr":
            return int(spec.width), int(spec.height)
        return int(spec.full_width), int(spec.full_height)

    @property
    def kind(self) -> str:
        """The type of the stored numbers, as in `uint8`."""
        return str(self._spec.format)

    @property
    def orientation(self) -> int:
        """The EXIF orientation. Texels are read as stored."""
        return int(self._spec.get_int_attribute("Orientation", AS_STORED))

    @property
    def parts(self) -> int:
        return int(self._spec.get_int_attribute("oiio:subimages", 1)) or 1

    @property
    def has_alpha(self) -> bool:
        return int(self._spec.alpha_channel) >= 0

    @property
    def channel_names(self) -> tuple[str, ...]:
        with _explained(DAMAGED):
            return tuple(self._spec.channelnames)

    def texels(self, channels: int, kind: str) -> NDArray[Any]:
        """The first channels [row, column, channel] of the spanned part, as numbers of this kind;
        zero where nothing is stored."""
        import numpy as np

        self.check_claims(channels, kind)
        with _explained(DAMAGED):
            found = self._source.read_image(0, 0, 0, channels, kind)
        problem = _message(self._source.geterror)
        if found is None or problem:
            raise ImageError(DAMAGED, problem or _last_message() or "the file ends early")
        return self._spanned(np.asarray(found))

    def check_claims(self, channels: int, kind: str) -> None:
        """Refuses a header that claims more texels than the file can hold, or memory should."""
        spec, (width, height) = self._spec, self.size
        texels = max(width * height, int(spec.width) * int(spec.height))
        needed = texels * channels * _ITEM_BYTES.get(kind, 8)
        is_thin = texels > _MOST_TEXELS * self._file_bytes and needed > _MOST_RESERVED
        is_too_much = needed > MOST_BYTES or (is_thin and self.format_name in _DEFLATED)
        if is_too_much or min(width, height) < 1:
            size = f"{width} x {height}" if width * height == texels else f"{texels} texels"
            raise ImageError(
                DAMAGED, f"its header claims {size}, but the file has {self._file_bytes} bytes"
            )

    def _spanned(self, texels: NDArray[Any]) -> NDArray[Any]:
        spec = self._spec
        held = texels.reshape(spec.height, spec.width, -1)
        if self.format_name != "openexr" or spec.roi == spec.roi_full:
            return held
        import numpy as np

        width, height = self.size
        shown = np.zeros((height, width, held.shape[-1]), held.dtype)
        rows, held_rows = _overlap(spec.y - spec.full_y, spec.height, height)
        columns, held_columns = _overlap(spec.x - spec.full_x, spec.width, width)
        shown[rows, columns] = held[held_rows, held_columns]
        return shown


@contextmanager
def open_image(path: Path, straight_alpha: bool = False) -> Iterator[OpenImage]:
    """Opens an image and reads its header. Straight alpha is not multiplied into the colours."""
    import OpenImageIO as oiio

    with _explained(UNREADABLE):
        if straight_alpha:
            config = oiio.ImageSpec()
            config[_READS_STRAIGHT_ALPHA] = 1
            source = oiio.ImageInput.open(str(path), config)
        else:
            source = oiio.ImageInput.open(str(path))
    if source is None:
        raise ImageError(UNREADABLE, _last_message().partition(". Is it a file format")[0])
    try:
        with _explained(DAMAGED):
            opened = OpenImage(source, path.stat().st_size)
        yield opened
    finally:
        source.close()


def write_texels(
    file: Path,
    texels: NDArray[Any],
    kind: str,
    attributes: Attributes | None = None,
    channel_names: tuple[str, ...] = (),
) -> None:
    """Writes texels (H, W, channels) in the format of the file's suffix."""
    write_frames(file, [texels], 1, kind, attributes, channel_names)


def write_frames(
    file: Path,
    frames: Iterable[NDArray[Any]],
    count: int,
    kind: str,
    attributes: Attributes | None = None,
    channel_names: tuple[str, ...] = (),
) -> None:
    """Writes as many pictures as `count` of one size into one file. An attribute is a value, or a
    pair of OpenImageIO's type and a value."""
    import OpenImageIO as oiio

    written = oiio.ImageOutput.create(str(file))
    if written is None:
        raise ImageError(NOT_WRITTEN, _last_message())
    specs: tuple[oiio.ImageSpec, ...] = ()
    for number, texels in enumerate(frames):
        if not number:
            height, width, channels = texels.shape
            spec = oiio.ImageSpec(width, height, channels, kind)
            for name, value in (attributes or {}).items():
                spec.attribute(name, *(value if isinstance(value, tuple) else (value,)))
            if channel_names:
                spec.channelnames = channel_names
            specs = (spec,) * count
            opened = written.open(str(file), specs if count > 1 else spec)
        else:
            opened = written.open(str(file), specs[number], "AppendSubimage")
        if not (opened and written.write_image(texels)):
            raise ImageError(NOT_WRITTEN, _message(written.geterror))
    if not written.close():
        raise ImageError(NOT_WRITTEN, _message(written.geterror))


def is_whole(file: Path) -> bool:
    """Whether a written file can be read: on a full disk, PNGs are closed without an error."""
    try:
        with open_image(file) as image:
            image.texels(image.channels, image.kind)
    except ImageError:
        return False
    return True


def resized(texels: NDArray[Any], width: int, height: int) -> NDArray[Any]:
    """Texels (H, W, 4) in another size and the same type, by OpenImageIO's filter."""
    import numpy as np
    import OpenImageIO as oiio

    source = oiio.ImageBuf(np.ascontiguousarray(texels))
    result = oiio.ImageBufAlgo.resize(source, roi=oiio.ROI(0, width, 0, height, 0, 1, 0, 4))
    kind = "half" if texels.dtype == np.float16 else str(texels.dtype).replace("float32", "float")
    return np.asarray(result.get_pixels(kind)).astype(texels.dtype)


def reduced_jpeg(path: Path, most_height: int, quality: int) -> bytes | None:
    """A picture as a JPEG file with at most this height; None if it cannot be read."""
    import OpenImageIO as oiio

    try:
        with open_image(path) as opened:
            opened.check_claims(opened.channels, "float")
            width, height = opened.size
        image = oiio.ImageBuf(str(path))
        scale = min(1.0, most_height / height)
        if scale < 1:
            width, height = (round(scale * side) for side in (width, height))
            image = oiio.ImageBufAlgo.resize(image, roi=oiio.ROI(0, width, 0, height, 0, 1, 0, 3))
        image.specmod().attribute("Compression", f"jpeg:{quality}")
    except ImageError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "picture.jpg"
        return written.read_bytes() if image.write(str(written)) else None


def one_line(text: str) -> str:
    """The lines of a text on one line, without duplicates and unprintable characters."""
    lines = dict.fromkeys(line.strip() for line in text.splitlines() if line.strip())
    return printable("; ".join(lines))


def _overlap(first: int, held: int, shown: int) -> tuple[slice, slice]:
    """The part of an axis that is both shown and stored, as slices of the shown and of the stored
    texels."""
    start = max(first, 0)
    stop = max(min(first + held, shown), start)
    return slice(start, stop), slice(start - first, stop - first)


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Raises what the bindings raise as an ImageError."""
    try:
        yield
    except UnicodeDecodeError as failure:
        raise ImageError(what, one_line(failure.object.decode(errors="replace"))) from None
    except (OSError, OverflowError, RuntimeError, ValueError) as failure:
        raise ImageError(what, one_line(str(failure)) or type(failure).__name__) from None


def _message(get: Callable[[], str]) -> str:
    """A message of OpenImageIO, with a replacement for bytes that are not UTF-8."""
    try:
        return one_line(get())
    except UnicodeDecodeError as failure:
        return one_line(failure.object.decode(errors="replace"))


def _last_message() -> str:
    """The last message that belongs to no image."""
    import OpenImageIO as oiio

    return _message(oiio.geterror)
