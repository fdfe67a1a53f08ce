"""Displacement in the rungs of a ladder: its image, and the documents that name it."""

from dataclasses import replace

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.surface_shader.displacement import find_displacement
from verdigris.core.ladder.surface_shader.surface_shader import SurfaceShader, write_surface
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.ladder.views.visibility import DeviceSurface
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.teacher.heights import heights_at
from verdigris.core.material.teacher.teacher import Teacher

from ...material.documents import document, standard_surface

SIZE = 16
SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)[[0, 1, 2, 0, 2, 3]]
ALONG_X = (
    '<position name="place" type="vector3"/>'
    '<extract name="x" type="float"><input name="in" type="vector3" nodename="place"/></extract>'
)
CONSTANT = (
    '<constant name="x" type="float"><input name="value" type="float" value="{}"/></constant>'
)
SHADER = SurfaceShader("standard_surface", "wall", ())


def displaced(scale, nodes=ALONG_X):
    return document(
        nodes,
        standard_surface(),
        '<displacement name="bumps" type="displacementshader">'
        '<input name="displacement" type="float" nodename="x"/>'
        f'<input name="scale" type="float" value="{scale}"/></displacement>',
        '<surfacematerial name="m" type="material">'
        '<input name="surfaceshader" type="surfaceshader" nodename="shader"/>'
        '<input name="displacementshader" type="displacementshader" nodename="bumps"/>'
        "</surfacematerial>",
    )


def scene_of(text, tiles=1):
    """A square for each tile. The place runs backwards in those after the first."""
    device = open_device("software")
    uv = np.concatenate([SQUARE + np.array([tile, 0]) for tile in range(tiles)])
    x = np.concatenate([np.abs(SQUARE[:, :1] - (tile > 0)) for tile in range(tiles)])
    place = np.concatenate([x, uv[:, 1:], 0 * x], 1).reshape(-1, 3, 3).astype(np.float32)
    uv = uv.reshape(-1, 3, 2).astype(np.float32)
    normal = np.zeros_like(place) + np.array([0, 0, 1], np.float32)
    surface, atlas = Surface(Mesh(place, normal, uv), {"st": uv}, name="squares"), None
    if tiles > 1:
        surface, atlas = surface.with_atlas("st")
    teacher = Teacher(parse_document(text), device=device, has_atlas=False)
    geometry = DeviceSurface(device, surface)
    return Scene(teacher, geometry, None, 1.0, atlas.uv_set if atlas else "st", None, False, atlas)


def test_the_document_of_a_rung_has_the_heights_of_its_source(tmp_path):
    found = find_displacement(scene_of(displaced(-0.2)), SIZE)
    assert found.notes == () and found.displacement.scale == pytest.approx(0.2, rel=0.05)
    found.displacement.write(tmp_path, {})
    shader = replace(SHADER, displacement=found.displacement)
    name, _ = write_surface(shader, Grid(1, 1, np.zeros((1, 0), "f4")), tmp_path, "surface")
    assert oiio.ImageBuf(str(tmp_path / "displacement.png")).spec().format == oiio.UINT16
    written = heights_at(Teacher(load_document(tmp_path / name)), SIZE, SIZE).values
    expected = -0.2 * (np.arange(SIZE) + 0.5) / SIZE
    # a texture wraps: its first and last columns are means of both ends
    inside = slice(2, -2)
    np.testing.assert_allclose(
        written[:, inside], np.tile(expected, (SIZE, 1))[:, inside], atol=2e-3
    )


def test_each_tile_has_an_image_of_its_own(tmp_path):
    scene = scene_of(displaced(0.5), tiles=2)
    found = find_displacement(scene, 2 * SIZE).displacement
    found.write(tmp_path, scene.atlas.parts(2 * SIZE))
    assert found.facts()["tiles"] == "displacement.<UDIM>.png"
    assert found.tiles in replace(SHADER, displacement=found).write({})
    centres = (np.arange(SIZE) + 0.5) / SIZE
    for number, expected in ((1001, centres), (1002, 1 - centres)):
        image = oiio.ImageBuf(str(tmp_path / f"displacement.{number}.png")).get_pixels("float")
        heights = found.scale * (image[3, :, 0] - found.midlevel)
        assert heights[1:-1] == pytest.approx(0.5 * expected[1:-1], abs=5e-3)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (displaced(0.5, CONSTANT.format(0.5)), "is 0.25 everywhere and left out"),
        (displaced(0.5, CONSTANT.format(0)), ""),
        (displaced(1e6), "spans 9.84e+05 times the width of uv"),
        (displaced("1e3000"), "is left out"),
    ],
)
def test_heights_without_use_are_reported(text, note):
    found = find_displacement(scene_of(text), SIZE)
    assert len(found.notes) == bool(note) and all(note in each for each in found.notes)
    assert (found.displacement is None) == ("spans" not in note)
