"""Repaired graphs of the library, compared with MaterialX's specification."""

import time

import MaterialX as mx
import numpy as np
import pytest

from verdigris.core.material.graph.library import repair_library_graphs

from ..many_nodes import glow_by_turn, shown
from ..surfaces import node, write_image

WIDE = node("multiply", "wider", "float", {"in1": ("float", "@u"), "in2": ("float", "8")})
WIDE += node("subtract", "wide", "float", {"in1": ("float", "@wider"), "in2": ("float", "4")})
KINDS = ("float", "color3", "color4", "vector2", "vector3", "vector4")
SWITCHED = [
    *(("float", which) for which in (-3.0, -0.5, 0.0, 0.99, 1.0, 4.5, 9.0, 9.99, 10.0, 25.0)),
    *(("integer", which) for which in (-3, 0, 3, 9, 10, 25)),
]


def values_of(cases, before=""):
    """What nodes give, each a (category, type, inputs): uv and values, (cases, samples, ...)."""
    parts = [
        node(category, f"case_{at}", kind, inputs) + shown(f"case_{at}", "", kind, f"shown_{at}")
        for at, (category, kind, inputs) in enumerate(cases)
    ]
    parts[0] = before + parts[0]
    return glow_by_turn(parts, 11, offset=4.0)


def numbers(kind, values):
    size = int(kind[-1]) if kind != "float" else 1
    return kind, ",".join(str(value) for value in values[:size])


def constant(kind, values):
    return node("constant", f"given_{kind}", kind, {"value": numbers(kind, values)})


@pytest.fixture(scope="module")
def ranges():
    """Ends that fall, rise and are one, of channels of their own and of all; and of u."""
    low, high = (0.9, 0.1, 0.5, 0.9), (0.2, 0.8, 0.5, 0.2)
    given = (0.3, 0.6, 1.7, -0.5)
    is_clamped = {"doclamp": ("boolean", "true")}
    cases, before, expected = [], WIDE, []
    for kind in KINDS:
        ends = {"outlow": numbers(kind, low), "outhigh": numbers(kind, high)}
        before += constant(kind, given)
        cases.append(("range", kind, {"in": (kind, f"@given_{kind}"), **ends, **is_clamped}))
        share = np.clip(given, 0, 1)
        expected.append(low + (np.array(high) - low) * share)
        if kind != "float":
            ends = {"outlow": ("float", "0.9"), "outhigh": ("float", "0.2")}
            cases.append(("range", kind, {"in": (kind, f"@given_{kind}"), **ends, **is_clamped}))
            expected.append(0.9 - 0.7 * share)
    return cases, values_of(cases, before)[1], expected


def test_a_range_is_clamped_between_its_ends_whichever_is_larger(ranges):
    for (_, kind, _), got, expected in zip(*ranges, strict=True):
        size = {"float": 1, "vector2": 2}.get(kind, 3)
        wanted = np.broadcast_to(expected[:size], got[:, :size].shape)
        np.testing.assert_allclose(got[:, :size], wanted, atol=2e-6, err_msg=kind)


def test_what_falls_over_the_surface_falls_as_far_as_its_ends_and_no_further():
    ends = {"inlow": "0.2", "inhigh": "0.7", "outlow": "1", "outhigh": "0.2"}
    inputs = {name: ("float", value) for name, value in ends.items()}
    inputs |= {"in": ("float", "@u"), "doclamp": ("boolean", "true")}
    uv, (got,) = values_of([("range", "float", inputs)])
    share = np.clip((uv[0, :, 0] - 0.2) / 0.5, 0, 1)
    np.testing.assert_allclose(got[:, 0], 1 - 0.8 * share, atol=2e-6)
    assert np.ptp(got[:, 0]) == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize(
    ("category", "source", "least", "most"),
    [
        ("randomfloat", {"in": ("float", "@u")}, "min", "max"),
        ("unifiednoise2d", {"freq": ("vector2", "7,7")}, "outmin", "outmax"),
        ("unifiednoise3d", {"freq": ("vector3", "7,7,7")}, "outmin", "outmax"),
    ],
)
def test_random_numbers_between_ends_that_fall_mirror_those_that_rise(
    category, source, least, most
):
    ends = {"rising": ("0.2", "0.8"), "falling": ("0.8", "0.2")}
    before = "".join(
        node(category, name, "float", {**source, least: ("float", low), most: ("float", high)})
        for name, (low, high) in ends.items()
    )
    side_by_side = {"in1": ("float", "@rising"), "in2": ("float", "@falling")}
    _, (got,) = values_of([("combine2", "vector2", side_by_side)], before)
    np.testing.assert_allclose(got[:, 0] + got[:, 1], 1, atol=2e-6)
    assert np.ptp(got[:, 0]) > 0.1


