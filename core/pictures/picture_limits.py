"""Limits of picture sizes, without large imports, for the command line."""

from __future__ import annotations

LARGEST_SIZE = 4096
# Default number of sub-pixels along a side of a pixel.
SUBPIXELS = 2
# Size of the sphere that measures a student. With fewer than 4 x 4 sub-pixels, single glints would
# dominate the metrics.
PICTURE_SIZE, PICTURE_SUBPIXELS = 256, 4


def largest_size(subpixels: int = SUBPIXELS) -> int:
    """The largest picture size in pixels, with this number of sub-pixels along a pixel's side."""
    return LARGEST_SIZE // subpixels
