"""Houdini as a host. Nothing else in this package touches the scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hou
import numpy as np

from verdigris.core.errors import HostError
from verdigris.core.host import (
    NORMAL_WEIGHT,
    WEIGHT_SET,
    BakedResult,
    HostDocument,
    HostMaterial,
    HostMesh,
)
from verdigris.core.importance.primvars import find_weights, weight_names
from verdigris.core.material.usdshade import convert, list_materials
from verdigris.core.pictures.mesh import smooth_normals, usd_mesh
from verdigris.plugins.houdini.polygons import triangle_corners
from verdigris.plugins.houdini.result_script import RESULT_NODE, read_results, result_script

if TYPE_CHECKING:
    from numpy.typing import NDArray

STAGE, NETWORK = "USD stage", "/mat network"
RESULT_DATA = "verdigris_bundle"
_RESULTS_DATA = "verdigris_bundles"
_STAGE_PATH, _MATERIAL_PATH, _OBJECT_PATH = "/stage", "/mat", "/obj"
_ASSIGNED = "shop_materialpath"
_SEPARATOR = ":"
_TEMPORARY_PREFIX = "/materials/"


class HoudiniHost:
    """The scene that is open in this Houdini."""

    can_paint = True

    @property
    def name(self) -> str:
        return f"Houdini {hou.applicationVersionString()}"

    def scene_file(self) -> Path | None:
        return None if hou.hipFile.isNewFile() else Path(hou.hipFile.path())

    def open_scene(self, path: Path) -> None:
        if not path.is_file():
            raise HostError(f"{path}: there is no such scene")
        try:
            hou.hipFile.load(path.as_posix(), suppress_save_prompt=True, ignore_load_warnings=True)
        except hou.OperationFailed as failure:
            raise HostError(f"{path}: Houdini cannot open it: {failure}") from None

    # materials

    def materials(self) -> tuple[HostMaterial, ...]:
        found = [
            HostMaterial(node.path(), node.name(), NETWORK)
            for node in _children(_MATERIAL_PATH)
            if node.isGenericFlagSet(hou.nodeFlag.Material)
        ]
        for node in _stage_nodes():
            stage = _stage_of(node)
            for path in list_materials(stage):
                if _has_surface(stage, path):
                    name = path.rpartition("/")[2]
                    found.append(HostMaterial(f"{node.path()}{_SEPARATOR}{path}", name, STAGE))
        return tuple(found)

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        selected = {node.path() for node in hou.selectedNodes()}
        return tuple(
            material
            for material in self.materials()
            if material.key.partition(_SEPARATOR)[0] in selected
            or (
                material.source == NETWORK
                and selected & {name.partition(_SEPARATOR)[0] for name in self.meshes(material)}
            )
        )

    def document(self, material: HostMaterial) -> HostDocument:
        if material.source == STAGE:
            node, path = self._place(material)
            found = convert(_stage_of(node), path)
        else:
            node = _require_node(material.key)
            with _material_library(node) as stage:
                found = convert(stage, _library_path(node))
        scene = self.scene_file()
        folders = dict.fromkeys((*([scene.parent] if scene else []), *found.folders))
        notes = found.notes
        if scene is None:
            notes = (*notes, "the scene was never saved: $HIP stands for Houdini's own folder")
        return HostDocument(material.key, found.text, found.name, tuple(folders), notes)

    def _place(self, material: HostMaterial) -> tuple[hou.LopNode, str]:
        name, _, path = material.key.partition(_SEPARATOR)
        return _require_node(name), path

    # meshes and weights

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        if material.source == STAGE:
            node, path = self._place(material)
            bound = _bound_meshes(_stage_of(node), path)
            return tuple(f"{node.path()}{_SEPARATOR}{name}" for name in bound)
        node = _require_node(material.key)
        objects = [each for each in _children(_OBJECT_PATH) if _has_material(each, node.path())]
        selected = {each.path() for each in hou.selectedNodes()}
        objects.sort(key=lambda each: each.path() not in selected)
        return tuple(each.path() for each in objects)

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        node_path, _, prim_path = name.partition(_SEPARATOR)
        node = _require_node(node_path)
        if prim_path:
            return self._mesh_of_stage(node, prim_path, material, weight_set)
        wanted = material.key if material and material.source == NETWORK else ""
        return _mesh_of_object(node, wanted, weight_set)

    def _mesh_of_stage(
        self, node: hou.LopNode, path: str, material: HostMaterial | None, weight_set: str
    ) -> HostMesh:
        from pxr import UsdGeom

        stage = _stage_of(node)
        mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
        if not mesh:
            raise HostError(f"{node.path()}: has no mesh {path}: refresh the list")
        read = usd_mesh(mesh, node.path())
        weights = find_weights(mesh, weight_set, node.path())
        name = f"{node.path()}{_SEPARATOR}{path}"
        kept, notes = np.ones(len(read.uv), bool), ()
        if material is not None and material.source == STAGE:
            subset = _bound_faces(mesh, self._place(material)[1])
            if subset is not None:
                counts = np.array(mesh.GetFaceVertexCountsAttr().Get(), np.int64)
                kept = np.isin(triangle_corners(counts)[1], subset)
                left_out = len(counts) - len(subset)
                notes = (f"{name}: {left_out} of {len(counts)} faces have another material",)
        return HostMesh(
            name,
            read.position[kept],
            read.normal[kept],
            read.uv[kept],
            None if weights is None else weights[kept],
            notes,
        )

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        node_path, _, prim_path = mesh.partition(_SEPARATOR)
        node = _require_node(node_path)
        if prim_path:
            from pxr import UsdGeom

            # held, for the prims of a stage that nobody holds are gone
            stage = _stage_of(node)
            found = UsdGeom.Mesh(stage.GetPrimAtPath(prim_path))
            if not found:
                raise HostError(f"{node.path()}: has no mesh {prim_path}: refresh the list")
            return weight_names(found)
        geometry = _geometry(node)
        return tuple(
            attribute.name()
            for attribute in (*geometry.pointAttribs(), *geometry.vertexAttribs())
            if attribute.dataType() == hou.attribData.Float
        )

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        node_path, _, prim_path = mesh.partition(_SEPARATOR)
        if prim_path:
            raise HostError(
                f"{mesh}: is on a stage, which has no brush: paint the attribute {weight_set!r} on "
                "the SOP that it is imported from, or paint in the panel"
            )
        if not hou.isUIAvailable():
            raise HostError(f"{mesh}: this Houdini has no window to paint in: paint in the panel")
        container = _require_node(node_path)
        _refuse_locked(container)
        shown = _display_node(container)
        there = shown.geometry().findPointAttrib(weight_set) is not None
        with _one_step("Verdigris weights"):
            brush = shown if there and shown.type().name() == "attribpaint" else None
            if brush is None:
                brush = _add_brush(container, shown, weight_set, with_ones=not there)
            brush.setCurrent(True, clear_all_selected=True)
        viewer = hou.ui.paneTabOfType(hou.paneTabType.SceneViewer)
        if viewer is not None:
            viewer.enterCurrentNodeState()

    # results

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        text = result.bundle.as_posix()
        if material.source == NETWORK:
            node = _require_node(material.key)
            _refuse_locked(node)
            with _one_step("Verdigris result"):
                node.setUserData(RESULT_DATA, text)
            return
        node, path = self._place(material)
        _refuse_locked(node)
        holder = node if node.name().startswith(RESULT_NODE) else None
        with _one_step("Verdigris result"):
            results = {**read_results(node.userData(_RESULTS_DATA)), path: text}
            script, data = result_script(results)
            node.setUserData(_RESULTS_DATA, data)
            holder = holder or _existing_result(node) or _add_result(node)
            holder.setUserData(_RESULTS_DATA, data)
            holder.parm("python").set(script)

    def attached(self, material: HostMaterial) -> Path | None:
        if material.source == NETWORK:
            text = _require_node(material.key).userData(RESULT_DATA)
        else:
            node, path = self._place(material)
            text = read_results(node.userData(_RESULTS_DATA)).get(path)
        return Path(text) if text else None


def _children(path: str) -> tuple[hou.Node, ...]:
    node = hou.node(path)
    return node.children() if node is not None else ()


def _require_node(path: str) -> Any:
    node = hou.node(path)
    if node is None:
        raise HostError(f"{path}: is not in the scene (any more): refresh the list")
    return node


def _stage_nodes() -> list[hou.LopNode]:
    """The selected LOPs, or else what the stage shows."""
    selected = [node for node in hou.selectedNodes() if isinstance(node, hou.LopNode)]
    if selected:
        return selected
    network = hou.node(_STAGE_PATH)
    shown = network.displayNode() if network is not None and network.children() else None
    return [shown] if shown is not None else []


def _stage_of(node: hou.LopNode) -> Any:
    if not isinstance(node, hou.LopNode):
        raise HostError(f"{node.path()}: is no LOP: select a node of a stage")
    try:
        stage = node.stage()
    except hou.OperationFailed as failure:
        raise HostError(f"{node.path()}: does not cook: {failure}") from None
    if stage is None:
        raise HostError(f"{node.path()}: has no stage: see the errors on the node")
    return stage


def _has_surface(stage: Any, path: str) -> bool:
    from pxr import UsdShade

    output = UsdShade.Material(stage.GetPrimAtPath(path)).GetOutput("mtlx:surface")
    return bool(output and output.HasConnectedSource())


def _library_path(node: hou.Node) -> str:
    return f"{_TEMPORARY_PREFIX}{node.name()}"


@contextmanager
def _material_library(node: hou.Node) -> Iterator[Any]:
    """A stage with a material of /mat on it, through a Material Library that is gone afterwards."""
    network = hou.node(_STAGE_PATH)
    if network is None:
        raise HostError(f"there is no {_STAGE_PATH} network to translate {node.path()} in")
    with hou.undos.disabler():
        library = network.createNode("materiallibrary", "verdigris_temporary")
        try:
            library.parm("matpathprefix").set(_TEMPORARY_PREFIX)
            library.parm("materials").set(1)
            library.parm("matnode1").set(node.path())
            library.parm("matpath1").set(node.name())
            library.parm("assign1").set(0)
            yield _stage_of(library)
        finally:
            library.destroy()


def _bound_meshes(stage: Any, material: str) -> list[str]:
    from pxr import Usd, UsdGeom

    return [
        str(prim.GetPath())
        for prim in stage.Traverse(Usd.TraverseInstanceProxies())
        if prim.IsA(UsdGeom.Mesh)
        and (_is_bound(prim, material) or _bound_faces(UsdGeom.Mesh(prim), material) is not None)
    ]


def _is_bound(prim: Any, material: str) -> bool:
    from pxr import UsdShade

    found, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    return bool(found) and str(found.GetPath()) == material


def _bound_faces(mesh: Any, material: str) -> NDArray[np.int64] | None:
    """The faces that subsets give a material; None where the whole mesh has it, or none of it."""
    from pxr import UsdShade

    subsets = UsdShade.MaterialBindingAPI(mesh.GetPrim()).GetMaterialBindSubsets()
    faces = [
        np.array(subset.GetIndicesAttr().Get() or [], np.int64)
        for subset in subsets
        if _is_bound(subset.GetPrim(), material)
    ]
    return np.concatenate(faces) if faces else None


def _has_material(node: hou.Node, material: str) -> bool:
    if not isinstance(node, hou.ObjNode) or node.displayNode() is None:
        return False
    parm = node.parm(_ASSIGNED)
    if parm is not None and parm.evalAsString() == material:
        return True
    geometry = _display_node(node).geometry()
    if geometry is None or geometry.findPrimAttrib(_ASSIGNED) is None:
        return False
    return material in geometry.primStringAttribValues(_ASSIGNED)


def _display_node(container: Any) -> hou.SopNode:
    shown = container.displayNode() if isinstance(container, hou.ObjNode) else None
    if shown is None:
        raise HostError(f"{container.path()}: shows no geometry: set a display flag inside it")
    return shown


def _geometry(container: Any) -> hou.Geometry:
    geometry = _display_node(container).geometry()
    if geometry is None:
        raise HostError(f"{container.path()}: does not cook: see the errors inside it")
    return geometry


def _mesh_of_object(node: hou.ObjNode, material: str, weight_set: str) -> HostMesh:
    name, geometry = node.path(), _geometry(node)
    polygons = geometry.prims()
    counts = np.array([prim.numVertices() for prim in polygons], np.int64)
    # Houdini hands out no array of these
    points = np.array(
        [vertex.point().number() for prim in polygons for vertex in prim.vertices()], np.int64
    )
    corners, faces = triangle_corners(counts)
    notes: tuple[str, ...] = ()
    if material and geometry.findPrimAttrib(_ASSIGNED) is not None:
        assigned = np.array(geometry.primStringAttribValues(_ASSIGNED))
        if material in assigned:
            corners = corners[(assigned == material)[faces]]
            others = int((assigned != material).sum())
            if others:
                notes = (f"{name}: {others} of {len(counts)} faces have another material",)
    if not len(corners):
        raise HostError(f"{name}: has no polygons: convert it to polygons first")
    to_world = np.array(node.worldTransform().asTuple(), np.float64).reshape(4, 4)
    position = _of_points(geometry, "P", 3)
    position = (position @ to_world[:3, :3] + to_world[3, :3]).astype(np.float32)
    uv = _by_vertex(geometry, "uv", points)
    if uv is None:
        raise HostError(f"{name}: has no attribute 'uv': add a UV Unwrap or UV Flatten first")
    normal = _by_vertex(geometry, "N", points)
    if normal is None:
        normals = smooth_normals(position[points[corners]], points[corners], len(position))
    else:
        turned = normal[:, :3] @ np.linalg.inv(to_world[:3, :3]).T
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


def _of_points(geometry: hou.Geometry, name: str, size: int) -> NDArray[np.float32]:
    data = geometry.pointFloatAttribValuesAsString(name)
    return np.frombuffer(data, np.float32).reshape(-1, size)


def _by_vertex(
    geometry: hou.Geometry, name: str, points: NDArray[np.int64]
) -> NDArray[np.float32] | None:
    """A float attribute's values for each vertex, whether vertices or points have it."""
    attribute = geometry.findVertexAttrib(name)
    if attribute is not None and attribute.dataType() == hou.attribData.Float:
        data = geometry.vertexFloatAttribValuesAsString(name)
        return np.frombuffer(data, np.float32).reshape(-1, attribute.size())
    attribute = geometry.findPointAttrib(name)
    if attribute is not None and attribute.dataType() == hou.attribData.Float:
        return _of_points(geometry, name, attribute.size())[points]
    return None


