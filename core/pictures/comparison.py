"""Draws two materials side by side, with a heat map of their difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.profile import profiled
from verdigris.core.pictures.colour_bar import with_colour_bar
from verdigris.core.pictures.heat import heat_colours
from verdigris.core.pictures.metrics import ldr_flip, psnr
from verdigris.core.pictures.picture_limits import SUBPIXELS
from verdigris.core.pictures.render import Lighting, Uploads, draw, make_view, over_backdrop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial

    Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Comparison:
    """Pictures of two materials, and their difference."""

    picture: Floats
    """The reference, the other and the heat map in a row, in linear light."""
    psnr: float
    """In dB."""
    flip: float
    """Mean FLIP."""


@profiled("draw pictures")
def compare_materials(
    reference: DeviceMaterial,
    other: DeviceMaterial,
    view: str,
    size: int,
    lighting: Lighting,
    subpixels: int = SUBPIXELS,
    takes_coverage: bool = False,
) -> Comparison:
    """Draws both materials, evaluated on the unit square as in a bake, around the same shape.

    A student has no opacity, which is stored as a map: with `takes_coverage`, the other picture
    takes the coverage of the reference.
    """
    seen = make_view(view, size * subpixels)
    # on a processor, a view there takes the memory of the view once more
    uploads: Uploads | None = None if reference.device.is_software else {}
    drawn = [
        draw(material, seen, lighting, subpixels, is_flat=True, uploads=uploads)
        for material in (reference, other)
    ]
    if takes_coverage:
        drawn[1][..., 3] = drawn[0][..., 3]
    pictures = [over_backdrop(picture) for picture in drawn]
    flip, heat = ldr_flip(pictures[1], pictures[0])
    coloured = with_colour_bar(heat_colours(np.asarray(heat, np.float32)))
    strip = np.concatenate([*pictures, coloured], axis=1)
    return Comparison(strip, psnr(pictures[1], pictures[0]), flip)
