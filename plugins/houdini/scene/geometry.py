"""The polygons of Houdini objects as triangles, with their painted weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import hou
import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import smooth_normals
from verdigris.core.geometry.polygons import triangulate
from verdigris.core.hosts.host import HostMesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

_ASSIGNED = "shop_materialpath"
_OBJECT_PATH, _GEOMETRY = "/obj", "geo"


def objects() -> list[hou.Node]:
    """The objects of the scene that may have geometry, also in subnets."""
    network = hou.node(_OBJECT_PATH)
    found = {node.path(): node for node in (network.children() if network is not None else ())}
    kind = hou.objNodeTypeCategory().nodeType(_GEOMETRY)
    for node in kind.instances() if kind is not None else ():
        found.setdefault(node.path(), node)
    return list(found.values())


def has_material(node: hou.Node, material: str) -> bool:
    """Whether an object or some of its polygons have a material of a network."""
    if not isinstance(node, hou.ObjNode) or node.displayNode() is None:
        return False
    parm = node.parm(_ASSIGNED)
    if parm is not None and _is_path_of(node, parm.evalAsString(), material):
        return True
    geometry = display_node(node).geometry()
    if geometry is None or geometry.findPrimAttrib(_ASSIGNED) is None:
        return False
    assigned = set(geometry.primStringAttribValues(_ASSIGNED))
    return any(_is_path_of(node, path, material) for path in assigned)


def _is_path_of(node: hou.Node, path: str, material: str) -> bool:
    """Whether a path is that of the material. It may be relative to the object."""
    if path == material:
        return True
    if not path or path.startswith("/"):
        return False
    found = node.node(path)
    return found is not None and bool(found.path() == material)


def display_node(container: Any) -> hou.SopNode:
    """The display node of an object."""
    shown = container.displayNode() if isinstance(container, hou.ObjNode) else None
    if shown is None:
        raise HostError(f"{container.path()} shows no geometry: set a display flag inside it")
    return shown


def geometry_of(container: Any) -> hou.Geometry:
    """The geometry of the display node of an object."""
    found = display_node(container).geometry()
    if found is None:
        raise HostError(f"{container.path()} does not cook: see the errors inside it")
    return found


def mesh_of_object(node: hou.ObjNode, material: str, weight_set: str) -> HostMesh:
    """Reads the polygons of an object. If `material` is given, only polygons with it."""
    name, geometry = node.path(), geometry_of(node)
    polygons = geometry.prims()
    counts = np.array([prim.numVertices() for prim in polygons], np.int64)
    # hou has no array with these numbers; this is the only loop over vertices
    points = np.array(
        [vertex.point().number() for prim in polygons for vertex in prim.vertices()], np.int64
    )
    position = _of_points(geometry, "P", 3)
    corners, faces = triangle_corners(counts, position[points])
    notes: tuple[str, ...] = ()
    if material and geometry.findPrimAttrib(_ASSIGNED) is not None:
        assigned = geometry.primStringAttribValues(_ASSIGNED)
        ours = {path for path in set(assigned) if _is_path_of(node, path, material)}
        if ours:
            kept = np.array([path in ours for path in assigned])
            corners = corners[kept[faces]]
            others = int((~kept).sum())
            if others:
                notes = (f"{name}: {others} of {len(counts)} faces have another material",)
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
        notes,
    )


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
