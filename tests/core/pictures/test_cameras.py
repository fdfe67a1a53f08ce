"""Turning, tilting and zooming of views, against geometry worked out by hand."""

import numpy as np
import pytest

from verdigris.core.geometry.mesh import Mesh
from verdigris.core.pictures.gbuffer import Camera, mesh_gbuffer, plane_gbuffer, sphere_gbuffer

SIZE = 65
MIDDLE = SIZE * SIZE // 2


def at_middle(view):
    (place,) = np.flatnonzero(view.pixel == MIDDLE)
    return place


def square():
    """The unit square in the xy plane, two triangles, uv as wide as it."""
    corner = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    index = np.array([[0, 1, 2], [0, 2, 3]])
    position = np.concatenate([corner - 0.5, np.zeros((4, 1), np.float32)], 1)[index]
    normal = np.broadcast_to(np.float32([0, 0, 1]), position.shape)
    return Mesh(position, normal, corner[index])


@pytest.mark.parametrize("turn", [-80.0, 30.0, 75.0])
def test_a_turned_sphere_shows_in_its_middle_what_was_at_its_side(turn):
    # half of u goes once around half of the sphere
    found = sphere_gbuffer(SIZE, Camera(turn=turn))
    assert found.uv[at_middle(found), 0] == pytest.approx(0.5 - turn / 180, abs=1e-4)


def test_a_tilted_sphere_shows_what_was_above():
    found = sphere_gbuffer(SIZE, Camera(pitch=40.0))
    assert found.uv[at_middle(found), 1] == pytest.approx(0.5 + 40 / 180, abs=1e-4)


def test_turning_moves_what_lies_on_the_sphere_and_leaves_its_outline_and_light():
    front, turned = sphere_gbuffer(SIZE), sphere_gbuffer(SIZE, Camera(turn=50, pitch=-20))
    np.testing.assert_array_equal(turned.pixel, front.pixel)
    np.testing.assert_allclose(turned.normal, front.normal, atol=1e-6)
    np.testing.assert_allclose(turned.to_eye, front.to_eye, atol=1e-6)
    assert np.abs(turned.uv - front.uv).max() > 0.2


@pytest.mark.parametrize("make", [sphere_gbuffer, plane_gbuffer])
def test_frames_of_a_turned_view_stay_orthonormal_and_right_handed(make):
    view = make(SIZE, Camera(turn=33, pitch=21))
    frame = np.stack([view.tangent, view.bitangent, view.normal], 1).astype(np.float64)
    np.testing.assert_allclose(
        frame @ frame.transpose(0, 2, 1), np.broadcast_to(np.eye(3), frame.shape), atol=1e-5
    )
    np.testing.assert_allclose(np.linalg.det(frame), 1, atol=1e-5)


def test_zooming_into_the_plane_shows_that_part_of_the_unit_square():
    view = plane_gbuffer(SIZE, Camera(zoom=8, x=0.5, y=-0.25))
    low, high = view.uv.min(0), view.uv.max(0)
    half_pixel = 0.5 / SIZE / 8
    np.testing.assert_allclose(low, np.array([0.75, 0.375]) - 1 / 16 + half_pixel, atol=1e-5)
    np.testing.assert_allclose(high, np.array([0.75, 0.375]) + 1 / 16 - half_pixel, atol=1e-5)


def test_a_plane_that_is_turned_away_shows_nothing():
    behind = plane_gbuffer(SIZE, Camera(turn=120))
    assert 0 < len(behind.pixel) < 0.7 * SIZE * SIZE
    assert ((behind.normal * behind.to_eye).sum(1) > 0).all()
    # its place is that of the front, mirrored in the picture
    across = np.einsum("ni,ni->n", np.cross(behind.tangent, behind.bitangent), behind.normal)
    np.testing.assert_allclose(across, -1, atol=1e-6)
    assert len(plane_gbuffer(SIZE, Camera(turn=90)).pixel) == 0
    assert 0 < len(plane_gbuffer(SIZE, Camera(turn=60)).pixel) < 0.7 * SIZE * SIZE


def test_a_mesh_turns_about_its_middle_and_keeps_its_own_places():
    front = mesh_gbuffer(square(), SIZE)
    for camera in (Camera(turn=25), Camera(pitch=-30), Camera(turn=10, pitch=15)):
        turned = mesh_gbuffer(square(), SIZE, camera)
        place = at_middle(turned)
        np.testing.assert_allclose(turned.uv[place], front.uv[at_middle(front)], atol=1e-3)
        # position and uv of the square are the same but for half a unit, however it is turned
        np.testing.assert_allclose(turned.position[:, :2] + 0.5, turned.uv, atol=1e-4)
        assert np.abs(turned.normal[place] - front.normal[at_middle(front)]).max() > 0.1


def test_a_zoomed_mesh_is_the_middle_of_the_whole():
    whole, zoomed = mesh_gbuffer(square(), 4 * SIZE), mesh_gbuffer(square(), SIZE, Camera(zoom=4))
    row, column = np.divmod(whole.pixel, 4 * SIZE)
    inner = (np.abs(row - 2 * SIZE + 0.5) < SIZE / 2) & (np.abs(column - 2 * SIZE + 0.5) < SIZE / 2)
    np.testing.assert_allclose(whole.uv[inner].mean(0), zoomed.uv.mean(0), atol=0.01)
    assert len(zoomed.pixel) == pytest.approx(inner.sum(), rel=0.05)


def test_some_pixels_of_a_view_are_a_view():
    view = sphere_gbuffer(SIZE)
    chosen = np.array([5, 70, 900])
    part = view.take(chosen)
    assert part.size == SIZE
    np.testing.assert_array_equal(part.pixel, view.pixel[chosen])
    np.testing.assert_array_equal(part.frames(), view.frames()[chosen])


@pytest.mark.parametrize("degrees", [8.0, 24.0, 90.0])
def test_a_wide_view_is_from_near_and_keeps_the_size_of_the_shape(degrees):
    """An eye at distance d sees the cap of a unit sphere whose normals have z above 1 / d."""
    camera = Camera(field_of_view=degrees)
    found = sphere_gbuffer(512, camera)
    distance = 1.06 / np.sin(np.radians(degrees / 2))
    assert found.normal[:, 2].min() == pytest.approx(1 / distance, abs=0.03)
    tilt = found.pixel % 512 + 0.5
    radius = np.tan(np.arcsin(1 / distance)) / np.tan(np.radians(degrees / 2))
    assert np.ptp(tilt) / 512 == pytest.approx(radius, abs=0.006)
    assert radius > 0.89
    # a mesh around which the sphere fits, and the square, too
    assert np.ptp(mesh_gbuffer(square(), 128, camera).pixel % 128) > 50
    assert len(plane_gbuffer(64, camera).pixel) == 64 * 64


def test_zooming_out_shrinks_the_shape_by_as_much():
    whole, small = sphere_gbuffer(256), sphere_gbuffer(256, Camera(zoom=0.5))
    assert len(small.pixel) / len(whole.pixel) == pytest.approx(0.25, abs=0.005)
    assert len(mesh_gbuffer(square(), 256, Camera(zoom=0.5)).pixel) / len(
        mesh_gbuffer(square(), 256).pixel
    ) == pytest.approx(0.25, abs=0.01)
