"""The teacher returns images as they are stored in their files."""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.errors import TextureError
from verdigris.core.importance.maps import read_importance
from verdigris.core.material.codegen.generate_teacher import TextureSlot
from verdigris.core.material.files.image_texels import build_levels
from verdigris.core.material.files.paths import SearchPath
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.teacher.textures import TexturePool

from ..images import COUNT, FOLDS, HEIGHT, WIDTH, bilinear, image, look
from ..surfaces import glow, node, probe, write_image

STEP = 1e-5


@pytest.mark.parametrize(
    ("name", "kind", "tolerance"),
    [
        ("image.png", np.uint8, STEP),
        ("image16.png", np.uint16, 1e-4),
        ("image.tif", np.uint8, STEP),
        ("image16.tif", np.uint16, 1e-4),
        ("image_float.tif", np.float32, 1e-5),
        ("image.tga", np.uint8, STEP),
        ("half.exr", np.float16, 1e-3),
        ("float.exr", np.float32, 1e-5),
    ],
)
def test_what_a_file_holds_is_what_is_sampled(tmp_path, uv, colours, name, kind, tolerance):
    whole = np.iinfo(kind).max if np.issubdtype(kind, np.integer) else 1
    texels = (colours * whole).round() if whole > 1 else colours
    write_image(tmp_path / name, texels.astype(kind))
    expected = bilinear(texels.astype(kind) / np.float64(whole), uv)
    np.testing.assert_allclose(look(tmp_path, uv, name), expected, atol=tolerance)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
def test_an_image_of_one_row_or_column_is_sampled(tmp_path, uv, shape):
    texels = np.random.default_rng(8).integers(0, 256, (*shape, 3)).astype(np.uint8)
    write_image(tmp_path / "line.png", texels)
    got = look(tmp_path, uv, "line.png")
    np.testing.assert_allclose(got, bilinear(texels / 255, uv), atol=STEP)


@pytest.mark.parametrize(("left", "top"), [(4, 2), (-3, -4), (7, -2), (30, 2)])
def test_texture_coordinates_span_the_display_window_of_a_cropped_file(
    tmp_path, uv, colours, left, top
):
    spec = oiio.ImageSpec(WIDTH, HEIGHT, 3, "float")
    spec.x, spec.y = 100 + left, top - 50
    spec.full_x, spec.full_y, spec.full_width, spec.full_height = 100, -50, 12, 10
    target = oiio.ImageOutput.create(str(tmp_path / "cropped.exr"))
    assert target.open(str(tmp_path / "cropped.exr"), spec)
    assert target.write_image(colours.astype(np.float32)) and target.close()
    shown = np.zeros((10, 12, 3))
    for row, column in np.ndindex(10, 12):
        if 0 <= row - top < HEIGHT and 0 <= column - left < WIDTH:
            shown[row, column] = colours[row - top, column - left]
    np.testing.assert_allclose(look(tmp_path, uv, "cropped.exr"), bilinear(shown, uv), atol=1e-5)
    if shown.any():
        weights = read_importance(tmp_path / "cropped.exr")
        np.testing.assert_allclose(weights, shown[::-1].mean(-1), atol=1e-6)


def test_values_beyond_one_survive_in_float_files(tmp_path, uv, colours):
    write_image(tmp_path / "bright.exr", (colours * 500).astype(np.float32))
    got = look(tmp_path, uv, "bright.exr")
    np.testing.assert_allclose(got, bilinear(colours * 500, uv), rtol=1e-3, atol=1e-2)


def test_a_radiance_file_keeps_a_shared_exponent(tmp_path, uv, colours):
    bright = (colours * 20).astype(np.float32)
    write_image(tmp_path / "light.hdr", bright)
    got = look(tmp_path, uv, "light.hdr")
    np.testing.assert_allclose(got, bilinear(bright, uv), atol=20 / 128)


def test_a_jpeg_is_sampled_as_it_decodes(tmp_path, uv, colours):
    write_image(tmp_path / "image.jpg", (colours * 255).astype(np.uint8), Compression="jpeg:98")
    decoded = oiio.ImageBuf(str(tmp_path / "image.jpg")).get_pixels("uint8") / 255
    np.testing.assert_allclose(look(tmp_path, uv, "image.jpg"), bilinear(decoded, uv), atol=STEP)


def test_a_tiled_mip_mapped_file_is_sampled_at_its_first_level(tmp_path, uv):
    texels = np.random.default_rng(4).random((64, 32, 3)).astype(np.float32)
    source = oiio.ImageBuf(np.ascontiguousarray(texels))
    path = str(tmp_path / "image.tx")
    assert oiio.ImageBufAlgo.make_texture(oiio.MakeTxTexture, source, path), oiio.geterror()
    assert oiio.ImageInput.open(path).spec().tile_width > 0
    np.testing.assert_allclose(look(tmp_path, uv, "image.tx"), bilinear(texels, uv), atol=1e-4)


