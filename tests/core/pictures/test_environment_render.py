"""Pictures under an environment, against closed forms and quadrature."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.kernels import Source
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.lighting.environment import Environment, Sun, direction_of
from verdigris.core.material.evaluator import POINT
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.pictures import environment_render
from verdigris.core.pictures.backdrop import Ground, out_of_focus
from verdigris.core.pictures.environment_render import (
    EnvironmentLighting,
    draw_behind,
    draw_under,
    light_pass,
    render_under,
)
from verdigris.core.pictures.gbuffer import (
    Background,
    Camera,
    GBuffer,
    ground_gbuffer,
    make_gbuffer,
)

BLACK = np.zeros((2, 4, 3), np.float32)
WHITE = np.ones((8, 16, 3), np.float32)
GREY = 0.18


@pytest.fixture(scope="module")
def ground():
    return Ground(open_device("software"))


def lighting(material, environment, mesh=None):
    return EnvironmentLighting.upload(material.device, environment, mesh)


def place(at, size=16):
    """A view all of whose pixels see the same place of a level plane, from above."""
    count = size * size
    rows = [np.tile(np.float32(each), (count, 1)) for each in (at, *np.eye(3)[[0, 2, 1]])]
    rows[2] *= -1
    position, tangent, bitangent, normal = rows
    uv = np.zeros((count, 2), np.float32)
    background = Background(Camera(), np.eye(3))
    pixel = np.arange(count)
    frames = tangent, bitangent, normal
    return GBuffer(size, pixel, uv, position, *frames, normal, np.eye(3), position, background)


def level(corners, height):
    """Two triangles over a level square."""
    low, high = corners
    x, z = np.array([(low, low), (high, low), (high, high), (low, high)]).T
    points = np.stack([x, np.full(4, height), z], 1).astype(np.float32)
    position = points[[[0, 2, 1], [0, 3, 2]]]
    up = np.broadcast_to(np.float32([0, 1, 0]), (2, 3, 3))
    return Mesh(position, up, np.zeros((2, 3, 2), np.float32))


def mean_light(material, environment, mesh, samples, at=(0, 0, 0)):
    lit = lighting(material, environment, mesh)
    return draw_under(material, place(at), lit, 1, samples)[..., :3].mean((0, 1))


def test_in_a_white_furnace_a_diffuse_sphere_shows_its_albedo(ground):
    picture = render_under(ground, lighting(ground, Environment.of(WHITE)), "sphere", 16)
    covered = picture[picture[..., 3] == 1]
    np.testing.assert_allclose(covered[:, :3].mean(), GREY, rtol=3e-3)
    np.testing.assert_allclose(covered[:, :3], GREY, rtol=0.1)


def test_light_of_a_map_with_a_bright_spot_is_that_of_quadrature(ground):
    texels = np.random.default_rng(8).random((10, 20, 3)).astype(np.float32)
    texels[2, 7] = 300, 200, 100
    environment = Environment.of(texels).turned(40)
    v, u = (np.indices((240, 480)).reshape(2, -1) + 0.5) / [[240], [480]]
    directions = direction_of(np.stack([u, v], 1))
    light = environment.radiance(directions) * np.sin(np.pi * v)[:, None]
    light *= 2 * np.pi**2 / (240 * 480)
    view = make_gbuffer("sphere", 12)
    irradiance = np.maximum(view.normal @ directions.T, 0) @ light
    picture = render_under(
        ground, lighting(ground, environment), "sphere", 12, samples=1024, subpixels=1
    )
    found = picture.reshape(-1, 4)[view.pixel, :3]
    expected = irradiance * GREY / np.pi
    np.testing.assert_allclose(found, expected, rtol=0.12)
    np.testing.assert_allclose(found.mean(0), expected.mean(0), rtol=4e-3)


def test_a_material_sees_what_its_mirror_lobes_and_the_map_both_can_sample(ground):
    """The balance heuristic must count both densities: with one alone, light would be counted
    twice or lost."""
    spot = BLACK.repeat(16, 0).repeat(16, 1)
    spot[3, 40] = 1000
    wide = np.full_like(spot, 0.3)
    both = Environment.of(spot + wide)
    parts = sum(mean_light(ground, Environment.of(each), None, 512) for each in (spot, wide))
    np.testing.assert_allclose(mean_light(ground, both, None, 512), parts, rtol=1e-2)


def test_the_sun_lights_a_plane_with_its_irradiance_times_the_cosine(ground):
    sun = Sun((0.48, 0.6, 0.64), (7.0, 5.0, 3.0), 0.0046)
    found = mean_light(ground, Environment.of(BLACK, sun), None, 8)
    np.testing.assert_allclose(found, np.array([7, 5, 3]) * 0.6 * GREY / np.pi, rtol=2e-4)


def test_the_shadow_of_a_square_is_its_form_factor(ground):
    """Of a parallel square above the middle; four corner factors make the whole."""
    half, height = 1.0, 0.7
    a = half / height
    corner = a / np.sqrt(1 + a * a) * np.arctan(a / np.sqrt(1 + a * a))
    factor = 4 * 2 * corner / (2 * np.pi)
    mesh = level((-half, half), height)
    found = mean_light(ground, Environment.of(WHITE), mesh, 512)
    assert 0.2 < 1 - factor < 0.8
    np.testing.assert_allclose(found, GREY * (1 - factor), rtol=5e-3)


def test_the_sun_is_hidden_behind_a_square_and_half_of_it_behind_an_edge(ground):
    sun = Sun((0.6, 0.8, 0.0), (np.pi,) * 3, 0.01)
    environment = Environment.of(BLACK, sun)
    mesh = level((-1, 1), 0.8)
    # the ray to the middle of the sun passes the height of the square .6 further
    for x, part in ((-0.3, 0.0), (0.35, 0.0), (0.4, 0.5), (0.45, 1.0)):
        found = mean_light(ground, environment, mesh, 64, (x, 0, 0))
        np.testing.assert_allclose(found, GREY * 0.8 * part, atol=GREY * 0.8 * 0.02)


def test_a_coarse_sphere_throws_no_shadow_with_corners_on_its_lit_side(ground):
    rings, sectors = 9, 14
    v, u = np.meshgrid(np.linspace(0, np.pi, rings), np.linspace(0, 2 * np.pi, sectors))
    points = np.stack([np.sin(v) * np.sin(u), np.cos(v), np.sin(v) * np.cos(u)], -1)
    corners = [points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]]
    faces = [np.stack([corners[at] for at in order], 2) for order in ((0, 1, 2), (0, 2, 3))]
    position = np.concatenate([face.reshape(-1, 3, 3) for face in faces]).astype(np.float32)
    is_solid = np.linalg.norm(np.cross(*(position[:, 1:] - position[:, :1]).swapaxes(0, 1)), axis=1)
    position = position[is_solid > 1e-6]
    mesh = Mesh(position, position, np.zeros((len(position), 3, 2), np.float32))
    sun = Sun((0.8, 0.6, 0.0), (np.pi,) * 3, 0.005)
    lit = lighting(ground, Environment.of(BLACK, sun), mesh)
    view = make_gbuffer("mesh", 48, mesh)
    found = render_under(ground, lit, "mesh", 48, mesh, 8, 1).reshape(-1, 4)[view.pixel, 0]
    cosine = view.normal @ np.float32([0.8, 0.6, 0.0])
    is_lit = cosine > 0.12
    np.testing.assert_allclose(found[is_lit], GREY * cosine[is_lit], rtol=0.05)


def test_a_turned_mesh_takes_its_shadow_along(ground):
    roof, floor = level((0.0, 1.0), 0.5), level((-1.0, 1.0), 0.0)
    mesh = Mesh(
        *(
            np.concatenate([getattr(m, n) for m in (roof, floor)])
            for n in ("position", "normal", "uv")
        )
    )
    for camera in (Camera(), Camera(turn=50.0, pitch=-20.0)):
        view = make_gbuffer("mesh", 40, mesh, camera)
        above = view.rotation @ [0.0, 1.0, 0.0]
        sun = Sun(tuple(above.tolist()), (np.pi,) * 3, 0.005)
        lit = lighting(ground, Environment.of(BLACK, sun), mesh)
        picture = draw_under(ground, view, lit, 1, 2)
        found = picture.reshape(-1, 4)[view.pixel, 0]
        x, y, z = view.position.T
        is_floor = y < 0.25
        is_under = is_floor & (np.minimum(x, z) > 0.03) & (np.maximum(x, z) < 0.97)
        is_open = is_floor & ((x < -0.03) | (z < -0.03))
        assert is_open.sum() > 50
        assert found[is_under].max(initial=0) == 0
        np.testing.assert_allclose(found[is_open], GREY, rtol=1e-3)


def test_the_ground_lies_below_the_mesh_and_holds_its_shadow(ground):
    mesh = level((-1.0, 1.0), 0.5)
    post = np.float32([[[0, 0, 0], [0.01, 0.5, 0], [0, 0.5, 0.01]]])
    mesh = Mesh(
        *(
            np.concatenate(each)
            for each in (
                (mesh.position, post),
                (mesh.normal, np.ones_like(post)),
                (mesh.uv, post[..., :2]),
            )
        )
    )
    sun = Sun((0.0, 1.0, 0.0), (np.pi,) * 3, 0.005)
    lit = lighting(ground, Environment.of(BLACK, sun), mesh)
    behind = draw_behind(ground.device, lit, "ground", "mesh", 48, mesh, 2)
    view = ground_gbuffer(mesh, 48)
    np.testing.assert_allclose(view.shadow_origin[:, 1], 0, atol=1e-3)
    found, (x, _, z) = behind.reshape(-1, 3)[view.pixel, 0], view.shadow_origin.T
    is_under = np.maximum(np.abs(x), np.abs(z)) < 0.97
    is_open = np.maximum(np.abs(x), np.abs(z)) > 1.03
    assert is_under.sum() > 50 < is_open.sum()
    assert found[is_under].max() == 0
    np.testing.assert_allclose(found[is_open], GREY, rtol=1e-3)


def test_passes_add_up_to_the_picture_of_one(ground, monkeypatch):
    environment = Environment.of(WHITE, Sun((0.0, 0.6, 0.8), (2, 2, 2), 0.01))
    lit = lighting(ground, environment)
    view = make_gbuffer("sphere", 16)
    passes = [light_pass(ground, view, lit, 8, number, POINT) for number in range(3)]
    once = light_pass(ground, view, lit, 24, 0, POINT)
    np.testing.assert_allclose(np.mean(passes, 0), once, rtol=1e-4, atol=1e-5)
    whole = draw_under(ground, view, lit, 2, 48)
    monkeypatch.setattr(environment_render, "PIXELS_ON_CPU", 64)
    split = draw_under(ground, view, lit, 2, 48)
    np.testing.assert_allclose(split, whole, rtol=1e-4, atol=1e-5)
    done = []
    render_under(ground, lit, "sphere", 8, samples=16, on_progress=done.append)
    assert len(done) > 1 and done == sorted(done) and done[-1] == 1


def test_four_times_the_samples_leave_less_than_half_of_the_noise(ground):
    lit = lighting(ground, Environment.of(WHITE * np.float32([0.1, 1, 3])))
    noise = []
    for samples in (8, 32):
        picture = render_under(ground, lit, "sphere", 24, samples=samples, subpixels=1)
        covered = picture[picture[..., 3] == 1][:, 1]
        noise.append(np.std(covered))
    assert 0 < noise[1] < noise[0] / 2


def test_out_of_focus_an_environment_keeps_its_light():
    texels = np.random.default_rng(4).random((64, 128, 3)).astype(np.float32)
    texels[32, 5] = 500
    soft = out_of_focus(Environment.of(texels))
    assert soft.texels.max() < 100
    near = texels[16:48].mean((0, 1))
    np.testing.assert_allclose(soft.texels[16:48].mean((0, 1)), near, rtol=0.02)


LEANING = 0.5, 0.0, 0.75**0.5


class Lobe(Ground):
    """A mirror lobe with the cosine to this power around the mirrored view."""

    def __init__(self, device, power, normal=(0.0, 0.0, 1.0), width=0.0):
        """`width` is that of the highlight which it reports."""
        super().__init__(device)
        facing = "float3({}, {}, {})".format(*normal)
        text = f"""import material.teacher.interface;
