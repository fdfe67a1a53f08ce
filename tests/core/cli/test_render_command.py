"""Which picture `render` draws."""

import sys
from dataclasses import replace

import numpy as np
import OpenImageIO as oiio

from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.network.spec import NetworkSpec

from ..bundle.bundles import made_up, make_bundle
from ..in_process import run_command
from ..material.documents import document, material
from ..material.surfaces import node

SEEN = node("surface_unlit", "s", "surfaceshader", {"emission_color": ("color3", "@c")})
# On the unit square a place in space is half less than its texture coordinates.
IN_SPACE = node("position", "at", "vector3", {}) + node(
    "add", "p", "vector3", {"in1": ("vector3", "@at"), "in2": ("vector3", "1, 1, 0")}
)
BY_UV = (
    node("texcoord", "uv", "vector2", {})
    + node("convert", "at", "vector3", {"in": ("vector2", "@uv")})
    + node("add", "p", "vector3", {"in1": ("vector3", "@at"), "in2": ("vector3", "0.5, 0.5, 0")})
)
COLOUR = node("convert", "c", "color3", {"in": ("vector3", "@p")})


def picture(tmp_path, nodes, *options):
    path, target = tmp_path / "a.mtlx", tmp_path / "a.exr"
    path.write_text(document(nodes, COLOUR, SEEN, material("s")))
    code, _, errors = run_command(
        ["render", path, "-o", target, "--size", 16, "--device", "software", *options]
    )
    assert not code, errors
    return np.asarray(oiio.ImageBuf(str(target)).get_pixels("float"))[..., :3]


def test_a_reference_lies_on_the_shape_as_what_is_baked_does(tmp_path):
    wrapped = picture(tmp_path, BY_UV)
    assert wrapped.max() > 1
    np.testing.assert_array_equal(picture(tmp_path, BY_UV, "--reference"), wrapped)
    np.testing.assert_allclose(picture(tmp_path, IN_SPACE, "--reference"), wrapped, atol=2e-3)
    carved = picture(tmp_path, IN_SPACE)
    assert np.abs(carved - wrapped).max() > 0.2


def test_a_bundle_has_no_other_picture(tmp_path):
    make_bundle(tmp_path / "a.vdg")
    arguments = ["render", tmp_path / "a.vdg", "-o", tmp_path / "a.png", "--reference"]
    code, _, errors = run_command(arguments)
    told = " ".join(errors.replace("\u2502", " ").split())
    assert code == 2 and "which is always drawn so: leave out --reference" in told
    assert not (tmp_path / "a.png").exists()


def test_the_length_of_a_direction_to_the_light_counts_for_nothing(tmp_path):
    make_bundle(tmp_path / "a.vdg")
    pictures = []
    for light in ("1,0,2", "1e30,0,2e30", "1e-30,0,2e-30"):
        arguments = ["render", tmp_path / "a.vdg", "-o", tmp_path / "a.exr", "--size", 8]
        assert run_command([*arguments, "--device", "software", "--light", light])[0] == 0
        pictures.append(np.asarray(oiio.ImageBuf(str(tmp_path / "a.exr")).get_pixels("float")))
    assert pictures[0][..., :3].max() > 0
    for other in pictures[1:]:
        np.testing.assert_allclose(other, pictures[0], rtol=1e-4, atol=1e-6)
    code, _, errors = run_command([*arguments, "--light", "0,0,0"])
    assert code == 2 and "'0,0,0' is not a direction" in errors


def test_a_studio_brighter_than_sums_can_hold_is_refused(tmp_path):
    make_bundle(tmp_path / "a.vdg")
    arguments = ["render", tmp_path / "a.vdg", "-o", tmp_path / "a.exr", "--size", 8]
    code, _, errors = run_command([*arguments, "--environment", "3e38"])
    assert code == 2 and "is not in the range 0.0 to 1000000.0" in " ".join(errors.split())