def _add_brush(
    container: hou.Node, shown: hou.Node, weight_set: str, with_ones: bool
) -> hou.SopNode:
    """An Attribute Paint behind what is shown, on an attribute that starts with ones."""
    source = shown
    if with_ones:
        source = container.createNode("attribcreate", "verdigris_weights")
        source.setInput(0, shown)
        source.parm("name1").set(weight_set)
        source.parm("value1v1").set(NORMAL_WEIGHT)
        source.moveToGoodPosition()
    brush = container.createNode("attribpaint", "verdigris_paint")
    brush.setInput(0, source)
    brush.parm("attribname1").set(weight_set)
    brush.moveToGoodPosition()
    brush.setDisplayFlag(True)
    brush.setRenderFlag(True)
    return brush


def _existing_result(node: hou.LopNode) -> hou.LopNode | None:
    """The node of results that already reads this one."""
    for connection in node.outputConnections():
        reader = connection.outputNode()
        if reader is not None and reader.name().startswith(RESULT_NODE):
            return reader
    return None


def _add_result(node: hou.LopNode) -> hou.LopNode:
    """A Python Script LOP between a node and all that reads it."""
    readers = [(each.outputNode(), each.inputIndex()) for each in node.outputConnections()]
    holder = node.parent().createNode("pythonscript", RESULT_NODE)
    holder.setInput(0, node)
    for reader, index in readers:
        reader.setInput(index, holder)
    holder.moveToGoodPosition()
    holder.setDisplayFlag(True)
    return holder


def _refuse_locked(node: hou.Node) -> None:
    if node.isInsideLockedHDA():
        raise HostError(
            f"{node.path()}: is inside a locked asset: allow editing of its contents, or work on a "
            "copy"
        )


@contextmanager
def _one_step(label: str) -> Iterator[None]:
    """What happens inside is undone at once, also where it fails half way."""
    try:
        with hou.undos.group(label):
            yield
    except (hou.OperationFailed, hou.PermissionError) as failure:
        if hou.undos.areEnabled() and hou.undos.undoLabels()[:1] == (label,):
            hou.undos.performUndo()
        raise HostError(f"{label}: Houdini refused: {failure}") from None
