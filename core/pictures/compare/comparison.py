"""Draws two materials side by side, with a heat map of their difference; for reports, into a file
beside the bundle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from verdigris.core.base.outputs import write_file
from verdigris.core.base.process.profile import profiled
from verdigris.core.pictures.compare.heat import heat_colours, with_colour_bar
from verdigris.core.pictures.compare.metrics import ldr_flip, psnr
from verdigris.core.pictures.gbuffer import make_gbuffer
from verdigris.core.pictures.picture_files import encode_jpeg
from verdigris.core.pictures.relief import find_heights
from verdigris.core.pictures.render import SUBPIXELS, Lighting, Uploads, draw, over_backdrop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.base.array_types import Floats
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.pictures.gbuffer import GBuffer


_SUFFIX = ".compare.jpg"
REPORT_SIZE = 512
_QUALITY = 88
# Directions of light and sub-pixels: on a CPU and on a GPU.
_ON_CPU, _ON_GPU = (8, 1), (24, 2)


@dataclass(frozen=True)
class Comparison:
    """Pictures of two materials, and their difference."""

    picture: Floats
    """The reference, the other and the heat map in a row, in linear light."""
    psnr: float
    """PSNR in dB."""
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
    """Draws the material that another is compared with, evaluated on the unit square as in a bake,
    with its relief, which the other then has too."""
    seen = make_gbuffer(shape, size * subpixels, relief=find_heights(reference))
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
    second = draw_beside(first, other, lighting, subpixels, takes_coverage)
    return compare_drawn(first.picture, second)


def draw_beside(
    first: Drawn,
    other: DeviceMaterial,
    lighting: Lighting,
    subpixels: int = SUBPIXELS,
    takes_coverage: bool = False,
) -> Floats:
    """The other material's picture, as `compare_materials` draws it."""
    second = draw(other, first.gbuffer, lighting, subpixels, is_flat=True, uploads=first.uploads)
    if takes_coverage:
        second[..., 3] = first.picture[..., 3]
    return second


def compare_drawn(first: Floats, second: Floats) -> Comparison:
    """Compares two pictures with coverage."""
    pictures = [over_backdrop(picture) for picture in (first, second)]
    flip, heat = ldr_flip(pictures[1], pictures[0])
    coloured = with_colour_bar(heat_colours(np.asarray(heat, np.float32)))
    strip = np.concatenate([*pictures, coloured], axis=1)
    return Comparison(strip, psnr(pictures[1], pictures[0]), flip)


def sheet_of(compared: Sequence[Comparison]) -> Floats:
    """One comparison as it is. Several with one reference have all pictures above, and each heat
    map below its picture."""
    if len(compared) == 1:
        return compared[0].picture
    parts = [np.split(each.picture, 3, axis=1) for each in compared]
    reference = parts[0][0]
    above = [reference, *(other for _, other, _ in parts)]
    below = [np.full_like(reference, reference[0, 0]), *(heat for *_, heat in parts)]
    return np.concatenate([np.concatenate(row, axis=1) for row in (above, below)])


def comparison_path(bundle: Path) -> Path:
    """The picture of a bundle for reports, beside the bundle."""
    return bundle.with_name(bundle.stem + _SUFFIX)


def write_comparison(bundle: Path, teacher: Teacher, student: Student) -> Path:
    """Draws the comparison of a bake in the light of the studio, and writes it for reports."""
    samples, subpixels = _ON_CPU if teacher.device.is_software else _ON_GPU
    lighting = Lighting(samples=samples, emission=0.0)
    found = compare_materials(
        teacher, student, "sphere", REPORT_SIZE, lighting, subpixels, takes_coverage=True
    )
    target = comparison_path(bundle)
    write_file(target, encode_jpeg(np.asarray(found.picture, np.float32), _QUALITY))
    return target
