"""Maya's textures and their placement, with their formulas: see test_maya_formulas.py."""

import numpy as np

from .node_formulas import GREEN, RED, luma, mixed, points, rgb


def gradient(interpolation, share, kind=1, place=lambda u, v: u, **own):
    """Entries out of order, with a gap between the indices."""
    entries = {
        "colorEntryList[0].position": 0.8,
        "colorEntryList[0].color": tuple(RED),
        "colorEntryList[5].position": 0.2,
        "colorEntryList[5].color": tuple(GREEN),
        "colorEntryList[7].position": 1.0,
        "colorEntryList[7].color": (0.0, 0.0, 1.0),
        "type": kind,
        "interpolation": interpolation,
        "uvCoord": ("u", "v"),
    }

    def expected(u, v):
        at = place(u, v)
        first = np.clip((at - 0.2) / 0.6, 0, 1)
        second = np.clip((at - 0.8) / 0.2, 0, 1)
        blue = np.array([0, 0, 1.0])
        ends = (GREEN, RED), (RED, blue)
        shares = [share(t, (b - a).sum()) for t, (a, b) in zip((first, second), ends, strict=True)]
        return mixed(mixed(GREEN, RED, shares[0]), blue, shares[1])

    return "ramp", entries | own, "outColor", expected


def arc(t):
    return np.sin(t * np.pi / 2)


def dip(t):
    return np.sin((t - 1) * np.pi / 2) + 1


INTERPOLATIONS = {
    "none": (0, lambda t, _: (t >= 1) * 1.0),
    "linear": (1, lambda t, _: t),
    "exponential up": (2, lambda t, _: t**2),
    "exponential down": (3, lambda t, _: 1 - (1 - t) ** 2),
    "smooth": (4, lambda t, _: 0.5 * (np.cos((t + 1) * np.pi) + 1)),
    "bump": (5, lambda t, rise: arc(t) if rise > 0 else dip(t)),
    "spike": (6, lambda t, rise: arc(t) if rise < 0 else dip(t)),
}
PLACES = {
    "v": (0, lambda u, v: v),
    "diagonal": (2, lambda u, v: (u + v) / 2),
    "radial": (3, lambda u, v: np.arctan2(u - 0.5, v - 0.5) / (2 * np.pi) + 0.5),
    "circular": (4, lambda u, v: np.hypot(u - 0.5, v - 0.5) * np.sqrt(2)),
    "box": (5, lambda u, v: 2 * np.maximum(abs(u - 0.5), abs(v - 0.5))),
}
BLENDS = {
    "none": (0, lambda f, a, b: f),
    "over": (1, lambda f, a, b: f * a + b * (1 - a)),
    "in": (2, lambda f, a, b: b * a),
    "out": (3, lambda f, a, b: b * (1 - a)),
    "add": (4, lambda f, a, b: b + f * a),
    "subtract": (5, lambda f, a, b: b - f * a),
    "multiply": (6, lambda f, a, b: b * (f * a + 1 - a)),
    "difference": (7, lambda f, a, b: abs(f - b) * a + b * (1 - a)),
    "lighten": (8, lambda f, a, b: np.maximum(f, b) * a + b * (1 - a)),
    "darken": (9, lambda f, a, b: np.minimum(f, b) * a + b * (1 - a)),
    "saturate": (10, lambda f, a, b: b * (1 + f * a)),
    "desaturate": (11, lambda f, a, b: b * (1 - f * a)),
    "illuminate": (12, lambda f, a, b: b * (2 * f * a + 1 - a)),
}


def layers(mode, function):
    inputs = {
        "inputs[3].color": (0.2, 0.3, 0.4),
        "inputs[3].alpha": 0.8,
        "inputs[2].color": (1.0, 1.0, 0.0),
        "inputs[2].isVisible": False,
        "inputs[0].color": ("u", "v", 0.25),
        "inputs[0].alpha": 0.75,
        "inputs[0].blendMode": mode,
    }
    bottom = np.array([0.2, 0.3, 0.4]) * 0.8
    below = lambda u: np.tile(bottom, (*u.shape, 1))  # noqa: E731
    return "layeredTexture", inputs, "outColor", lambda u, v: function(rgb(u, v), 0.75, below(u))


