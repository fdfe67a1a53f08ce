"""The polygons of Houdini objects as triangles, with their painted weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hou
import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import smooth_normals
from verdigris.core.geometry.polygons import triangulate
from verdigris.core.hosts.host import WEIGHT_SET, HostMesh
from verdigris.plugins.houdini.scene.nodes import is_ready, text_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_ASSIGNED = "shop_materialpath"
_OBJECT_PATH, _GEOMETRY = "/obj", "geo"
_MATERIAL_NODE, _COUNT_OF_MATERIALS = "material", "num_materials"
_BRUSH, _PAINTED = "attribpaint", "attribname1"
# Attribute Promote: its classes of attributes, and the attributes that it moves to vertices.
_OF_PRIMITIVES, _OF_POINTS, _OF_VERTICES = 1, 2, 3
_POINT, _PRIMITIVE = "verdigris_point", "verdigris_primitive"


def objects() -> list[hou.ObjNode]:
    """The objects of the scene that may have geometry, also in subnets: selected ones first, then
    displayed ones."""
    network = hou.node(_OBJECT_PATH)
    found = {node.path(): node for node in (network.children() if network is not None else ())}
    kind = hou.objNodeTypeCategory().nodeType(_GEOMETRY)
    for node in kind.instances() if kind is not None else ():
        found.setdefault(node.path(), node)
    selected = {node.path() for node in hou.selectedNodes()}

    def place(item: tuple[str, hou.ObjNode]) -> tuple[bool, bool]:
        return item[0] not in selected, not item[1].isObjectDisplayed()

    there = [(path, node) for path, node in found.items() if isinstance(node, hou.ObjNode)]
    return [node for _, node in sorted(there, key=place)]


def materials_of(node: hou.ObjNode) -> set[str]:
    """The paths of the materials on an object and on its polygons. An object that has to cook
    answers by its parameters and its Material nodes."""
    shown = _shown_sop(node)
    if shown is None:
        return set()
    written = [(node, node.parm(_ASSIGNED))]
    found: set[str] = set()
    geometry = _ready_geometry(shown)
    if geometry is not None:
        attribute = geometry.findPrimAttrib(_ASSIGNED)
        for text in attribute.strings() if attribute is not None else ():
            found.add(_absolute(node, text))
    else:
        for each in (shown, *shown.inputAncestors()):
            if each.type().name() == _MATERIAL_NODE:
                count = each.parm(_COUNT_OF_MATERIALS)
                most = max(1, count.evalAsInt() if count is not None else 1)
                written += [(each, each.parm(f"{_ASSIGNED}{i}")) for i in range(1, most + 1)]
    for owner, parm in written:
        if parm is not None:
            found.add(_absolute(owner, text_of(parm)))
    return found - {""}


def _ready_geometry(shown: hou.SopNode) -> hou.Geometry | None:
    """The geometry of a node, unless the node has to cook or is in error."""
    try:
        return shown.geometry() if is_ready(shown) else None
    except hou.Error:
        return None


def _absolute(node: hou.Node, path: str) -> str:
    """The path of a material, which may be relative to the node that names it."""
    if not path or path.startswith("/"):
        return path
    found = node.node(path)
    return str(found.path()) if found is not None else ""


def _shown_sop(container: Any) -> hou.SopNode | None:
    shown = container.displayNode() if isinstance(container, hou.ObjNode) else None
    return shown if isinstance(shown, hou.SopNode) else None


def float_attributes(node: hou.ObjNode) -> tuple[str, ...]:
    """The float attributes of points and vertices. An object that has to cook names those that
    its brushes paint."""
    shown = display_node(node)
    if not is_ready(shown):
        brushes = [
            each for each in (shown, *shown.inputAncestors()) if each.type().name() == _BRUSH
        ]
        names = [text_of(each.parm(_PAINTED)) for each in brushes]
        return tuple(dict.fromkeys(name for name in names if name))
    geometry = geometry_of(node)
    return tuple(
        attribute.name()
        for attribute in (*geometry.pointAttribs(), *geometry.vertexAttribs())
        if attribute.dataType() == hou.attribData.Float
    )


def uncooked_objects(material: str) -> list[str]:
    """The objects with a material whose painted weights nobody knows before they cook."""
    waiting = []
    for node in objects():
        shown = _shown_sop(node)
        if shown is not None and not is_ready(shown):
            waiting.append(node)
    return [
        node.path()
        for node in waiting
        if material in materials_of(node) and WEIGHT_SET not in float_attributes(node)
    ]


def display_node(container: Any) -> hou.SopNode:
    """The display node of an object."""
    shown = _shown_sop(container)
    if shown is None:
        raise HostError(f"{container.path()} shows no geometry: set a display flag inside it")
    return shown


def geometry_of(container: Any) -> hou.Geometry:
    """The geometry of the display node of an object."""
    shown = display_node(container)
    try:
        found = shown.geometry()
    except hou.Error as failure:
        raise HostError(f"{shown.path()} does not cook: {failure}") from None
    if found is None:
        raise HostError(f"{container.path()} does not cook: see the errors inside it")
    return found


def mesh_of_object(node: hou.ObjNode, material: str, weight_set: str) -> HostMesh:
    """Reads the polygons of an object. If `material` is given, only polygons with it."""
    name, geometry = node.path(), geometry_of(node)
    points, primitives = _topology(geometry)
    total = geometry.intrinsicValue("primitivecount")
    counts = np.bincount(primitives, minlength=total)
    position = _of_points(geometry, "P", 3)
    corners, faces = triangle_corners(counts, position[points])
    notes = []
    if geometry.countPrimType(hou.primType.Polygon) != total:
        flat = np.array([each.type() == hou.primType.Polygon for each in geometry.prims()])
        corners, faces = corners[flat[faces]], faces[flat[faces]]
        notes.append(
            f"{name}: {int((~flat).sum())} of {total} primitives are no polygons, and were left "
            "out: add an Unpack or a Convert"
        )
    if material and geometry.findPrimAttrib(_ASSIGNED) is not None:
        assigned = geometry.primStringAttribValues(_ASSIGNED)
        ours = {path for path in set(assigned) if _absolute(node, path) == material}
        if ours:
            kept = np.array([path in ours for path in assigned])
            corners = corners[kept[faces]]
            others = int((~kept).sum())
            if others:
                notes.append(f"{name}: {others} of {total} faces have another material")
    if not len(corners):
        raise HostError(f"{name} has no polygons: convert it to polygons")
    to_world = np.array(node.worldTransform().asTuple(), np.float64).reshape(4, 4)
    position = (position @ to_world[:3, :3] + to_world[3, :3]).astype(np.float32)
    uv = _by_vertex(geometry, "uv", points)
    if uv is None:
        raise HostError(f"{name} has no attribute 'uv': add a UV Unwrap or a UV Flatten")
    normal = _by_vertex(geometry, "N", points)
    if normal is None:
        normals = smooth_normals(position[points[corners]], points[corners], len(position))
    else:
        turned = normal[:, :3] @ _normal_matrix(to_world[:3, :3])
        turned /= np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-12)
        normals = turned.astype(np.float32)[corners]
    weights = _by_vertex(geometry, weight_set, points)
    return HostMesh(
        name,
        position[points[corners]],
        normals,
        np.ascontiguousarray(uv[:, :2])[corners],
        None if weights is None else weights.mean(1, dtype=np.float32)[corners],
        tuple(notes),
    )


def _topology(geometry: hou.Geometry) -> tuple[Ints, Ints]:
    """The point and the primitive of each vertex.

    hou has no arrays with them, but with attributes: numbers of points and primitives are promoted
    to vertices on a copy.
    """
    copy = geometry.freeze()
    places = (
        (_POINT, hou.attribType.Point, _OF_POINTS, "pointcount"),
        (_PRIMITIVE, hou.attribType.Prim, _OF_PRIMITIVES, "primitivecount"),
    )
    for name, kind, _, count in places:
        copy.addAttrib(kind, name, 0)
        numbers = np.arange(copy.intrinsicValue(count), dtype=np.int32).tobytes()
        if kind == hou.attribType.Point:
            copy.setPointIntAttribValuesFromString(name, numbers)
        else:
            copy.setPrimIntAttribValuesFromString(name, numbers)
    # verbs trust these numbers of changes
    copy.incrementAllDataIds()
    verb = hou.sopNodeTypeCategory().nodeVerb("attribpromote")
    for name, _, kind, _ in places:
        verb.setParms({"inname": name, "inclass": kind, "outclass": _OF_VERTICES})
        verb.execute(copy, [copy])
    found = [copy.vertexIntAttribValuesAsString(name) for name, *_ in places]
    points, primitives = (np.frombuffer(data, np.int32).astype(np.int64) for data in found)
    return points, primitives


def _normal_matrix(turn: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix for normals that belongs to a matrix for positions. It needs no inverse, so that
    flat objects work, too."""
    cofactors = np.stack([np.cross(turn[i - 2], turn[i - 1]) for i in range(3)])
    return -cofactors if np.linalg.det(turn) < 0 else cofactors


