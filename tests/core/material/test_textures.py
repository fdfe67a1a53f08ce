"""Images come out of the teacher as they went into their files.

They are looked at through a probe that gives off the value of an image node, and compared with
bilinear interpolation in numpy: v is 0 at the bottom row, and the centre of the first texel is half
a texel in. No device rounds more than single precision does.
"""

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.errors import TextureError
from verdigris.core.importance.maps import read_importance
from verdigris.core.material.colour_spaces import name_in_materialx
from verdigris.core.material.generate import TextureSlot, generate
from verdigris.core.material.library import COLOUR_SPACE_ALIASES, known_colour_spaces
from verdigris.core.material.paths import SearchPath
from verdigris.core.material.report import describe
from verdigris.core.material.teacher import Teacher
from verdigris.core.material.texels import build_levels
from verdigris.core.material.textures import TexturePool

from .surfaces import glow, node, probe, write_image

COUNT = 2000
HEIGHT, WIDTH = 6, 9

STEP = 1e-5


@pytest.fixture(scope="module")
def uv():
    return np.random.default_rng(1).random((COUNT, 2)).astype(np.float32)


@pytest.fixture
def colours():
    return np.random.default_rng(2).random((HEIGHT, WIDTH, 3))


FOLDS = {
    "clamp": lambda index, size: np.clip(index, 0, size - 1),
    "periodic": lambda index, size: index % size,
    "mirror": lambda index, size: np.minimum(index % (2 * size), 2 * size - 1 - index % (2 * size)),
    "constant": lambda index, size: np.clip(index, 0, size - 1),
}


def bilinear(texels, uv, mode="periodic", v_mode=None):
    """Texels (rows from the top, columns, channels) at places, in double precision."""
    texels = np.asarray(texels, np.float64)[::-1]
    height, width = texels.shape[:2]
    place = np.asarray(uv, np.float64) * [width, height] - 0.5
    first = np.floor(place).astype(int)
    share = (place - first)[:, :, None]
    columns = [FOLDS[mode](first[:, 0] + step, width) for step in (0, 1)]
    rows = [FOLDS[v_mode or mode](first[:, 1] + step, height) for step in (0, 1)]
    low, high = (
        texels[row, columns[0]] * (1 - share[:, 0]) + texels[row, columns[1]] * share[:, 0]
        for row in rows
    )
    return low * (1 - share[:, 1]) + high * share[:, 1]


def image(name, kind="color3", attributes="", **inputs):
    """An image node called `texels`; `attributes` go to its file input."""
    ports = {"file": ("filename", name), **inputs}
    text = node("image", "texels", kind, ports)
    return text.replace('type="filename"', f'type="filename" {attributes}')


def look(folder, uv, name, **options):
    teacher = Teacher(probe(image(name, **options), "texels", search_paths=[folder]))
    return glow(teacher, uv)


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


def decoded_srgb(x):
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


# Rows of the published matrices from the primaries to linear Rec.709.
ACESCG_TO_REC709 = [
    [1.70505, -0.62179, -0.08326],
    [-0.13026, 1.14080, -0.01055],
    [-0.02400, -0.12897, 1.15297],
]


@pytest.mark.parametrize(
    ("space", "decode"),
    [
        ("srgb_texture", decoded_srgb),
        ("lin_rec709", lambda x: x),
        ("g22_rec709", lambda x: x**2.2),
        ("g18_rec709", lambda x: x**1.8),
        ("acescg", lambda x: np.maximum(x @ np.transpose(ACESCG_TO_REC709), 0)),
    ],
)
def test_a_colour_space_is_decoded_by_its_closed_form(tmp_path, uv, colours, space, decode):
    write_image(tmp_path / "image.exr", colours.astype(np.float32))
    got = look(tmp_path, uv, "image.exr", attributes=f'colorspace="{space}"')
    np.testing.assert_allclose(got, decode(bilinear(colours, uv)), atol=1e-4)


def constant(space):
    port = f'<input name="value" type="color3" value="0.5, 0.25, 0.1" colorspace="{space}"/>'
    return probe(f'<constant name="colour" type="color3">{port}</constant>', "colour")


