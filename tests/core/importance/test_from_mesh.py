"""Paint on a mesh lands on the texels that its triangles touch, and says what it mended."""

import numpy as np
import pytest

from verdigris.core.base.errors import MeshError, SettingsError
from verdigris.core.geometry.raster import UNITS, touches
from verdigris.core.importance.from_mesh import MapSettings, corner_weights, dilate, weight_maps


def quad(u0, v0, u1, v1):
    """Two triangles that fill a rectangle of uv."""
    a, b, c, d = (u0, v0), (u1, v0), (u1, v1), (u0, v1)
    return np.array([[a, b, c], [a, c, d]], float)


def flat(uv, value):
    return np.full(uv.shape[:2], value, np.float32)


def maps(uv, weights, **settings):
    return weight_maps(uv, weights, MapSettings(**{"size": 16, "dilation": 0, **settings}))


def clipped_area(triangle, x, y):
    """Of a triangle inside the texel at (x, y), by cutting it along each side."""
    polygon = [tuple(corner) for corner in triangle]
    for axis, bound, sign in ((0, x, 1), (0, x + 1, -1), (1, y, 1), (1, y + 1, -1)):
        cut = []
        for here, there in zip(polygon, polygon[1:] + polygon[:1], strict=True):
            a, b = sign * (here[axis] - bound), sign * (there[axis] - bound)
            if a >= 0:
                cut.append(here)
            if a * b < 0:
                t = a / (a - b)
                cut.append(tuple(p + t * (q - p) for p, q in zip(here, there, strict=True)))
        polygon = cut
    edges = zip(polygon, polygon[1:] + polygon[:1], strict=True)
    return abs(sum(p[0] * q[1] - p[1] * q[0] for p, q in edges)) / 2


def test_a_triangle_touches_just_the_texels_that_it_shares_an_area_with():
    random = np.random.default_rng(1)
    scale = np.repeat([0.5, 3.0, 12.0], 20)[:, None, None]
    triangles = random.random((60, 1, 2)) * 16 + scale * random.standard_normal((60, 3, 2))
    triangles = np.rint(triangles * UNITS) / UNITS
    found = set()
    for part in touches(triangles, 16, 16):
        found |= set(zip(part.triangle.tolist(), part.x.tolist(), part.y.tolist(), strict=True))
    expected = {
        (number, x, y)
        for number, triangle in enumerate(triangles)
        for x in range(16)
        for y in range(16)
        if clipped_area(triangle, x, y) > 1e-9
    }
    assert found == expected
    assert len(expected) > 1000


def test_every_centre_of_a_sheet_without_overlaps_is_inside_just_one_of_its_triangles():
    grid = np.linspace(0, 32, 13)
    u, v = np.meshgrid(grid, grid)
    points = np.stack([u, v], -1)
    points[1:-1, 1:-1] += np.random.default_rng(0).uniform(-0.5, 0.5, (11, 11, 2))
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    sheet = np.concatenate([np.stack(t, 2).reshape(-1, 3, 2) for t in ((a, b, c), (a, d, c))])
    times = np.zeros((32, 32), int)
    for part in touches(sheet, 32, 32):
        np.add.at(times, (part.y[part.is_inside], part.x[part.is_inside]), 1)
    assert (times == 1).all()


def test_weights_of_corners_are_interpolated_to_the_texels_centres():
    uv = quad(0, 0, 1, 1)
    weights = 1 + 2 * uv[..., 0] + 3 * uv[..., 1]
    found = maps(uv, weights).tiles[1001]
    centre = (np.arange(16) + 0.5) / 16
    assert found.weights == pytest.approx(1 + 2 * centre + 3 * centre[:, None], abs=1e-5)
    assert (found.covered, found.overlapping) == (256, 0)


def test_what_no_triangle_covers_has_the_base_weight():
    found = maps(quad(0.25, 0.5, 0.5, 1.0), flat(quad(0, 0, 1, 1), 8), base=0.5).tiles[1001]
    expected = np.full((16, 16), 0.5)
    expected[8:16, 4:8] = 8
    np.testing.assert_array_equal(found.weights, expected)


def test_a_triangle_smaller_than_a_texel_still_paints_it():
    uv = np.array([[[0.51, 0.26], [0.52, 0.26], [0.51, 0.2601]]])
    found = maps(uv, flat(uv, 8)).tiles[1001]
    assert np.argwhere(found.weights == 8).tolist() == [[4, 8]]