def spline(x):
    """MayaUtils: a cubic with the slopes between the neighbours; ends continue."""
    at, y = [-0.3, 0.0, 0.3, 0.8, 1.3], [0.1, 0.1, 0.7, 0.4, 0.4]
    result = np.where(x < at[1], y[1], y[3])
    for i in (1, 2):
        width = at[i + 1] - at[i]
        m1 = width * (y[i + 1] - y[i - 1]) / (at[i + 1] - at[i - 1])
        m2 = width * (y[i + 2] - y[i]) / (at[i + 2] - at[i])
        t, rise = (x - at[i]) / width, y[i + 1] - y[i]
        cubic = ((m1 + m2 - 2 * rise) * t + (3 * rise - 2 * m1 - m2)) * t * t + m1 * t + y[i]
        result = np.where((x >= at[i]) & (x < at[i + 1]), cubic, result)
    return result


def checked(u, v):
    return np.where((u % 1 < 0.5) == (v % 1 < 0.5), 1.0, 0.0)


def lined(u, v):
    near = ((u + 0.05) % 1 < 0.1) | ((1 - v + 0.15) % 1 < 0.3)
    return near * 1.0


PATTERN = {"uvCoord": ("u", "v")}


def curve(interpolation, share):
    inputs = {
        "inputValue": "u",
        "inputMin": -0.5,
        "inputMax": 1.5,
        "outputMin": 2.0,
        "outputMax": -1.0,
        "value[1].value_Position": 0.25,
        "value[1].value_FloatValue": 0.2,
        "value[1].value_Interp": interpolation,
        "value[0].value_Position": 0.6,
        "value[0].value_FloatValue": 0.9,
        "value[0].value_Interp": 1,
    }

    def expected(u, v):
        t = np.clip(((u + 0.5) / 2 - 0.25) / 0.35, 0, 1)
        return 2 - 3 * (0.2 + 0.7 * share(t))

    return "remapValue", inputs, "outValue", expected


def placed(u, v, repeat=(1, 1), offset=(0, 0), turn=0, frame=0, cover=(1, 1), move=(0, 0), **flags):
    """place2dTexture, as maya-usd's MayaND_place2dTexture_vector2 has it."""

    def rotated(x, y, degrees):
        c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        return (x - 0.5) * c - (y - 0.5) * s + 0.5, (x - 0.5) * s + (y - 0.5) * c + 0.5

    outside, axes = np.zeros_like(u, bool), []
    for at, x in enumerate(rotated(u, v, frame)):
        wraps = flags.get("wrap", (True, True))[at]
        x = x - move[at]
        if wraps and cover[at] < 1:
            x = x - np.floor(x)
        x = x / cover[at]
        if not wraps or cover[at] < 1:
            outside |= (x < 0) | (x > 1)
        axes.append(x * repeat[at] + offset[at])
    x, y = axes
    if flags.get("stagger"):
        x = x + 0.5 * (y % 2 >= 1)
    for at, each in enumerate((x, y)):
        if flags.get("mirror", (False, False))[at]:
            axes[at] = np.where(each % 2 >= 1, 2 * np.floor(each) + 1 - each, each)
        else:
            axes[at] = each
    x, y = rotated(*axes, turn)
    return np.where(outside, -1e7, x), np.where(outside, -1e7, y)


def place(attributes, **options):
    def expected(u, v):
        x, y = placed(u, v, **options)
        return np.stack([x, y, np.zeros_like(x)], -1)

    return "place2dTexture", attributes, "outUV", expected


MAP = np.array([0.7, 0.4, 0.9])


def unit(direction):
    return np.asarray(direction) / np.linalg.norm(direction)


def steady(u, value):
    return np.tile(value, (*u.shape, 1))


# Rows are multiplied by matrices, in Maya as in MaterialX: half the size, turned about z, moved.
MATRIX = np.array([[0, 0.5, 0, 0], [-0.5, 0, 0, 0], [0, 0, 0.5, 0], [-0.2, -9.0, 0.1, 1]])