def _of_points(geometry: hou.Geometry, name: str, size: int) -> NDArray[np.float32]:
    data = geometry.pointFloatAttribValuesAsString(name)
    return np.frombuffer(data, np.float32).reshape(-1, size)


def _by_vertex(
    geometry: hou.Geometry, name: str, points: NDArray[np.int64]
) -> NDArray[np.float32] | None:
    """The values of a float attribute of vertices or points, by vertex."""
    attribute = geometry.findVertexAttrib(name)
    if attribute is not None and attribute.dataType() == hou.attribData.Float:
        data = geometry.vertexFloatAttribValuesAsString(name)
        return np.frombuffer(data, np.float32).reshape(-1, attribute.size())
    attribute = geometry.findPointAttrib(name)
    if attribute is not None and attribute.dataType() == hou.attribData.Float:
        return _of_points(geometry, name, attribute.size())[points]
    return None


def triangle_corners(counts: Ints, places: NDArray[Any]) -> tuple[Ints, Ints]:
    """The vertex of each corner (T, 3) and the polygon of each triangle (T,).

    `places` are the positions of the vertices. The winding is reversed: polygons of Houdini turn
    clockwise.
    """
    corners = triangulate(counts, places)[:, ::-1]
    return np.ascontiguousarray(corners), np.repeat(
        np.arange(len(counts)), np.maximum(counts - 2, 0)
    )
