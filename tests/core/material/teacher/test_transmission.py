"""Light that passes through a surface, against closed forms and a simulation of thin walls."""

from functools import lru_cache

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.probe import mean_albedo, mean_transmitted
from verdigris.core.material.teacher.teacher import Teacher

from .. import closed_forms as forms
from ..surfaces import UV, closure, document, hemisphere, node, shader, surface_material

COUNT, TURNS = 200, 300
INDEX = node("add", "index", "float", {"in1": ("float", "@v"), "in2": ("float", "0.5")})
ROUGH = {
    "roughness": ("vector2", "@uu"),
    "ior": ("float", "@index"),
    "scatter_mode": ("string", "RT"),
}
BELOW = np.array([1, 1, -1])


def surface(lobe, is_thin):
    inputs = {"bsdf": ("BSDF", "@lobe"), "thin_walled": ("boolean", str(is_thin).lower())}
    body = UV + lobe + node("surface", "surf", "surfaceshader", inputs)
    return Teacher(document(body + surface_material("surf")))


@pytest.fixture(scope="module")
def wall():
    return surface(INDEX + node("dielectric_bsdf", "lobe", "BSDF", ROUGH), True)


@lru_cache
def solid(index):
    """With a rough interface; light is bent by one index everywhere."""
    inputs = {**ROUGH, "ior": ("float", str(index))}
    return surface(node("dielectric_bsdf", "lobe", "BSDF", inputs), False)


def sent(teacher, alpha, index, cosine):
    """The shares of white light that a surface reflects and transmits towards a view."""
    nodes, weights = np.polynomial.legendre.leggauss(COUNT)
    # more directions near the horizon and the normal, where lobes are narrow
    z, weights = (nodes + 1) / 2, weights / 2
    turn = (np.arange(TURNS) + 0.5) / TURNS * 2 * np.pi
    z, turn = (each.ravel() for each in np.meshgrid(z, turn, indexing="ij"))
    weights = np.repeat(weights, TURNS) * 2 * np.pi / TURNS
    sine = np.sqrt(1 - z * z)
    above = np.stack([sine * np.cos(turn), sine * np.sin(turn), z], 1).astype(np.float32)
    uv = np.tile(np.float32([alpha, index - 0.5]), (len(z), 1))
    wo = np.tile(np.float32([np.sqrt(1 - cosine**2), 0, cosine]), (len(z), 1))
    sides = (teacher.response(uv, wi, wo)[:, 0] for wi in (above, above * np.float32(BELOW)))
    return tuple(float(weights @ each) for each in sides)


def slab(index, cosine):
    """What a smooth slab reflects: the sum over all reflections between its two sides."""
    reflected = float(forms.fresnel(np.array([cosine]), index, 0.0).ravel()[0])
    bounces = (1 - reflected) ** 2 * reflected * reflected ** (2 * np.arange(60))
    return reflected + float(bounces.sum())


@pytest.mark.parametrize("index", [1.33, 1.49])
def test_a_wall_reflects_the_sum_over_its_two_sides(wall, index):
    for cosine in (1.0, 0.7, 0.4):
        reflected, passed = sent(wall, 0.08, index, cosine)
        assert reflected == pytest.approx(slab(index, cosine), abs=0.012)
        assert passed == pytest.approx(1 - slab(index, cosine), abs=0.012)


@pytest.mark.parametrize("alpha", [0.15, 0.5])
def test_no_light_is_gained(wall, alpha):
    for index in (0.75, 1.25, 1.49):
        for cosine in (1.0, 0.5):
            for teacher in (wall, solid(index)):
                total = sum(sent(teacher, alpha, index, cosine))
                assert total < 1.005
            if index > 1:
                assert sum(sent(wall, alpha, index, cosine)) > 0.99


def test_rough_walls_match_a_simulation_of_two_interfaces(wall):
    for alpha, index in ((0.1, 1.49), (0.12, 1.3)):
        reflected, passed, tilt = simulated_wall(alpha, index)
        found = sent(wall, alpha, index, 1.0)
        assert found == pytest.approx((reflected, passed), abs=0.02)
        # along the normal, half of a GGX lobe lies within the tilt of its roughness
        assert half_width(wall, alpha, index) == pytest.approx(tilt, rel=0.05)