struct Lobe : ITeacher
{{
    static float4 look(SurfacePoint point, float3 wi, float3 wo, bool isLit)
    {{
        gHighlights.normals[0] = {facing};
        gHighlights.widths.x = {width};
        const float along = max(dot(wi, reflect(-wo, {facing})), 0.0);
        const float response = ({power} + 1.0) / (2.0 * 3.14159265) * pow(along, {power});
        return float4(isLit && wi.z > 0.0 ? float3(response) : float3(0.0), 1.0);
    }}
}}
export struct Material : ITeacher = Lobe;
export static const uint kLanesPerSample = 1;
"""
        self.own = Source(f"test_lobe_{power}_{normal[0]}_{width}", text)

    def kernel(self, source, entry):
        return self._kernels.get((source, self.own), entry)


@pytest.mark.parametrize("power", [3, 4000])
def test_wide_and_narrow_lobes_reflect_what_quadrature_finds(power):
    """Seen from above, the lobe's integral over the hemisphere is 1."""
    lobe = Lobe(open_device("software"), power)
    np.testing.assert_allclose(mean_light(lobe, Environment.of(WHITE), None, 256), 1, rtol=0.01)
    texels = np.random.default_rng(9).random((24, 48, 3)).astype(np.float32)
    texels[1, 11] = 200
    environment = Environment.of(texels)
    v, u = (np.indices((960, 960)).reshape(2, -1) + 0.5) / [[960], [960]]
    directions = direction_of(np.stack([u, v / 2], 1))
    response = (power + 1) / (2 * np.pi) * directions[:, 1] ** power
    share = response * np.sin(np.pi * v / 2) * np.pi**2 / 960**2
    expected = share @ environment.radiance(directions)
    assert share.sum() == pytest.approx(1, abs=2e-3)
    found = mean_light(lobe, environment, None, 256)
    np.testing.assert_allclose(found, expected, rtol=0.015)


