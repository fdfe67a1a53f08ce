"""What a camera sees, and how large, becomes weights in uv space."""

import json
import tracemalloc

import numpy as np
import pytest

from verdigris.core.base.errors import MeshError, SettingsError
from verdigris.core.geometry import raster
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.importance.camera import Camera, look_at, read_camera
from verdigris.core.importance.from_mesh import MapSettings
from verdigris.core.importance.from_view import DepthBuffer, ViewSettings, clip_near, view_maps

SMALL = MapSettings(size=16, dilation=0)
SIZE = (320, 200)
FREE = ViewSettings(hidden=0.0, most=1e9)


def card(origin, along_u, along_v, uv=(0, 0, 1, 1), cuts=1):
    """A flat rectangle in space whose uvs fill a rectangle, in 2 x cuts x cuts triangles."""
    steps = np.linspace(0, 1, cuts + 1)
    s, t = np.meshgrid(steps, steps)
    point = (
        np.array(origin, float) + s[..., None] * along_u + t[..., None] * np.array(along_v, float)
    )
    place = np.stack([uv[0] + s * (uv[2] - uv[0]), uv[1] + t * (uv[3] - uv[1])], -1)

    def corners(values):
        a, b, c, d = values[:-1, :-1], values[:-1, 1:], values[1:, 1:], values[1:, :-1]
        halves = (
            np.stack(each, 2).reshape(-1, 3, values.shape[-1]) for each in ((a, b, c), (a, c, d))
        )
        return np.concatenate(list(halves)).astype(np.float32)

    position = corners(point)
    return Mesh(position, np.zeros_like(position), corners(place))


def joined(*meshes):
    return Mesh(
        *(np.concatenate([getattr(m, n) for m in meshes]) for n in ("position", "normal", "uv"))
    )


def relative(maps):
    return maps.tiles[1001].weights


def test_a_card_seen_from_the_front_weighs_the_same_everywhere():
    mesh = card((-1, -1, 0), (2, 0, 0), (0, 2, 0))
    found = relative(view_maps(mesh, look_at((0, 0, 10), (0, 0, 0), resolution=SIZE), FREE, SMALL))
    assert found == pytest.approx(np.ones((16, 16)), abs=1e-4)


@pytest.mark.parametrize(("cuts", "spread"), [(1, 0.03), (5, 0.12)])
def test_weights_are_the_pixels_that_each_texel_spans(cuts, spread):
    """Against the area of each texel's four projected corners. Where triangles meet, the larger of
    what they say of a texel counts."""
    mesh = card((-1, 0, 1), (2, 0.3, 0), (0.2, 0.5, -4), cuts=cuts)
    camera = look_at((0.5, 2, 3), (0, 0, 0), fov=32, resolution=(800, 500))
    edge = np.linspace(0, 1, 17)
    s, t = np.meshgrid(edge, edge)
    point = np.array([-1, 0, 1]) + s[..., None] * [2, 0.3, 0] + t[..., None] * [0.2, 0.5, -4]
    pixel = camera.project(camera.to_camera(point))
    first, second = pixel[1:, 1:] - pixel[:-1, :-1], pixel[1:, :-1] - pixel[:-1, 1:]
    area = np.abs(first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]) / 2
    is_in = ((pixel > 0) & (pixel < (800, 500))).all(-1)
    whole = is_in[1:, 1:] & is_in[:-1, :-1] & is_in[1:, :-1] & is_in[:-1, 1:]
    assert 30 < whole.sum() < 256
    found = relative(view_maps(mesh, camera, FREE, SMALL))
    ratio = found[whole] / area[whole]
    assert np.ptp(ratio) / ratio.mean() < spread
    assert np.std(ratio) / ratio.mean() < spread / 4


def test_what_is_behind_something_else_is_hidden():
    front = card((-1, -1, 1), (1, 0, 0), (0, 2, 0), (0, 0, 0.25, 1))
    back = card((-1, -1, 0), (2, 0, 0), (0, 2, 0), (0.5, 0, 1, 1))
    camera = look_at((0, 0, 1000), (0, 0, 0), fov=0.2, resolution=SIZE)
    found = relative(view_maps(joined(front, back), camera, FREE, SMALL))
    assert (found[:, :4] > 0).all()
    assert (found[:, 8:12] == 0).all()
    assert (found[:, 12:] > 0).all()


def test_hidden_places_have_the_least_weight_and_near_ones_no_more_than_the_most():
    mesh = joined(
        card((-1, -1, 0), (2, 0, 0), (0, 2, 0), (0, 0, 0.5, 1)),
        card((-1, -1, -1), (2, 0, 0), (0, 2, 0), (0.5, 0, 1, 0.5)),
        card((-0.01, -0.01, 4.9), (0.02, 0, 0), (0, 0.02, 0), (0.5, 0.75, 1, 1)),
    )
    found = relative(view_maps(mesh, look_at((0, 0, 5), (0, 0, 0), resolution=SIZE), None, SMALL))
    assert (found[:8, 8:] == np.float32(0.1)).all()
    assert (found[9:11, 8:] == np.float32(0.1)).all()
    assert found[14:, 8:].min() >= found[:, :6].max()
    assert found.max() <= 8


