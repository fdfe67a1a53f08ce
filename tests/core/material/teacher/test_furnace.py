"""White furnace: no material returns more than 1.01 of uniform white light.

MaterialX itself returns up to 5.6 times as much (docs/TEACHER.md).
"""

import functools

import numpy as np
import pytest

from verdigris.core.material.teacher.teacher import Teacher

from ..furnace import COSINES, Look, returned_each
from ..surfaces import closure, node, shader

LIMIT = 1.01
WHITE = ("color3", "1,1,1")
ROUGH, ROUGH_PAIR = ("float", "@u"), ("vector2", "@uu")
ALPHAS = (0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0)
UNCLAMPED = ALPHAS[1:]  # material.slang cuts the peaks of smoother lobes at kLargestResponse
ROUGHNESSES = (0.0, 0.005, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0)
GRAZING = (0.02, 0.05, 0.1, 0.2, 0.35, 0.6, 0.85, 1.0)
FILM = {"thinfilm_thickness": ("float", "400"), "thinfilm_ior": ("float", "1.8")}
METAL = {"ior": ("color3", "0,0,0"), "extinction": WHITE}
SCHLICK = {"color0": ("color3", "0.04,0.04,0.04"), "color90": WHITE}
COLOURED = {"color0": ("color3", "0.9,0.4,0.1"), "color90": WHITE}
COMPENSATED = {"energy_compensation": ("boolean", "true")}

SMOOTH_LOBES = {
    "lambert": ("oren_nayar_diffuse_bsdf", {}),
    "qualitative Oren-Nayar": ("oren_nayar_diffuse_bsdf", {"roughness": ROUGH}),
    "energy-preserving Oren-Nayar": (
        "oren_nayar_diffuse_bsdf",
        {"roughness": ROUGH, **COMPENSATED},
    ),
    "burley": ("burley_diffuse_bsdf", {"roughness": ROUGH}),
    "subsurface": ("subsurface_bsdf", {}),
    "sheen": ("sheen_bsdf", {"roughness": ROUGH}),
    "sheen of Zeltner": ("sheen_bsdf", {"roughness": ROUGH, "mode": ("string", "zeltner")}),
}
# dielectrics of other indices and with films have tests of their own below
PEAKS = {
    "conductor": ("conductor_bsdf", METAL),
    "conductor with a film": ("conductor_bsdf", METAL | FILM),
    "dielectric": ("dielectric_bsdf", {}),
    "dielectric that transmits": ("dielectric_bsdf", {"scatter_mode": ("string", "T")}),
    "dielectric that does both": ("dielectric_bsdf", {"scatter_mode": ("string", "RT")}),
    "Schlick": ("generalized_schlick_bsdf", SCHLICK),
    "white Schlick": ("generalized_schlick_bsdf", {"color0": WHITE}),
    "coloured Schlick": ("generalized_schlick_bsdf", COLOURED),
    "Schlick with a film": ("generalized_schlick_bsdf", SCHLICK | FILM),
}


def over_white(category, inputs, before=""):
    """A lobe as the upper layer of a white Lambertian surface, of a black one where v is below
    zero."""
    parts = before + node(
        "ifgreatereq",
        "below_it",
        "color3",
        {
            "value1": ("float", "@v"),
            "value2": ("float", "0"),
            "in1": WHITE,
            "in2": ("color3", "0,0,0"),
        },
    )
    parts += node("oren_nayar_diffuse_bsdf", "below", "BSDF", {"color": ("color3", "@below_it")})
    parts += node(category, "above", "BSDF", inputs)
    return closure("layer", {"top": ("BSDF", "@above"), "base": ("BSDF", "@below")}, parts)


def over_black(look):
    """The same without the layer below, whose roughness is that of -v."""
    u, v = look.uv
    return look._replace(uv=(u, -v))


def assert_none_gain(teacher, looks):
    """Neither over white nor alone. Alone a lobe returns no more than over white, unless it
    transmits less than nothing; that takes few samples to see."""
    found = zip(looks, returned_each(teacher, looks).max(1), strict=True)
    assert [(look, most) for look, most in found if most >= LIMIT] == []
    few = [look._replace(count=8) for look in looks]
    alone = returned_each(teacher, [over_black(look) for look in few])
    assert (alone <= returned_each(teacher, few) + 1e-4).all()