DIFFUSE = node(
    "oren_nayar_diffuse_bsdf", "b", "BSDF", {"color": ("color3", "0.5, 0.25, 0.8")}
) + node("surface", "s", "surfaceshader", {"bsdf": ("BSDF", "@b")})


def white_map(path, height=4):
    spec = oiio.ImageSpec(2 * height, height, 3, "float")
    output = oiio.ImageOutput.create(str(path))
    texels = np.full((height, 2 * height, 3), 4, np.float32)
    assert output.open(str(path), spec) and output.write_image(texels) and output.close()
    return path


def test_under_a_white_map_a_diffuse_document_shows_its_albedo(tmp_path):
    """The white furnace, from a file to a file: linear light in an EXR, exposed in a PNG."""
    path, target = tmp_path / "a.mtlx", tmp_path / "a.exr"
    path.write_text(document(DIFFUSE, material("s")))
    hdri = white_map(tmp_path / "white.exr")
    arguments = ["render", path, "--hdri", hdri, "--size", 12, "--device", "software"]
    code, _, errors = run_command([*arguments, "-o", target])
    assert not code, errors
    linear = np.asarray(oiio.ImageBuf(str(target)).get_pixels("float"))
    covered = linear[linear[..., 3] > 0.999, :3]
    np.testing.assert_allclose(covered.mean(0), 4 * np.array([0.5, 0.25, 0.8]), rtol=5e-3)
    code, out, errors = run_command([*arguments, "-o", tmp_path / "a.png"])
    assert not code, errors
    assert "exposure -2.0" in out
    shown = np.asarray(oiio.ImageBuf(str(tmp_path / "a.png")).get_pixels("float"))
    # sRGB of .5 and .25; the background is white, rolled off below 1
    np.testing.assert_allclose(shown[6, 6, :2], [0.735, 0.537], atol=0.03)
    np.testing.assert_allclose(shown[0, 0], shown[0, 0, 0], atol=2 / 255)
    assert shown[0, 0, 0] > 0.9


def test_options_of_another_light_are_refused(tmp_path):
    make_bundle(tmp_path / "a.vdg")
    hdri = white_map(tmp_path / "white.exr")
    begin = ["render", tmp_path / "a.vdg", "-o", tmp_path / "a.png"]
    for options, told in (
        (("--hdri", "sky", "--environment", 1), "--hdri replaces the studio"),
        (("--hdri", hdri, "--light", "1,0,0"), "contains its light: leave out --light"),
        (("--rotate", 90), "needs an environment: name it with --hdri"),
        (("--backdrop", "plain"), "needs an environment: name it with --hdri"),
        (
            ("--hdri", "sky", "--view", "plane", "--backdrop", "ground"),
            "'ground' needs a shape that stands on it",
        ),
        (("--hdri", "sky", "--backdrop", "wall"), "'wall' is not known: use one of ground,"),
        (("--hdri", "sky", "--rotate", "nan"), "nan is not a finite number"),
        (("--exposure", 99), "99.0 is not in the range -32.0 to 32.0"),
    ):
        code, _, errors = run_command([*begin, *options])
        words = " ".join(errors.replace("\u2502", " ").split())
        assert code == 2 and told in words, (options, errors)
    assert not (tmp_path / "a.png").exists()
    code, _, errors = run_command([*begin, "--hdri", tmp_path / "gone.hdr"])
    assert code == 1 and "gone.hdr: there is no such file" in errors
    code, _, errors = run_command([*begin[:-1], hdri, "--hdri", hdri, "--device", "software"])
    assert code == 1 and "is an input of the result" in errors


LIVING = NetworkSpec(6, 2, "silu", live_inputs=1)
WETNESS = LiveInput("wetness", "float", (0.0,), (2.0,), 0.25)


