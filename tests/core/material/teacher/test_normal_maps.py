"""Normal maps and heights move the shading normal as geometry predicts."""

import numpy as np
import pytest

from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP, Frames
from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import (
    closure,
    glow,
    hemisphere,
    node,
    normalised,
    probe,
    respond,
    shader,
    write_image,
)

COUNT = 1000
SHARP = ("vector2", "0.03,0.03")


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(5)
    return random.random((COUNT, 2)), hemisphere(random, COUNT), hemisphere(random, COUNT)


def mapped(value):
    """A normal map of one colour, given as numbers."""
    text = ",".join(f"{x:.9g}" for x in value)
    return node("normalmap", "mapped", "vector3", {"in": ("vector3", text)})


def textured(name):
    image = node("image", "texels", "vector3", {"file": ("filename", name)})
    return image + node("normalmap", "mapped", "vector3", {"in": ("vector3", "@texels")})


def encoded(tilt_x, tilt_y):
    """The colour of a normal that leans towards +u and +v by these angles, in degrees."""
    x, y = np.tan(np.radians([tilt_x, tilt_y]))
    normal = normalised(np.array([x, y, 1.0]))
    return normal, normal * 0.5 + 0.5


def lobe(before, **options):
    inputs = {"color": ("color3", "0.8,0.5,0.2"), "normal": ("vector3", "@mapped")}
    return closure("oren_nayar_diffuse_bsdf", inputs, before, **options)


def lambert_about(normal, wi, wo):
    """Lambert with a shading normal, which MaterialX turns towards the view."""
    facing = np.where(wo @ normal < 0, -1, 1)
    return np.maximum(wi @ normal * facing, 0)[:, None] * [0.8, 0.5, 0.2] / np.pi


def highlight(teacher, uv, wo):
    """The direction of light at which the response towards wo is largest."""
    random = np.random.default_rng(6)
    wi = hemisphere(random, 1 << 17)
    for spread in (0.02, 0.004):
        tiled = np.tile(wo, (len(wi), 1))
        best = wi[respond(teacher, np.tile(uv, (len(wi), 1)), wi, tiled).sum(1).argmax()]
        wi = normalised(best + spread * random.standard_normal((1 << 14, 3)))
    return best


def degrees_between(a, b):
    return np.degrees(2 * np.arcsin(np.linalg.norm(a - b) / 2))


MODEL_INPUTS = {
    "base_color": ("color3", "@uv_colour"),
    "specular_roughness": ("float", "0.3"),
    "specular_anisotropy": ("float", "0.5"),
    "coat": ("float", "0.5"),
}


def test_a_flat_normal_map_changes_nothing(samples):
    plain = Teacher(shader("standard_surface", MODEL_INPUTS))
    ports = {"normal": ("vector3", "@mapped"), "coat_normal": ("vector3", "@mapped")}
    mapping = Teacher(shader("standard_surface", MODEL_INPUTS | ports, mapped([0.5, 0.5, 1])))
    np.testing.assert_allclose(respond(mapping, *samples), respond(plain, *samples), rtol=1e-5)


def test_a_flat_normal_map_of_8_bits_leans_by_what_128_of_255_is_off_the_middle(samples, tmp_path):
    """128 / 255 decodes to 1 / 255: the normal leans by atan(sqrt(2) / 255), 0.32 degrees."""
    write_image(tmp_path / "flat.png", np.full((4, 4, 3), [128, 128, 255], np.uint8))
    teacher = Teacher(lobe(textured("flat.png"), search_paths=[tmp_path]))
    leaning = normalised(np.array([1 / 255, 1 / 255, 1.0]))
    uv, wi, wo = samples
    got = respond(teacher, uv, wi, wo)
    np.testing.assert_allclose(got, lambert_about(leaning, wi, wo), rtol=1e-4, atol=1e-7)
    assert degrees_between(leaning, np.array([0, 0, 1.0])) < 0.32


def test_a_flat_normal_map_of_16_bits_leans_by_less_than_a_hundredth_of_a_degree(tmp_path):
    write_image(tmp_path / "flat.png", np.full((4, 4, 3), [32768, 32768, 65535], np.uint16))
    inputs = {"file": ("filename", "flat.png")}
    document = probe(
        node("image", "texels", "vector3", inputs)
        + node("convert", "shown", "color3", {"in": ("vector3", "@texels")}),
        "shown",
        search_paths=[tmp_path],
    )
    normal = glow(Teacher(document), [[0.5, 0.5]])[0] * 2 - 1
    assert degrees_between(normalised(normal), np.array([0, 0, 1.0])) < 0.01


@pytest.fixture(scope="module")
def leaning():
    """A sharp metal whose normal map is of the colour (u, v, 1)."""
    channels = {"in1": ("float", "@u"), "in2": ("float", "@v"), "in3": ("float", "1")}
    before = node("combine3", "texels", "vector3", channels)
    before += node("normalmap", "mapped", "vector3", {"in": ("vector3", "@texels")})
    inputs = {"roughness": SHARP, "normal": ("vector3", "@mapped")}
    return Teacher(closure("conductor_bsdf", inputs, before))


@pytest.mark.parametrize("tilt", [(12, 0), (-12, 0), (0, 12), (0, -12), (7, -10)], ids=str)
def test_the_highlight_lies_in_the_mirror_direction_about_the_mapped_normal(tilt, leaning):
    normal, _ = encoded(*tilt)
    # the decoded normal is made a unit vector
    place = normal[:2] / normal[2] * 0.5 + 0.5
    for wo in normalised(np.array([[0.3, 0.2, 1.0], [-0.5, 0.4, 1.0], [0, 0, 1.0]])):
        mirror = 2 * (normal @ wo) * normal - wo
        assert degrees_between(highlight(leaning, place, wo), mirror) < 0.5