def test_colours_are_not_multiplied_by_alpha(tmp_path, uv, colours):
    texels = np.dstack([colours, np.linspace(0.1, 0.9, WIDTH)[None].repeat(HEIGHT, 0)]) * 255
    texels = texels.astype(np.uint8)
    for name in ("image.png", "image.tga", "image.tif"):
        write_image(tmp_path / name, texels)
        expected = bilinear(texels[..., :3] / 255, uv)
        np.testing.assert_allclose(look(tmp_path, uv, name), expected, atol=STEP, err_msg=name)


def alpha_of(folder, uv, name):
    body = image(name, "color4")
    body += node(
        "extract", "alpha", "float", {"in": ("color4", "@texels"), "index": ("integer", "3")}
    )
    body += node("convert", "shown", "color3", {"in": ("float", "@alpha")})
    return glow(Teacher(probe(body, "shown", search_paths=[folder])), uv)[:, :1]


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_grey_is_a_colour_and_what_has_no_alpha_is_solid(tmp_path, uv, channels):
    texels = np.random.default_rng(9).integers(0, 256, (HEIGHT, WIDTH, channels)).astype(np.uint8)
    write_image(tmp_path / "image.png", texels)
    colour = texels[..., :3] if channels > 2 else texels[..., :1].repeat(3, 2)
    alpha = texels[..., -1:] if channels in (2, 4) else np.full((HEIGHT, WIDTH, 1), 255)
    got = look(tmp_path, uv, "image.png")
    np.testing.assert_allclose(got, bilinear(colour / 255, uv), atol=STEP)
    got = alpha_of(tmp_path, uv, "image.png")
    np.testing.assert_allclose(got, bilinear(alpha / 255, uv), atol=STEP)


@pytest.mark.parametrize("kind", ["float", "vector2", "vector3", "vector4", "color4"])
def test_an_image_of_any_type_gives_its_first_channels(tmp_path, uv, kind):
    texels = np.random.default_rng(9).random((HEIGHT, WIDTH, 4)).astype(np.float32)
    write_image(tmp_path / "image.exr", texels)
    channels = {"float": 1, "vector2": 2}.get(kind, 3)
    body = image("image.exr", kind)
    body += node("convert", "shown", "color3", {"in": (kind, "@texels")})
    got = glow(Teacher(probe(body, "shown", search_paths=[tmp_path])), uv)
    expected = bilinear(texels, uv)[:, :channels]
    np.testing.assert_allclose(got[:, :channels], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("fourth", "alpha"), [("A", 0.25), ("Z", 1.0), ("diffuse.R", 1.0), ("W", 0.25)]
)
def test_depth_or_another_layer_is_no_alpha_of_a_colour(tmp_path, fourth, alpha):
    spec = oiio.ImageSpec(2, 2, 4, "float")
    spec.channelnames = ("R", "G", "B", fourth)
    spec.alpha_channel = 3 if fourth == "A" else -1
    out = oiio.ImageOutput.create(str(tmp_path / "i.exr"))
    assert out.open(str(tmp_path / "i.exr"), spec), out.geterror()
    assert out.write_image(np.full((2, 2, 4), [0.1, 0.2, 0.2, 0.25], np.float32))
    out.close()
    text = node("image", "i", "color4", {"file": ("filename", "i.exr")})
    text += node("separate4", "parts", "multioutput", {"in": ("color4", "@i")})
    port = '<input name="in" type="float" nodename="parts" output="outa"/>'
    text += f'<convert name="shown" type="color3">{port}</convert>'
    got = glow(Teacher(probe(text, "shown", search_paths=[tmp_path])), [[0.5, 0.5]])
    np.testing.assert_allclose(got, alpha, atol=1e-6)


@pytest.mark.parametrize("name", ["flow.exr", "flow.tif"])
def test_two_channels_without_alpha_are_a_vector(tmp_path, uv, name):
    texels = np.random.default_rng(9).random((HEIGHT, WIDTH, 2)).astype(np.float32)
    write_image(tmp_path / name, texels)
    body = image(name, "vector2")
    body += node("convert", "shown", "color3", {"in": ("vector2", "@texels")})
    got = glow(Teacher(probe(body, "shown", search_paths=[tmp_path])), uv)
    np.testing.assert_allclose(got[:, :2], bilinear(texels, uv), atol=1e-5)
    np.testing.assert_allclose(alpha_of(tmp_path, uv, name), 1.0)