@pytest.mark.parametrize("index", [0.75, 1.49])
def test_refraction_is_walters_model(index):
    random = np.random.default_rng(4)
    wo, wi = hemisphere(random, 1500, 0.1), hemisphere(random, 1500, 0.1) * BELOW
    uv = random.uniform(0.2, 0.9, (1500, 2)).astype(np.float32)
    expected = walter(wi, wo, uv[:, 0].astype(float), np.full(1500, index))
    found = solid(index).response(uv, wi.astype(np.float32), wo.astype(np.float32))
    assert np.count_nonzero(expected > 1e-3) > 100
    np.testing.assert_allclose(found[:, 0], expected, rtol=2e-3, atol=1e-4)


def test_exchanged_directions_differ_by_the_square_of_the_index():
    random = np.random.default_rng(5)
    above, below = hemisphere(random, 300, 0.2), hemisphere(random, 300, 0.2) * BELOW
    into = response(solid(1.25), 0.3, 1.25, below, above) / -below[:, 2]
    # seen from inside: the surface turned over, with the inverse index
    out = response(solid(0.8), 0.3, 0.8, above * BELOW, below * BELOW) / above[:, 2]
    assert np.count_nonzero(into > 1e-2) > 50
    np.testing.assert_allclose(into, 1.25**2 * out, rtol=2e-3, atol=1e-4)


def test_a_solid_is_black_from_inside_and_its_report_says_so():
    random = np.random.default_rng(5)
    wi, wo = hemisphere(random, 64), hemisphere(random, 64) * BELOW
    for light in (wi, wi * BELOW):
        assert not response(solid(1.25), 0.3, 1.25, light, wo).any()
    black = "; a solid that is seen from inside is black"
    for is_thin in (False, True):
        inputs = {"thin_walled": ("boolean", str(is_thin).lower())}
        given = shader("standard_surface", {"transmission": ("float", "1"), **inputs})
        [part] = [
            each for each in describe(given, probe=False)[0].parts if each.name == "transmission"
        ]
        assert part.fate == "kept" and part.how.endswith(black) != is_thin


def test_translucent_and_thin_subsurface_light_is_lambertian():
    random = np.random.default_rng(6)
    above, wo = hemisphere(random, 64), hemisphere(random, 64)
    uv = np.full((64, 2), 0.5, np.float32)
    colour = {"color": ("color3", "0.2,0.4,0.6")}
    leaf = surface(
        node("translucent_bsdf", "leaf", "BSDF", colour)
        + node("subsurface_bsdf", "skin", "BSDF", colour)
        + node(
            "mix", "lobe", "BSDF", {"fg": ("BSDF", "@leaf"), "bg": ("BSDF", "@skin"),
                                    "mix": ("float", "@u")}
        ),
        True,
    )  # fmt: skip
    lambert = above[:, 2:] / np.pi * [0.2, 0.4, 0.6]
    for wi, share in ((above * BELOW, 0.75), (above, 0.25)):
        found = leaf.response(uv, wi.astype(np.float32), wo.astype(np.float32))
        np.testing.assert_allclose(found, share * lambert, rtol=1e-4)


def test_glass_of_a_surface_model_counts_its_reflection_once():
    glass = shader(
        "standard_surface",
        {
            "base": ("float", "0"),
            "transmission": ("float", "1"),
            "specular_roughness": ("float", "0.35"),
            "thin_walled": ("boolean", "true"),
        },
    )
    teacher = Teacher(glass)
    for cosine in (1.0, 0.6, 0.3):
        total = sum(sent(teacher, 0.5, 1.0, cosine))
        assert 0.99 < total < 1.005


def glass(model="standard_surface", **inputs):
    names = {"standard_surface": "transmission", "open_pbr_surface": "transmission_weight"}
    depth = inputs.pop("depth", None)
    given = {name: ("float", value) for name, value in inputs.items()}
    if depth:
        given["transmission_depth"] = ("float", depth)
        given["transmission_color"] = ("color3", "1,.5,0")
    return shader(model, {names[model]: ("float", "1"), **given})


@pytest.mark.parametrize("index", ["-1", "0", "1e9"])
def test_an_index_that_no_solid_has_is_refused_in_one_line(index):
    number = f"{float(index):g}".replace("+", r"\+")
    with pytest.raises(DocumentError, match=f"is {number}: use 0.05 to 20, such as 1.5 for glass"):
        Teacher(glass(specular_IOR=index))
    # an opaque one has no index to refuse
    Teacher(shader("standard_surface", {"specular_IOR": ("float", index)}))


def test_an_index_that_is_no_number_is_refused_in_one_line():
    with pytest.raises(DocumentError, match="'specular_IOR': the value 'nan' does not have"):
        Teacher(glass(specular_IOR="nan"))


