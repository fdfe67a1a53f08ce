"""Nodes without noise against their formulas, all of them in one document."""

import colorsys

import numpy as np
import pytest

from ..many_nodes import SAMPLES, glow_by_turn, shown
from ..surfaces import node

LUMA = np.array([0.2722287, 0.6740818, 0.0536895])


def f(name):
    return ("float", f"@{name}" if name in ("u", "v") else str(name))


def colour(u, v):
    return np.stack([u, v, np.full_like(u, 0.25)], -1)


def by_channel(function):
    def on_colours(u, v):
        return np.array([function(*rgb) for rgb in colour(u, v)])

    return on_colours


def turned(x, y, degrees):
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    return cosine * x + sine * y, -sine * x + cosine * y


def smooth(x, low, high):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def placed(u, v):
    """place2d: about the pivot, scale, turn, offset."""
    x, y = turned((u - 0.5) / 2, (v - 0.25) / 4, 30)
    return np.stack([x - 0.1 + 0.5, y + 0.2 + 0.25], -1)


RGB = ("color3", "@uv_colour")
PAIR = ("vector2", "@uv")
RED, BLUE = ("color3", "0.9,0.1,0.2"), ("color3", "0.1,0.3,0.8")
RED_VALUE, BLUE_VALUE = np.array([0.9, 0.1, 0.2]), np.array([0.1, 0.3, 0.8])
# a port that a property of the geometry stands in for takes a connection, and no value
UNIT = ("vector3", "@unit")
NINE = np.array([[1, 2, 0], [0, 1, 3], [2, 0, 1.0]])
SIXTEEN = np.array([[1, 2, 0, 1], [0, 1, 3, 0], [2, 0, 1, 1], [0, 1, 0, 4.0]])
OTHER_SIXTEEN = np.array([[2, 1, 0, 1], [0, 3, 1, 0], [1, 0, 2, 2], [1, 2, 0, 1.0]])


def matrix(numbers):
    return f"matrix{'33' if numbers.size == 9 else '44'}", ",".join(map(str, numbers.ravel()))


def computed(category, name, inputs):
    return node(category, name, next(iter(inputs.values()))[0], inputs)


CONSTANTS = node("constant", "unit", "vector3", {"value": ("vector3", "0.6,0,0.8")})
CONSTANTS += computed("invertmatrix", "inverse_of_9", {"in": matrix(NINE)})
CONSTANTS += computed("invertmatrix", "inverse_of_16", {"in": matrix(SIXTEEN)})
CONSTANTS += computed("divide", "ratio", {"in1": matrix(OTHER_SIXTEEN), "in2": matrix(SIXTEEN)})

HALVES = {"half": "0.2,0.4,0.6,0.5", "nothing": "0.2,0.4,0.6,0"}
for alpha, halves in HALVES.items():
    divided = {"in": ("color4", halves)}
    CONSTANTS += node("unpremult", f"halves_of_{alpha}", "color4", divided)


def transformed(numbers):
    """Rows are multiplied by matrices, a place by one of 4 x 4 with 1 behind."""

    def on_place(u, v):
        row = np.stack([u, v, u, np.ones_like(u)], -1)[:, : len(numbers)]
        return (row @ numbers)[:, :3]

    return on_place