def draw_living(tmp_path, output, *options):
    if not (tmp_path / "a.vdg").exists():
        make_bundle(tmp_path / "a.vdg", made_up(LIVING), live=(WETNESS,))
    arguments = ["render", tmp_path / "a.vdg", "-o", tmp_path / output, "--size", 16]
    code, _, errors = run_command([*arguments, "--samples", 2, "--device", "software", *options])
    return code, " ".join(errors.replace("\u2502", " ").split())


def pixels(path):
    return np.asarray(oiio.ImageBuf(str(path)).get_pixels("uint8"))[..., :3].astype(int)


def test_an_animation_moves_a_live_input_through_its_range(tmp_path):
    assert not draw_living(tmp_path, "a", "--animate", "wetness", "--frames", 3)[0]
    frames = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert frames == ["frame_0001.png", "frame_0002.png", "frame_0003.png"]
    for number, value in ((1, 0), (2, 1), (3, 2)):
        assert not draw_living(tmp_path, "b.png", "--live", f"wetness={value}")[0]
        drawn = pixels(tmp_path / "a" / frames[number - 1])
        np.testing.assert_array_equal(drawn, pixels(tmp_path / "b.png"))
    assert not draw_living(tmp_path, "a.gif", "--animate", "wetness=0..1", "--frames", 3)[0]
    moving = oiio.ImageInput.open(str(tmp_path / "a.gif"))
    assert [moving.seek_subimage(number, 0) for number in range(4)] == [True, True, True, False]
    shown = np.zeros((16, 16, 3), int)
    for number in range(3):
        # what has not changed since the frame before is transparent
        frame = moving.read_image(number, 0, 0, 4, "uint8").astype(int)
        shown = np.where(frame[..., 3:] > 0, frame[..., :3], shown)
        assert not draw_living(tmp_path, "b.png", "--live", f"wetness={number / 2}")[0]
        # a palette of 256 colours
        assert np.abs(shown - pixels(tmp_path / "b.png")).mean() < 4
    # without a value it has its default
    assert not draw_living(tmp_path, "c.png")[0]
    assert not draw_living(tmp_path, "b.png", "--live", "wetness=.5")[0]
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "c.png").read_bytes()


def test_a_comparison_is_at_the_live_values_of_its_option(tmp_path):
    # the same numbers, whose default is 2
    for name, live in (("a", WETNESS), ("b", replace(WETNESS, default=1.0))):
        make_bundle(tmp_path / f"{name}.vdg", made_up(LIVING), live=(live,))
    drawn = []
    for name, *options in (("b",), ("a", "--live", "wetness=2"), ("a",)):
        pair = [tmp_path / f"{name}.vdg"] * 2
        picture = ["-o", tmp_path / "c.png", "--size", 16, "--device", "software"]
        assert run_command(["compare", *pair, *picture, *options])[0] == 0
        drawn.append((tmp_path / "c.png").read_bytes())
    assert drawn[0] == drawn[1] != drawn[2]
    code, _, errors = run_command(["compare", *pair, *picture, "--live", "rain=1"])
    assert code == 2 and "has no live input 'rain': it has" in " ".join(errors.split())