@functools.cache
def smooth_lobe(name):
    category, inputs = SMOOTH_LOBES[name]
    return Teacher(over_white(category, {"color": WHITE, **inputs}))


@functools.cache
def peak(name):
    """Its roughnesses are u and v."""
    category, inputs = PEAKS[name]
    pair = node("absval", "alphas", "vector2", {"in": ("vector2", "@uv")})
    inputs = {**inputs, "roughness": ("vector2", "@alphas")}
    return Teacher(over_white(category, inputs, pair))


@pytest.mark.parametrize("name", SMOOTH_LOBES)
def test_a_white_smooth_lobe_returns_no_more_than_it_receives(name):
    looks = [Look((each, 0.5), cosine, ()) for each in ROUGHNESSES for cosine in GRAZING]
    assert_none_gain(smooth_lobe(name), looks)


ANISOTROPIC = ((0.4, 0.2), (0.5, 0.05), (1.0, 0.1), (0.2, 0.1), (0.05, 0.5), (0.3, 0.01))
ANISOTROPIC += ((1.0, 0.02), (1.0, 0.5))
AZIMUTHS = (0, 30, 60, 90)


def anisotropic_looks(pairs, cosines):
    """From all azimuths; the view along the normal has none."""
    return [
        Look(alphas, cosine, [alphas], 1 << 10, np.radians(degrees))
        for alphas in pairs
        for cosine in cosines
        for degrees in (AZIMUTHS if cosine < 1 else AZIMUTHS[:1])
    ]


@pytest.mark.parametrize("name", PEAKS)
def test_a_white_peak_returns_no_more_than_it_receives(name):
    looks = [Look((alpha, alpha), cosine, [alpha]) for alpha in ALPHAS for cosine in GRAZING]
    assert_none_gain(peak(name), looks + anisotropic_looks(ANISOTROPIC, (0.02, 0.2, 1.0)))


def test_a_white_anisotropic_conductor_returns_most_of_it():
    pairs = ((0.4, 0.2), (0.2, 0.1), (0.5, 0.05), (1.0, 0.02), (1.0, 0.5))
    looks = [over_black(each) for each in anisotropic_looks(pairs, COSINES)]
    least = zip(looks, returned_each(peak("conductor"), looks).min(1), strict=True)
    assert [(look, share) for look, share in least if share <= 0.87] == []


def unclamped_looks(v=None):
    """At a roughness of u, whose place along v is the same if none is given."""
    return [
        Look((alpha, alpha if v is None else v), cosine, [alpha])
        for alpha in UNCLAMPED
        for cosine in COSINES
    ]


def test_a_white_conductor_returns_everything():
    looks = [over_black(each) for each in unclamped_looks()]
    np.testing.assert_allclose(returned_each(peak("conductor"), looks), 1, atol=2e-3)


# from the densest surroundings to hardly any difference: v times four
INDICES = (0.0, 0.2, 0.4, 0.5, 0.67, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0)
INDICES += (1.001, 1.003, 1.01, 1.02, 1.03, 1.04, 1.05)


NARROWER = 2.0  # from this u on, the roughness across is a share of that along


def two_roughnesses(share):
    """Nodes whose `alphas` are u and u, and from NARROWER on u and a share of it."""
    rest = {"in1": ("float", "@u"), "in2": ("float", str(NARROWER))}
    parts = node("modulo", "along", "float", rest)
    parts += node(
        "multiply", "less", "float", {"in1": ("float", "@along"), "in2": ("float", str(share))}
    )
    choice = {
        "value1": ("float", "@u"),
        "value2": ("float", str(NARROWER)),
        "in1": ("float", "@less"),
        "in2": ("float", "@along"),
    }
    parts += node("ifgreatereq", "across", "float", choice)
    pair = {"in1": ("float", "@along"), "in2": ("float", "@across")}
    return parts + node("combine2", "alphas", "vector2", pair)


