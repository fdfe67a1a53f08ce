"""Maya's nodes against their formulas in closed form: those of Maya's node reference, and where it
has none, those of maya-usd (MaterialXGenOgsXml/libraries: place2dTexture, file, colorCorrect), of
Arnold's shaders for Maya's nodes (mtoa, shaders/src: MayaRamp, MayaUtils, MayaRemapHsv,
MayaContrast, MayaGrid, ldk*), and of appleseed's (src/appleseed.shaders/src/maya: checker,
layeredTexture)."""

import numpy as np
import pytest

from . import arnold_cases, texture_cases, utility_cases
from .node_formulas import LIFT, evaluate

CASES = texture_cases.CASES | utility_cases.CASES | arnold_cases.CASES


@pytest.fixture(scope="module")
def computed():
    return evaluate({name.replace(" ", "_"): case for name, case in CASES.items()})


def expected_of(formula, uv, position):
    """The formula is one of u and v, or of the position."""
    given = (
        (position,) if formula.__code__.co_varnames[:1] == ("position",) else np.moveaxis(uv, -1, 0)
    )
    values = np.asarray(formula(*given), float)
    values = np.stack([values] * 3, -1) if values.ndim == 1 else values
    return np.maximum(values, -LIFT)


@pytest.mark.parametrize("name", CASES)
def test_a_node_computes_its_published_formula(computed, name):
    at = list(CASES).index(name)
    uv, position, values = (each[at] for each in computed)
    wanted = expected_of(CASES[name][3], uv, position)
    # a step may fall on either side of its edge
    off = abs(values - wanted) > 2e-4 + 2e-4 * abs(wanted)
    assert off.any(-1).mean() < 0.01, (values[off.any(-1)][:3], wanted[off.any(-1)][:3])


NOISES = {
    "noise": ("noise", {}, "outColor", None),
    "fractal": ("fractal", {"inflection": True}, "outAlpha", None),
    "volume": ("volumeNoise", {"frequency": 2.0}, "outColor", None),
    "solid": ("solidFractal", {}, "outColor", None),
    "arnold": (
        "aiNoise",
        {"octaves": 3, "coordSpace": 3, "scale": (9.0, 9.0, 9.0)},
        "outColor",
        None,
    ),
    "flakes": ("aiFlakes", {"coordSpace": 3}, "outAlpha", None),
}


def test_noises_vary_within_their_range():
    _, _, values = evaluate(NOISES)
    assert values.min() > -1e-4 and values.max() < 1 + 1e-4
    assert (values.std(axis=1) > 0.03).all() and (values.mean(axis=1) < 0.8).all()
