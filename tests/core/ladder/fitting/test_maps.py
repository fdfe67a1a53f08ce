"""Occlusion of a mesh and opacity of a material, in what a ladder writes."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.fitting.maps import BLEND, MASK, Coverage, bake_occlusion
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output.write_ladder import write_ladder
from verdigris.core.ladder.rungs.rung import Rung
from verdigris.core.ladder.views.visibility import DeviceSurface, cameras_around, see
from verdigris.core.lighting.bvh import build_bvh
from verdigris.core.lighting.device_lighting import DeviceBvh
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ...material.documents import with_surface
from ..small_ladder import TINY

# Below a height two fifths of it is there, above it all.
HALF_THERE = with_surface(
    '<input name="base_color" type="color3" value="0.8,0.3,0.1"/>'
    '<input name="specular_roughness" type="float" value="0.6"/>'
    '<input name="opacity" type="color3" nodename="there"/>',
    '<position name="place" type="vector3"/>'
    '<extract name="height" type="float"><input name="in" type="vector3" nodename="place"/>'
    '<input name="index" type="integer" value="1"/></extract>'
    '<ifgreater name="there" type="color3"><input name="value1" type="float" nodename="height"/>'
    '<input name="value2" type="float" value="0"/><input name="in1" type="color3" value="1,1,1"/>'
    '<input name="in2" type="color3" value="0.4,0.4,0.4"/></ifgreater>',
)


@pytest.fixture(scope="module")
def device():
    return open_device("software")


def quads(*corners):
    """Two triangles for each four corners in order; their normals, and the unit square as uv."""
    place = np.array(corners, np.float32)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3)
    normal = np.cross(place[:, 1] - place[:, 0], place[:, 2] - place[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    uv = np.tile(square[[0, 1, 2, 0, 2, 3]].reshape(2, 3, 2), (len(corners), 1, 1))
    return place, np.repeat(normal[:, None], 3, 1), uv


# A floor whose u leads away from a wall of height 1, which is long enough to count as endless.
FLOOR = ((0, 0, 1), (4, 0, 1), (4, 0, -1), (0, 0, -1))
WALL = ((0, 0, 200), (0, 0, -200), (0, 1, -200), (0, 1, 200))
FAR = tuple((x, y + 500, z) for x, y, z in FLOOR)


def occlusion_of(device, *corners, side=16):
    """Of these corners, the last of which are a wall in a single texel."""
    place, normal, uv = quads(*corners)
    uv[-2:] *= 1e-3
    mesh = Mesh(place, normal, uv)
    surface = Surface(mesh, {"st": uv}, name="corner")
    occluders = DeviceBvh.upload(device, build_bvh(place))
    return bake_occlusion(surface, "st", side, device, occluders).image[..., 0]


def test_a_wall_takes_its_form_factor_of_the_light_of_a_floor(device):
    found = occlusion_of(device, FLOOR, WALL)
    away = (np.arange(16) + 0.5) / 16 * 4
    expected = 1 - 0.5 * (1 - away / np.hypot(away, 1))
    # 128 rays a texel, 14 rows
    assert found[1:-1].mean(0) == pytest.approx(expected, abs=0.02)


def test_islands_that_share_texels_share_the_mean_of_their_occlusion(device):
    alone, shared = occlusion_of(device, FLOOR, WALL), occlusion_of(device, FLOOR, FAR, WALL)
    # each pass shows one of the two at random
    assert alone[1:-1, 0].max() < 0.7
    assert (shared[1:-1, 0] > alone[1:-1, 0]).all() and (shared[1:-1, 0] < 0.95).all()


@pytest.fixture(scope="module")
def made(device, ball, tmp_path_factory):
    teacher = Teacher(parse_document(HALF_THERE), device=device)
    few = replace(TINY, size=16, responses=6000, steps=60, held_out=1)
    rungs = ("pbr", "unlit", "detail", "vertex")
    ladder = make_ladder(teacher, ball, find_environment("studio"), rungs, few, uv_set="st1")
    folder = tmp_path_factory.mktemp("maps")
    return ladder, folder, write_ladder(ladder, folder, "half", has_ktx=False)


def read(file):
    """Texels with v = 0 in row 0, and colours that are not multiplied by alpha."""
    as_stored = oiio.ImageSpec()
    as_stored.attribute("oiio:UnassociatedAlpha", 1)
    return np.asarray(oiio.ImageBuf(str(file), 0, 0, as_stored).get_pixels("float"))[::-1]


def test_colours_are_those_of_the_surface_and_alpha_is_its_opacity(made):
    _, folder, report = made
    rungs = {each["name"]: each for each in report["rungs"]}
    base = read(folder / rungs["pbr"]["files"]["base_color"])
    assert base.shape == (16, 16, 4)
    # v is the height on the ball
    assert base[1:6, :, 3] == pytest.approx(0.4, abs=0.005)
    assert base[10:14, :, 3] == pytest.approx(1, abs=0.005)
    below, above = (np.median(each[..., :3], (0, 1)) for each in (base[:6], base[10:]))
    assert below == pytest.approx(above, abs=0.06)
    assert read(folder / rungs["unlit"]["files"]["shown"])[1:6, :, 3] == pytest.approx(
        0.4, abs=0.01
    )
    assert read(folder / rungs["detail"]["files"]["opacity"])[10:14].min() > 0.99
    assert rungs["pbr"]["scene_textures"]["opacity"] == "pbr_opacity.png"
    with np.load(folder / rungs["vertex"]["scene_vertices"]) as vertices:
        height, opacity = vertices["position"][:, 1], vertices["colour"][:, 3]
    assert opacity[height < -0.3] == pytest.approx(0.4, abs=0.01)
    assert opacity[height > 0.3] == pytest.approx(1, abs=0.01)


def test_gltf_blends_what_is_half_there_and_the_picture_has_it(made):
    ladder, folder, _ = made
    document = json.loads((folder / "half.gltf").read_text())
    assert {each["alphaMode"] for each in document["materials"]} == {BLEND}
    assert "alphaCutoff" not in document["materials"][0]
    vertex = json.loads((folder / "half_vertex.gltf").read_text())
    colour = vertex["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"]
    assert vertex["accessors"][colour]["type"] == "VEC4"
    assert vertex["materials"][0]["alphaMode"] == BLEND
    seen, light = ladder.held_out.seen[0], ladder.held_out.light[0]
    pbr = ladder.rungs[0].draw(seen, 64)
    below = seen.mixed(ladder.scene.surface.mesh.position)[:, 1] < -0.2
    assert pbr[below].mean() == pytest.approx(light[below].mean(), rel=0.15)


def test_a_material_with_holes_is_masked_and_drawn_so(device, ball):
    teacher = Teacher(parse_document(HALF_THERE.replace("0.4,0.4,0.4", "0,0,0")), device=device)
    scene = SimpleNamespace(teacher=teacher, surface=ball, first_set="st1", unique_set="st1")
    geometry = DeviceSurface(device, ball)
    seen = [see(geometry, each) for each in cameras_around(ball, 8, 64, 1)]
    rung = Rung(
        size=32, byte_size=100, draw=lambda each, _: np.ones((len(each.triangle), 3), np.float32)
    )
    rung.add_opacity(Coverage.find(scene, seen))
    assert rung.opacity.mode == MASK and rung.byte_size == 100 + 32 * 32
    drawn = rung.draw(seen[0], 1)[:, 0]
    assert set(drawn) == {0.0, 1.0}
    there = seen[0].mixed(ball.mesh.position)[:, 1] > 0
    assert (drawn == there).mean() > 0.95
