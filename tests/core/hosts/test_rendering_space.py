"""Conversions between the rendering spaces of applications."""

import numpy as np
import pytest

from verdigris.core.hosts.nodes.rendering_space import RenderingSpace, matrix_between
from verdigris.core.material.graph.library import standard_library


@pytest.mark.parametrize(("name", "in_library"), [("acescg", "acescg"), ("p3", "lin_displayp3")])
def test_matrices_are_those_of_materialx(name, in_library):
    graph = standard_library().getNodeGraph(f"NG_{in_library}_to_lin_rec709_color3")
    stored = graph.getNode("mat").getInput("value").getValueString()
    rows = np.reshape([float(each) for each in stored.split(",")], (3, 3))
    # MaterialX multiplies rows by matrices
    np.testing.assert_allclose(matrix_between(name, "lin_rec709"), rows.T, atol=2e-4)


def test_rec_2020_is_that_of_the_standard():
    """ITU-R BT.2087, the matrix from BT.709 to BT.2020."""
    wanted = [[0.6274, 0.3293, 0.0433], [0.0691, 0.9195, 0.0114], [0.0164, 0.0880, 0.8956]]
    np.testing.assert_allclose(matrix_between("lin_rec709", "rec2020"), wanted, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ACEScg", "acescg"),
        ("ACES2065-1", "aces2065"),
        ("scene-linear Rec.709-sRGB", ""),
        ("scene-linear DCI-P3 D65", "p3"),
        ("scene-linear Rec.2020", "rec2020"),
    ],
)
def test_spaces_of_mayas_configuration_are_known(name, found):
    """The scene-linear spaces of Maya's default configuration (Maya Help, Color Management)."""
    space = RenderingSpace.of(name)
    assert space.name == found and space.is_known
    assert not RenderingSpace.of(name, is_managed=False).needs_conversion


def test_an_unknown_space_is_taken_as_it_is():
    space = RenderingSpace.of("studio wide")
    assert not space.is_known and not space.needs_conversion