def test_islands_on_each_other_and_mirrored_ones_count_with_their_largest_weight():
    lower, upper = quad(0, 0, 0.5, 0.5), quad(0.25, 0.25, 0.75, 0.75)[:, ::-1]
    uv = np.concatenate([lower, upper])
    weights = np.concatenate([flat(lower, 2), flat(upper, 8)])
    for order in (slice(None), slice(None, None, -1)):
        found = maps(uv[order], weights[order])
        assert found.tiles[1001].overlapping == 16
        assert "16 of 112 covered texels" in found.warnings[0]
        assert (found.tiles[1001].weights[4:12, 4:12] == 8).all()
        assert (found.tiles[1001].weights[:4, :8] == 2).all()


@pytest.mark.parametrize("wraps", [False, True])
def test_dilation_takes_the_weight_of_the_nearest_covered_texel(wraps):
    random = np.random.default_rng(3)
    covered = random.random((19, 23)) < 0.02
    covered[0, 3] = covered[9, 22] = True
    weights = np.where(covered, random.random((19, 23)), -1).astype(np.float32)
    grown, known = dilate(weights, covered, 5, wraps)
    sources = np.argwhere(covered)
    for place in np.ndindex(19, 23):
        gap = np.abs(sources - place)
        if wraps:
            gap = np.minimum(gap, np.array([19, 23]) - gap)
        distance = (gap**2).sum(1)
        assert known[place] == (distance.min() <= 25)
        if known[place]:
            nearest = {float(weights[tuple(s)]) for s in sources[distance == distance.min()]}
            assert float(grown[place]) in nearest


def test_each_udim_tile_gets_a_map_of_its_own():
    uv = np.concatenate([quad(0, 0, 1, 1), quad(1.25, 0, 1.5, 1), quad(0, 1, 1, 2)])
    weights = np.concatenate([flat(uv[:2], 1), flat(uv[:2], 4), flat(uv[:2], 6)])
    found = maps(uv, weights, base=0)
    assert sorted(found.tiles) == [1001, 1002, 1011]
    assert found.warnings == ()
    assert (found.tiles[1001].weights == 1).all()
    assert (found.tiles[1002].weights[:, 4:8] == 4).all()
    assert found.tiles[1002].weights.sum() == 4 * 64
    assert (found.tiles[1011].weights == 6).all()


def test_triangles_across_a_tiles_border_are_split_and_counted():
    uv = quad(0.5, 0, 1.5, 1)
    found = maps(uv, flat(uv, 3), base=0)
    assert (found.tiles[1001].weights[:, 8:] == 3).all()
    assert (found.tiles[1002].weights[:, :8] == 3).all()
    assert found.tiles[1001].weights.sum() + found.tiles[1002].weights.sum() == 3 * 256
    assert "2 of 2 triangles cross the border" in found.warnings[0]