@pytest.fixture(scope="module")
def under_any_index():
    """White under a dielectric of an index of 4 v."""
    parts = two_roughnesses(0.1)
    parts += node("multiply", "index", "float", {"in1": ("float", "@v"), "in2": ("float", "4")})
    inputs = {"ior": ("float", "@index"), "roughness": ("vector2", "@alphas")}
    return Teacher(over_white("dielectric_bsdf", inputs, parts))


@pytest.mark.parametrize("index", [1.2, 1.5, 2.0])
def test_white_under_a_dielectric_returns_everything(under_any_index, index):
    """What the dielectric lets through is what it does not reflect, and no less."""
    got = returned_each(under_any_index, unclamped_looks(index / 4))
    np.testing.assert_allclose(got, 1, atol=4e-3)


@pytest.mark.parametrize("share", [1.0, 0.1], ids=["isotropic", "anisotropic"])
@pytest.mark.parametrize("index", INDICES)
def test_white_under_a_dielectric_of_any_index_returns_most_and_no_more(
    under_any_index, index, share
):
    """Below one, all is reflected past a critical angle; up to 1.04, only grazing light is."""
    looks = []
    for largest in (0.01, 0.03, 0.1, 0.3, 0.6, 1.0):
        if share * largest < UNCLAMPED[0]:
            continue
        for cosine in GRAZING:
            for degrees in (0, 50, 90) if share < 1 and cosine < 1 else (0,):
                at = (largest + (NARROWER if share < 1 else 0), index / 4)
                alphas = (largest, share * largest)
                looks.append(Look(at, cosine, [alphas], 1 << 10, np.radians(degrees)))
    assert_within(under_any_index, looks, 0.97 if share == 1 else 0.8)


# what the film covers, the film's index, and the least that white below both returns under lobes
# of one roughness and of two
FILMS = {
    "a dense base": ("2", "1.3", 0.92, 0.8),
    "a denser base": ("3", "1.4", 0.92, 0.8),
    "a denser base with a denser film": ("2.6", "1.7", 0.92, 0.8),
    "a base below one": ("0.67", "1.3", 0.97, 0.95),
    "a base somewhat below one": ("0.9", "1.5", 0.97, 0.95),
}


@pytest.fixture(scope="module")
def under_any_film():
    """White under a film. The whole part of v picks one of FILMS, the rest is the thickness in
    micrometres."""
    parts = two_roughnesses(0.1) + node("floor", "pick", "float", {"in": ("float", "@v")})
    rest = {"in1": ("float", "@v"), "in2": ("float", "@pick")}
    parts += node("subtract", "micrometres", "float", rest)
    kilo = {"in1": ("float", "@micrometres"), "in2": ("float", "1000")}
    parts += node("multiply", "thickness", "float", kilo)
    for at, name in enumerate(("index", "film_index")):
        choices = {f"in{i + 1}": ("float", row[at]) for i, row in enumerate(FILMS.values())}
        parts += node("switch", name, "float", {**choices, "which": ("float", "@pick")})
    inputs = {
        "ior": ("float", "@index"),
        "thinfilm_thickness": ("float", "@thickness"),
        "thinfilm_ior": ("float", "@film_index"),
        "roughness": ("vector2", "@alphas"),
    }
    return Teacher(over_white("dielectric_bsdf", inputs, parts))


@pytest.mark.parametrize("share", [1.0, 0.1], ids=["isotropic", "anisotropic"])
@pytest.mark.parametrize("name", FILMS)
def test_white_under_a_film_of_any_thickness_returns_most_and_no_more(under_any_film, name, share):
    looks = []
    for micrometres in (0.1, 0.3, 0.4, 0.6):
        for alpha in (0.03, 0.15, 0.4, 1.0) if share == 1 else (0.1, 0.15, 0.4, 1.0):
            at = (alpha + (NARROWER if share < 1 else 0), list(FILMS).index(name) + micrometres)
            for cosine in (0.02, 0.1, 0.3, 0.6, 0.95):
                azimuth = np.radians(90 if cosine == 0.95 else 45)
                looks.append(Look(at, cosine, [(alpha, share * alpha)], 1 << 9, azimuth))
    assert_within(under_any_film, looks, FILMS[name][2 if share == 1 else 3])


def assert_within(teacher, looks, least):
    for look, got in zip(looks, returned_each(teacher, looks), strict=True):
        assert least < got.min() and got.max() < LIMIT, look