def projected(kind, mapping, matrix=MATRIX):
    """MayaProjection.cpp: a picture of its own coordinates (a ramp has one of them)."""
    inputs = {
        "image": "shade.outColor", "projType": kind, "uAngle": 200.0, "vAngle": 80.0,
        "placementMatrix": tuple(matrix.ravel()),
    }  # fmt: skip

    def expected(position):
        at = position @ matrix[:3, :3] + matrix[3, :3]
        u, v = (0.5 * each + 0.5 for each in mapping(*at.T))
        return np.where((u % 1 < 0.5) == (v % 1 < 0.5), 1.0, 0.0)

    return "projection", inputs, "outColor", expected


def spherical(x, y, z):
    angles = np.degrees(np.arctan2(x, z)), np.degrees(np.arctan2(y, np.hypot(x, z)))
    return angles[0] / 200, angles[1] / 80


def ball(x, y, z):
    n = np.stack([x, y, z]) / np.sqrt(x * x + y * y + z * z) + np.array([[0], [0], [1]])
    return n[:2] / np.linalg.norm(n, axis=0)


def cubic(x, y, z):
    a, b, c = abs(x), abs(y), abs(z)
    choices = [(a >= b) & (a >= c), (b >= a) & (b >= c)]
    return (np.select(choices, [z / a, x / b], x / c), np.select(choices, [y / a, z / b], y / c))


