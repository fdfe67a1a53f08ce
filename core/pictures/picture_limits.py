"""How large pictures may be, for commands, which tell it before they load anything."""

from __future__ import annotations

LARGEST_SIZE = 4096
# Sub-pixels a side of a pixel, unless said.
SUBPIXELS = 2
# Of the picture that students are compared on. A pixel is the mean of four by four points: of
# fewer, single glints decide the figure.
PICTURE_SIZE, PICTURE_SUBPIXELS = 256, 4


def largest_size(subpixels: int = SUBPIXELS) -> int:
    """Pixels a side of the largest picture whose pixels are means of so many sub-pixels a side."""
    return LARGEST_SIZE // subpixels