def test_white_under_a_faint_schlick_returns_everything():
    """Of a reflectance of v."""
    faint = node("convert", "faint", "color3", {"in": ("float", "@v")})
    inputs = {"color0": ("color3", "@faint"), "color90": WHITE, "roughness": ROUGH_PAIR}
    teacher = Teacher(over_white("generalized_schlick_bsdf", inputs, faint))
    for reflectance in (0.0, 0.0001, 0.002):
        got = returned_each(teacher, unclamped_looks(reflectance))
        np.testing.assert_allclose(got, 1, atol=4e-3)


def test_white_under_sheen_returns_everything():
    looks = [Look((each, 0.5), cosine, ()) for each in ROUGHNESSES for cosine in COSINES]
    np.testing.assert_allclose(returned_each(smooth_lobe("sheen"), looks), 1, atol=4e-3)


SWITCHED = 10


def variants(category, base, rows):
    """A shading model of which v picks a row of inputs."""
    names = sorted({name for row in rows.values() for name in row})
    parts = node("multiply", "tenfold", "float", {"in1": ("float", "@v"), "in2": ("float", "10")})
    parts += node("floor", "pick", "float", {"in": ("float", "@tenfold")})
    inputs = dict(base)
    for name in names:
        kind = "color3" if name.lower().endswith("color") else "float"
        choices = {
            f"in{at + 1}": (kind, str(row.get(name, "0,0,0" if kind == "color3" else "0")))
            for at, row in enumerate(rows.values())
        }
        parts += node("switch", f"pick_{name}", kind, {**choices, "which": ("float", "@pick")})
        inputs[name] = (kind, f"@pick_{name}")
    return shader(category, inputs, parts)


