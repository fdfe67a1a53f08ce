"""The place opposite of another over a mesh's plane x = 0."""

import numpy as np
import pytest

from verdigris.core.geometry.mesh import Mesh
from verdigris.ui.paint.brush_tools import MeshMirror


def wing(side, u, top=1.0):
    """Two triangles from x = 0 to x = side, in a part of the texture of its own."""
    corners = np.array([[0, 0, 0], [side, 0, 0], [side, top, 0.2], [0, top, 0.2]], np.float32)
    places = np.array([[u, 0.1], [u + 0.3, 0.1], [u + 0.3, 0.8], [u, 0.8]], np.float32)
    order = np.array([[0, 1, 2], [0, 2, 3]])
    return corners[order], places[order]


def mesh(*parts):
    position, uv = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Mesh(position, np.zeros_like(position), uv)


def test_a_place_of_one_wing_is_found_on_the_other_whose_uvs_are_elsewhere():
    mirror = MeshMirror(mesh(wing(1.0, 0.05), wing(-1.0, 0.6)))
    for across, up in ((0.1, 0.3), (0.25, 0.7)):
        found = mirror.place(0.05 + across, 0.1 + up)
        assert found == pytest.approx((0.6 + across, 0.1 + up), abs=2 / 256)
        assert mirror.place(*found) == pytest.approx((0.05 + across, 0.1 + up), abs=3 / 256)


def test_uvs_of_other_tiles_count_as_those_of_a_repeating_texture():
    mirror = MeshMirror(mesh(wing(1.0, 2.05), wing(-1.0, 0.6)))
    assert mirror.place(0.15, 0.4) == pytest.approx((0.7, 0.4), abs=2 / 256)


def test_there_is_no_place_where_the_other_side_or_the_surface_is_missing():
    mirror = MeshMirror(mesh(wing(1.0, 0.05), wing(-1.0, 0.6, top=0.4)))
    assert mirror.place(0.15, 0.75) is None
    assert mirror.place(0.5, 0.5) is None
    empty = np.zeros((0, 3, 3), np.float32)
    assert MeshMirror(Mesh(empty, empty, empty[..., :2])).place(0.5, 0.5) is None
