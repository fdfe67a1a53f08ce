"""The shader ball, the cloth and the tile."""

import numpy as np
import pytest

from verdigris.core.geometry.shapes import BALL, CLOTH, SHAPES, find_shape, shape_mesh
from verdigris.core.pictures.gbuffer import make_gbuffer


@pytest.mark.parametrize("name", SHAPES)
def test_normals_point_outwards_and_fit_the_triangles(name):
    mesh = shape_mesh(name)
    edges = mesh.position[:, 1:] - mesh.position[:, :1]
    face = np.cross(edges[:, 0], edges[:, 1])
    length = np.linalg.norm(face, axis=1)
    solid = length > 1e-7
    assert solid.mean() > 0.9
    face = face[solid] / length[solid, None]
    assert np.allclose(np.linalg.norm(mesh.normal, axis=-1), 1, atol=1e-3)
    agreement = (face[:, None] * mesh.normal[solid]).sum(-1)
    assert np.percentile(agreement, 1) > 0.6 and np.median(agreement) > 0.97
    # a solid has more volume inside than outside of its surface
    if name == BALL:
        volume = np.einsum(
            "ni,ni->n", mesh.position[:, 0], np.cross(*mesh.position[:, 1:].swapaxes(0, 1))
        )
        assert volume.sum() / 6 > 3.5


@pytest.mark.parametrize("name", SHAPES)
def test_textures_lie_evenly_and_unmirrored(name):
    mesh = shape_mesh(name)
    assert mesh.uv.min() >= -1e-6
    step = mesh.uv[:, 1:] - mesh.uv[:, :1]
    area = step[:, 0, 0] * step[:, 1, 1] - step[:, 0, 1] * step[:, 1, 0]
    assert (area > -1e-9).all()
    along_u, along_v = mesh.tangents()
    # where both are known, u and v are nearly square to each other
    known = (np.abs(along_u).sum(1) > 0) & (np.abs(along_v).sum(1) > 0)
    slant = np.abs((along_u * along_v).sum(1))[known]
    assert np.median(slant) < (0.35 if name == CLOTH else 0.05)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_fills_its_picture_and_stays_inside(name):
    view = make_gbuffer(name, 64)
    row, column = np.divmod(view.pixel, 64)
    assert 0.15 < len(view.pixel) / 64**2 < 0.8
    for place in (row, column):
        assert place.min() > 0 and place.max() < 63
    spans = [np.ptp(place) + 1 for place in (row, column)]
    assert max(spans) > 40


def test_other_views_have_no_mesh():
    assert find_shape("sphere") is None and find_shape("mesh") is None
