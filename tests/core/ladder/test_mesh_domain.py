"""The teacher on a mesh: positions, uv sets and painted colours by uv."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.mesh_domain import coverage_weights, mesh_points
from verdigris.core.ladder.surface import Surface
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ..material.documents import document, material

EMITTER = (
    '<standard_surface name="shader" type="surfaceshader">'
    '<input name="base" type="float" value="0"/>'
    '<input name="specular" type="float" value="0"/><input name="emission" type="float" value="1"/>'
    '<input name="emission_color" type="color3" nodename="colour"/></standard_surface>'
)


def slope():
    """A square that rises from x = 1 to x = 3 in the left half of uv, with a second uv set."""
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [1, 1], [0, 1]], np.float32)
    x, y = corners.T
    place = np.stack([1 + 2 * x, 2 + y, 3 + x], 1).reshape(2, 3, 3)
    normal = np.cross(place[:, 1] - place[:, 0], place[:, 2] - place[:, 0])
    normal = np.repeat(normal / np.linalg.norm(normal, axis=1, keepdims=True), 3, 0)
    uv = (corners * (0.5, 1)).reshape(2, 3, 2).astype(np.float32)
    second = (0.25 + 0.5 * corners).reshape(2, 3, 2).astype(np.float32)
    colour = np.stack([x, y, 0.5 + 0 * x], 1).reshape(2, 3, 3)
    mesh = Mesh(place.astype(np.float32), normal.reshape(2, 3, 3).astype(np.float32), uv)
    return Surface(mesh, {"st": uv, "st1": second}, {"displayColor": colour}, "slope")


def extract(name, source, kind, index):
    return (
        f'<extract name="{name}" type="float"><input name="in" type="{kind}" nodename="{source}"/>'
        f'<input name="index" type="integer" value="{index}"/></extract>'
    )


def test_the_teacher_reads_what_the_mesh_has_at_a_uv():
    nodes = (
        '<position name="place" type="vector3"><input name="space" type="string" value="object"/>'
        '</position><texcoord name="second" type="vector2"><input name="index" type="integer" '
        'value="1"/></texcoord><geomcolor name="paint" type="color3"/>'
        + extract("first", "place", "vector3", 2)
        + extract("middle", "second", "vector2", 1)
        + extract("last", "paint", "color3", 0)
        + '<combine3 name="colour" type="color3">'
        + "".join(
            f'<input name="in{number}" type="float" nodename="{each}"/>'
            for number, each in enumerate(("first", "middle", "last"), 1)
        )
        + "</combine3>"
    )
    device = open_device("software")
    points = mesh_points(slope(), side=64)
    parsed = parse_document(document(nodes, EMITTER, material()))
    teacher = Teacher(parsed, device=device, mesh=points)
    rng = np.random.default_rng(0)
    uv = (0.03 + rng.random((50, 2)) * (0.44, 0.94)).astype(np.float32)
    up = np.tile(np.array([0, 0, 1], np.float32), (50, 1))
    found = teacher.unlit(uv, up)[:, :3]
    x, y = 2 * uv[:, 0], uv[:, 1]
    assert found == pytest.approx(np.stack([3 + x, 0.25 + 0.5 * y, x], 1), abs=1e-3)


def test_places_beside_the_mesh_get_no_samples():
    points = mesh_points(slope(), side=64)
    weights = coverage_weights(points, np.full((8, 8), 2, np.float32))
    assert (weights[:, :32] == 2).all()
    assert (weights[1:-1, 34:-2] == 0).all()


def test_a_set_over_several_tiles_is_refused():
    surface = slope()
    wide = Surface(surface.mesh, {"st": surface.sets["st"] * 4}, name="wide")
    with pytest.raises(MeshError, match=r"wide: the uv set 'st' covers 8 unit squares.*--uv"):
        mesh_points(wide)
