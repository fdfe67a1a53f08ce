"""The teacher on a mesh: positions, uv sets and painted colours by uv."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.mesh.mesh_domain import (
    coverage_weights,
    find_properties,
    mesh_points,
    needs_atlas,
)
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.material.analyse.on_mesh import depends_on_mesh
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe_teacher
from verdigris.core.material.teacher.teacher import Teacher

from ...material.documents import document, material

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


def glow_of(nodes, points, uv):
    parsed = parse_document(document(nodes, EMITTER, material()))
    teacher = Teacher(parsed, device=open_device("software"), mesh=points)
    up = np.tile(np.array([0, 0, 1], np.float32), (len(uv), 1))
    return teacher.unlit(np.asarray(uv, np.float32), up)[:, :3], teacher


def with_property(name, default='<input name="default" type="float" value="0.9"/>'):
    return (
        f'<geompropvalue name="worn" type="float"><input name="geomprop" type="string" '
        f'value="{name}"/>{default}</geompropvalue><combine3 name="colour" type="color3">'
        + "".join(f'<input name="in{n}" type="float" nodename="worn"/>' for n in (1, 2, 3))
        + "</combine3>"
    )


def opened(text):
    """The document, which must outlive its nodes, and the nodes of its material."""
    parsed = parse_document(document(text, EMITTER, material()))
    return parsed, list(parsed.nodes_of(parsed.require_material()))


def test_a_set_over_several_tiles_becomes_an_atlas_without_values_across_borders():
    surface = slope()
    corners = surface.sets["st1"] * 2 - 0.5  # the whole square
    # the right half is the tile 1003: what lies at its left edge is another part of the mesh
    split = np.concatenate([corners * (1, 1), corners + np.array([2, 0])]).astype(np.float32)
    place = np.concatenate([surface.mesh.position, surface.mesh.position + 10])
    mesh = Mesh(place, np.concatenate([surface.mesh.normal] * 2), split)
    points = mesh_points(Surface(mesh, {"st": split}, name="two"), side=64)
    assert points.tiles.first == (0, 0) and points.tiles.side == 3 and points.size == 66
    nodes = '<position name="place" type="vector3"/>' + (
        '<convert name="colour" type="color3"><input name="in" type="vector3" nodename="place"/>'
        "</convert>"
    )
    uv = np.array([[0.999, 0.5], [2.001, 0.5], [2.5, 0.25]], np.float32)
    found, teacher = glow_of(nodes, points, points.tiles.to_atlas(uv))
    x = uv[:, 0] - (0, 2, 2)
    expected = np.stack([1 + 2 * x, 2 + uv[:, 1], 3 + x], 1) + 10 * (uv[:, :1] > 1)
    assert found == pytest.approx(expected, abs=2e-3)
    assert teacher.tiles == points.tiles


def test_a_property_is_read_from_the_mesh_and_else_has_its_default():
    wear = np.stack([slope().sets["st"][..., 1] * 0.5], -1)
    surface = Surface(slope().mesh, slope().sets, {"wear": wear}, "slope")
    text = with_property("primvars:wear")
    _read, nodes = opened(text)
    names, warnings = find_properties(surface, nodes, "a.mtlx")
    assert (names, warnings) == (["wear"], [])
    points = mesh_points(surface, side=64, properties=names)
    uv = np.array([[0.2, 0.3], [0.4, 0.8]], np.float32)
    found, teacher = glow_of(text, points, uv)
    assert found[:, 0] == pytest.approx(uv[:, 1] * 0.5, abs=1e-3)
    kept = {part.name: part.fate for part in describe_teacher(teacher).parts}
    assert kept["property 'primvars:wear' of the geometry"] == "kept"
    text = with_property("rust")
    _read, nodes = opened(text)
    names, (warning,) = find_properties(surface, nodes, "a.mtlx")
    assert names == []
    assert warning == (
        "slope has no primvar 'rust', which 'worn' reads: it reads its default. The mesh has st, "
        "st1, wear"
    )
    found, _ = glow_of(text, points, uv)
    assert found == pytest.approx(0.9)


@pytest.mark.parametrize("name", ["wear", "Cd"])
def test_values_that_are_not_finite_are_refused_where_they_are_read(name):
    values = np.full((2, 3, 3), 0.5, np.float32)
    values[1, 2] = np.nan
    surface = Surface(slope().mesh, slope().sets, {name: values}, "slope")
    with pytest.raises(MeshError, match=f"slope: the primvar '{name}' has values that are not"):
        mesh_points(surface, side=16, properties=[name])
    # another is not looked at
    spoilt = Surface(slope().mesh, slope().sets, {"rest": values}, "slope")
    assert np.isfinite(mesh_points(spoilt, side=16).texels).all()


def test_a_missing_property_without_a_default_is_refused():
    _read, nodes = opened(with_property("rust", ""))
    message = (
        r"a.mtlx: slope has no primvar 'rust', which 'worn' reads without a default: add it to the "
        r"mesh \(it has displayColor, st, st1\), or give the node a default"
    )
    with pytest.raises(MeshError, match=message):
        find_properties(slope(), nodes, "a.mtlx")


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ('<constant name="colour" type="color3"><input name="value" type="color3" '
         'value="1, 0, 0"/></constant>', False),
        (with_property("wear"), True),
        ('<geomcolor name="colour" type="color3"/>', True),
        ('<noise3d name="colour" type="color3"/>', True),
        ('<noise2d name="colour" type="color3"/>', False),
    ],
)  # fmt: skip
def test_materials_that_depend_on_the_mesh_are_recognised(nodes, expected):
    _read, found = opened(nodes)
    assert depends_on_mesh(found) is expected


NOISE = '<noise3d name="colour" type="color3"/>'
FLAT_NOISE = '<noise2d name="colour" type="color3"/>'


@pytest.mark.parametrize(
    ("move", "nodes", "joins", "warns"),
    [
        ((1, 0), NOISE, True, False),  # the second triangle in a tile of its own
        ((1, 0), FLAT_NOISE, False, False),  # tiles may share what repeats
        ((0.5, 0), NOISE, False, True),  # across a border
        ((0, 0), NOISE, False, False),
        ((40, 0), NOISE, False, True),  # too far for an atlas
    ],
)
def test_unit_squares_that_show_a_material_differently_share_no_texture(move, nodes, joins, warns):
    uv = slope().sets["st"] * (2, 1)
    uv[1] += move
    surface = Surface(slope().mesh, {"st": uv.astype(np.float32)}, name="slope")
    _read, read_nodes = opened(nodes)
    found, warnings = needs_atlas(surface, "st", read_nodes)
    assert (found, len(warnings)) == (joins, warns)