PLACE = ("vector3", "@place_by_uv")
BY_UV = {"in1": ("float", "@u"), "in2": ("float", "@v"), "in3": ("float", "@u")}
CONSTANTS += node("combine3", "place_by_uv", "vector3", BY_UV)
# name: (category, type, inputs, the same in numpy as a function of u and v)
SPOT_CHECKS = {
    "add": ("add", "float", {"in1": f("u"), "in2": f("v")}, lambda u, v: u + v),
    "subtract": ("subtract", "float", {"in1": f("u"), "in2": f("v")}, lambda u, v: u - v),
    "multiply": (
        "multiply",
        "color3",
        {"in1": RGB, "in2": BLUE},
        lambda u, v: colour(u, v) * BLUE_VALUE,
    ),
    "divide": ("divide", "float", {"in1": f("u"), "in2": f(0.3)}, lambda u, v: u / 0.3),
    "modulo": ("modulo", "float", {"in1": f("u"), "in2": f(0.3)}, lambda u, v: u % 0.3),
    "power": ("power", "float", {"in1": f("u"), "in2": f(2.5)}, lambda u, v: u**2.5),
    "sqrt": ("sqrt", "float", {"in": f("u")}, lambda u, v: np.sqrt(u)),
    "exp": ("exp", "float", {"in": f("u")}, lambda u, v: np.exp(u)),
    "sin": ("sin", "float", {"in": f("u")}, lambda u, v: np.sin(u)),
    "atan2": ("atan2", "float", {"iny": f("u"), "inx": f("v")}, lambda u, v: np.arctan2(u, v)),
    "clamp": (
        "clamp",
        "float",
        {"in": f("u"), "low": f(0.2), "high": f(0.6)},
        lambda u, v: np.clip(u, 0.2, 0.6),
    ),
    "invert": ("invert", "color3", {"in": RGB}, lambda u, v: 1 - colour(u, v)),
    "mix": (
        "mix",
        "color3",
        {"fg": RED, "bg": BLUE, "mix": f("u")},
        lambda u, v: u[:, None] * RED_VALUE + (1 - u[:, None]) * BLUE_VALUE,
    ),
    "smoothstep": (
        "smoothstep",
        "float",
        {"in": f("u"), "low": f(0.2), "high": f(0.7)},
        lambda u, v: smooth(u, 0.2, 0.7),
    ),
    "remap": (
        "remap",
        "float",
        {"in": f("u"), "inlow": f(0.2), "inhigh": f(0.7), "outlow": f(1), "outhigh": f(3)},
        lambda u, v: 1 + (u - 0.2) / 0.5 * 2,
    ),
    "range": (
        "range",
        "float",
        {
            "in": f("u"),
            "inlow": f(-0.5),
            "inhigh": f(2),
            "gamma": f(2),
            "outlow": f(1),
            "outhigh": f(3),
        },
        lambda u, v: 1 + np.sqrt((u + 0.5) / 2.5) * 2,
    ),
    "contrast": (
        "contrast",
        "float",
        {"in": f("u"), "amount": f(2), "pivot": f(0.4)},
        lambda u, v: (u - 0.4) * 2 + 0.4,
    ),
    "luminance": ("luminance", "color3", {"in": RGB}, lambda u, v: (colour(u, v) @ LUMA)[:, None]),
    "saturate": (
        "saturate",
        "color3",
        {"in": RGB, "amount": f(0.4)},
        lambda u, v: 0.4 * colour(u, v) + 0.6 * (colour(u, v) @ LUMA)[:, None],
    ),
    "hsvtorgb": ("hsvtorgb", "color3", {"in": RGB}, by_channel(colorsys.hsv_to_rgb)),
    "rgbtohsv": ("rgbtohsv", "color3", {"in": RGB}, by_channel(colorsys.rgb_to_hsv)),
    "extract": ("extract", "float", {"in": RGB, "index": ("integer", "1")}, lambda u, v: v),
    "combine3": (
        "combine3",
        "color3",
        {"in1": f("v"), "in2": f("u"), "in3": f(0.5)},
        lambda u, v: np.stack([v, u, 0 * u + 0.5], -1),
    ),
    "dotproduct": (
        "dotproduct",
        "float",
        {"in1": PAIR, "in2": ("vector2", "0.3,2")},
        lambda u, v: 0.3 * u + 2 * v,
    ),
    "magnitude": ("magnitude", "float", {"in": PAIR}, lambda u, v: np.hypot(u, v)),
    "distance": (
        "distance",
        "float",
        {"in1": PAIR, "in2": ("vector2", "0.3,2")},
        lambda u, v: np.hypot(u - 0.3, v - 2),
    ),
    "rotate2d": (
        "rotate2d",
        "vector2",
        {"in": PAIR, "amount": f(40)},
        lambda u, v: np.stack(turned(u, v, 40), -1),
    ),
    "place2d": (
        "place2d",
        "vector2",
        {
            "texcoord": PAIR,
            "pivot": ("vector2", "0.5,0.25"),
            "scale": ("vector2", "2,4"),
            "rotate": f(30),
            "offset": ("vector2", "0.1,-0.2"),
        },
        placed,
    ),
    "ramplr": ("ramplr", "float", {"valuel": f(0.2), "valuer": f(0.8)}, lambda u, v: 0.2 + 0.6 * u),
    "ramptb": ("ramptb", "float", {"valuet": f(0.2), "valueb": f(0.8)}, lambda u, v: 0.8 - 0.6 * v),
    "splitlr": (
        "splitlr",
        "float",
        {"valuel": f(0.2), "valuer": f(0.8), "center": f(0.4)},
        lambda u, v: np.where(u < 0.4, 0.2, 0.8),
    ),
    "splittb": (
        "splittb",
        "float",
        {"valuet": f(0.2), "valueb": f(0.8), "center": f(0.4)},
        lambda u, v: np.where(v < 0.4, 0.8, 0.2),
    ),
    "checkerboard": (
        "checkerboard",
        "color3",
        {"color1": RED, "color2": BLUE},
        lambda u, v: np.where(
            (np.floor(u * 8) + np.floor(v * 8))[:, None] % 2 > 0, RED_VALUE, BLUE_VALUE
        ),
    ),
    "ifgreater": (
        "ifgreater",
        "float",
        {"value1": f("u"), "value2": f("v"), "in1": f(0.2), "in2": f(0.8)},
        lambda u, v: np.where(u > v, 0.2, 0.8),
    ),
    "screen": (
        "screen",
        "color3",
        {"fg": RED, "bg": RGB},
        lambda u, v: 1 - (1 - RED_VALUE) * (1 - colour(u, v)),
    ),
    "overlay": (
        "overlay",
        "color3",
        {"fg": RGB, "bg": BLUE, "mix": f(0.7)},
        lambda u, v: 0.3 * BLUE_VALUE + 0.7 * overlaid(colour(u, v), BLUE_VALUE),
    ),
    "dodge": (
        "dodge",
        "float",
        {"fg": f("u"), "bg": f(0.1), "mix": f(0.5)},
        lambda u, v: 0.05 + 0.05 / (1 - u),
    ),
    "difference": (
        "difference",
        "color3",
        {"fg": RED, "bg": RGB},
        lambda u, v: np.abs(RED_VALUE - colour(u, v)),
    ),
    "unpremult": (
        "extract",
        "float",
        {"in": ("color4", "@halves_of_half"), "index": ("integer", "1")},
        lambda u, v: 0 * u + 0.8,
    ),
    "unpremult where alpha is 0": (
        "extract",
        "float",
        {"in": ("color4", "@halves_of_nothing"), "index": ("integer", "1")},
        lambda u, v: 0 * u + 0.4,
    ),
    "reflect": (
        "reflect",
        "vector3",
        {"in": ("vector3", "0.6,-0.8,0"), "normal": UNIT},
        lambda u, v: np.broadcast_to(
            np.array([0.6, -0.8, 0]) - 2 * 0.36 * np.array([0.6, 0, 0.8]), (len(u), 3)
        ),
    ),
    **{
        f"transformmatrix by {name}": (
            "transformmatrix",
            "vector3",
            {"in": PLACE, "mat": (kind, given)},
            transformed(numbers),
        )
        for name, kind, given, numbers in (
            ("9 numbers", *matrix(NINE), NINE),
            ("16 numbers", *matrix(SIXTEEN), SIXTEEN),
            ("the inverse of 9", "matrix33", "@inverse_of_9", np.linalg.inv(NINE)),
            ("the inverse of 16", "matrix44", "@inverse_of_16", np.linalg.inv(SIXTEEN)),
            ("a ratio", "matrix44", "@ratio", OTHER_SIXTEEN @ np.linalg.inv(SIXTEEN)),
        )
    },
    "trianglewave": (
        "trianglewave",
        "float",
        {"in": f("u")},
        lambda u, v: 2 * np.abs(u - np.floor(u + 0.5)),
    ),
}