def test_a_triangle_wave_goes_from_0_to_1_and_repeats_at_whole_numbers():
    uv, (got,) = values_of([("trianglewave", "float", {"in": ("float", "@wide")})], WIDE)
    x = 8 * uv[0, :, 0] - 4
    np.testing.assert_allclose(got[:, 0], 2 * np.abs(x - np.floor(x + 0.5)), atol=2e-5)
    assert got[:, 0].max() > 0.95


def test_a_switch_gives_its_first_input_below_and_its_last_above():
    ports = {f"in{at}": ("float", str(at / 10)) for at in range(1, 11)}
    cases = [
        ("switch", "float", {**ports, "which": (kind, str(which))}) for kind, which in SWITCHED
    ]
    _, got = values_of(cases)
    expected = [np.clip(np.floor(which) + 1, 1, 10) / 10 for _, which in SWITCHED]
    np.testing.assert_allclose(got[:, :, 0].mean(1), expected, atol=2e-6)
    assert got.std(1).max() < 1e-6


RAMPS = [
    (places, interpolation)
    for interpolation in (0, 1, 2)
    for places in ((0, 0.5, 0.5), (0, 0.5, 0.5, 1), (0.5, 0.5))
]
RAMP_COLOURS = [(1, 0, 0, 1), (0.2, 0.1, 0.4, 1), (0, 1, 0, 1), (0, 1, 0, 1)]


def ramp(places, interpolation):
    inputs = {"num_intervals": ("integer", str(len(places)))}
    inputs["interpolation"] = ("integer", str(interpolation))
    for at, (place, colour) in enumerate(zip(places, RAMP_COLOURS, strict=False), 1):
        inputs[f"interval{at}"] = ("float", str(place))
        inputs[f"color{at}"] = numbers("color4", colour)
    return "ramp", "color4", inputs


@pytest.fixture(scope="module")
def ramps():
    """uv and values of each ramp."""
    return dict(
        zip(RAMPS, zip(*values_of([ramp(*each) for each in RAMPS]), strict=True), strict=True)
    )


@pytest.mark.parametrize(("places", "interpolation"), RAMPS)
def test_a_ramp_has_an_edge_where_two_colours_stand_at_one_place(places, interpolation, ramps):
    uv, got = ramps[places, interpolation]
    x, edge = uv[:, 0], places.index(0.5)
    share = np.clip(x / 0.5, 0, 1)
    share = [share, share**2 * (3 - 2 * share), np.zeros_like(x)][interpolation][:, None]
    first, last, behind = (np.array(RAMP_COLOURS[at][:3]) for at in (0, edge, edge + 1))
    expected = np.where(x[:, None] > 0.5, behind, first + (last - first) * share)
    np.testing.assert_allclose(got, expected, atol=2e-6)


def test_the_film_of_gltf_is_thicker_where_its_texture_is_brighter(tmp_path):
    texels = np.random.default_rng(3).random((8, 8, 3)).astype(np.float32)
    write_image(tmp_path / "film.exr", texels)
    ends = {"thicknessMin": ("float", "1"), "thicknessMax": ("float", "3")}
    at_texels = {"file": ("filename", "film.exr"), "filtertype": ("string", "closest")}
    parts = [
        node("gltf_iridescence_thickness", f"case_{at}", "float", {**ends, **source})
        + shown(f"case_{at}", "", "float", f"shown_{at}")
        for at, source in enumerate((at_texels, {}))
    ]
    uv, (textured, bare) = glow_by_turn(parts, 11, offset=4.0, search_paths=[tmp_path])
    column, row = np.floor(uv[0] * 8).astype(int).T
    np.testing.assert_allclose(textured[:, 0], 1 + 2 * texels[7 - row, column, 1], atol=2e-6)
    np.testing.assert_allclose(bare, 3, atol=2e-6)


def test_place2d_places_the_surface_where_no_texture_coordinates_are_connected():
    placed = {"scale": ("vector2", "0.5, 2"), "offset": ("vector2", "0.25, 0.1")}
    by_hand = {**placed, "texcoord": ("vector2", "@given")}
    cases = [("place2d", "vector2", placed), ("place2d", "vector2", by_hand)]
    places, values = values_of(cases, node("texcoord", "given", "vector2", {}))
    for got, uv in zip(values, places, strict=True):
        np.testing.assert_allclose(got[:, :2], uv / (0.5, 2) - (0.25, 0.1), atol=1e-5)


def test_repairs_take_less_than_reading_the_library():
    # MaterialX indexes it anew after each change, at the next look: four times of what it takes to
    # read it, once in every process that opens a document
    library = mx.createDocument()
    start = time.process_time()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    read = time.process_time()
    repair_library_graphs(library)
    assert time.process_time() - read < read - start