def test_a_surface_does_not_hide_itself():
    """A wavy sheet seen flat: nothing but its back slopes is hidden."""
    sheet = card((-1, 0, -1), (2, 0, 0), (0, 0, 2), cuts=24)
    position = sheet.position.copy()
    position[..., 1] = 0.02 * np.sin(6 * position[..., 0]) * np.cos(5 * position[..., 2])
    bent = Mesh(position, sheet.normal, sheet.uv)
    camera = look_at((0, 1.2, 2.5), (0, 0, 0), fov=60, resolution=(320, 200))
    found = relative(view_maps(bent, camera, FREE, MapSettings(size=64, dilation=0)))
    assert (found > 0).mean() > 0.999


def test_triangles_that_reach_behind_the_camera_still_hide_what_is_behind_them():
    floor = card((-50, 0, -50), (100, 0, 0), (0, 0, 100), (0, 0, 0.5, 1))
    below = card((-1, -1, -6), (2, 0, 0), (0, 0, 2), (0.5, 0, 1, 1))
    camera = look_at((0, 1, 0), (0, 0.4, -5), fov=80, resolution=SIZE)
    found = relative(view_maps(joined(floor, below), camera, FREE, SMALL))
    assert (found[:, 9:] == 0).all()
    assert (found[:, :8] > 0).sum() > 20


def test_cutting_at_the_near_plane_keeps_the_part_beyond_it():
    triangles = np.array(
        [
            [[0, 0, 2], [1, 0, 2], [0, 1, 2]],
            [[0, 0, 2], [1, 0, -2], [0, 1, -2]],
            [[0, 0, -2], [1, 0, 2], [0, 1, 2]],
            [[0, 0, -2], [1, 0, -2], [0, 1, -2]],
        ],
        float,
    )
    areas = {True: 0.0, False: 0.0}
    parts = clip_near(triangles, 0.5)
    assert parts[..., 2].min() == 0.5
    for part in parts:
        area = np.linalg.norm(np.cross(part[1] - part[0], part[2] - part[0])) / 2
        areas[bool(np.ptp(part[:, 2]) == 0)] += area
    tilted = np.linalg.norm(np.cross([1, 0, -4], [0, 1, -4])) / 2
    share = ((2 - 0.5) / 4) ** 2
    assert areas[True] == pytest.approx(0.5)
    assert areas[False] == pytest.approx(tilted * share + tilted * (1 - (2.5 / 4) ** 2))


def test_the_depth_buffer_is_exact_between_pixels():
    """A steep card at few pixels: places just before and just behind it are told apart."""
    camera = look_at((0, 0, 0), (0, 0, -1), fov=90, resolution=(64, 64))
    mesh = card((-5, -5, -3), (10, 0, -4), (0, 10, 0))
    depth = DepthBuffer(camera.to_camera(mesh.position), camera)
    random = np.random.default_rng(0)
    on_card = [-5, -5, -3] + random.uniform(0.35, 0.65, (200, 2)) @ [[10, 0, -4], [0, 10, 0]]
    seen = camera.to_camera(on_card)
    assert depth.is_visible(seen).all()
    assert depth.is_visible(seen * 0.9).all()
    assert not depth.is_visible(seen * 1.07).any()


