"""The meshes of a Maya scene as triangles, with their painted weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from maya import cmds
from maya.api import OpenMaya as om

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import FROM_Z_UP
from verdigris.core.hosts.host import NORMAL_WEIGHT, HostMaterial, HostMesh
from verdigris.plugins.maya.scene.assignments import former_parts
from verdigris.plugins.maya.scene.materials import engines_of
from verdigris.plugins.maya.scene.nodes import require_node
from verdigris.plugins.maya.scene.painting import scale_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

METRES = np.float32(0.01)
"""Maya's own unit of length, a centimetre."""


def open_mesh(name: str) -> tuple[om.MFnMesh, om.MDagPath]:
    """Opens a mesh. Returns it with its path."""
    require_node(name)
    names = om.MSelectionList()
    names.add(name)
    path = names.getDagPath(0)
    return om.MFnMesh(path), path


def has_colour_set(name: str, colour_set: str) -> bool:
    """Whether an evaluated mesh has a colour set."""
    return colour_set in open_mesh(name)[0].getColorSetNames()


def colour_sets(name: str) -> tuple[str, ...]:
    """The colour sets of a mesh by its nodes, without an evaluation of its geometry: those of the
    mesh and of the meshes that its history starts from, and those that its history makes."""
    history = cmds.listHistory(require_node(name)) or []
    found = []
    for node in cmds.ls(*history, type="mesh", long=True) or []:
        for index in cmds.getAttr(f"{node}.colorSet", multiIndices=True) or []:
            found.append(cmds.getAttr(f"{node}.colorSet[{index}].colorSetName") or "")
    for node in cmds.ls(*history, type="createColorSet") or []:
        found.append(cmds.getAttr(f"{node}.colorSetName") or "")
    return tuple(each for each in dict.fromkeys(found) if each)


def read_mesh(name: str, material: HostMaterial | None, weight_set: str) -> HostMesh:
    """Reads a mesh. If it has several materials, only the faces with this one."""
    mesh, path = open_mesh(name)
    counts, vertices = (np.array(part, np.int64) for part in mesh.getVertices())
    triangles = (np.array(part, np.int64) for part in mesh.getTriangles())
    corners, faces = triangle_corners(counts, vertices, *triangles)
    uv_set = mesh.currentUVSetName()
    uv_counts, uv_ids = (np.array(part, np.int64) for part in mesh.getAssignedUVs(uv_set))
    uv_ids = uv_of_corners(counts, uv_counts, uv_ids, name)
    u, v = (np.array(part, np.float32) for part in mesh.getUVs(uv_set))
    points = np.array(mesh.getPoints(om.MSpace.kWorld), np.float32)[:, :3] * METRES
    normals = np.array(mesh.getNormals(om.MSpace.kWorld), np.float32)[:, :3]
    normal_ids = np.array(mesh.getNormalIds()[1], np.int64)
    weights = _weights(mesh, name, weight_set)

    notes: tuple[str, ...] = ()
    kept = _faces_of(name, mesh, path, material, len(counts))
    if kept is not None and not kept.all():
        inside = kept[faces]
        corners = corners[inside]
        notes = (f"{name}: {int((~kept).sum())} of {len(kept)} faces have another material",)
    if not len(corners):
        raise HostError(f"{name} has no faces with this material")
    if om.MGlobal.isZAxisUp():
        turn = FROM_Z_UP[:3, :3].astype(np.float32)
        points, normals = points @ turn, normals @ turn
    uv = np.stack([u, v], 1)[uv_ids[corners]]
    normal = normals[normal_ids[corners]]
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
    return HostMesh(
        name,
        points[vertices[corners]],
        normal,
        uv,
        None if weights is None else weights[corners],
        notes,
    )


def _weights(mesh: om.MFnMesh, name: str, weight_set: str) -> np.ndarray | None:
    if weight_set not in mesh.getColorSetNames():
        return None
    scale = scale_of(name, weight_set)
    unpainted = om.MColor((*(NORMAL_WEIGHT / scale,) * 3, 1.0))
    colours = np.array(mesh.getFaceVertexColors(weight_set, unpainted), np.float32)
    return np.ascontiguousarray(colours[:, :3].mean(1) * np.float32(scale))


def _faces_of(
    name: str, mesh: om.MFnMesh, path: om.MDagPath, material: HostMaterial | None, count: int
) -> np.ndarray | None:
    """A mask of the faces with a material. None if it is unknown."""
    engines = engines_of(material) if material else ()
    shaders, by_face = mesh.getConnectedShaders(path.instanceNumber())
    if not engines or not len(shaders):
        return None
    chosen = [
        index
        for index, shader in enumerate(shaders)
        if om.MFnDependencyNode(shader).name() in engines
    ]
    mask = np.isin(np.array(by_face, np.int64)[:count], chosen)
    for part in former_parts(name, engines):
        faces = faces_of_part(part, count)
        mask[faces[faces < count]] = True
    return mask


def triangle_corners(
    counts: Ints, vertices: Ints, triangle_counts: Ints, triangle_vertices: Ints
) -> tuple[Ints, Ints]:
    """The face-vertex of each corner (T, 3) and the face of each triangle (T,).

    Maya stores triangles by vertex, but colours, normals and uvs by face-vertex.
    """
    faces = np.repeat(np.arange(len(counts)), triangle_counts)
    face_of_corner = np.repeat(np.arange(len(counts)), counts)
    most = int(vertices.max(initial=0)) + 1
    keys = face_of_corner * most + vertices
    order = np.argsort(keys, kind="stable")
    corner_keys = np.repeat(faces, 3) * most + triangle_vertices
    place = np.searchsorted(keys[order], corner_keys)
    corners = order[np.minimum(place, len(order) - 1)]
    return corners.reshape(-1, 3), faces


def uv_of_corners(counts: Ints, uv_counts: Ints, uv_ids: Ints, mesh: str) -> Ints:
    """The uv index of each face-vertex. Faces without uvs are an error."""
    if not uv_counts.any():
        raise HostError(f"{mesh} has no texture coordinates: unwrap it (UV > Automatic)")
    bare = int((uv_counts != counts).sum())
    if bare:
        raise HostError(
            f"{mesh}: {bare} of {len(counts)} faces have no texture coordinates: unwrap them"
        )
    return uv_ids


def faces_of_part(part: str, count: int) -> Ints:
    """The faces of a component such as `f[0:3]`. All faces of the mesh if it is empty."""
    if not part:
        return np.arange(count)
    low, colon, high = part.removeprefix("f[").removesuffix("]").partition(":")
    if low == "*":
        return np.arange(count)
    first = int(low)
    return np.arange(first, (int(high) if colon else first) + 1)
