"""Photographs of one place under many lights, as in SVBRDF stacks and BTFs: `lights.json` in their
folder names an image with its light, and its view, for each.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.base.errors import DocumentError
from verdigris.core.base.json_fields import Fields, read_json_file
from verdigris.core.material.files.image_headers import read_info
from verdigris.core.material.files.image_texels import read_image
from verdigris.core.material.files.paths import SearchPath

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.base.array_types import Doubles, Floats

_SRGB = "srgb_texture"
_MOST_JSON = 4 << 20
_MOST_ENTRIES, _MOST_NUMBERS = 2048, 1 << 28
_LEAST_COSINE = 0.02
_HEADER = 8


def stack_files(path: Path) -> list[Path]:
    """The images that a `lights.json` names."""
    return [path.parent / each.text("file") for each in _entries(path)]


def read_stack(path: Path) -> Floats:
    """Directions and BRDFs of all images in one row, with the header that `light_stack.slang`
    reads."""
    entries = _entries(path)
    named = _fields(path)
    is_encoded = True
    if "colour_space" in named:
        is_encoded = named.chosen("colour_space", (_SRGB, "lin_rec709")) == _SRGB
    # images lie in the folder
    search = SearchPath.of(path.parent, confined=True)
    directions: list[Doubles] = []
    images: list[Floats] = []
    for number, each in enumerate(entries):
        asker = f"{path}: lights[{number}]"
        light = _direction(each, "light", (0, 0, 1), asker)
        view = _direction(each, "view", (0, 0, 1), asker)
        info = read_info(each.text("file"), asker, search)
        texels = read_image(info, asker).levels[0][..., :3]
        if images and texels.shape != images[0].shape:
            raise DocumentError(
                f"{asker}: {each.text('file')} is {texels.shape[1]} x {texels.shape[0]} texels, and"
                f" the first image {images[0].shape[1]} x {images[0].shape[0]}: use one size"
            )
        if (len(images) + 1) * texels.size > _MOST_NUMBERS:
            raise DocumentError(
                f"{path}: has more than {_MOST_NUMBERS:,} numbers: scale the images"
            )
        values = texels.astype(np.float32)
        if texels.dtype.kind == "u":
            values /= np.iinfo(texels.dtype).max
            values = linear_from_srgb(values) if is_encoded else values
        brightness = each.number("intensity") if "intensity" in each else 1.0
        if not brightness > 0:
            raise DocumentError(f"{asker}: the intensity {brightness:g} is not above 0")
        directions.append(np.concatenate([light, view]))
        images.append(np.maximum(values, 0).astype(np.float32) / (brightness * light[2]))
    views = np.array(directions)[:, 3:]
    has_one_view = bool((views @ views[0] > 0.9999).all())
    height, width = images[0].shape[:2]
    header = [len(images), width, height, has_one_view, *views[0], 0]
    assert len(header) == _HEADER
    parts = [np.array(header), np.ravel(directions), *map(np.ravel, images)]
    return np.concatenate([each.astype(np.float32) for each in parts])


def _fields(path: Path) -> Fields:
    values = read_json_file(path, DocumentError, _MOST_JSON)
    if not isinstance(values, dict):
        raise DocumentError(f"{path}: must be an object")
    found = Fields(str(path), "", values, DocumentError)
    found.require_known(("lights", "colour_space"))
    return found


def _entries(path: Path) -> Sequence[Fields]:
    values = _fields(path).typed("lights", list)
    if not all(isinstance(each, dict) for each in values):
        raise DocumentError(f"{path}: lights must be a list of objects")
    found = [
        Fields(str(path), f"lights[{number}]", each, DocumentError)
        for number, each in enumerate(values)
    ]
    for each in found:
        each.require_known(("file", "light", "view", "intensity"))
    if not 2 <= len(found) <= _MOST_ENTRIES:
        raise DocumentError(
            f"{path}: has {len(found)} lights: name 2 to {_MOST_ENTRIES}, each with its file"
        )
    return found


def _direction(entry: Fields, name: str, default: Sequence[float], asker: str) -> Doubles:
    values = entry.numbers(name, 3) if name in entry else default
    found = np.array(values, np.float64)
    length = float(np.linalg.norm(found))
    if not length > 0 or found[2] < _LEAST_COSINE * length:
        raise DocumentError(
            f"{asker}: {name} {list(values)} is not above the surface: use x, y, z with z above 0"
        )
    return found / length