@pytest.mark.parametrize(("alias", "space"), COLOUR_SPACE_ALIASES.items())
def test_a_colour_space_by_another_name_is_the_same_and_known(alias, space):
    assert space in known_colour_spaces()
    [report] = describe(constant(alias), probe=False)
    assert "colour space" not in " ".join(part.name for part in report.parts)
    sources = []
    for each in (alias, space, "lin_rec709"):
        document = constant(each)
        sources.append(generate(document, document.require_material()).source)
    assert sources[0] == sources[1]
    assert (sources[0] == sources[2]) == (space == "lin_rec709")


@pytest.mark.parametrize(
    ("name", "decode"),
    [
        ("sRGB", decoded_srgb),
        ("Utility - sRGB - Texture", decoded_srgb),
        ("ACEScg", lambda x: x @ np.transpose(ACESCG_TO_REC709)),
        ("scene-linear Rec.709-sRGB", lambda x: x),
        ("Raw", lambda x: x),
    ],
)
def test_a_colour_space_may_have_the_name_that_applications_give_it(name, decode):
    document = constant(name)
    [report] = describe(document, probe=False)
    assert "colour space" not in " ".join(part.name for part in report.parts)
    expected = np.maximum(decode(np.array([0.5, 0.25, 0.1])), 0)
    np.testing.assert_allclose(glow(Teacher(document), [[0.5, 0.5]])[0], expected, atol=1e-4)


# Spaces for textures in OpenColorIO's configurations whose primaries MaterialX has nothing for.
NOT_IN_MATERIALX = {"Linear Rec.2020", "sRGB Encoded AP1", "CIE XYZ-D65 - Scene-referred"}
OCIO_CONFIGURATIONS = (
    "cg-config-v1.0.0_aces-v1.3_ocio-v2.1",
    "cg-config-v4.0.0_aces-v2.0_ocio-v2.5",
)


@pytest.mark.parametrize("name", OCIO_CONFIGURATIONS)
def test_a_space_for_textures_of_opencolorio_is_known_by_all_its_names(name):
    config = oiio.ColorConfig(f"ocio://{name}")
    spaces = [each for each in config.getColorSpaceNames() if is_for_textures(config, each)]
    assert len(spaces) > 8
    for space in spaces:
        known = {name_in_materialx(each) for each in (space, *config.getAliases(space))}
        assert known <= known_colour_spaces(), space
        source = oiio.ImageBuf(np.full((1, 1, 3), [0.5, 0.25, 0.1], np.float32))
        linear = oiio.ImageBufAlgo.colorconvert(
            source, space, "lin_rec709", colorconfig=f"ocio://{name}"
        )
        expected = np.maximum(linear.get_pixels()[0, 0], 0)
        got = glow(Teacher(constant(space)), [[0.5, 0.5]])[0]
        np.testing.assert_allclose(got, expected, atol=1e-3, err_msg=space)


def is_for_textures(config, space):
    if space.removesuffix(" - Texture") in NOT_IN_MATERIALX:
        return False
    return space == "ACEScg" or config.getColorSpaceFamilyByName(space) == "Utility"


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("Non-Color", "none"),
        ("Linear Rec.709", "lin_rec709"),
        ("scene-linear Rec 709/sRGB", "lin_rec709"),
    ],
)
def test_names_of_blender_and_maya_stand_for_what_they_mean(name, space):
    assert name_in_materialx(name) == space


def test_an_image_without_a_colour_space_takes_its_documents(tmp_path, uv, colours):
    write_image(tmp_path / "image.exr", colours.astype(np.float32))
    document = probe(image("image.exr"), "texels", search_paths=[tmp_path])
    document.root.setColorSpace("srgb_texture")
    expected = decoded_srgb(bilinear(colours, uv))
    np.testing.assert_allclose(glow(Teacher(document), uv), expected, atol=1e-4)


def test_an_image_without_a_file_gives_its_default(uv):
    text = node("image", "texels", "color3", {"default": ("color3", "0.2,0.4,0.6")})
    got = glow(Teacher(probe(text, "texels")), uv)
    np.testing.assert_allclose(got, np.tile([0.2, 0.4, 0.6], (COUNT, 1)), atol=1e-6)