WHITE_MODELS = {
    "standard_surface": (
        {
            "base": ("float", "1"),
            "base_color": WHITE,
            "specular_roughness": ROUGH,
            "sheen_roughness": ("float", "0.05"),
            "thin_film_IOR": ("float", "1.8"),
        },
        {
            "diffuse": {},
            "rough diffuse": {"specular": 1, "diffuse_roughness": 1},
            "specular": {"specular": 1},
            "metal": {"specular": 1, "metalness": 1},
            "coat": {"specular": 1, "coat": 1, "coat_roughness": 0.1},
            "rough coat on metal": {"coat": 1, "coat_roughness": 0.6, "metalness": 1},
            "sheen": {"specular": 1, "sheen": 1},
            "subsurface": {"specular": 1, "subsurface": 1},
            "film": {"specular": 1, "thin_film_thickness": 400},
            "all": {
                "specular": 1,
                "sheen": 1,
                "coat": 1,
                "coat_roughness": 0.3,
                "thin_film_thickness": 400,
                "metalness": 0.5,
            },
        },
    ),
    "open_pbr_surface": (
        {
            "base_color": WHITE,
            "specular_roughness": ROUGH,
            "coat_roughness": ("float", "0.1"),
            "thin_film_thickness": ("float", "0.4"),
        },
        {
            "diffuse": {},
            "rough diffuse": {"specular_weight": 1, "base_diffuse_roughness": 1},
            "specular": {"specular_weight": 1},
            "metal": {"specular_weight": 1, "base_metalness": 1},
            "coat": {"specular_weight": 1, "coat_weight": 1},
            "coat on metal": {"specular_weight": 1, "coat_weight": 1, "base_metalness": 1},
            "fuzz": {"specular_weight": 1, "fuzz_weight": 1, "fuzz_roughness": 0.5},
            "film": {"specular_weight": 1, "thin_film_weight": 1},
            "film on metal": {"specular_weight": 1, "thin_film_weight": 1, "base_metalness": 1},
            "all": {
                "specular_weight": 1,
                "coat_weight": 1,
                "fuzz_weight": 1,
                "fuzz_roughness": 0.2,
                "thin_film_weight": 0.5,
                "base_metalness": 0.5,
            },
        },
    ),
    "gltf_pbr": (
        {
            "base_color": WHITE,
            "roughness": ROUGH,
            "clearcoat_roughness": ("float", "0.1"),
            "iridescence_thickness": ("float", "400"),
        },
        {
            "dielectric": {},
            "specular": {"specular": 1, "specular_color": "1,1,1"},
            "metal": {"metallic": 1},
            "clearcoat": {"clearcoat": 1},
            "sheen": {"sheen_color": "1,1,1", "sheen_roughness": 0.5},
            "smooth sheen": {"sheen_color": "1,1,1", "sheen_roughness": 0.1},
            "sheen on metal": {"sheen_color": "1,1,1", "sheen_roughness": 0.3, "metallic": 1},
            "iridescence": {"specular": 1, "specular_color": "1,1,1", "iridescence": 1},
            "iridescent metal": {"iridescence": 1, "metallic": 1},
            "all": {
                "specular": 1,
                "specular_color": "1,1,1",
                "clearcoat": 1,
                "sheen_color": "1,1,1",
                "sheen_roughness": 0.2,
                "iridescence": 0.5,
                "metallic": 0.5,
            },
        },
    ),
    "disney_principled": (
        {"baseColor": WHITE, "roughness": ROUGH, "clearcoatGloss": ("float", "0.9")},
        {
            "dielectric": {},
            "specular": {"specular": 1},
            "metal": {"metallic": 1},
            "clearcoat": {"clearcoat": 1},
            "sheen": {"sheen": 1},
            "subsurface": {"subsurface": 1, "specular": 0.5},
            "all": {"specular": 1, "sheen": 1, "clearcoat": 1, "metallic": 0.5},
        },
    ),
    "UsdPreviewSurface": (
        {"diffuseColor": WHITE, "roughness": ROUGH, "clearcoatRoughness": ("float", "0.1")},
        {
            "dielectric": {},
            "metal": {"metallic": 1},
            "half metal": {"metallic": 0.5},
            "clearcoat": {"clearcoat": 1},
            "clearcoat on metal": {"clearcoat": 1, "metallic": 1},
        },
    ),
}
THIN_INDICES = (0.4, 0.67, 0.8, 0.99, 1, 1.003, 1.01, 1.02)
MODELS_OF_ANY_INDEX = {
    "standard_surface": (
        {
            "base": ("float", "1"),
            "base_color": WHITE,
            "specular": ("float", "1"),
            "specular_roughness": ROUGH,
            "coat_roughness": ("float", "0.1"),
        },
        {f"{index}": {"specular_IOR": index} for index in THIN_INDICES}
        | {"coat": {"specular_IOR": 1.5, "coat": 1, "coat_IOR": 0.8}},
    ),
    "open_pbr_surface": (
        {"base_color": WHITE, "specular_roughness": ROUGH, "coat_roughness": ("float", "0.1")},
        {f"{index}": {"specular_weight": 1, "specular_ior": index} for index in THIN_INDICES}
        | {
            "faint": {"specular_weight": 0.002, "specular_ior": 1.5},
            "coat": {"specular_weight": 1, "specular_ior": 1.5, "coat_weight": 1, "coat_ior": 1.01},
        },
    ),
}
MODEL_ROUGHNESSES = (0.06, 0.1, 0.3, 0.6, 1.0)
COAT_ALPHAS = (0.01, 0.09, 0.36)


@pytest.mark.parametrize("category", WHITE_MODELS)
def test_a_white_model_returns_no_more_than_it_receives(category):
    assert_no_row_gains(category, *WHITE_MODELS[category])


@pytest.mark.parametrize("category", MODELS_OF_ANY_INDEX)
def test_a_white_model_of_any_index_returns_no_more_than_it_receives(category):
    assert_no_row_gains(category, *MODELS_OF_ANY_INDEX[category])


def assert_no_row_gains(category, base, rows):
    looks = {
        (name, roughness, cosine): Look(
            (roughness, (at + 0.5) / SWITCHED), cosine, [max(roughness**2, 0.003), *COAT_ALPHAS]
        )
        for at, name in enumerate(rows)
        for roughness in MODEL_ROUGHNESSES
        for cosine in (0.03, 0.1, 0.2, 0.4, 1.0)
    }
    teacher = Teacher(variants(category, base, rows))
    most = returned_each(teacher, list(looks.values())).max(1)
    found = zip(looks, most, strict=True)
    assert {case: each for case, each in found if each >= LIMIT} == {}
