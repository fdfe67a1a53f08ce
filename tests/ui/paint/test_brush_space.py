"""The size of the brush in the texture, on the object and in the view, against closed forms."""

import numpy as np
import pytest

from verdigris.core.geometry.mesh import Mesh
from verdigris.ui.paint.brush_space import OBJECT, VIEW, length_in_view, plane, sphere, surface_of
from verdigris.ui.paint.brush_tools import BrushTools
from verdigris.ui.paint.weight_map import WeightMap


def two_squares(side=4.0, small=0.25):
    """Squares of the same size in space; the second has a smaller part of the texture."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], np.float32)
    flat = np.pad(side * corners, ((0, 0), (0, 1))).reshape(2, 3, 3)
    position = np.concatenate([flat, flat + np.float32((10, 0, 0))])
    uv = np.concatenate([0.5 * corners, small * corners + 0.6]).reshape(4, 3, 2)
    return Mesh(position, np.zeros_like(position), uv)


def test_lengths_of_a_mesh_are_those_of_its_triangles():
    found = surface_of(two_squares())
    assert found.extent == pytest.approx(14)
    assert found.length_at(0.2, 0.3) == pytest.approx(0.5 / 4)
    assert found.length_at(0.7, 0.7) == pytest.approx(0.25 / 4)


def test_lengths_of_the_sphere_and_the_plane_are_those_of_their_uv():
    # at the equator one of v is half a turn, and one of u, too
    assert sphere().length_at(0.3, 0.5) == pytest.approx(1 / np.pi, rel=1e-3)
    # at 60 degrees u goes around in half the length
    assert sphere().length_at(0.3, 0.5 + 1 / 3) == pytest.approx(np.sqrt(2) / np.pi, rel=0.02)
    assert plane().length_at(0.1, 0.9) == 1


def test_a_length_in_the_view_follows_the_pixels_even_over_the_edge_of_the_texture():
    rows, columns = np.meshgrid(np.arange(40), np.arange(80), indexing="ij")
    places = np.stack([0.9 + columns * 0.004, 0.3 + rows * 0.001], -1).astype(np.float32) % 1.0
    assert length_in_view(places, 0.0, 0.32) == pytest.approx(40 * 0.002, rel=1e-3)
    places[:, 40:] = np.nan
    # the last pixel with a surface
    assert length_in_view(places, *places[20, 39]) == pytest.approx(40 * 0.002, rel=1e-3)
    assert length_in_view(np.full((4, 4, 2), np.nan), 0.5, 0.5) is None


def test_a_dab_has_the_size_of_its_space_at_its_place():
    weights, mesh = WeightMap(), two_squares()
    tools = BrushTools(weights, lambda: ("squares", lambda: mesh))
    # a radius of .7 units
    tools.set(space=OBJECT, radius=0.05, strength=1.0)
    assert tools.radius_at(0.2, 0.2) == pytest.approx(0.7 / 8)
    assert tools.radius_at(0.7, 0.7) == pytest.approx(0.7 / 16)
    tools.dab(0.25, 0.25)
    reach = np.nonzero((weights.values != 1).any(0))[0]
    assert (reach.max() - reach.min() + 1) / 128 == pytest.approx(2 * 0.7 / 8, abs=0.02)
    tools = BrushTools(weights, lambda: None, lambda: ("plane", None))
    tools.set(space=VIEW, radius=0.05)
    # nothing is in the view: as in the texture
    assert tools.radius_at(0.5, 0.5) == 0.05