def test_each_address_mode_folds_what_lies_outside(tmp_path, colours):
    write_image(tmp_path / "image.exr", colours.astype(np.float32))
    uv = np.random.default_rng(6).uniform(-2.5, 3.5, (COUNT, 2))
    outside = ((uv < 0) | (uv > 1)).any(1)
    default = ("color3", "0.1,0.9,0.3")
    for mode in FOLDS:
        ports = {"uaddressmode": ("string", mode), "vaddressmode": ("string", mode)}
        got = look(tmp_path, uv, "image.exr", default=default, **ports)
        expected = bilinear(colours, uv, mode)
        if mode == "constant":
            expected[outside] = [0.1, 0.9, 0.3]
        np.testing.assert_allclose(got, expected, atol=1e-5, err_msg=mode)


@pytest.mark.parametrize(
    ("given", "outside"),
    [
        ({"file": "red.png", "wrapS": "black"}, (0, 0, 0)),
        ({"file": "red.png", "wrapT": "black"}, (0, 0, 0)),
        ({"file": "", "wrapS": "black"}, (0.3, 0.6, 0.9)),
    ],
)
def test_a_texture_of_usd_that_is_black_outside_gives_its_fallback_for_no_file_alone(
    tmp_path, given, outside
):
    write_image(tmp_path / "red.png", np.tile(np.uint8((255, 0, 0)), (4, 4, 1)))
    kinds = {"file": "filename", "wrapS": "string", "wrapT": "string"}
    inputs = {name: (kinds[name], value) for name, value in given.items()}
    inputs |= {"fallback": ("color4", "0.3,0.6,0.9,1"), "st": ("vector2", "@beyond")}
    body = node("multiply", "beyond", "vector2", {"in1": ("vector2", "@uv"), "in2": ("float", "2")})
    body += node("UsdUVTexture", "reader", "multioutput", inputs)
    body += (
        '<dot name="shown" type="color3">'
        '<input name="in" type="color3" nodename="reader" output="rgb"/></dot>'
    )
    got = glow(Teacher(probe(body, "shown", search_paths=[tmp_path])), [[0.25, 0.25], [0.75, 0.75]])
    inside = (1, 0, 0) if given["file"] else outside
    np.testing.assert_allclose(got, [inside, outside], atol=1e-6)


def test_the_address_modes_of_u_and_v_are_apart(tmp_path, colours):
    write_image(tmp_path / "image.exr", colours.astype(np.float32))
    uv = np.random.default_rng(6).uniform(-2.5, 3.5, (COUNT, 2))
    ports = {"uaddressmode": ("string", "mirror"), "vaddressmode": ("string", "clamp")}
    got = look(tmp_path, uv, "image.exr", **ports)
    np.testing.assert_allclose(got, bilinear(colours, uv, "mirror", "clamp"), atol=1e-5)


@pytest.mark.parametrize("mode", ["periodic", "mirror"])
def test_closest_takes_one_texel(tmp_path, colours, mode):
    write_image(tmp_path / "image.exr", colours.astype(np.float32))
    uv = np.random.default_rng(6).uniform(-1.5, 2.5, (COUNT, 2))
    place = uv * [WIDTH, HEIGHT]
    index = np.floor(place).astype(int)
    column, row = (FOLDS[mode](index[:, at], size) for at, size in enumerate((WIDTH, HEIGHT)))
    clear = (np.abs(place - place.round()) > 1e-3).all(1)
    ports = {"uaddressmode": ("string", mode), "vaddressmode": ("string", mode)}
    got = look(tmp_path, uv, "image.exr", filtertype=("string", "closest"), **ports)
    np.testing.assert_allclose(got[clear], colours[::-1][row, column][clear], atol=1e-5)


def test_an_image_without_a_file_gives_its_default(uv):
    text = node("image", "texels", "color3", {"default": ("color3", "0.2,0.4,0.6")})
    got = glow(Teacher(probe(text, "texels")), uv)
    np.testing.assert_allclose(got, np.tile([0.2, 0.4, 0.6], (COUNT, 1)), atol=1e-6)


def test_a_missing_file_is_named_with_its_node_and_the_folders(tmp_path):
    with pytest.raises(TextureError, match=rf"texels.*'absent\.png'.*{tmp_path.name}"):
        look(tmp_path, [[0.5, 0.5]], "absent.png")


