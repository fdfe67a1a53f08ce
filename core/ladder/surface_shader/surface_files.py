"""Writes the textures of a surface shader, an image for each input, and their document."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.base.outputs import write_file
from verdigris.core.ladder.surface_shader.surface_document import Constant
from verdigris.core.material.graph.library import standard_library
from verdigris.core.pictures.picture_files import write_data
from verdigris.core.settings.rung_names import SURFACE

if TYPE_CHECKING:
    from verdigris.core.ladder.mesh.mesh_surface import Atlas
    from verdigris.core.ladder.surface_shader.surface_document import SurfaceShader
    from verdigris.core.ladder.texels.grid import Grid

DOCUMENT = "document"
"""The use of the document among the files of the rung."""


def write_surface(
    shader: SurfaceShader, grid: Grid, folder: Path, atlas: Atlas | None = None
) -> dict[str, str]:
    """Writes `surface.mtlx` and its images. Returns file names by the input that they feed; those
    of UDIM tiles contain <UDIM>."""
    files = write_images(shader, grid, folder, SURFACE, atlas)
    name = f"{SURFACE}.mtlx"
    write_file(folder / name, shader.write(files).encode())
    return {DOCUMENT: name, **files}


def write_images(
    shader: SurfaceShader, grid: Grid, folder: Path, name: str, atlas: Atlas | None = None,
    there: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:  # fmt: skip
    """Writes an image `NAME_INPUT.png` for each input whose file is not there. Returns file names
    by input."""
    files = {}
    for each in shader.inputs:
        if each.name in there:
            files[each.name] = there[each.name]
            continue
        first = shader.firsts[each.name]
        image = np.asarray(grid.image[..., first : first + each.channels], np.float32)
        stem = f"{name}_{each.name}"
        if atlas is None:
            files[each.name] = f"{stem}.png"
            write_data(folder / files[each.name], np.ascontiguousarray(image[::-1]))
            continue
        files[each.name] = f"{stem}.<UDIM>.png"
        for number, (left, bottom, side) in atlas.parts(len(image)).items():
            tile = image[bottom : bottom + side, left : left + side]
            write_data(folder / f"{stem}.{number}.png", np.ascontiguousarray(tile[::-1]))
    return files


def describe_shader(shader: SurfaceShader, files: Mapping[str, str]) -> dict[str, Any]:
    """The shader for programs that make a node of it: numbers and textures by input. Inputs that
    the document leaves out have the library's values."""
    known = _library_values(shader.category)
    known |= {each.name: _value_of(each) for each in shader.constants}
    for name in (each.name for each in shader.inputs):
        known.pop(name, None)
    return {
        "category": shader.category,
        "values": {name: value for name, value in known.items() if value is not None},
        "textures": {
            each.name: {
                "file": files[each.name],
                "is_colour": each.is_colour,
                "is_direction": each.is_direction,
                "low": each.low,
                "high": each.high,
            }
            for each in shader.inputs
        },
    }


def _library_values(category: str) -> dict[str, bool | float | list[float] | None]:
    found = standard_library().getMatchingNodeDefs(category)
    definition = next((each for each in found if each.getDefaultVersion()), found[0])
    constants = (
        Constant(port.getName(), port.getType(), port.getValueString())
        for port in definition.getActiveInputs()
        if port.getValueString()
    )
    return {each.name: _value_of(each) for each in constants}


def _value_of(constant: Constant) -> bool | float | list[float] | None:
    """The number or linear colour of an input; None of other kinds."""
    if constant.kind == "boolean":
        return constant.value == "true"
    if constant.kind == "integer":
        return int(constant.value)
    if constant.kind not in ("float", "color3", "vector3"):
        return None
    numbers = [float(each) for each in constant.value.split(",")]
    if constant.colour_space == "srgb_texture":
        numbers = np.round(linear_from_srgb(np.array(numbers)), 6).tolist()
    return numbers[0] if constant.kind == "float" else numbers