def overlaid(fg, bg):
    return np.where(bg < 0.5, 2 * fg * bg, 1 - 2 * (1 - fg) * (1 - bg))


@pytest.fixture(scope="module")
def spot_values():
    """Every spot check of one document: uv and values by name."""
    parts = [
        node(category, f"case_{at}", kind, inputs) + shown(f"case_{at}", "", kind, f"shown_{at}")
        for at, (category, kind, inputs, _) in enumerate(SPOT_CHECKS.values())
    ]
    parts[0] = CONSTANTS + parts[0]
    uv, values = glow_by_turn(parts, 99, offset=4.0)
    return {name: (uv[at], values[at]) for at, name in enumerate(SPOT_CHECKS)}


@pytest.mark.parametrize("name", SPOT_CHECKS)
def test_a_node_gives_what_its_formula_reports(name, spot_values):
    kind, formula = SPOT_CHECKS[name][1], SPOT_CHECKS[name][3]
    uv, got = spot_values[name]
    expected = np.asarray(formula(uv[:, 0], uv[:, 1]), np.float64).reshape(SAMPLES, -1)
    width = 2 if kind == "vector2" else 3
    np.testing.assert_allclose(
        got[:, :width], np.broadcast_to(expected, (SAMPLES, width)), atol=2e-5
    )