def test_scale_multiplies_the_slope_of_a_normal_map(samples):
    _, colour = encoded(5, 3)
    scaled = mapped(colour).replace(
        "</normalmap>", '<input name="scale" type="float" value="2"/></normalmap>'
    )
    # the decoded normal's x and y are doubled, then it is made a unit vector again
    normal = normalised((colour * 2 - 1) * [2, 2, 1])
    uv, wi, wo = samples
    got = respond(Teacher(lobe(scaled)), uv, wi, wo)
    np.testing.assert_allclose(got, lambert_about(normal, wi, wo), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("mirrored", [False, True], ids=["right-handed", "mirrored"])
def test_a_frame_turned_in_space_responds_like_the_plane(samples, mirrored):
    normal, colour = encoded(9, -14)
    inputs = {"roughness": ("vector2", "0.1,0.4"), "normal": ("vector3", "@mapped")}
    teacher = Teacher(closure("conductor_bsdf", inputs, mapped(colour)))
    uv, wi, wo = samples
    random = np.random.default_rng(8)
    turned = np.linalg.qr(random.standard_normal((COUNT, 3, 3)))[0].swapaxes(1, 2)
    wrong = (np.linalg.det(turned) < 0) != mirrored
    turned[wrong, 1] *= -1
    place = random.uniform(-2, 2, (COUNT, 3))
    frames = Frames(place, turned[:, 0], turned[:, 1], turned[:, 2])
    got, expected = respond(teacher, uv, wi, wo, frames), respond(teacher, uv, wi, wo)
    # the lobe divides by the cosine at the mapped normal: next to zero, rounding is all there is
    clear = (np.abs(wo @ normal) > 0.02) & (np.abs(wi @ normal) > 0.02)
    np.testing.assert_allclose(got[clear], expected[clear], rtol=2e-4, atol=1e-6)


def heights(body, scale=4.0):
    inputs = {"in": ("float", "@height"), "scale": ("float", str(scale))}
    return body + node("heighttonormal", "normal", "vector3", inputs) + SHOW_NORMAL


SHOW_NORMAL = node("convert", "shown", "color3", {"in": ("vector3", "@normal")})


def height_normal(slope_u, slope_v, scale=4.0):
    """MaterialX divides the slope by 16, for parity with a Sobel filter."""
    parts = np.broadcast_arrays(-slope_u * scale / 16, -slope_v * scale / 16, 1.0)
    return normalised(np.stack(parts, -1))


def test_a_ramp_of_height_gives_the_normal_of_its_slope(samples):
    body = node("multiply", "a", "float", {"in1": ("float", "@u"), "in2": ("float", "3")})
    body += node("multiply", "b", "float", {"in1": ("float", "@v"), "in2": ("float", "-2")})
    body += node("add", "height", "float", {"in1": ("float", "@a"), "in2": ("float", "@b")})
    got = glow(Teacher(probe(heights(body), "shown")), samples[0]) * 2 - 1
    expected = np.broadcast_to(height_normal(3.0, -2.0), got.shape)
    np.testing.assert_allclose(got, expected, atol=2e-4)


def test_a_curved_height_gives_the_normal_of_its_forward_difference(samples):
    body = node("sin", "height", "float", {"in": ("float", "@tenfold")})
    inputs = {"in1": ("float", "@u"), "in2": ("float", "10")}
    body = node("multiply", "tenfold", "float", inputs) + body
    uv = samples[0]
    got = glow(Teacher(probe(heights(body), "shown")), uv) * 2 - 1
    step = DEFAULT_SLOPE_STEP
    slope = (np.sin(10 * (uv[:, 0] + step)) - np.sin(10 * uv[:, 0])) / step
    np.testing.assert_allclose(got, height_normal(slope, 0.0), atol=2e-4)


def test_a_height_image_gives_the_normal_of_its_slope(tmp_path):
    size = 32
    ramp = np.linspace(0, 1, size, dtype=np.float32)[None, :, None].repeat(size, 0)
    write_image(tmp_path / "ramp.exr", ramp)
    image = node("image", "height", "float", {"file": ("filename", "ramp.exr")})
    teacher = Teacher(probe(heights(image), "shown", search_paths=[tmp_path]))
    inside = np.random.default_rng(3).uniform(0.1, 0.9, (200, 2))
    got = glow(teacher, inside) * 2 - 1
    expected = np.broadcast_to(height_normal(size / (size - 1), 0.0), got.shape)
    # a device may weigh texels by 8 bits of fraction: an error of the difference over a step
    np.testing.assert_allclose(got, expected, atol=0.03)


def test_bump_leans_the_normal_against_the_slope(samples):
    body = node("multiply", "height", "float", {"in1": ("float", "@u"), "in2": ("float", "3")})
    inputs = {"height": ("float", "@height"), "scale": ("float", "1")}
    body += node("bump", "mapped", "vector3", inputs)
    uv, wi, wo = samples
    got = respond(Teacher(lobe(body)), uv, wi, wo)
    lit = lambert_about(height_normal(3.0, 0.0, 1.0), wi, wo)
    np.testing.assert_allclose(got, lit, rtol=1e-3, atol=1e-4)
