"""The viewer: what the artist turns, what is drawn of it, and when there is no window."""

import os
import subprocess
import sys

import numpy as np
import pytest

from verdigris.core.pictures.viewer import Look, compose


def test_the_light_starts_where_pictures_have_it():
    from verdigris.core.pictures.render import Lighting

    usual = np.array(Lighting().direction)
    np.testing.assert_allclose(Look().light, usual / np.linalg.norm(usual), atol=0.02)


def test_a_drag_over_half_the_window_turns_the_shape_by_a_quarter():
    look = Look().orbited(0.5, 0.0)
    assert look.camera.turn == 90
    assert Look().orbited(0.0, 3.0).camera.pitch == 89  # never over the top
    assert Look().orbited(-0.5, 0.0).camera.turn == 270


def test_the_light_follows_the_drag():
    x, y, z = Look(light_turn=0, light_height=0).light_moved(0.5, 0.0).light
    np.testing.assert_allclose((x, y, z), (1, 0, 0), atol=1e-12)
    assert Look(light_height=0).light_moved(0.0, -0.25).light[1] == pytest.approx(np.sin(np.pi / 4))


def test_keys_stay_within_what_there_is():
    look = Look()
    for _ in range(20):
        look = look.pressed("]", levels=4)
    assert look.mip == 3
    for _ in range(40):
        look = look.pressed("[", levels=4).pressed("-", levels=4)
    assert (look.mip, look.exposure) == (0, -8)
    assert look.pressed("h", 4).shows_heat
    assert not look.pressed("e", 4).has_studio
    assert look.pressed("x", 4) == look
    assert look.pressed("r", 4) == Look()
    assert Look().zoomed(1000).camera.zoom == 64
    assert Look().zoomed(-3).camera.zoom == 1


def test_the_wipe_has_the_reference_left_and_the_other_right():
    reference, neural = (np.full((4, 10, 3), value, np.float32) for value in (0.25, 0.5))
    picture = compose(reference, neural, Look(wipe=0.3))
    assert (picture[:, :3] == 0.25).all()
    assert (picture[:, 4:] == 0.5).all()
    assert (picture[:, 3] == 1).all()


def test_the_heat_map_is_dark_where_both_agree():
    reference = np.full((4, 10, 3), 0.25, np.float32)
    neural = reference.copy()
    neural[:, 8:] = 0.9
    picture = compose(reference, neural, Look(wipe=0.0, shows_heat=True))
    assert picture[:, 2:8].max() < 0.01
    assert picture[:, 8:, 0].min() > 0.9


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    from verdigris.core.bundle.files.stored_textures import export_numbers
    from verdigris.core.bundle.files.write import Contents, write_bundle
    from verdigris.core.network.parameters import initialise
    from verdigris.core.network.spec import LatentLayout, NetworkSpec

    parameters = initialise(NetworkSpec(8, 1), LatentLayout(4, 4, 3), 0)
    folder = tmp_path_factory.mktemp("bundle")
    return write_bundle(folder / "small.vdg", export_numbers(parameters), Contents())


def view(bundle, *arguments, **changes):
    environment = {name: value for name, value in os.environ.items() if name not in changes}
    environment |= {name: value for name, value in changes.items() if value}
    command = [sys.executable, "-m", "verdigris.core", "view", str(bundle), *map(str, arguments)]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_a_machine_without_a_graphics_card_is_told_what_draws_without_one(bundle):
    result = view(bundle, VERDIGRIS_DEVICE="software")
    assert result.returncode == 1
    assert "view needs a GPU" in result.stderr
    assert "`verdigris render`" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
def test_a_machine_without_a_display_is_told_so(bundle):
    result = view(bundle, "--device", "software", DISPLAY="", WAYLAND_DISPLAY="")
    assert result.returncode == 1
    assert "no window can be opened" in result.stderr
    assert "use a display" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture
def display():
    """A display of its own, in memory."""
    import shutil

    if shutil.which("Xvfb") is None:
        pytest.skip("there is no Xvfb")
    number, other = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(other), "-screen", "0", "320x240x24"],
        pass_fds=(other,),
        stderr=subprocess.DEVNULL,
    )
    os.close(other)
    with os.fdopen(number) as answer:
        name = answer.readline().strip()
    if not name:
        pytest.skip("Xvfb does not start")
    yield f":{name}"
    server.terminate()
    server.wait()


def test_a_window_opens_draws_and_closes(bundle, display, tmp_path):
    import OpenImageIO as oiio

    shot = tmp_path / "shot.png"
    result = view(bundle, "--device", "software", "--size", 48, "--shot", shot, DISPLAY=display)
    assert result.returncode == 0, result.stderr
    pixels = np.asarray(oiio.ImageBuf(str(shot)).get_pixels("float"))
    assert pixels.shape == (48, 48, 3)
    # the sphere is not the backdrop
    assert np.abs(pixels[20:28, 20:28].mean((0, 1)) - pixels[24, 0]).max() > 0.02


@pytest.fixture(scope="module")
def lit_viewer():
    """Of a diffuse grey on both sides, because its kernel compiles quickly."""
    from verdigris.core.base.device import open_device
    from verdigris.core.pictures.backdrop import Ground
    from verdigris.core.pictures.viewer import Viewer

    class Grey(Ground):
        lod = 0.0

    grey = Grey(open_device("software"))
    viewer = Viewer(grey, 4, 3, reference=grey, samples=24)
    viewer.light_by("sky")
    return viewer


def final(viewer, look, size=16):
    found, passes = None, -1
    while (picture := viewer.next_picture(look, size)) is not None:
        found = picture
        passes += 1
    return found, passes