def test_a_missing_file_is_named_with_its_node_and_the_folders(tmp_path):
    with pytest.raises(TextureError, match=rf"texels.*'absent\.png'.*{tmp_path.name}"):
        look(tmp_path, [[0.5, 0.5]], "absent.png")


def tiled_image_case(folder, names):
    """Tiles at (0, 0), (1, 0) of another size, and (1, 1); (0, 1) has no file."""
    random = np.random.default_rng(12)
    tiles = {cell: random.random((8, 8, 3)).astype(np.float32) for cell in ((0, 0), (1, 1))}
    tiles[1, 0] = np.full((4, 4, 3), [0.3, 0.6, 0.9], np.float32)
    for cell, texels in tiles.items():
        write_image(folder / names[cell], texels)
    return tiles


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (
            "t.<UDIM>.exr",
            {(0, 0): "t.1001.exr", (1, 0): "t.1002.exr", (1, 1): "t.1012.exr"},
        ),
        (
            "t_<UVTILE>.exr",
            {(0, 0): "t_u1_v1.exr", (1, 0): "t_u2_v1.exr", (1, 1): "t_u2_v2.exr"},
        ),
    ],
)
def test_each_tile_lies_in_its_square_and_elsewhere_is_the_default(tmp_path, pattern, names):
    tiles = tiled_image_case(tmp_path, names)
    uv = np.random.default_rng(13).uniform(-0.5, 2.5, (COUNT, 2)).astype(np.float32)
    default = [0.1, 0.9, 0.3]
    got = look(
        tmp_path,
        uv,
        pattern.replace("<", "&lt;").replace(">", "&gt;"),
        default=("color3", "0.1,0.9,0.3"),
    )
    cells = np.floor(uv).astype(int)
    expected = np.tile(np.float64(default), (COUNT, 1))
    for cell, texels in tiles.items():
        inside = (cells == cell).all(1)
        expected[inside] = bilinear(texels, uv[inside] - cell, "clamp")
    np.testing.assert_allclose(got, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "texels"),
    [(np.float32, [0.3, 4.0, 900.0]), (np.uint16, [1.0, 0.2718, 0.001])],
)
def test_a_tile_of_another_depth_keeps_its_values(tmp_path, kind, texels):
    whole = 65535 if kind is np.uint16 else 1
    write_image(tmp_path / "t.1001.tif", np.full((8, 8, 3), 51, np.uint8))
    write_image(tmp_path / "t.1002.tif", np.full((4, 4, 3), np.multiply(texels, whole), kind))
    got = look(tmp_path, [[0.5, 0.5], [1.5, 0.5]], "t.&lt;UDIM&gt;.tif")
    np.testing.assert_allclose(got, [[0.2] * 3, texels], rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("name", ["<UDIM>/t.png", "<UDIM>\\t.png", "<UDIM>/t.<UDIM>.<UDIM>.png"])
def test_a_token_that_is_not_in_the_files_name_once_is_refused(tmp_path, name):
    escaped = name.replace("<", "&lt;").replace(">", "&gt;")
    with pytest.raises(TextureError, match=r"texels.*<UDIM> must stand in the file's name, once"):
        look(tmp_path, [[0.5, 0.5]], escaped)


def test_the_far_edge_of_a_tiled_image_belongs_to_it(tmp_path):
    write_image(tmp_path / "t.1001.png", np.full((4, 4, 3), 255, np.uint8))
    got = look(tmp_path, [[1.0, 1.0], [0.0, 1.0], [1.0, 0.5]], "t.&lt;UDIM&gt;.png")
    np.testing.assert_allclose(got, 1.0)


def test_a_file_named_twice_is_loaded_once(tmp_path, colours):
    from verdigris.core.device import open_device

    write_image(tmp_path / "t.1001.exr", colours.astype(np.float32))
    pool = TexturePool(open_device(), SearchPath.of([tmp_path]))
    first = pool.bind(TextureSlot("a", "t.1001.exr", "a"))
    assert pool.bind(TextureSlot("b", "./t.1001.exr", "b")) is first
    assert pool.bind(TextureSlot("c", "t.<UDIM>.exr", "c")) is not first


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