def test_an_mp4_is_written_by_ffmpeg(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    code, told = draw_living(tmp_path, "a.mp4", "--animate", "wetness", "--frames", 2)
    assert code == 1 and "MP4 is written by ffmpeg, which is not found: install it" in told
    # stands for it: its last argument is the file
    tool = tmp_path / "ffmpeg"
    copy = "open(sys.argv[-1], 'wb').write(sys.stdin.buffer.read())"
    tool.write_text(f"#!{sys.executable}\nimport sys\n{copy}")
    tool.chmod(0o755)
    assert not draw_living(tmp_path, "a.mp4", "--animate", "wetness", "--frames", 2)[0]
    raw = np.frombuffer((tmp_path / "a.mp4").read_bytes(), np.uint8).reshape(2, 16, 16, 3)
    assert not draw_living(tmp_path, "b.png", "--live", "wetness=2")[0]
    np.testing.assert_array_equal(raw[1], pixels(tmp_path / "b.png"))


def test_a_live_value_that_cannot_be_is_refused(tmp_path):
    for options, told in (
        (("--live", "rain=1"), "has no live input 'rain': it has wetness"),
        (("--live", "wetness=3"), "wetness is 3: use a number from 0 to 2"),
        (("--live", "wetness"), "is not NAME=VALUE"),
        (("--animate", "rain"), "there is no live input 'rain'; the live inputs are: wetness"),
    ):
        code, found = draw_living(
            tmp_path, "a.gif" if "--animate" in options else "a.png", *options
        )
        assert code == 2 and told in found
    assert not list(tmp_path.glob("*.gif")) and not list(tmp_path.glob(".*"))


def test_a_tone_mapping_is_that_of_its_formula_on_light_that_an_exr_holds(tmp_path):
    from verdigris.core.pictures.picture_files import srgb_from_linear
    from verdigris.core.pictures.render import over_backdrop
    from verdigris.core.pictures.tone import MAPPINGS, TONES

    make_bundle(tmp_path / "a.vdg")
    arguments = ["render", tmp_path / "a.vdg", "--size", 8, "--device", "software"]
    arguments += ["--exposure", 1]
    assert run_command([*arguments, "-o", tmp_path / "a.exr"])[0] == 0
    light = np.asarray(oiio.ImageBuf(str(tmp_path / "a.exr")).get_pixels("float"))
    # the grey behind it is exposed, too
    light[..., :3] /= 2
    exposed = over_backdrop(light) * 2
    for tone in TONES:
        assert run_command([*arguments, "--tone", tone, "-o", tmp_path / "a.png"])[0] == 0
        shown = np.asarray(oiio.ImageBuf(str(tmp_path / "a.png")).get_pixels("float"))
        np.testing.assert_allclose(shown, srgb_from_linear(MAPPINGS[tone](exposed)), atol=6e-3)
    code, _, errors = run_command([*arguments, "--tone", "aces", "-o", tmp_path / "a.exr"])
    assert code == 2 and "holds the light as it is: leave out --tone" in " ".join(errors.split())


def test_displacement_is_drawn_as_relief_as_a_displaced_mesh_or_not(tmp_path):
    """The surface shows uv: relief and mesh show the same places, which are other ones."""
    path, target = tmp_path / "a.mtlx", tmp_path / "a.exr"
    bumps = (
        node("separate2", "parts", "multioutput", {"in": ("vector2", "@uv")})
        + '<multiply name="turned" type="float"><input name="in1" type="float" nodename="parts" '
        'output="outy"/><input name="in2" type="float" value="25.132741"/></multiply>'
        + node("sin", "wave", "float", {"in": ("float", "@turned")})
        + '<displacement name="d" type="displacementshader"><input name="displacement" '
        'type="float" nodename="wave"/><input name="scale" type="float" value="0.06"/>'
        '</displacement><surfacematerial name="m" type="material"><input name="surfaceshader" '
        'type="surfaceshader" nodename="s"/><input name="displacementshader" '
        'type="displacementshader" nodename="d"/></surfacematerial>'
    )
    path.write_text(document(BY_UV, COLOUR, SEEN, bumps))
    found = {}
    for how in ("relief", "mesh", "none"):
        options = ["--size", 40, "--device", "software", "--displacement", how]
        code, _, errors = run_command(["render", path, "-o", target, *options])
        assert not code, errors
        found[how] = np.asarray(oiio.ImageBuf(str(target)).get_pixels("float"))
    everywhere = np.min([each[..., 3] for each in found.values()], 0) == 1
    seen = {how: each[everywhere, 1] for how, each in found.items()}
    off = {how: np.abs(seen[how] - seen["mesh"]) for how in ("relief", "none")}
    assert np.median(off["relief"]) < 0.002 < 0.006 < off["none"].mean()
    assert off["relief"].mean() < 0.25 * off["none"].mean()