def test_under_a_sky_a_picture_converges_to_that_of_render(lit_viewer):
    from verdigris.core.lighting.named_environments import make_sky
    from verdigris.core.pictures.backdrop import over
    from verdigris.core.pictures.environment_render import (
        EnvironmentLighting,
        draw_behind,
        render_under,
    )
    from verdigris.core.pictures.tone import film

    found, passes = final(lit_viewer, Look(wipe=0.0))
    # the quick picture, and then 3 to 12 passes of 4 pairs of directions: 24 directions at each of
    # 4 places in a pixel
    assert passes == 1 + 10
    neural = lit_viewer._neural
    sky = make_sky()
    lit = EnvironmentLighting.upload(neural.device, sky)
    picture = render_under(neural, lit, "sphere", 16, samples=24, subpixels=4, is_flat=True)
    behind = draw_behind(neural.device, lit, "environment", "sphere", 16)
    expected = film(over(picture, behind) * 2.0**sky.exposure)
    # but for the line of the wipe
    difference = np.abs(found - expected)[:, 1:]
    assert difference.max() < 0.1 and difference.mean() < 0.01


def test_in_the_studio_a_picture_becomes_that_of_render(lit_viewer):
    from verdigris.core.pictures.render import Lighting, over_backdrop, render
    from verdigris.core.pictures.viewer import Viewer

    neural, look = lit_viewer._neural, Look(wipe=0.0)
    found, _ = final(Viewer(neural, 4, 3), look, 32)
    lighting = Lighting(direction=look.light)
    expected = over_backdrop(render(neural, "sphere", 32, lighting=lighting, is_flat=True))
    difference = np.abs(found - expected)
    # the sub-pixels of the edge lie elsewhere
    inside = np.hypot(*(np.mgrid[:32, :32] - 15.5)) < 13
    assert difference[inside].max() < 0.03 and difference.mean() < 0.01


def test_a_mesh_throws_its_shadow_on_the_ground(lit_viewer):
    from verdigris.core.geometry.shapes import shape_mesh
    from verdigris.core.pictures.viewer import Viewer

    viewer = Viewer(lit_viewer._neural, 4, 3, kind="ball", mesh=shape_mesh("ball"), samples=8)
    viewer.light_by("sky")
    found, _ = final(viewer, Look(), 32)
    floor = found[-4:].mean(-1)
    # the sky lights the shadow, and the sun the rest
    assert floor.min() < 0.5 * floor.max()


def test_a_picture_that_is_final_is_drawn_again_only_when_its_light_changes(lit_viewer):
    first, _ = final(lit_viewer, Look())
    brighter = lit_viewer.next_picture(Look(exposure=1.0), 16)
    # highlights, and the line of the wipe, are not twice as bright
    is_dark = first < 0.34
    assert is_dark.mean() > 0.5
    np.testing.assert_allclose(brighter[is_dark], 2 * first[is_dark], rtol=1e-5)
    assert brighter.max() <= 1
    # both sides are the same grey, with the same noise
    np.testing.assert_array_equal(
        lit_viewer.next_picture(Look(wipe=0.0), 16)[:, 1:8], first[:, 1:8]
    )
    assert lit_viewer.next_picture(Look(wipe=0.0), 16) is None
    turned, passes = final(lit_viewer, Look().light_moved(0.5, 0.0))
    assert passes == 11 and np.abs(turned - first).max() > 0.05
    studio, passes = final(lit_viewer, Look(has_studio=False))
    # the quick picture, and 3 and 4 passes
    assert passes == 3 and np.abs(studio - first).max() > 0.05


def test_a_dropped_file_lights_the_picture_and_one_that_is_no_map_leaves_it(lit_viewer, capsys):
    from verdigris.core.base.errors import LightingError
    from verdigris.core.pictures.viewer import ViewWindow

    class Title:
        title = ""

    window = object.__new__(ViewWindow)
    window._window, window._title, window._problem = Title(), "copper", ""
    dropped = []

    def on_drop(file):
        if file == "bad.hdr":
            raise LightingError("bad.hdr: is black")
        dropped.append(file)

    window._on_drop = on_drop
    window._on_files(["bad.hdr"])
    assert "bad.hdr: is black" in window._window.title
    assert capsys.readouterr().err == "verdigris: bad.hdr: is black\n"
    window._on_files(["good.exr", "other.exr"])
    assert dropped == ["good.exr"] and not window._problem


def test_keys_need_not_wait_for_a_picture_on_a_processor(lit_viewer):
    """The first picture of a look is small, and a pass can be given up between dispatches."""
    from verdigris.core.pictures import viewer as module

    size = 96
    look, turned = (Look(wipe=0.0).orbited(turn, 0) for turn in (0.01, 0.3))
    first = lit_viewer.next_picture(look, size)
    # a quarter of the size: enlarged, neighbours differ little
    edges = np.abs(np.diff(first[:, 1:], axis=1)).max()
    asked = []

    def is_interrupted():
        asked.append(None)
        return len(asked) == 2

    assert lit_viewer.next_picture(look, size, is_interrupted) is None
    assert len(asked) == 2 and not lit_viewer.is_final
    # another look begins again with its own small picture
    assert lit_viewer.next_picture(turned, size, lambda: False).shape == (size, size, 3)
    # without an interruption the pass is drawn, in the size of the window
    sharper = lit_viewer.next_picture(turned, size)
    assert np.abs(np.diff(sharper[:, 1:], axis=1)).max() > 1.2 * edges
    assert module._SMALLER == 4
