"""Views, lights and files, against geometry and closed forms."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.device import Device, open_device
from verdigris.core.base.errors import SettingsError, VerdigrisError
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.importance.maps import write_importance
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.pictures import render as pictures
from verdigris.core.pictures.gbuffer import make_gbuffer
from verdigris.core.pictures.picture_files import srgb_from_linear, write_picture
from verdigris.core.pictures.render import Lighting, over_backdrop, render

WHITE = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="b" type="BSDF">
<input name="color" type="color3" value="0.5, 0.25, 1.0"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="b"/></surface>
<surfacematerial name="m" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
COLOUR = np.array([0.5, 0.25, 1.0])


@pytest.fixture(scope="module")
def diffuse():
    return Teacher(parse_document(WHITE), device=open_device("software"))


def test_a_diffuse_sphere_under_one_light_is_its_cosine(diffuse):
    light = np.array([0.3, 0.5, 0.8])
    lighting = Lighting(direction=tuple(light), colour=(np.pi,) * 3, environment=0.0)
    picture = render(diffuse, "sphere", 48, lighting=lighting, subpixels=1)
    view = make_gbuffer("sphere", 48)
    cosine = np.maximum(view.normal @ (light / np.linalg.norm(light)), 0)
    found = picture.reshape(-1, 4)[view.pixel]
    np.testing.assert_allclose(found[:, :3], cosine[:, None] * COLOUR, atol=2e-4)
    np.testing.assert_allclose(found[:, 3], 1.0, atol=2e-4)
    assert picture[0, 0].tolist() == [0, 0, 0, 0]


def test_the_sum_over_the_studio_does_not_depend_on_how_many_directions(diffuse):
    few, many = (
        render(diffuse, "plane", 24, lighting=Lighting(colour=(0, 0, 0), samples=n)).mean((0, 1))
        for n in (16, 256)
    )
    np.testing.assert_allclose(few[:3], many[:3], rtol=0.02)


def test_four_times_the_directions_leave_less_than_half_of_the_noise(diffuse):
    """Which is what directions by chance would leave."""
    exact, many, few = (
        render(diffuse, "sphere", 48, lighting=Lighting(samples=n)) for n in (1024, 32, 8)
    )
    noise, more_noise = (np.square(each - exact).mean() ** 0.5 for each in (many, few))
    assert 0 < noise < more_noise / 2.5


def test_a_picture_is_the_same_in_however_many_dispatches_it_is_drawn(diffuse, monkeypatch):
    lighting = Lighting(samples=8)
    whole = render(diffuse, "sphere", 40, lighting=lighting)
    monkeypatch.setattr(pictures, "DIRECTIONS_AT_ONCE", 1 << 12)
    assert lighting.pixels_at_once < 40 * 40
    np.testing.assert_array_equal(render(diffuse, "sphere", 40, lighting=lighting), whole)


def test_however_many_directions_a_pixel_sums_a_dispatch_takes_about_as_long(diffuse, monkeypatch):
    asked = []
    dispatch = Device.dispatch

    def counted(self, kernel, threads, variables, encoder=None):
        asked.append(threads * variables["gLight"]["environmentSamples"])
        dispatch(self, kernel, threads, variables, encoder)

    monkeypatch.setattr(Device, "dispatch", counted)
    monkeypatch.setattr(pictures, "DIRECTIONS_AT_ONCE", 1 << 16)
    few, many = (
        render(diffuse, "plane", 24, lighting=Lighting(samples=n)).mean((0, 1)) for n in (16, 256)
    )
    assert len(asked) > 2 and max(asked) <= 1 << 16
    np.testing.assert_allclose(few, many, rtol=0.02)


@pytest.mark.parametrize("kind", ["sphere", "plane"])
def test_frames_are_orthonormal_and_right_handed(kind):
    view = make_gbuffer(kind, 32)
    frames = np.stack([view.tangent, view.bitangent, view.normal], axis=1)
    np.testing.assert_allclose(
        frames @ frames.transpose(0, 2, 1), [np.eye(3)] * len(frames), atol=1e-5
    )
    np.testing.assert_allclose(np.linalg.det(frames), 1.0, atol=1e-5)
    assert ((view.to_eye * view.normal).sum(1) > 0).all()


def test_uv_grows_along_the_tangents_of_the_sphere():
    view = make_gbuffer("sphere", 256)
    picture = np.full((256 * 256, 2), np.nan)
    picture[view.pixel] = view.uv
    uv = picture.reshape(256, 256, 2)
    right, up = uv[128, 129] - uv[128, 128], uv[127, 128] - uv[128, 128]
    assert right[0] > abs(right[1])
    assert up[1] > abs(up[0])


def test_a_mesh_view_finds_the_uv_under_each_pixel():
    quad = np.float32([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]])
    uv = np.float32([[0, 1], [1, 1], [1, 0], [0, 0]])
    faces = [[0, 2, 1], [0, 3, 2]]
    up = np.broadcast_to(np.float32([0, 1, 0]), (2, 3, 3))
    view = make_gbuffer("mesh", 64, Mesh(quad[faces], up, uv[faces]))
    # the surface is flat, so uv is a linear function of the place
    np.testing.assert_allclose(view.uv[:, 0], view.position[:, 0] / 2 + 0.5, atol=1e-4)
    np.testing.assert_allclose(view.uv[:, 1], 0.5 - view.position[:, 2] / 2, atol=1e-4)
    assert len(view.pixel) > 500


def test_smooth_normals_at_the_rim_of_a_coarse_pipe_are_kept_and_those_of_a_back_are_turned():
    ring = np.linspace(0, 2 * np.pi, 7)
    low, high = (np.stack([np.sin(ring), 0 * ring + y, np.cos(ring)], 1) for y in (-0.5, 0.5))
    sides = np.concatenate(
        [
            np.stack([low[:-1], low[1:], high[1:]], 1),
            # wound the other way round
            np.stack([low[:-1], high[:-1], high[1:]], 1),
        ]
    ).astype(np.float32)
    outwards = sides * np.float32([1, 0, 1])
    uv = np.zeros((12, 3, 2), np.float32)
    view = make_gbuffer("mesh", 128, Mesh(sides, outwards, uv))
    towards = view.position * np.float32([1, 0, 1])
    along = (view.normal * towards).sum(1) / np.linalg.norm(towards, axis=1)
    # the pipe is open, so that its inside is seen beyond the upper edge
    middle = np.round(np.arctan2(towards[:, 0], towards[:, 2]) / np.pi * 3 - 0.5) + 0.5
    facet = np.stack([np.sin(middle * np.pi / 3), 0 * middle, np.cos(middle * np.pi / 3)], 1)
    is_front = (view.to_eye * facet).sum(1) > 0
    assert is_front.any() and not is_front.all()
    np.testing.assert_array_equal(along > 0.8, is_front)
    np.testing.assert_array_equal(along < -0.8, ~is_front)
    assert ((view.to_eye * view.normal).sum(1)[is_front] < 0).any()


def test_files_hold_srgb_in_png_and_linear_light_in_exr(tmp_path):
    linear = np.linspace(0, 1, 16 * 3, dtype=np.float32).reshape(4, 4, 3)
    write_picture(tmp_path / "a.png", linear)
    write_picture(tmp_path / "a.exr", linear)
    png = np.asarray(oiio.ImageBuf(str(tmp_path / "a.png")).get_pixels("float"))
    exr = np.asarray(oiio.ImageBuf(str(tmp_path / "a.exr")).get_pixels("float"))
    encoded = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    np.testing.assert_allclose(png, encoded, atol=0.5 / 255 + 1e-6)
    np.testing.assert_allclose(exr, linear, atol=1e-3)
    np.testing.assert_allclose(srgb_from_linear(linear), encoded, atol=1e-6)


def test_light_beyond_half_floats_is_the_brightest_that_an_exr_holds(tmp_path):
    linear = np.array([[[1e5, 70_000, 2], [65_504, np.inf, 1]]], np.float32)
    write_picture(tmp_path / "a.exr", linear)
    exr = np.asarray(oiio.ImageBuf(str(tmp_path / "a.exr")).get_pixels("float"))
    assert exr.tolist() == [[[65_504, 65_504, 2], [65_504, 65_504, 1]]]


def test_a_picture_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(VerdigrisError, match=r"pictures are written as \.png or \.exr"):
        write_picture(tmp_path / "a.bmp", np.zeros((2, 2, 3), np.float32))
    with pytest.raises(VerdigrisError, match="does not exist"):
        write_picture(tmp_path / "gone" / "a.png", np.zeros((2, 2, 3), np.float32))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".png", ".exr"])
def test_a_picture_that_does_not_fit_on_the_disk_is_no_picture(tmp_path, suffix):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    noise = np.random.default_rng(1).random((64, 64, 3)).astype(np.float32)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"the picture before")
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(VerdigrisError, match=rf"a\{suffix}: cannot be written.*: free space"):
            write_picture(path, noise)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"the picture before"]


@pytest.mark.parametrize(
    ("write", "shape"), [(write_picture, (2, 2, 3)), (write_importance, (2, 2))]
)
def test_a_picture_is_not_written_over_a_folder_or_where_none_can_be(tmp_path, write, shape):
    folder = tmp_path / "folder.exr"
    folder.mkdir()
    long = tmp_path / f"{'a' * 250}.exr"
    for path, message in (
        (folder, "is not a plain file"),
        (long, r"cannot be written \(File name too"),
        (tmp_path / "a\udcff.exr", "is not Unicode: rename it"),
    ):
        with pytest.raises(VerdigrisError, match=message):
            write(path, np.ones(shape, np.float32))
    assert list(tmp_path.iterdir()) == [folder]


def test_a_view_or_size_that_is_none_is_refused():
    with pytest.raises(SettingsError, match="'cube' is not known"):
        make_gbuffer("cube", 32)
    with pytest.raises(SettingsError, match="choose 1 to 4096"):
        make_gbuffer("plane", 0)
    with pytest.raises(SettingsError, match="needs a mesh"):
        make_gbuffer("mesh", 32)


def test_a_size_that_sub_pixels_make_too_large_is_refused_as_it_was_asked_for(diffuse):
    with pytest.raises(
        SettingsError, match="a picture cannot be 2049 pixels wide: choose 1 to 2048"
    ):
        render(diffuse, "sphere", 2049)


def test_the_backdrop_shows_where_nothing_covers_it():
    empty = np.zeros((4, 4, 4), np.float32)
    solid = np.concatenate([np.full((4, 4, 3), 0.5), np.ones((4, 4, 1))], -1).astype(np.float32)
    assert (over_backdrop(empty) > 0).all()
    np.testing.assert_allclose(over_backdrop(solid), 0.5)