def test_a_tile_has_a_map_where_a_triangle_has_an_area_in_it_and_none_where_it_passes_by():
    # its long side meets 1022 at a corner and passes 1032 by
    uv = np.array([[[0.1, 0.1], [1.9, 0.1], [0.1, 3.9]]])
    found = maps(uv, flat(uv, 8))
    assert sorted(found.tiles) == [1001, 1002, 1011, 1012, 1021, 1031]
    for number, tile in found.tiles.items():
        corner = np.array([(number - 1001) % 10, (number - 1001) // 10])
        triangle = np.rint((uv[0] - corner) * 16 * UNITS) / UNITS
        areas = [[clipped_area(triangle, x, y) for x in range(16)] for y in range(16)]
        np.testing.assert_array_equal(tile.weights, np.where(np.array(areas) > 1e-9, 8, 1))
    with pytest.raises(MeshError, match="all triangles are outside of the UDIM tiles"):
        maps(np.array([[[-1, 0.9], [-1, -1], [0.5, -1]]]), np.ones((1, 3)))


def test_uvs_outside_of_all_tiles_are_left_out_and_counted_or_refused_when_nothing_is_left():
    inside, outside = quad(0, 0, 1, 1), quad(-3, -2, -2, -1)
    both = np.concatenate([inside, outside])
    found = maps(both, flat(both, 2))
    assert list(found.tiles) == [1001]
    assert "2 of 4 triangles are outside of the UDIM tiles" in found.warnings[0]
    with pytest.raises(MeshError, match=r"all 2 triangles are outside .* layout 'repeat'"):
        maps(outside, flat(outside, 2))


def test_a_repeating_texture_gathers_all_squares_in_one_map():
    uv = np.concatenate([quad(-2, -1, -1.5, -0.5), quad(3.5, 0.5, 4, 1)])
    weights = np.concatenate([flat(uv[:2], 2), flat(uv[:2], 5)])
    found = maps(uv, weights, layout="repeat", base=0)
    assert "4 of 4 triangles are partly outside of the unit square" in found.warnings[0]
    expected = np.zeros((16, 16))
    expected[:8, :8], expected[8:, 8:] = 2, 5
    np.testing.assert_array_equal(found.tiles[1001].weights, expected)


def test_a_texture_that_repeats_across_one_triangle_is_painted_whole():
    uv = quad(0, 0, 30, 30)
    assert (maps(uv, flat(uv, 2), layout="repeat").tiles[1001].weights == 2).all()
    for far in (100, 1e10, 1e30):
        with pytest.raises(MeshError, match="2 triangles span more than 4096 tiles"):
            maps(quad(0, 0, far, far), flat(uv, 2), layout="repeat")


def test_triangles_without_an_area_or_with_uvs_that_are_no_numbers_are_left_out_and_counted():
    uv = np.concatenate([quad(0, 0, 1, 1), np.zeros((3, 3, 2)), np.full((1, 3, 2), np.nan)])
    found = maps(uv, flat(uv, 2))
    assert (found.tiles[1001].weights == 2).all()
    assert found.warnings[0].startswith("1 of 6 triangles have uvs that are not finite")
    assert found.warnings[1].startswith("3 of 6 triangles have no area")
    with pytest.raises(MeshError, match="none of 3 triangles has an area"):
        maps(np.zeros((3, 3, 2)), np.ones((3, 3)))


def test_weights_that_are_no_numbers_or_negative_are_mended_and_counted():
    uv = quad(0, 0, 1, 1)
    weights = np.array([[np.nan, 1, 1], [1, -4, np.inf]], np.float32)
    found = maps(uv, weights)
    assert found.warnings == (
        "2 weights are not finite and were replaced by 1",
        "1 weights are negative and were replaced by 0",
    )
    assert np.isfinite(found.tiles[1001].weights).all()
    assert found.tiles[1001].weights.min() >= 0


def test_a_map_without_any_weight_is_refused():
    with pytest.raises(MeshError, match="zero everywhere"):
        maps(quad(0, 0, 1, 1), np.zeros((2, 3)), base=0)


def test_a_mesh_without_uvs_is_refused():
    for uv in (None, np.zeros((0, 3, 2))):
        with pytest.raises(MeshError, match="has no uvs"):
            weight_maps(uv, np.zeros((0, 3)))


def test_weights_of_points_corners_and_faces_become_those_of_corners():
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    points = corner_weights(np.array([1, 2, 3, 4]), triangles, "point")
    assert points.tolist() == [[1, 2, 3], [1, 3, 4]]
    assert corner_weights(np.arange(6), triangles, "corner").tolist() == [[0, 1, 2], [3, 4, 5]]
    assert corner_weights(points, triangles, "corner").tolist() == points.tolist()
    assert corner_weights(np.array([5, 6]), triangles, "face").tolist() == [[5] * 3, [6] * 3]
    colours = np.array([[0, 0, 3], [3, 3, 3], [6, 6, 6], [9, 9, 9]])
    assert corner_weights(colours, triangles, "point").tolist() == [[1, 3, 6], [1, 6, 9]]


@pytest.mark.parametrize(
    ("count", "domain", "text"),
    [
        (3, "point", "3 weights for points up to number 3"),
        (5, "corner", "5 weights for 6 corners"),
        (1, "face", "1 weights for 2 faces"),
    ],
)
def test_too_few_weights_are_refused(count, domain, text):
    with pytest.raises(MeshError, match=text):
        corner_weights(np.ones(count), np.array([[0, 1, 2], [0, 2, 3]]), domain)


def test_settings_outside_what_they_may_be_are_refused():
    for wrong in ({"size": 0}, {"dilation": -1}, {"base": float("nan")}, {"layout": "atlas"}):
        with pytest.raises(SettingsError, match=next(iter(wrong))):
            MapSettings(**wrong)
