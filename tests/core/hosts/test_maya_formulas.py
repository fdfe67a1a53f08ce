"""Maya's nodes against their formulas in closed form: those of Maya's node reference, and where it
has none, those of maya-usd (MaterialXGenOgsXml/libraries: place2dTexture, file, colorCorrect), of
Arnold's shaders for Maya's nodes (mtoa, shaders/src: MayaRamp, MayaUtils, MayaRemapHsv,
MayaContrast, MayaGrid, ldk*), and of appleseed's (src/appleseed.shaders/src/maya: checker,
layeredTexture)."""

import numpy as np
import pytest

from . import texture_cases, utility_cases
from .node_formulas import LIFT, evaluate

CASES = texture_cases.CASES | utility_cases.CASES


@pytest.fixture(scope="module")
def computed():
    return evaluate({name.replace(" ", "_"): case for name, case in CASES.items()})


def expected_of(formula, uv):
    u, v = uv[..., 0], uv[..., 1]
    values = np.asarray(formula(u, v), float)
    values = np.stack([values] * 3, -1) if values.ndim == 1 else values
    return np.maximum(values, -LIFT)


@pytest.mark.parametrize("name", CASES)
def test_a_node_computes_its_published_formula(computed, name):
    uv, values, _ = computed
    at = list(CASES).index(name)
    wanted = expected_of(CASES[name][3], uv[at])
    # a step may fall on either side of its edge
    off = abs(values[at] - wanted) > 2e-4 + 2e-4 * abs(wanted)
    assert off.any(-1).mean() < 0.01, (values[at][off.any(-1)][:3], wanted[off.any(-1)][:3])