def test_a_file_named_twice_is_loaded_once(tmp_path, colours):
    from verdigris.core.base.device import open_device

    write_image(tmp_path / "t.1001.exr", colours.astype(np.float32))
    pool = TexturePool(open_device(), SearchPath.of([tmp_path]))
    files = {"a": "t.1001.exr", "b": "./t.1001.exr", "c": "t.<UDIM>.exr"}
    bound = pool.bind([TextureSlot(name, file, name) for name, file in files.items()])
    assert bound["b"] is bound["a"] is not bound["c"]
    assert pool.bind([TextureSlot("d", "t.1001.exr", "d")])["d"] is bound["a"]


def test_more_images_than_threads_decode_at_once_are_each_in_their_place(tmp_path, monkeypatch):
    from verdigris.core.base.device import open_device
    from verdigris.core.material.teacher import textures

    monkeypatch.setattr(textures, "DECODERS", 3)
    monkeypatch.setattr(textures, "MOST_DECODED", 4)
    for number in range(9):
        write_image(tmp_path / f"{number}.exr", np.full((2, 2, 3), number, np.float32))
    pool = TexturePool(open_device(), SearchPath.of([tmp_path]))
    order = np.random.default_rng(3).permutation(9)
    bound = pool.bind([TextureSlot(str(each), f"{each}.exr", "x") for each in order])
    for name, found in bound.items():
        assert found.texture.to_numpy().ravel()[0] == float(name)


def test_materials_of_a_scene_share_what_is_on_the_device_until_a_file_changes(tmp_path, colours):
    from verdigris.core.base.device import open_device
    from verdigris.core.material.teacher.textures import KeptTextures

    device = open_device()
    one_image = HEIGHT * WIDTH * 16 * 4 // 3 + 64
    kept = device.memo[KeptTextures] = KeptTextures(2 * one_image)
    try:
        for name in ("a.exr", "b.exr"):
            write_image(tmp_path / name, colours.astype(np.float32))

        def load(*names):
            pool = TexturePool(device, SearchPath.of([tmp_path]))
            bound = pool.bind([TextureSlot(name, name, name) for name in names])
            return {name: bound[name].texture for name in names}, pool.digest()

        first, digest = load("a.exr", "b.exr")
        load("a.exr")
        again, same = load("a.exr", "b.exr")
        assert again == first
        assert digest == same
        # a third of what fits twice takes the place of what was used first
        write_image(tmp_path / "c.exr", 2 * colours.astype(np.float32))
        load("c.exr")
        assert load("b.exr")[0] == {"b.exr": first["b.exr"]}
        assert load("a.exr")[0] != {"a.exr": first["a.exr"]}
        write_image(tmp_path / "b.exr", 3 * colours.astype(np.float32))
        assert load("b.exr")[0] != {"b.exr": first["b.exr"]}
        assert sum(each.size for each in kept._kept.values()) <= kept.most
    finally:
        del device.memo[KeptTextures]


def test_a_level_is_the_average_of_two_by_two_of_the_one_below():
    texels = np.random.default_rng(7).random((16, 8, 4)).astype(np.float32)
    levels = build_levels(texels)
    assert [level.shape[:2] for level in levels] == [(16, 8), (8, 4), (4, 2), (2, 1), (1, 1)]
    expected = texels.reshape(8, 2, 4, 2, 4).mean((1, 3))
    np.testing.assert_allclose(levels[1], expected, rtol=1e-6)
    np.testing.assert_allclose(levels[-1][0, 0], texels.mean((0, 1)), rtol=1e-5)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(256, 256), (37, 100), (255, 1)])
def test_the_last_level_is_the_mean_of_the_image_within_rounding(kind, shape):
    texels = np.random.default_rng(7).integers(0, 200, (*shape, 4)).astype(kind)
    last = build_levels(texels)[-1]
    assert last.shape == (1, 1, 4) and last.dtype == kind
    np.testing.assert_allclose(last[0, 0], texels.mean((0, 1)), atol=0.51)


def test_materials_that_differ_in_their_images_alone_compile_once_and_keep_these(tmp_path, uv):
    colours = {"a.png": (250, 20, 40), "b.png": (30, 200, 90)}
    for name, colour in colours.items():
        write_image(tmp_path / name, np.full((2, 2, 3), colour, np.uint8))
    teachers = {
        name: Teacher(probe(image(name), "texels", search_paths=[tmp_path])) for name in colours
    }
    assert teachers["a.png"].kernels is teachers["b.png"].kernels
    for name in ("a.png", "b.png", "a.png"):
        expected = np.tile(np.float64(colours[name]) / 255, (len(uv), 1))
        np.testing.assert_allclose(glow(teachers[name], uv), expected, atol=STEP)
    clamped = image("a.png", uaddressmode=("string", "clamp"))
    other = Teacher(probe(clamped, "texels", search_paths=[tmp_path]))
    assert other.kernels is not teachers["a.png"].kernels
