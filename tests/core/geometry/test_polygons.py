"""Polygons fall into triangles that cover them once, whatever their outline."""

import numpy as np
import pytest

from verdigris.core.geometry import polygons
from verdigris.core.geometry.mesh_values import load_painted_mesh
from verdigris.core.geometry.polygons import fan, triangulate
from verdigris.core.importance.from_mesh import MapSettings, weight_maps

# An arrow, an L, a comb, and one with a corner on a straight line.
OUTLINES = (
    [(0, 0), (4, 0), (1, 1), (0, 4)],
    [(0.4, 1), (0, 1), (0, 0), (1, 0), (1, 0.4), (0.4, 0.4)],
    [
        (0, 0),
        (7, 0),
        (7, 3),
        (6, 3),
        (6, 1),
        (5, 1),
        (5, 3),
        (2, 3),
        (2, 1),
        (1, 1),
        (1, 3),
        (0, 3),
    ],
    [(0, 0), (2, 0), (4, 0), (2, 1), (0, 4)],
)


def turned(outline):
    """Somewhere in space."""
    rotation, _ = np.linalg.qr(np.random.default_rng(2).standard_normal((3, 3)))
    flat = np.column_stack([np.array(outline, float), np.zeros(len(outline))])
    return 100 * flat @ rotation + (3, -50, 7)


def inside(outline, places):
    """By how often a ray to the right meets the outline."""
    crossings = np.zeros(len(places), int)
    for start, end in zip(outline, np.roll(outline, -1, 0), strict=True):
        meets = (start[1] > places[:, 1]) != (end[1] > places[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (places[:, 1] - start[1]) / (end[1] - start[1])
            crossings += meets & (places[:, 0] < start[0] + share * (end[0] - start[0]))
    return crossings % 2 == 1


@pytest.mark.parametrize("outline", OUTLINES)
@pytest.mark.parametrize("step", [1, -1])
def test_triangles_cover_a_polygon_once_and_turn_as_it_does(outline, step):
    for first in range(len(outline)):
        corners = np.roll(np.array(outline, float)[::step], first, 0)
        counts = np.array([3, len(corners), 4])
        square = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
        places = np.concatenate([square[:3], turned(corners), square])
        found = triangulate(counts, places)
        np.testing.assert_array_equal(found[[0, -2, -1]], fan(counts)[[0, -2, -1]])
        own = found[1:-2] - 3
        assert len(own) == len(corners) - 2
        probes = np.random.default_rng(first).uniform(0, 7, (500, 2))
        times = sum(inside(corners[triangle], probes) for triangle in own)
        np.testing.assert_array_equal(times, inside(corners, probes))
        edges = corners[own][:, 1:] - corners[own][:, :1]
        assert (step * np.linalg.det(edges) >= 0).all()


def test_a_polygon_that_crosses_itself_has_as_many_triangles_as_any():
    random = np.random.default_rng(1)
    for _ in range(50):
        counts = random.integers(0, 9, 5)
        found = triangulate(counts, random.standard_normal((counts.sum(), 3)))
        assert len(found) == np.maximum(counts - 2, 0).sum()
    assert len(triangulate(np.array([6]), np.zeros((6, 3)))) == 4


def write_obj(path, outline):
    lines = [f"v {x} {y} 0 {w} {w} {w}" for w, (x, y) in enumerate(outline, 1)]
    lines += [f"vt {x} {y}" for x, y in outline]
    lines.append("f " + " ".join(f"{n}/{n}" for n in range(1, len(outline) + 1)))
    path.write_text("\n".join(lines))
    return path


def write_usd(path, outline):
    count = len(outline)
    places = ", ".join(f"({x}, {y}, 0)" for x, y in outline)
    path.write_text(
        f'#usda 1.0\ndef Mesh "m"\n{{\nint[] faceVertexCounts = [{count}]\n'
        f"int[] faceVertexIndices = {list(range(count))}\npoint3f[] points = [{places}]\n"
        f'texCoord2f[] primvars:st = {outline} (interpolation = "vertex")\n'
        f'float[] primvars:color = {list(range(1, count + 1))} (interpolation = "vertex")\n}}\n'
    )
    return path


def test_paint_on_a_polygon_that_is_not_convex_stays_on_it(tmp_path):
    outline = OUTLINES[1]
    obj = write_obj(tmp_path / "a.obj", outline)
    mesh, weights, _ = load_painted_mesh(obj, "color")
    pytest.importorskip("pxr")
    other, others, _ = load_painted_mesh(write_usd(tmp_path / "a.usda", outline), "color")
    np.testing.assert_array_equal(mesh.position, other.position)
    np.testing.assert_array_equal(weights, others)
    # each corner has its own number as weight
    corners = np.array(outline)
    np.testing.assert_allclose(mesh.uv, corners[weights.astype(int) - 1], atol=1e-6)
    found = weight_maps(mesh.uv, weights, MapSettings(20, dilation=0, base=0.0))
    assert found.warnings == ()
    row, column = np.indices((20, 20))
    centres = np.stack([(column + 0.5) / 20, (row + 0.5) / 20], -1).reshape(-1, 2)
    np.testing.assert_array_equal(
        found.tiles[1001].weights.ravel() > 0, inside(np.array(outline), centres)
    )


@pytest.mark.parametrize("kind", ["obj", "usda"])
def test_polygons_fall_into_triangles_once_for_a_mesh_and_its_paint(kind, tmp_path, monkeypatch):
    if kind == "usda":
        pytest.importorskip("pxr")
    write = {"obj": write_obj, "usda": write_usd}[kind]
    path = write(tmp_path / f"a.{kind}", OUTLINES[1])
    cut = []
    ears = polygons.ears

    def noting(outline):
        cut.append(len(outline))
        return ears(outline)

    monkeypatch.setattr(polygons, "ears", noting)
    load_painted_mesh(path, "color")
    assert cut == [len(OUTLINES[1])]
