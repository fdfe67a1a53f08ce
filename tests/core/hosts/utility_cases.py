"""Maya's utility nodes, with their formulas: see test_maya_formulas.py."""

import colorsys

import numpy as np

from .node_formulas import GREEN, LUMA, RED, luma, mixed, points, rgb


def binary(category, operation, function):
    inputs = {"input1": ("u", "v", -0.5), "input2": (0.5, -2.0, 3.0), "operation": operation}
    other = np.array([0.5, -2.0, 3.0])
    return category, inputs, "output", lambda u, v: function(rgb(u, v, -0.5), other)


def three(kind, output, function, u_v=("u", "v", 0.25), name="value", **others):
    """A node that computes each channel alike. `others` are its other inputs."""
    given = [np.array(value) for value in others.values()]
    attributes = {name: u_v, **others}
    return kind, attributes, output, lambda u, v: function(rgb(u, v, u_v[2]), *given)


def number(kind, output, function, operation=None, **inputs):
    """A node with numbers: "u" and "v" are those of the place."""
    attributes = inputs if operation is None else {**inputs, "operation": operation}

    def expected(u, v):
        return function(*({"u": u, "v": v}.get(each, each) for each in inputs.values()))

    return kind, attributes, output, expected


def by_channel(function, blue=0.25):
    return lambda u, v: np.array([function(*each) for each in rgb(u, v, blue)])


def ranged(x, low, high, first, last):
    return low + np.clip((x - first) / (last - first), 0, 1) * (high - low)


def compared(operation, holds):
    inputs = {
        "firstTerm": "u",
        "secondTerm": 0.5,
        "colorIfTrue": tuple(RED),
        "colorIfFalse": tuple(GREEN),
        "operation": operation,
    }
    return "condition", inputs, "outColor", lambda u, v: mixed(GREEN, RED, holds(u, 0.5) * 1.0)


def contrasted(value, contrast, bias):
    x = value ** (np.log(0.5) / np.log(bias))
    return np.where(x < 0.5, 0.5 * (2 * x) ** contrast, 1 - 0.5 * (2 * (1 - x)) ** contrast)


def corrected(r, g, b):
    h, s, value = colorsys.rgb_to_hsv(r, g, b)
    turned = colorsys.hsv_to_rgb((h + 100 / 360) % 1, s * 0.5, value * 1.5)
    return np.clip(
        (np.array(turned) * [1, 0.5, 2] + [0.1, 0, 0]) ** (1 / np.array([2, 1, 0.5])), 0.1, 0.8
    )


def remapped_hsv(r, g, b):
    """The hue turns by half, the saturation halves, the value is inverted."""
    h, s, value = colorsys.rgb_to_hsv(r, g, b)
    return colorsys.hsv_to_rgb((0.5 + 0.5 * h) % 1, s / 2, 1 - value)


ITEMS = {
    "input3D[0]": ("u", "v", 0.5),
    "input3D[4]": (0.5, -1.0, 2.0),
    "input3D[2]": (1.0, 1.0, 1.0),
}
LIST = {"input1D[1]": "u", "input1D[0]": 0.25, "input1D[7]": "v"}


def items(operation, function):
    def expected(u, v):
        parts = rgb(u, v, 0.5), np.array([1.0, 1.0, 1.0]), np.array([0.5, -1.0, 2.0])
        return function(*(np.broadcast_to(each, (*u.shape, 3)) for each in parts))

    return "plusMinusAverage", {**ITEMS, "operation": operation}, "output3D", expected


