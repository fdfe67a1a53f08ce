"""A picture file of a bake for reports: reference, neural material and difference in a row."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.outputs import write_file
from verdigris.core.pictures.compare.comparison import compare_materials
from verdigris.core.pictures.picture_files import encode_jpeg
from verdigris.core.pictures.render import Lighting

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student

_SUFFIX = ".compare.jpg"
REPORT_SIZE = 512
_QUALITY = 88
# Directions of the studio and sub-pixels: on a processor and on a graphics card.
_ON_PROCESSOR, _ON_GPU = (8, 1), (24, 2)


def comparison_path(bundle: Path) -> Path:
    """The file of a bundle's picture, beside it."""
    return bundle.with_name(bundle.stem + _SUFFIX)


def write_comparison(bundle: Path, teacher: Teacher, student: Student) -> Path:
    """Draws and writes it, in the light of the studio."""
    samples, subpixels = _ON_PROCESSOR if teacher.device.is_software else _ON_GPU
    lighting = Lighting(samples=samples, emission=0.0)
    found = compare_materials(
        teacher, student, "sphere", REPORT_SIZE, lighting, subpixels, takes_coverage=True
    )
    target = comparison_path(bundle)
    write_file(target, encode_jpeg(np.asarray(found.picture, np.float32), _QUALITY))
    return target