@pytest.mark.parametrize(
    "document",
    [
        glass(specular_IOR="1"),
        glass(specular_IOR="1.05"),
        glass("open_pbr_surface", specular_weight="0"),
    ],
)
def test_what_does_not_refract_lets_all_light_pass_straight(document):
    teacher = Teacher(document)
    assert teacher.index_below == 1
    assert min(mean_transmitted(teacher)) > 0.97


def test_the_weight_of_openpbrs_of_the_reflection_changes_the_index():
    """The index whose reflection along the normal is half of that of 1.5."""
    half = Teacher(glass("open_pbr_surface", specular_weight="0.5", specular_roughness="0.4"))
    assert ((half.index_below - 1) / (half.index_below + 1)) ** 2 == pytest.approx(0.02)
    for cosine in (1.0, 0.6):
        assert 0.95 < sum(sent(half, 0.0, 1.0, cosine)) < 1.005


CHECKED = node("multiply", "u4", "float", {"in1": ("float", "@u"), "in2": ("float", "4")})
CHECKED += node("modulo", "turn", "float", {"in1": ("float", "@u4"), "in2": ("float", "1")})
CHECKED += node(
    "ifgreater", "half", "float",
    {"value1": ("float", "@turn"), "value2": ("float", ".5"), "in1": ("float", "1.8")}
    | {"in2": ("float", "1.3")},
)  # fmt: skip


def test_a_solid_with_several_indices_bends_light_by_one_and_keeps_its_energy():
    """Its closures bend no light to where neither the sampler nor the decoder looks for it."""
    given = shader(
        "standard_surface",
        {"transmission": ("float", "1"), "specular_IOR": ("float", "@half")}
        | {"specular_roughness": ("float", ".3")},
        CHECKED,
    )
    [index] = [each for each in describe(given, probe=False)[0].parts if each.name == "index"]
    assert index.fate == "approximated" and "by 1.5 everywhere" in index.how
    teacher = Teacher(given)
    assert min(np.add(mean_albedo(teacher), mean_transmitted(teacher))) > 0.97


@pytest.mark.parametrize(
    ("category", "inputs", "index"),
    [
        ("LamaDielectric", {"reflectivity": ("float", ".1111111")}, 2.0),
        ("LamaDielectric", {"fresnelMode": ("integer", "1"), "IOR": ("float", "1.7")}, 1.7),
        ("generalized_schlick_bsdf", {"color0": ("color3", ".2,.1,.033333")}, 2.0),
        ("dielectric_bsdf", {"ior": ("float", "@number")}, 1.8),
    ],
)
def test_the_index_of_a_closure_is_found_and_no_light_is_lost(category, inputs, index):
    number = node("constant", "number", "float", {"value": ("float", "1.8")})
    mode = {} if category.startswith("Lama") else {"scatter_mode": ("string", "RT")}
    teacher = Teacher(closure(category, inputs | mode, number))
    assert teacher.index_below == pytest.approx(index, abs=1e-4)
    assert min(np.add(mean_albedo(teacher), mean_transmitted(teacher))) > 0.98


def test_a_constant_decides_whether_a_wall_is_thin():
    for value in ("true", "false"):
        constant = node("constant", "wall", "boolean", {"value": ("boolean", value)})
        inputs = {"transmission": ("float", "1"), "thin_walled": ("boolean", "@wall")}
        teacher = Teacher(shader("standard_surface", inputs, constant))
        assert (teacher.index_below == 1) == (value == "true")


@pytest.mark.parametrize(
    ("document", "left"),
    [
        (closure("LamaDielectric", {"absorptionColor": ("color3", "1,.5,0")}), (1, 0.5, 0)),
        (glass("open_pbr_surface", depth=".1"), (1, 0.5, 0)),
        (
            shader(
                "gltf_pbr",
                {"transmission": ("float", "1"), "thickness": ("float", ".2")}
                | {"attenuation_distance": ("float", ".1"), "metallic": ("float", "0")}
                | {"attenuation_color": ("color3", "1,.5,.25"), "roughness": ("float", ".2")},
            ),
            (1, 0.25, 0.0625),
        ),
    ],
)
def test_bodies_have_the_colour_of_their_depth(document, left):
    """Whatever its unit: MaterialX takes each body for one that is one unit thick."""
    passed = np.array(mean_transmitted(Teacher(document)))
    np.testing.assert_allclose(passed / passed[0], left, atol=2e-3)
    assert passed[0] > 0.85


