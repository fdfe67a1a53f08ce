"""Meshes of ladders: uv sets, islands, tiles, cameras, and faulty ones."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import MeshError, SettingsError
from verdigris.core.geometry.mesh import Mesh, load_mesh
from verdigris.core.geometry.mesh_values import load_primvars
from verdigris.core.geometry.raster import rasterize
from verdigris.core.geometry.shapes import shape_mesh
from verdigris.core.geometry.uv_layout import report_uv
from verdigris.core.hosts.ladder_looks import look_of
from verdigris.core.importance.camera import look_at
from verdigris.core.ladder.mesh.mesh_domain import mesh_points
from verdigris.core.ladder.mesh.mesh_surface import Surface, load_surface
from verdigris.core.ladder.views.visibility import DeviceSurface, cameras_around, see

from ..small_ladder import make_ball

ROOT = Path(__file__).resolve().parents[4]
MESHES = runpy.run_path(str(ROOT / "examples/ladder/make_meshes.py"))


@pytest.fixture(scope="module")
def figure(tmp_path_factory):
    pytest.importorskip("pxr")
    return MESHES["make_figure"](tmp_path_factory.mktemp("meshes") / "figure.usda", 12)


@pytest.fixture(scope="module")
def cloth(tmp_path_factory):
    pytest.importorskip("pxr")
    return MESHES["make_cloth"](tmp_path_factory.mktemp("meshes") / "cloth.usda", 8)


def square(uv, position=None):
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], np.float32)
    place = np.pad(corners, ((0, 0), (0, 1))) if position is None else position
    up = np.tile(np.array([0, 0, 1], np.float32), (2, 3, 1))
    return Mesh(place.reshape(2, 3, 3), up, np.asarray(uv, np.float32).reshape(2, 3, 2))


def test_mirrored_and_overlapping_islands_are_reported_and_the_clean_set_is_chosen(figure):
    surface = load_surface(figure)
    assert list(surface.sets) == ["st", "st1"]
    first, second = surface.reports.values()
    # both arms, in a quarter of the square
    assert (first.islands, first.overlapping, second.islands, second.overlapping) == (3, 1, 4, 0)
    assert first.overlap == pytest.approx(0.24, abs=0.03)
    assert first.mirrored == 11 * 12 * 2 and second.mirrored == 0
    assert surface.require_unique_set() == "st1"
    assert "1 of 3 islands overlap" in surface.warnings()[0]
    assert surface.primvars["displayColor"].shape == (len(surface.mesh.position), 3, 3)


def test_udim_tiles_are_joined_to_an_atlas(cloth):
    surface = load_surface(cloth)
    assert set(surface.reports["st"].tiles) == {(0, 0), (1, 0), (0, 1), (1, 1)}
    joined, atlas = surface.with_atlas("st")
    assert joined.sets[atlas.uv_set] * 2 == pytest.approx(surface.sets["st"])
    assert atlas.parts(64) == {
        1001: (0, 0, 32), 1002: (32, 0, 32), 1011: (0, 32, 32), 1012: (32, 32, 32)
    }  # fmt: skip


def test_light_on_tiles_is_fitted_in_their_atlas_which_scenes_do_not_have(cloth):
    surface = load_surface(cloth)
    tiled = replace(surface, sets={"st": surface.sets["st"]})
    assert tiled.is_of_tiles("st") and tiled.squares_a_side("st") == 2
    with pytest.raises(MeshError, match="and it covers 2 unit squares a side"):
        tiled.require_unique_set()
    light_set = tiled.with_atlas("st")[0].require_unique_set()
    curve = {"a": 0.0, "b": 1.0, "c": 0.0}
    unlit = {"name": "unlit", "files": {"light": "unlit_light.png"}, "curve": curve}
    for name, count in ((light_set, 0), ("st1", 1)):
        report = {"uv_set_of_light": name, "rungs": [unlit]}
        assert len(look_of(report, cloth.parent).rungs) == count


def test_a_mesh_without_a_set_for_light_is_refused_with_a_remedy():
    twice = np.concatenate([np.tile([[0, 0], [1, 0], [1, 1]], (2, 1))])
    surface = Surface(square(twice), {"st": square(twice).uv}, name="plate")
    with pytest.raises(MeshError, match=r"plate has no uv set without overlaps.*unwrap a second"):
        surface.require_unique_set()
    with pytest.raises(MeshError, match="no uv set 'uv7': it has st"):
        surface.require_set("uv7")


def test_islands_without_area_are_counted_and_not_read():
    flat = [[0, 0], [1, 0], [1, 1], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    report = report_uv(square(flat).uv)
    assert (report.without_area, report.islands) == (1, 1)
    assert report.covered == pytest.approx(0.5, abs=0.01)
    surface = Surface(square(flat), {"st": square(flat).uv})
    assert "1 of 2 triangles have no area" in surface.warnings()[0]


def test_a_set_without_any_area_is_refused_where_a_texture_needs_one():
    point = square([[0.5, 0.5]] * 6)
    report = report_uv(point.uv)
    assert (report.without_area, report.islands, report.covered) == (2, 0, 0)
    surface = Surface(point, {"st": point.uv}, name="dot")
    with pytest.raises(MeshError, match=r"dot has no uv set .* and 2 triangles have no area"):
        surface.require_unique_set()
    with pytest.raises(MeshError, match="dot: no triangle has an area in the uv set 'st'"):
        mesh_points(surface, side=16)


TWO_NAMES = """#usda 1.0
def Mesh "a" {{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    {first} = [(0, 0, 7), (.5, 0, 7), (.5, 1, 7)] (interpolation = "vertex")
}}
def Mesh "b" {{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 1), (1, 0, 1), (0, 1, 1)]
    texCoord2f[] primvars:{second} = [(.5, 0), (1, 0), (1, 1)] (interpolation = "vertex")
}}"""


def test_meshes_that_name_their_uvs_differently_have_them_in_the_first_set(tmp_path):
    path = tmp_path / "two.usda"
    path.write_text(TWO_NAMES.format(first="texCoord3f[] primvars:st", second="map1"))
    surface = load_surface(path)
    expected = [[[0, 0], [0.5, 0], [0.5, 1]], [[0.5, 0], [1, 0], [1, 1]]]
    assert surface.sets["st"].tolist() == expected and surface.first_set == "st"
    assert surface.sets["map1"][0].tolist() == [[0, 0]] * 3


def test_vertices_far_from_the_origin_are_those_of_the_mesh():
    near = square(np.zeros((6, 2)))
    far = replace(near, position=near.position + np.float32(1 << 20))
    assert [Surface(mesh, {"st": mesh.uv}).vertices[1] for mesh in (near, far)] == [4, 4]


def test_primvars_of_an_obj_are_its_uvs():
    path = ROOT / "examples/tray.obj"
    mesh = load_mesh(path)
    assert load_primvars(path, mesh)["st"] is mesh.uv


def test_what_a_camera_sees_of_a_ball_is_where_a_sphere_is():
    surface = Surface(shape_mesh("ball"), {"st": shape_mesh("ball").uv})
    camera = look_at((0, 0.3, 12), (0, 0.3, 0), fov=12, resolution=(48, 48))
    seen = see(DeviceSurface(open_device("software"), surface), camera)
    (part,) = seen.parts()
    frames = part.view.buffers["gFrames"].to_numpy().view(np.float32).reshape(-1, 4, 3)
    assert seen.mixed(surface.mesh.position) == pytest.approx(frames[:, 0], abs=1e-4)
    ball = frames[:, 0, 1] > 0.1
    place = frames[ball, 0]
    assert np.linalg.norm(place, axis=1) == pytest.approx(np.ones(len(place)), abs=5e-3)
    away = np.array([0, 0.3, 12]) - place
    to_eye = part.view.buffers["gToEye"].to_numpy().view(np.float32).reshape(-1, 3)
    expected = away / np.linalg.norm(away, axis=1, keepdims=True)
    assert to_eye[ball] == pytest.approx(expected, abs=1e-4)
    axes = frames[:, 1:]
    assert axes @ axes.swapaxes(1, 2) == pytest.approx(
        np.tile(np.eye(3), (len(axes), 1, 1)), abs=1e-4
    )
    # rays from the eye through the middles of pixels arrive there
    screen = camera.project(camera.to_camera(frames[:, 0].astype(np.float64)))
    middles = np.stack([seen.pixel % 48, seen.pixel // 48], 1) + 0.5
    assert screen == pytest.approx(middles, abs=2e-3)


def test_what_a_camera_sees_is_what_the_rasteriser_finds():
    tray = load_surface(ROOT / "examples/tray.obj")
    device = open_device("software")
    camera = cameras_around(tray, 3, 64, 5)[1]
    seen = see(DeviceSurface(device, tray), camera)
    there = camera.to_camera(tray.mesh.position)
    screen = camera.project(there).astype(np.float32)
    cover = rasterize(screen, (-1 / there[..., 2]).astype(np.float32), 64, 64)
    expected = np.flatnonzero(cover.triangle.reshape(-1) >= 0)
    assert len(np.setxor1d(expected, seen.pixel)) < 0.01 * len(expected)
    both, ours, theirs = np.intersect1d(seen.pixel, expected, return_indices=True)
    same = seen.triangle[ours] == cover.triangle.reshape(-1)[expected][theirs]
    assert same.mean() > 0.98 and len(both)


def test_cameras_around_a_mesh_hold_all_of_it_from_even_directions():
    surface = Surface(shape_mesh("ball"), {"st": shape_mesh("ball").uv})
    cameras = cameras_around(surface, 40, 64, 3)
    towards = np.array([camera.matrix[3, :3] - surface.centre for camera in cameras])
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    assert np.abs(towards.mean(0)).max() < 0.05
    for camera in cameras[:4]:
        screen = camera.project(camera.to_camera(surface.mesh.position))
        assert screen.min() > 0 and screen.max() < 64
        # the mesh fills the picture
        assert np.ptp(screen, axis=(0, 1)).max() > 64 * 0.9


def test_a_camera_inside_of_a_mesh_or_away_from_it_is_refused():
    surface = Surface(shape_mesh("ball"), {"st": shape_mesh("ball").uv}, name="ball")
    ball = DeviceSurface(open_device("software"), surface)
    with pytest.raises(SettingsError, match=r"camera 3 stands inside ball .*move it outside"):
        see(ball, look_at((0, 0, 0.1), (0, 0.3, -3), resolution=(32, 32)), 3)
    with pytest.raises(SettingsError, match="camera 2 sees nothing of ball"):
        see(ball, look_at((0, 0, 9), (0, 0, 19), resolution=(32, 32)), 2)


def test_a_closed_mesh_is_as_thick_as_lines_through_it_are_long():
    ball = make_ball()
    # 4/3 of the radius of a sphere
    assert ball.thickness == pytest.approx(4 / 3, rel=0.03)
    half = Mesh(*(each[:300] for each in (ball.mesh.position, ball.mesh.normal, ball.mesh.uv)))
    bowl = Surface(half, {"st": half.uv})
    assert bowl.thickness == 2 * bowl.radius