def spread_of(material, environment):
    """Mean, and standard deviation by the mean, of pixels that all show the same light."""
    lit = lighting(material, environment)
    found = draw_under(material, place((0, 0, 0)), lit, 1, 64)[..., 1]
    return found.mean(), found.std() / found.mean()


def test_directions_follow_the_highlight_of_a_leaning_surface():
    """Its lobe lies outside of those around the surface's own normal, and in a white furnace its
    integral is 1. A material of MaterialX reports its highlights itself."""
    device, white = open_device("software"), Environment.of(WHITE)
    unknown = spread_of(Lobe(device, 4000, LEANING), white)
    mean, spread = spread_of(Lobe(device, 4000, LEANING, 0.008), white)
    assert mean == pytest.approx(1, rel=0.02)
    assert spread < 0.1 * unknown[1]
    metal = """<materialx version="1.39">
<normalmap name="n" type="vector3">
<input name="in" type="vector3" value="0.75, 0.5, 0.933"/></normalmap>
<conductor_bsdf name="d" type="BSDF"><input name="roughness" type="vector2" value="0.03, 0.02"/>
<input name="normal" type="vector3" nodename="n"/></conductor_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="metal" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="s"/></surfacematerial></materialx>"""
    found = Teacher(parse_document(metal), device=device).highlights(
        np.zeros((1, 2), np.float32), np.float32([[0, 0, 1]])
    )
    np.testing.assert_allclose(found[0, :4], (*LEANING, 0.03), atol=2e-3)


def test_a_sphere_shades_its_ground_from_sky_and_sun(ground):
    """At two places beside it, a sphere hides R^2 / d^2 cos = 1 / 2 sqrt(1 / 2) of the sky, and at
    one of them the sun."""
    sun = Sun((np.sqrt(0.5), np.sqrt(0.5), 0.0), (3.0,) * 3, 0.005)
    lit = lighting(ground, Environment.of(0.1 * WHITE, sun))
    camera = Camera(zoom=0.5)
    picture = draw_behind(ground.device, lit, "ground", "sphere", 201, samples=256, camera=camera)
    # the places (-1, -1, 0) and (1, -1, 0), seen from the front, with the pixels around them
    at = 0.5 / camera.distance / camera.slope
    rows, *columns = (round((1 + each) / 2 * 201) + np.arange(-1, 2) for each in (at, -at, at))
    dark, bright = (picture[np.ix_(rows, each)][..., 0].mean() for each in columns)
    sky = 0.1 * np.pi * (1 - np.sqrt(0.5) / 2)
    assert dark == pytest.approx(GREY / np.pi * sky, rel=0.08)
    assert bright == pytest.approx(GREY / np.pi * (sky + 3 * np.sqrt(0.5)), rel=0.03)