def test_an_opaque_surface_has_no_light_from_below():
    teacher = Teacher(closure("oren_nayar_diffuse_bsdf", {}))
    assert teacher.generated.transmission is None
    below = np.float32([[0, 0.6, -0.8]])
    assert not teacher.response(np.zeros((1, 2), np.float32), below, -below).any()


def response(teacher, alpha, index, wi, wo):
    uv = np.tile(np.float32([alpha, index - 0.5]), (len(wi), 1))
    return teacher.response(uv, wi.astype(np.float32), wo.astype(np.float32))[:, 0]


def walter(wi, wo, alpha, index):
    """Refraction by Walter and others (2007), equations 21, 16, 33 and 34, times the cosine of the
    light and the square of the index."""
    half = -(wo + index[:, None] * wi)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    half *= np.sign(half[:, 2:])
    seen, lit = (wo * half).sum(1), (wi * half).sum(1)
    reflected = np.ones(len(wi))
    passes = (index > 1) | (1 - seen**2 < index**2)
    for number in np.flatnonzero(passes):
        at = np.array([seen[number]])
        reflected[number] = forms.fresnel(at, index[number], 0.0).ravel()[0]
    tangent2 = 1 / half[:, 2] ** 2 - 1
    density = alpha**2 / (np.pi * half[:, 2] ** 4 * (alpha**2 + tangent2) ** 2)

    def shadowing(v):
        return 2 / (1 + np.sqrt(1 + alpha**2 * (1 / v[:, 2] ** 2 - 1)))

    path = (seen + index * lit) ** 2
    found = np.abs(seen * lit) * index**2 * (1 - reflected) * density
    found *= shadowing(wi) * shadowing(wo) / (np.abs(wo[:, 2]) * path)
    return np.where((seen > 0) & (lit < 0), found, 0)


def half_width(teacher, alpha, index):
    """The tangent of half the angle around the normal that contains half of the passing light."""
    angle = np.linspace(0, np.pi / 2, 4000)[1:]
    wi = np.stack([np.sin(angle), 0 * angle, -np.cos(angle)], 1)
    light = response(teacher, alpha, index, wi, np.tile([0.0, 0, 1], (len(wi), 1))) * np.sin(angle)
    return np.tan(np.interp(0.5, np.cumsum(light) / light.sum(), angle) / 2)


def simulated_wall(alpha, index, count=200_000):
    """A path tracer of single facets through both sides of a wall, from straight above."""
    random = np.random.default_rng(7)
    view = np.tile([0.0, 0, 1], (count, 1))
    down, goes = through(view, alpha, 1 / index, random)
    reflected, passed = 1 - goes.mean(), []
    inside, lower = down, True
    for _ in range(10):
        turned = -inside
        turned[:, 2] = np.abs(turned[:, 2])
        out, goes = through(turned, alpha, index, random, returns=True)
        if lower:
            passed.append(out[goes])
        else:
            reflected += goes.sum() / count
        inside, lower = out[~goes] * BELOW, not lower
        inside = inside[inside[:, 2] < 0]
    passed = np.concatenate(passed)
    tilt = np.median(np.tan(np.arccos(-passed[:, 2]) / 2))
    return reflected, len(passed) / count, tilt


def through(view, alpha, ratio, random, returns=False):
    """Directions behind facets that are visible from `view` (Dupuy and Benyoub 2023), and which
    passed. Reflected ones are left out, or returned upwards."""
    stretch = [alpha, alpha, 1]
    middle = view * stretch
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    turn, height = 2 * np.pi * random.random(len(view)), random.random(len(view))
    z = (1 - height) * (1 + middle[:, 2]) - middle[:, 2]
    sine = np.sqrt(1 - z * z)
    facet = (np.stack([sine * np.cos(turn), sine * np.sin(turn), z], 1) + middle) * stretch
    facet /= np.linalg.norm(facet, axis=1, keepdims=True)
    cosine = (view * facet).sum(1)
    inner2 = 1 - ratio**2 * (1 - cosine**2)
    inner = np.sqrt(np.maximum(inner2, 0))
    across = (ratio * cosine - inner) / (ratio * cosine + inner)
    along = (cosine - ratio * inner) / (cosine + ratio * inner)
    share = np.where(inner2 > 0, (across**2 + along**2) / 2, 1)
    goes = random.random(len(view)) >= share
    out = (ratio * cosine - inner)[:, None] * facet - ratio * view
    back = 2 * cosine[:, None] * facet - view
    result = np.where(goes[:, None], out, back)
    keeps = np.where(goes, out[:, 2] < 0, returns & (back[:, 2] > 0))
    return (result[keeps], goes[keeps]) if returns else (result[goes & keeps], goes)