CASES = {
    "no operation": binary("multiplyDivide", 0, lambda a, b: a),
    "multiply": binary("multiplyDivide", 1, lambda a, b: a * b),
    "divide": binary("multiplyDivide", 2, lambda a, b: a / b),
    "power": (
        "multiplyDivide",
        {"input1": ("u", "v", 0.5), "input2": (0.5, 2.0, -1.0), "operation": 3},
        "output",
        lambda u, v: rgb(u, v, 0.5) ** np.array([0.5, 2.0, -1.0]),
    ),
    "blend": (
        "blendColors",
        {"blender": "u", "color1": tuple(RED), "color2": tuple(GREEN)},
        "output",
        lambda u, v: mixed(GREEN, RED, u),
    ),
    "reverse": ("reverse", {"input": ("u", "v", -2.0)}, "output", lambda u, v: 1 - rgb(u, v, -2.0)),
    "clamp": (
        "clamp",
        {"input": ("u", "v", -2.0), "min": (0.2, 0.4, -1.0), "max": (0.5, 0.6, 1.0)},
        "output",
        lambda u, v: np.clip(rgb(u, v, -2.0), [0.2, 0.4, -1.0], [0.5, 0.6, 1.0]),
    ),
    "component": (
        "blendColors",
        {"blender": 1, "color1": ("u", "v", 0.5)},
        "outputG",
        lambda u, v: v,
    ),
    "sum": items(1, lambda a, b, c: a + b + c),
    "difference": items(2, lambda a, b, c: a - b - c),
    "average": items(3, lambda a, b, c: (a + b + c) / 3),
    "first": items(0, lambda a, b, c: a),
    "sum of numbers": ("plusMinusAverage", {**LIST}, "output1D", lambda u, v: u + v + 0.25),
    "difference of numbers": (
        "plusMinusAverage",
        {**LIST, "operation": 2},
        "output1D",
        lambda u, v: 0.25 - u - v,
    ),
    **{
        f"condition {at}": compared(at, holds)
        for at, holds in enumerate(
            (
                lambda a, b: a == b,
                lambda a, b: a != b,
                lambda a, b: a > b,
                lambda a, b: a >= b,
                lambda a, b: a < b,
                lambda a, b: a <= b,
            )
        )
    },
    "set range": three(
        "setRange",
        "outValue",
        ranged,
        min=(0.0, 1.0, -1.0),
        max=(2.0, -1.0, 1.0),
        oldMin=(0.2, 0.0, 0.0),
        oldMax=(0.7, 2.0, 0.5),
    ),
    "contrast": three(
        "contrast", "outValue", contrasted, contrast=(2.0, 0.5, 3.0), bias=(0.5, 0.3, 0.8)
    ),
    "gamma": three("gammaCorrect", "outValue", lambda x, g: x ** (1 / g), gamma=(2.2, 1.0, 0.5)),
    "luminance": three("luminance", "outValue", luma),
    # hue in degrees: Maya's node reference, rgbToHsv, turns it by adding (60, 0, 0)
    "rgb to hsv": (
        "rgbToHsv",
        {"inRgb": ("u", "v", 0.25)},
        "outHsv",
        lambda u, v: by_channel(colorsys.rgb_to_hsv)(u, v) * [360, 1, 1],
    ),
    "hsv to rgb": (
        "hsvToRgb",
        {"inHsv": (200.0, "u", "v")},
        "outRgb",
        lambda u, v: np.array(list(map(colorsys.hsv_to_rgb, np.full_like(u, 200 / 360), u, v))),
    ),
    "colour correct": (
        "colorCorrect",
        {
            "inColor": ("u", "v", 0.25),
            "hueShift": 100.0,
            "satGain": 0.5,
            "valGain": 1.5,
            "colGain": (1.0, 0.5, 2.0),
            "colOffset": (0.1, 0.0, 0.0),
            "colGamma": (2.0, 1.0, 0.5),
            "colClamp": True,
            "colClampMin": (0.1, 0.1, 0.1),
            "colClampMax": (0.8, 0.8, 0.8),
        },
        "outColor",
        by_channel(corrected),
    ),
    "colour correct alpha": (
        "colorCorrect",
        {
            "inAlpha": "u",
            "alphaGain": 2.0,
            "alphaOffset": 0.1,
            "alphaGamma": 2.0,
            "alphaClamp": True,
        },
        "outAlpha",
        lambda u, v: np.clip((2 * u + 0.1) ** 0.5, 0, 1),
    ),
    "blend two": (
        "blendTwoAttr",
        {"input[0]": "u", "input[1]": -1.0, "attributesBlender": 0.25},
        "output",
        lambda u, v: 0.75 * u - 0.25,
    ),
    **{
        f"colour math {at}": (
            "colorMath",
            {"colorA": ("u", "v", 0.25), "colorB": (0.5, -2.0, 0.3), "operation": at},
            "outColor",
            lambda u, v, own=own: own(rgb(u, v), np.array([0.5, -2.0, 0.3])),
        )
        for at, own in enumerate(
            (np.add, np.subtract, np.multiply, np.divide, np.minimum, np.maximum)
        )
    },
    **{
        f"float math {at}": number("floatMath", "outFloat", own, at, floatA="u", floatB=0.3)
        for at, own in enumerate(
            (np.add, np.subtract, np.multiply, np.divide, np.minimum, np.maximum, np.power)
        )
    },
    **{
        f"composite {at}": number(
            "floatComposite", "outFloat", own, at, floatA="u", floatB="v", factor=0.4
        )
        for at, own in {
            0: lambda a, b, f: a + b * f,
            1: lambda a, b, f: a + (b - 1) * f,
            2: lambda a, b, f: a + (b - a) * f,
            3: lambda a, b, f: a * (b * f + 1 - f),
            6: lambda a, b, f: abs(a - b * f),
            # mtoa exports the others as an aiLayerRgba (LookDevKitTranslator.cpp)
            4: lambda a, b, f: a + (b - a * b) * f,
            7: lambda a, b, f: a + (a / np.maximum(1 - b, 1e-6) - a) * f,
            8: lambda a, b, f: a + (1 - (1 - a) / np.maximum(b, 1e-6) - a) * f,
        }.items()
    },
    **{
        f"logic {at}": number("floatLogic", "outBool", own, at, floatA="u", floatB="v")
        for at, own in enumerate(
            (np.equal, np.not_equal, np.less, np.greater, np.less_equal, np.greater_equal)
        )
    },
    "float condition": number(
        "floatCondition",
        "outFloat",
        lambda c, a, b: np.where(c > 0.5, a, b),
        condition="u",
        floatA="v",
        floatB=-1.0,
    ),
    "remap colour": (
        "remapColor",
        {
            "color": ("u", "v", 0.25),
            **points("red", (0.0, 1.0, 1), (1.0, 0.0, 1)),
            **points("green", (0.0, 0.0, 1), (0.5, 1.0, 1)),
            **points("blue", (0.0, 0.5, 0)),
        },
        "outColor",
        lambda u, v: np.stack([1 - u, np.clip(2 * v, 0, 1), np.full_like(u, 0.5)], -1),
    ),
    "remap hsv": (
        "remapHsv",
        {
            "color": ("u", "v", 0.25),
            **points("hue", (0.0, 0.5, 1), (1.0, 1.0, 1)),
            **points("saturation", (0.0, 0.0, 1), (1.0, 0.5, 1)),
            **points("value", (0.0, 1.0, 1), (1.0, 0.0, 1)),
        },
        "outColor",
        by_channel(remapped_hsv),
    ),
    "dot": (
        "vectorProduct",
        {"input1": ("u", "v", 0.5), "input2": (1.0, 2.0, -1.0)},
        "output",
        lambda u, v: u + 2 * v - 0.5,
    ),
    "cross": (
        "vectorProduct",
        {"input1": ("u", "v", 0.5), "input2": (1.0, 2.0, -1.0), "operation": 2},
        "output",
        lambda u, v: np.cross(rgb(u, v, 0.5), [1.0, 2.0, -1.0]),
    ),
    "units": number(
        "unitConversion", "output", lambda x, f: x * f, input="u", conversionFactor=0.5
    ),
    **{
        f"colour logic {at}": (
            "colorLogic",
            {"colorA": ("u", "v", 0.25), "colorB": (0.5, 0.5, 0.25), "operation": at},
            "outBool",
            lambda u, v, own=own: own(u + v + 0.25, 1.25) * 1.0,
        )
        for at, own in ((2, np.less), (3, np.greater), (4, np.less_equal), (5, np.greater_equal))
    },
    "float mask": number("floatMask", "outFloat", lambda a, m: a - m, inFloat="u", mask="v"),
    "colour mask": (
        "colorMask",
        {"inColor": ("u", "v", 0.25), "mask": (0.5, 0.25, 1.0), "maskAlphaIsLuminance": True},
        "outColor",
        lambda u, v: rgb(u, v) * (LUMA @ [0.5, 0.25, 1.0]),
    ),
}
