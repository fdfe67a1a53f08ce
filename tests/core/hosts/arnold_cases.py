"""Arnold's utility shaders, with their formulas in the Arnold User Guide: see
test_maya_formulas.py."""

import colorsys

import numpy as np

from .node_formulas import GREEN, RED, mixed, rgb

REC709 = np.array([0.2126, 0.7152, 0.0722])
OTHER = np.array([0.5, -2.0, 3.0])
VARIED = ("u", "v", 0.25)
LOWER = np.array([0.4, 0.9, 1.3])
# Arnold User Guide, Layer RGBA: `a` is the result of the layers below, `b` the layer. The numbers
# are those of MtoA, as wrappers of its nodes list them.
OPERATIONS = {
    0: lambda a, b: b + 0 * a,
    2: lambda a, b: (a + b) / 2,
    4: lambda a, b: 1 - (1 - a) / b,
    5: lambda a, b: a / (1 - b),
    6: lambda a, b: abs(a - b),
    9: lambda a, b: a + b - 2 * a * b,
    11: lambda a, b: 2 * a * b / (a + b),
    12: lambda a, b: b**2 / (1 - a),
    15: np.hypot,
    17: lambda a, b: np.where(b < 0.5, a + 2 * b - 1, a + 2 * (b - 0.5)),
    20: np.maximum,
    21: np.minimum,
    23: lambda a, b: a * b,
    24: lambda a, b: 1 - abs(1 - a - b),
    28: lambda a, b: np.minimum(a, b) - np.maximum(a, b) + 1,
    29: lambda a, b: np.where(b < 0.5, np.minimum(a, 2 * b), np.maximum(a, 2 * (b - 0.5))),
    30: lambda a, b: a + b,
    31: lambda a, b: a**2 / (1 - b),
    32: lambda a, b: np.where(np.maximum(a, b) <= 1, a + b - a * b, np.maximum(a, b)),
}


def layered(operation, blend, **more):
    """A constant layer below one that varies, at three quarters."""
    # glow has a pole at 1
    lower = LOWER / 2 if operation == 12 else LOWER
    inputs = {"enable1": True, "input1": tuple(lower), "enable2": True, "input2": PLACED}
    inputs |= {"mix2": 0.75, "operation2": operation, **more}
    return (
        "aiLayerRgba",
        inputs,
        "outColor",
        lambda u, v: lower + 0.75 * (blend(lower, placed(u, v)) - lower),
    )


# away from the poles of some operations, which are at 0 and 1
PLACED = (0.7, "u", 0.35)


def placed(u, v):
    return np.stack([np.full_like(u, 0.7), u, np.full_like(u, 0.35)], -1)


def of_two(kind, function):
    inputs = {"input1": VARIED, "input2": tuple(OTHER)}
    return kind, inputs, "outColor", lambda u, v: function(rgb(u, v), OTHER)


def of_one(kind, function, varied=VARIED):
    return kind, {"input": varied}, "outColor", lambda u, v: function(rgb(u, v, varied[2]))


def ranged(u, v):
    t = (rgb(u, v) - 0.2) / 0.6
    return ((t - 0.4) * 2 + 0.4) * -3 + 2


def smooth(u, v):
    t = np.clip((rgb(u, v) - 0.2) / 0.6, 0, 1)
    return t * t * (3 - 2 * t)


def corrected(u, v):
    """In the order of the parameters."""
    given = rgb(u, v)
    curved = given ** (1 / 2)
    hsv = [colorsys.rgb_to_hsv(*each) for each in curved]
    turned = np.array([colorsys.hsv_to_rgb((h + 0.3) % 1, s, value) for h, s, value in hsv])
    grey = (turned @ REC709)[:, None]
    saturated = grey + (turned - grey) * 0.5
    contrasted = (saturated - 0.18) * 1.5 + 0.18
    return mixed(given, contrasted * 2 * [1, 0.5, 2] + 0.1, np.full_like(u, 0.75))


CASES = {
    "ai add": of_two("aiAdd", np.add),
    "ai subtract": of_two("aiSubtract", np.subtract),
    "ai multiply": of_two("aiMultiply", np.multiply),
    "ai divide": of_two("aiDivide", np.divide),
    "ai min": of_two("aiMin", np.minimum),
    "ai max": of_two("aiMax", np.maximum),
    "ai abs": of_one("aiAbs", abs, ("u", "v", -2.0)),
    "ai complement": of_one("aiComplement", lambda x: 1 - x),
    "ai negate": of_one("aiNegate", np.negative),
    "ai sqrt": of_one("aiSqrt", np.sqrt),
    "ai exp": of_one("aiExp", np.exp),
    "ai reciprocal": of_one("aiReciprocal", lambda x: np.minimum(1 / x, 1e4)),
    "ai fraction": of_one("aiFraction", lambda x: x - np.floor(x), ("u", "v", -2.25)),
    "ai pow": (
        "aiPow",
        {"base": VARIED, "exponent": (0.5, 2.0, -1.0)},
        "outColor",
        lambda u, v: rgb(u, v) ** [0.5, 2.0, -1.0],
    ),
    "ai dot": (
        "aiDot",
        {"input1": VARIED, "input2": tuple(OTHER)},
        "outValue",
        lambda u, v: rgb(u, v) @ OTHER,
    ),
    "ai clamp": (
        "aiClamp",
        {"input": VARIED, "min": 0.3, "max": 0.6},
        "outColor",
        lambda u, v: np.clip(rgb(u, v), 0.3, 0.6),
    ),
    "ai mix": (
        "aiMixRgba",
        {"input1": tuple(RED), "input2": tuple(GREEN), "mix": "u"},
        "outColor",
        lambda u, v: mixed(RED, GREEN, u),
    ),
    "ai range": (
        "aiRange",
        {
            "input": VARIED,
            "inputMin": 0.2,
            "inputMax": 0.8,
            "outputMin": 2.0,
            "outputMax": -1.0,
            "contrast": 2.0,
            "contrastPivot": 0.4,
        },
        "outColor",
        ranged,
    ),
    "ai range smooth": (
        "aiRange",
        {"input": VARIED, "inputMin": 0.2, "inputMax": 0.8, "smoothstep": True},
        "outColor",
        smooth,
    ),
    "ai colour correct": (
        "aiColorCorrect",
        {
            "input": VARIED,
            "gamma": 2.0,
            "hueShift": 0.3,
            "saturation": 0.5,
            "contrast": 1.5,
            "exposure": 1.0,
            "multiply": (1.0, 0.5, 2.0),
            "add": (0.1, 0.1, 0.1),
            "mask": 0.75,
        },
        "outColor",
        corrected,
    ),
    **{f"ai layer {at}": layered(at, blend) for at, blend in OPERATIONS.items()},
    # a layer covers those below by its alpha
    "ai layer over": layered(26, lambda a, b: b + a * 0.6, input2A=0.4),
    "ai layer clamped": (
        "aiLayerRgba",
        {"enable1": True, "input1": tuple(LOWER), "enable2": True, "input2": VARIED}
        | {"operation2": 23, "clamp": True},
        "outColor",
        lambda u, v: np.clip(LOWER, 0, 1) * rgb(u, v),
    ),
    "ai layers": (
        "aiLayerRgba",
        {
            "enable1": True,
            "input1": VARIED,
            "enable3": True,
            "input3": tuple(RED),
            "mix3": 0.25,
            "input2": tuple(GREEN),
        },
        "outColor",
        lambda u, v: 0.75 * rgb(u, v) + 0.25 * RED,
    ),
}
