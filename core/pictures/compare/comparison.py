"""Draws two materials side by side, with a heat map of their difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.base.process.profile import profiled
from verdigris.core.pictures.compare.colour_bar import with_colour_bar
from verdigris.core.pictures.compare.heat import heat_colours
from verdigris.core.pictures.compare.metrics import ldr_flip, psnr
from verdigris.core.pictures.gbuffer import make_gbuffer
from verdigris.core.pictures.render import SUBPIXELS, Lighting, Uploads, draw, over_backdrop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.pictures.gbuffer import GBuffer

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


class Drawn(NamedTuple):
    """A material's picture, with the G-buffer for another material's."""

    gbuffer: GBuffer
    picture: Floats
    uploads: Uploads | None
    """The G-buffer on a GPU. On a CPU it would take its memory again."""


def draw_reference(
    reference: DeviceMaterial, shape: str, size: int, lighting: Lighting, subpixels: int = SUBPIXELS
) -> Drawn:
    """Draws the material that another is compared with, evaluated on the unit square as in a
    bake."""
    seen = make_gbuffer(shape, size * subpixels)
    uploads: Uploads | None = None if reference.device.is_software else {}
    picture = draw(reference, seen, lighting, subpixels, is_flat=True, uploads=uploads)
    return Drawn(seen, picture, uploads)


@profiled("draw pictures")
def compare_materials(
    reference: DeviceMaterial,
    other: DeviceMaterial,
    shape: str,
    size: int,
    lighting: Lighting,
    subpixels: int = SUBPIXELS,
    takes_coverage: bool = False,
    drawn: Drawn | None = None,
) -> Comparison:
    """Draws both materials around the same shape; `drawn` is the reference's picture, if there is
    one already.

    A student has no opacity, which is stored as a map: with `takes_coverage`, the other picture
    takes the coverage of the reference.
    """
    first = drawn or draw_reference(reference, shape, size, lighting, subpixels)
    second = draw(other, first.gbuffer, lighting, subpixels, is_flat=True, uploads=first.uploads)
    if takes_coverage:
        second[..., 3] = first.picture[..., 3]
    pictures = [over_backdrop(picture) for picture in (first.picture, second)]
    flip, heat = ldr_flip(pictures[1], pictures[0])
    coloured = with_colour_bar(heat_colours(np.asarray(heat, np.float32)))
    strip = np.concatenate([*pictures, coloured], axis=1)
    return Comparison(strip, psnr(pictures[1], pictures[0]), flip)
