"""The example shaders, and Disney's against MaterialX's node where both have the same lobes."""

from pathlib import Path

import numpy as np
import pytest

from verdigris.core.material.load.changes import DocumentChanges
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.teacher.probe import probe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material

EXAMPLES = Path(__file__).parents[4] / "examples" / "shaders"
COLOUR = (0.5, 0.3, 0.1)


def disney(**values):
    changes = DocumentChanges.of({"baseColor": COLOUR} | values, {})
    return Teacher(load_document(EXAMPLES / "disney.slang", changes=changes))


def node(**values):
    ports = [("baseColor", "color3", ", ".join(map(str, COLOUR)))]
    ports += [(name, "float", value) for name, value in values.items()]
    inputs = "".join(f'<input name="{n}" type="{t}" value="{v}"/>' for n, t, v in ports)
    surface = f'<disney_principled name="shader" type="surfaceshader">{inputs}</disney_principled>'
    return Teacher(parse_document(document(surface, material())))


def directions(least):
    random = np.random.default_rng(8)
    z = least + (1 - least) * random.random((2, 300))
    turn = 2 * np.pi * random.random((2, 300))
    side = np.sqrt(1 - z**2)
    wi, wo = np.stack([side * np.cos(turn), side * np.sin(turn), z], -1).astype(np.float32)
    return np.full((300, 2), 0.5, np.float32), wi, wo


def test_disney_of_2012_has_the_diffuse_lobe_of_materialx():
    """The other lobes differ: MaterialX's highlights have another masking term and energy of lost
    bounces (libraries/bxdf/disney_principled.mtlx), its coat GGX, and its sheen another model."""
    points = directions(0.02)
    for roughness in (0.0, 0.3, 1.0):
        given = {"specular": 0.0, "roughness": roughness}
        black = disney(**given, baseColor="0, 0, 0").response(*points)
        found = disney(**given).response(*points) - black
        # without an index, the node has no other lobe
        expected = node(**given).response(*points)
        np.testing.assert_allclose(found, expected, atol=1e-3)
        assert found.max() > 0.1


def test_disney_of_2012_has_the_distribution_and_fresnel_term_of_materialx():
    # towards the normal, narrow lobes mask nothing
    points = directions(0.995)
    given = {"metallic": 1.0, "roughness": 0.25}
    found, expected = (each(**given).response(*points) for each in (disney, node))
    np.testing.assert_allclose(found, expected, rtol=4e-3, atol=1e-3)
    assert found.max() > 5


@pytest.mark.parametrize("name", ["toon_ramp", "flake_paint"])
def test_examples_are_finite_and_reflect_no_more_than_they_receive(name):
    teacher = Teacher(load_document(EXAMPLES / f"{name}.slang"))
    assert teacher.trial.fault == ""
    assert 0.05 < max(probe(teacher).albedo) < 1
