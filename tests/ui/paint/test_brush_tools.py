"""The brush with its mirror, its keys and the pressure of a pen."""

import numpy as np
import pytest

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import Mesh
from verdigris.ui.paint.brush_tools import (
    BOTH,
    LARGEST,
    MIRROR_U,
    MIRROR_X,
    NOTHING,
    SIZE,
    SMALLEST,
    STRENGTH,
    BrushTools,
)
from verdigris.ui.paint.weight_map import WeightMap

from .test_mirror import mesh, wing


def tools(found=None):
    weights = WeightMap()
    return weights, BrushTools(weights, lambda: found)


def painted(weights):
    return np.argwhere(weights.values > 1.2).mean(0) / len(weights.values)


def test_the_mirror_paints_on_the_other_side_of_the_texture_in_the_same_stroke():
    weights, brush = tools()
    brush.set(mirror=MIRROR_U)
    weights.begin_stroke()
    brush.dab(0.2, 0.7)
    weights.end_stroke()
    np.testing.assert_allclose(weights.values, weights.values[:, ::-1], atol=1e-6)
    assert weights.values[89, 25] > 2 and weights.values[89, 102] > 2
    weights.undo()
    assert weights.is_constant and not weights.can_undo


def test_the_mirror_of_a_mesh_finds_the_other_side_by_its_shape():
    loads = []

    def load() -> Mesh:
        loads.append(1)
        return mesh(wing(1.0, 0.05), wing(-1.0, 0.6))

    _, brush = tools(("tray", load))
    brush.set(mirror=MIRROR_X)
    places = brush.places(0.15, 0.4), brush.places(0.2, 0.4)
    assert places[0][1] == pytest.approx((0.7, 0.4), abs=0.01)
    assert places[1][1] == pytest.approx((0.75, 0.4), abs=0.01)
    assert loads == [1]
    # a sphere and a plane
    _, plain = tools(None)
    plain.set(mirror=MIRROR_X)
    assert plain.places(0.2, 0.3) == [(0.2, 0.3), (0.8, 0.3)]


def test_a_mesh_that_cannot_be_read_is_painted_without_a_mirror():
    def load() -> Mesh:
        raise MeshError("tray.obj: there is no such file")

    _, brush = tools(("tray", load))
    brush.set(mirror=MIRROR_X)
    assert brush.places(0.2, 0.3)[0] == (0.2, 0.3)


def test_the_size_grows_in_equal_factors_and_within_limits():
    changes = []
    _, brush = tools()
    brush.changed.connect(lambda: changes.append(brush.brush.radius))
    before = brush.brush.radius
    brush.resize(2)
    brush.resize(-2)
    assert brush.brush.radius == pytest.approx(before) and changes[0] > 1.3 * before
    brush.resize(40)
    assert brush.brush.radius == LARGEST
    brush.resize(-80)
    assert brush.brush.radius == SMALLEST


@pytest.mark.parametrize(
    ("changes", "is_weaker", "is_smaller"),
    [(STRENGTH, True, False), (SIZE, False, True), (BOTH, True, True), (NOTHING, False, False)],
)
def test_the_pressure_of_a_pen_changes_what_the_artist_chose(changes, is_weaker, is_smaller):
    found = []
    for pressure in (1.0, 0.4):
        weights, brush = tools()
        brush.set(pen_changes=changes, radius=0.2)
        brush.dab(0.5, 0.5, pressure)
        found.append((weights.values.max(), np.count_nonzero(weights.values > 1.0)))
    (strong, large), (weak, small) = found
    assert (weak < 0.7 * strong) == is_weaker
    assert (small < 0.5 * large) == is_smaller


def test_the_eraser_of_a_pen_erases():
    weights, brush = tools()
    brush.dab(0.5, 0.5)
    high = weights.values.max()
    brush.dab(0.5, 0.5, erases=True)
    assert weights.values.max() < high and not brush.brush.erases