CASES = {
    "map": ("colorConstant", {"inColor": (0.7, 0.4, 0.9)}, "outColor", lambda u, v: steady(u, MAP)),
    "tangent normal": (
        "bump2d",
        {"bumpInterp": 1, "bumpValue": "map.outAlpha"},
        "outNormal",
        lambda u, v: steady(u, unit(2 * MAP - 1)),
    ),
    "object normal": (
        "bump2d",
        {"bumpInterp": 2, "bumpValue": "map.outAlpha"},
        "outNormal",
        lambda u, v: steady(u, unit(2 * MAP - 1)),
    ),
    "bump": (
        "bump2d",
        {"bumpValue": "u", "bumpDepth": 0.5},
        "outNormal",
        lambda u, v: steady(u, unit([-0.5, 0, 1])),
    ),
    "arnold normal": (
        "aiNormalMap",
        {"input": "map.outColor", "invertY": True, "strength": 0.5},
        "outValue",
        lambda u, v: steady(u, unit([0.2, 0.1, 0.8])),
    ),
    "arnold bump": (
        "aiBump2d",
        {"bumpMap": "v", "bumpHeight": 2.0},
        "outValue",
        lambda u, v: steady(u, unit([0, -2, 1])),
    ),
    # without amplitude, noises are what they add (mtoa, MayaNoise.cpp and MayaFractal.cpp)
    **{
        f"still {kind}": (
            kind,
            {"amplitude": 0.0, "threshold": 0.2},
            "outColor",
            lambda u, v: steady(u, [0.7] * 3),
        )
        for kind in ("noise", "fractal", "volumeNoise", "solidFractal")
    },
    "still arnold noise": (
        "aiNoise",
        {"amplitude": 0.0, "color1": tuple(RED), "color2": tuple(GREEN)},
        "outColor",
        lambda u, v: steady(u, (RED + GREEN) / 2),
    ),
    "triplanar of arnold": (
        "aiTriplanar",
        {"input": "shade.outColor", "scale": (0.5, 0.25, 1.0)},
        "outColor",
        lambda position: checked(position[:, 0] * 0.5, position[:, 1] * 0.25),
    ),
    "shade": ("checker", {}, "outColor", checked),
    "planar": projected(1, lambda x, y, z: (x, y)),
    "spherical": projected(2, spherical),
    "cylindrical": projected(3, lambda x, y, z: (2 * np.degrees(np.arctan2(x, z)) / 200, y)),
    "ball": projected(4, ball),
    "cubic": projected(5, cubic),
    "triplanar": projected(6, lambda x, y, z: (x, y)),
    "plain": place({}),
    "repeat": place(
        {"repeatUV": (4, -2), "offset": (0.25, 0.5)}, repeat=(4, -2), offset=(0.25, 0.5)
    ),
    "turned": place({"rotateUV": 30, "repeatUV": (3, 2)}, turn=30, repeat=(3, 2)),
    "frame": place(
        {"rotateFrame": -20, "coverage": (0.5, 0.7), "translateFrame": (0.3, -0.4)},
        frame=-20,
        cover=(0.5, 0.7),
        move=(0.3, -0.4),
    ),
    "no wrap": place(
        {"wrapU": False, "translateFrame": (0.3, 0), "coverage": (0.5, 1)},
        wrap=(False, True),
        cover=(0.5, 1),
        move=(0.3, 0),
    ),
    "stagger": place({"stagger": True, "repeatUV": (3, 4)}, stagger=True, repeat=(3, 4)),
    "mirror": place(
        {"mirrorU": True, "mirrorV": True, "repeatUV": (3, 4), "offset": (-1.3, 0.2)},
        mirror=(True, True),
        repeat=(3, 4),
        offset=(-1.3, 0.2),
    ),
    "gain": (
        *gradient(
            1, lambda t, _: t, colorGain=(2.0, 0.5, 1.0), colorOffset=(0, 0.1, -1), invert=True
        )[:3],
        lambda u, v: (1 - gradient(1, lambda t, _: t)[3](u, v)) * [2.0, 0.5, 1.0] + [0, 0.1, -1],
    ),
    "ramp alpha": (
        *gradient(1, lambda t, _: t, alphaGain=2.0, alphaOffset=-0.5)[:2],
        "outAlpha",
        lambda u, v: luma(gradient(1, lambda t, _: t)[3](u, v)) * 2 - 0.5,
    ),
    **{f"ramp {name}": gradient(*how) for name, how in INTERPOLATIONS.items()},
    **{f"ramp {name}": gradient(1, lambda t, _: t, *how) for name, how in PLACES.items()},
    **{f"layer {name}": layers(*how) for name, how in BLENDS.items()},
    "curve none": curve(0, lambda t: (t >= 1) * 1.0),
    "curve linear": curve(1, lambda t: t),
    "curve smooth": curve(2, lambda t: t * t * (3 - 2 * t)),
    "curve spline": (
        "remapValue",
        {"inputValue": "u", **points("value", (0.3, 0.7, 3), (0.0, 0.1, 3), (0.8, 0.4, 3))},
        "outValue",
        lambda u, v: spline(u),
    ),
    "ramp waves": gradient(
        1, lambda t, _: t, 0, lambda u, v: (v + 0.1 * np.sin(2 * np.pi * u)) % 1, vWave=0.1
    ),
    "ramp corners": (
        "ramp",
        {
            **PATTERN,
            "type": 7,
            "colorEntryList[0].color": (1.0, 0.0, 0.0),
            "colorEntryList[1].color": (0.0, 1.0, 0.0),
            "colorEntryList[2].color": (0.0, 0.0, 1.0),
        },
        "outColor",
        lambda u, v: np.stack([(1 - u) * (1 - v), u * (1 - v), (1 - u) * v], -1),
    ),
    "float correct": (
        "floatCorrect",
        {"inFloat": "u", "gain": 3.0, "offset": 0.2, "gammaScale": 2.0},
        "outFloat",
        lambda u, v: (3 * u + 0.2) ** 0.5,
    ),
    "checker": (
        "checker",
        {**PATTERN, "color1": tuple(RED), "color2": tuple(GREEN), "contrast": 0.5},
        "outColor",
        lambda u, v: mixed(GREEN, RED, 0.25 + 0.5 * checked(u, v)),
    ),
    "checker alpha": ("checker", {**PATTERN}, "outAlpha", checked),
    "grid": (
        "grid",
        {**PATTERN, "lineColor": tuple(RED), "fillerColor": tuple(GREEN), "vWidth": 0.3},
        "outColor",
        lambda u, v: mixed(GREEN, RED, lined(u, v)),
    ),
    "grid alpha": ("grid", {**PATTERN, "vWidth": 0.3}, "outAlpha", lined),
}