def test_a_tile_that_a_triangle_passes_by_has_no_map():
    # its long side meets 1022 at a corner and passes 1032 by
    uv = np.float32([[[0.1, 0.1], [1.9, 0.1], [0.1, 3.9]]])
    position = np.float32([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    mesh = Mesh(position, np.zeros_like(position), uv)
    udim = MapSettings(16, 0, layout="udim")
    found = view_maps(mesh, look_at((0, 0, 10), (0, 0, 0), resolution=SIZE), FREE, udim)
    assert sorted(found.tiles) == [1001, 1002, 1011, 1012, 1021, 1031]


def test_each_tile_more_takes_hardly_more_memory_than_its_map(monkeypatch):
    # what painting takes for a moment is less than a tile, too
    monkeypatch.setattr(raster, "TEXELS_AT_ONCE", 1 << 12)
    settings, camera = MapSettings(size=256), look_at((0, 0, 10), (0, 0, 0), resolution=(8, 5))

    def peak(tiles):
        cards = [
            card((-1, -1, 0), (2, 0, 0), (0, 2, 0), (first, 0, first + 1, 1), cuts=16)
            for first in range(tiles)
        ]
        mesh = joined(*cards)
        tracemalloc.start()
        try:
            assert len(view_maps(mesh, camera, settings=settings).tiles) == tiles
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # what is loaded at the first use does not count
    peak(1)
    assert peak(6) - peak(2) < 4 * 2 * (4 * settings.size**2)


def test_a_camera_that_sees_nothing_is_refused():
    mesh = card((-1, -1, 0), (2, 0, 0), (0, 2, 0))
    with pytest.raises(MeshError, match="is not visible to the camera"):
        view_maps(mesh, look_at((0, 0, 5), (0, 0, 10), resolution=SIZE), settings=SMALL)


def test_the_matrix_of_an_application_is_the_same_camera_as_eye_and_target(tmp_path):
    # 90 degrees about y: the camera at (5, 1, 0) looks along -x
    matrix = [[0, 0, -1, 0], [0, 1, 0, 0], [1, 0, 0, 0], [5, 1, 0, 1]]
    (tmp_path / "a.json").write_text(
        json.dumps({"matrix": matrix, "fov": 50, "resolution": [100, 80]})
    )
    (tmp_path / "b.json").write_text(
        json.dumps({"eye": [5, 1, 0], "target": [0, 1, 0], "fov": 50, "resolution": [100, 80]})
    )
    first, second = (read_camera(tmp_path / name) for name in ("a.json", "b.json"))
    points = np.random.default_rng(0).uniform(-1, 1, (10, 3))
    assert first.project(first.to_camera(points)) == pytest.approx(
        second.project(second.to_camera(points))
    )
    # z = -1 lies to the right of one that looks along -x, and up is up
    pixel = first.project(first.to_camera(np.array([[0, 1, 0], [0, 1, -1], [0, 2, 0.0]])))
    across = 50 / np.tan(np.radians(25)) / 5
    assert pixel == pytest.approx(np.array([[50, 40], [50 + across, 40], [50, 40 - across]]))


def test_a_camera_straight_above_needs_no_other_up():
    camera = look_at((0, 5, 0), (0, 0, 0))
    assert np.isfinite(camera.to_camera(np.zeros((1, 3)))).all()
    assert camera.to_camera(np.zeros((1, 3)))[0] == pytest.approx([0, 0, 5])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"matrix": [[1, 2], [3, 4]]}, "four rows of four"),
        ({"matrix": np.zeros((4, 4)).tolist()}, "is not a transform"),
        ({"matrix": np.eye(4)[:, ::-1].tolist()}, "last row"),
        ({"fov": 40}, "has no position: add 'matrix', or"),
        ({"eye": [0, 0, 0], "target": [0, 0, 0]}, "both"),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "fov": 200}, "fov is 200"),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "resolution": [0, 5]}, "resolution is"),
        ({"eye": "north", "target": [0, 0, 0]}, "is not a camera"),
        ({"eye": [1], "target": [0, 0, 0]}, "is not a camera"),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "up": [0, 1]}, "is not a camera"),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "resolution": [1e999, 5]}, "Infinity is not"),
        (
            {"eye": [0, 0, 1], "target": [0, 0, 0], "resolution": "64"},
            "resolution is '64': use two",
        ),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "resolution": [64.5, 9]}, "two whole numbers"),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "resolution": [64, 9, 1]}, "two whole numbers"),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "resolution": ["64", 9]}, "two whole numbers"),
        ({"eye": [0, 0, 1], "target": [0, 0, 0], "near": 0}, "near is 0.0: use more than 0"),
        ({"lens": 35}, "lens is not known: use"),
        ([1], "write an object with"),
    ],
)
def test_what_is_no_camera_is_refused(tmp_path, values, text):
    path = tmp_path / "camera.json"
    path.write_text(json.dumps(values))
    with pytest.raises(SettingsError, match=text):
        read_camera(path)


def test_a_camera_file_that_is_nested_without_end_is_refused(tmp_path):
    path = tmp_path / "camera.json"
    path.write_text("[" * 200000)
    with pytest.raises(SettingsError, match=r"camera.json: is nested too deeply"):
        read_camera(path)


@pytest.mark.parametrize(
    "place", [{"matrix": np.eye(4).tolist()}, {"eye": [0, 0, 5], "target": [0, 0, 0]}]
)
def test_a_camera_file_says_what_is_too_near_and_how_many_pixels_there_are(tmp_path, place):
    path = tmp_path / "camera.json"
    path.write_text(json.dumps({**place, "near": 2, "resolution": [64.0, 48]}))
    camera = read_camera(path)
    assert (camera.near, camera.resolution) == (2, (64, 48))


def test_scale_in_the_matrix_changes_nothing():
    plain, scaled = np.eye(4), np.diag([3.0, 3.0, 3.0, 1.0])
    points = np.array([[0.5, 0.2, -4]])
    assert Camera(scaled).to_camera(points) == pytest.approx(Camera(plain).to_camera(points))
