"""Maya as a host. Nothing else in this package touches the scene."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from maya import cmds
from maya.api import OpenMaya as om

from verdigris.core.errors import HostError
from verdigris.core.host import (
    NORMAL_WEIGHT,
    WEIGHT_SET,
    BakedResult,
    HostDocument,
    HostMaterial,
    HostMesh,
)
from verdigris.core.hosts.documents import material_names, named_folders, require_material_name
from verdigris.plugins.maya.lookdevx import document_path, read_stack, split_path
from verdigris.plugins.maya.polygons import triangle_corners, uv_of_corners

SURFACE_SHADER, STACK = "MaterialXSurfaceShader", "materialxStack"
RENDERED, STACKED, NATIVE = "LookdevX material", "LookdevX document", "Maya shader"
RESULT_ATTRIBUTE = "verdigrisBundle"
_RESULTS_ATTRIBUTE = "verdigrisBundles"
_USD_PLUGIN = "mayaUsdPlugin"
_DEFAULT_ENGINES = ("initialShadingGroup", "initialParticleSE")
_VIEWPORT_INPUTS = {
    "base_color": ("outColor", "baseColor", "sRGB"),
    "roughness": ("outColorR", "specularRoughness", "Raw"),
    "metalness": ("outColorR", "metalness", "Raw"),
}


class MayaHost:
    """The scene that is open in this Maya."""

    can_paint = True

    @property
    def name(self) -> str:
        return f"Maya {cmds.about(version=True)}"

    def scene_file(self) -> Path | None:
        path = cmds.file(query=True, sceneName=True)
        return Path(path) if path else None

    def open_scene(self, path: Path) -> None:
        if not path.is_file():
            raise HostError(f"{path}: there is no such scene")
        try:
            cmds.file(str(path), open=True, force=True)
        except RuntimeError as failure:
            raise HostError(f"{path}: Maya cannot open it: {failure}") from None

    # materials

    def materials(self) -> tuple[HostMaterial, ...]:
        shaders = _of_type(SURFACE_SHADER)
        found = [HostMaterial(node, node, RENDERED) for node in shaders]
        shown = {_ufe_path(node) for node in shaders}
        for stack in _of_type(STACK):
            for document in read_stack(_text(stack, "documents"), stack):
                for material in material_names(document.text, stack) if document.text else ():
                    path = f"{document_path(stack, document.name)}%{material}"
                    if path not in shown:
                        found.append(HostMaterial(path, material, STACKED))
        for engine in _of_type("shadingEngine"):
            shader = _surface_of(engine)
            if shader and engine not in _DEFAULT_ENGINES:
                if cmds.nodeType(shader) == SURFACE_SHADER:
                    continue
                found.append(HostMaterial(engine, shader, NATIVE))
        return tuple(found)

    def selected_materials(self) -> tuple[HostMaterial, ...]:
        selected = cmds.ls(selection=True, long=True) or []
        nodes = {each.partition(".")[0] for each in selected}
        shapes = cmds.ls(selection=True, dagObjects=True, type="mesh", long=True) or []
        engines: set[str] = set()
        for shape in shapes:
            engines |= set(cmds.listConnections(shape, type="shadingEngine") or [])
        return tuple(
            material
            for material in self.materials()
            if {material.key, material.name} & nodes
            or any(each.startswith(material.key) for each in nodes)
            or set(self._engines(material)) & engines
        )

    def document(self, material: HostMaterial) -> HostDocument:
        if material.source == RENDERED:
            return self._rendered(material)
        if material.source == STACKED:
            return self._stacked(material.key, material.name)
        if material.source == NATIVE:
            return self._exported(material)
        raise HostError(f"{material.name}: is no material of this scene: refresh the list")

    def _rendered(self, material: HostMaterial) -> HostDocument:
        node = _require_node(material.key)
        wished = split_path(_ufe_path(node))[2] or material.name
        text = _text(node, "renderDocument")
        if text.strip():
            return self._handed_over(text, node, wished)
        path = _ufe_path(node)
        if not path:
            raise HostError(
                f"{node}: refers to no MaterialX document: assign a material of a LookdevX stack"
            )
        return self._stacked(path, wished)

    def _stacked(self, path: str, wished: str) -> HostDocument:
        stack, document, _ = split_path(path)
        _require_node(stack)
        listed = {each.name: each.text for each in read_stack(_text(stack, "documents"), stack)}
        if document not in listed:
            raise HostError(
                f"{stack}: has no document {document!r}; it has: {', '.join(listed) or 'none'}"
            )
        text = listed[document] or self._exported_by_lookdevx(stack, document)
        return self._handed_over(text, f"{stack} {document}", wished)

    def _exported_by_lookdevx(self, stack: str, document: str) -> str:
        """A document that is kept in a file of its own is only whole when LookdevX writes it."""
        import ufe

        item = ufe.Hierarchy.createItem(ufe.PathString.path(document_path(stack, document)))
        operations = ufe.ContextOps.contextOps(item) if item is not None else None
        if operations is None:
            raise HostError(f"{stack}: {document!r} is not loaded: load it in LookdevX first")
        with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
            file = Path(folder) / "document.mtlx"
            operations.doOp(["MxExportDocument", file.as_posix()])
            if not file.is_file():
                raise HostError(
                    f"{stack}: LookdevX did not export {document!r}: export it as .mtlx by hand "
                    "and bake that"
                )
            return file.read_text(encoding="utf-8")

    def _handed_over(self, text: str, name: str, wished: str) -> HostDocument:
        material = require_material_name(text, name, wished)
        search = dict.fromkeys((*self._project_folders(), *named_folders(text, name)))
        notes: tuple[str, ...] = ()
        if self.scene_file() is None:
            notes = (
                "the scene was never saved: files with relative names are looked for in the "
                "project's folders only",
            )
        return HostDocument(name, text, material, tuple(search), notes)

    def _project_folders(self) -> list[Path]:
        scene = self.scene_file()
        folders = [scene.parent] if scene else []
        root = cmds.workspace(query=True, rootDirectory=True)
        if root:
            folders += [Path(root), Path(root) / "sourceimages"]
        return folders

    def _exported(self, material: HostMaterial) -> HostDocument:
        """A shader of Maya's own, as maya-usd's export translates it."""
        from verdigris.core.material.usdshade import convert

        engine = _require_node(material.key)
        members = self.meshes(material)
        if not members:
            raise HostError(
                f"{material.name}: is on no mesh, and Maya only exports shaders that are: assign "
                "it to a mesh"
            )
        _load_plugin(_USD_PLUGIN)
        from pxr import Usd

        with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
            file = Path(folder) / "material.usda"
            try:
                cmds.mayaUSDExport(
                    file=file.as_posix(),
                    exportRoots=[_parent(members[0])],
                    shadingMode="useRegistry",
                    convertMaterialsTo=["MaterialX"],
                    mergeTransformAndShape=True,
                )
            except RuntimeError as failure:
                raise HostError(f"{material.name}: maya-usd cannot export it: {failure}") from None
            stage = Usd.Stage.Open(file.as_posix())
            found = convert(stage, engine.replace(":", "_"))
            del stage
        return HostDocument(
            material.name,
            found.text,
            found.name,
            tuple(dict.fromkeys((*self._project_folders(), *found.folders))),
            found.notes,
        )

    def _engines(self, material: HostMaterial) -> tuple[str, ...]:
        """The shading groups through which a material is on meshes."""
        if material.source == NATIVE:
            return (_require_node(material.key),)
        if material.source == STACKED:
            return ()
        found = cmds.listConnections(_require_node(material.key), type="shadingEngine") or []
        return tuple(dict.fromkeys(found))

    # meshes and weights

    def meshes(self, material: HostMaterial) -> tuple[str, ...]:
        if material.source not in (RENDERED, STACKED, NATIVE):
            raise HostError(f"{material.name}: is no material of this scene: refresh the list")
        found: list[str] = []
        for engine in self._engines(material):
            members = cmds.sets(engine, query=True) or []
            if members:
                found += cmds.ls(members, objectsOnly=True, type="mesh", long=True) or []
        selected = cmds.ls(selection=True, dagObjects=True, type="mesh", long=True) or []
        if material.source == STACKED:
            found = list(selected)
        first = [name for name in dict.fromkeys(found) if name in selected]
        return tuple(dict.fromkeys((*first, *found)))

    def mesh(
        self, name: str, material: HostMaterial | None = None, weight_set: str = WEIGHT_SET
    ) -> HostMesh:
        mesh, path = _mesh(name)
        counts, vertices = (np.array(part, np.int64) for part in mesh.getVertices())
        triangles = (np.array(part, np.int64) for part in mesh.getTriangles())
        corners, faces = triangle_corners(counts, vertices, *triangles)
        uv_set = mesh.currentUVSetName()
        uv_counts, uv_ids = (np.array(part, np.int64) for part in mesh.getAssignedUVs(uv_set))
        uv_ids = uv_of_corners(counts, uv_counts, uv_ids, name)
        u, v = (np.array(part, np.float32) for part in mesh.getUVs(uv_set))
        points = np.array(mesh.getPoints(om.MSpace.kWorld), np.float32)[:, :3]
        normals = np.array(mesh.getNormals(om.MSpace.kWorld), np.float32)[:, :3]
        normal_ids = np.array(mesh.getNormalIds()[1], np.int64)
        weights = self._weights(mesh, weight_set)

        notes: tuple[str, ...] = ()
        kept = self._faces_of(mesh, path, material, len(counts))
        if kept is not None and not kept.all():
            inside = kept[faces]
            corners = corners[inside]
            notes = (f"{name}: {int((~kept).sum())} of {len(kept)} faces have another material",)
        if not len(corners):
            raise HostError(f"{name}: none of its faces has this material")
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

    def _weights(self, mesh: om.MFnMesh, weight_set: str) -> np.ndarray | None:
        if weight_set not in mesh.getColorSetNames():
            return None
        unpainted = om.MColor((NORMAL_WEIGHT, NORMAL_WEIGHT, NORMAL_WEIGHT, 1.0))
        colours = np.array(mesh.getFaceVertexColors(weight_set, unpainted), np.float32)
        return np.ascontiguousarray(colours[:, :3].mean(1))

    def _faces_of(
        self, mesh: om.MFnMesh, path: om.MDagPath, material: HostMaterial | None, count: int
    ) -> np.ndarray | None:
        """Which faces have a material; None where that cannot be told."""
        engines = set(self._engines(material)) if material else set()
        shaders, by_face = mesh.getConnectedShaders(path.instanceNumber())
        if not engines or not len(shaders):
            return None
        chosen = [
            index
            for index, shader in enumerate(shaders)
            if om.MFnDependencyNode(shader).name() in engines
        ]
        return np.isin(np.array(by_face, np.int64)[:count], chosen)

    def weight_sets(self, mesh: str) -> tuple[str, ...]:
        return tuple(_mesh(mesh)[0].getColorSetNames())

    def start_painting(self, mesh: str, weight_set: str = WEIGHT_SET) -> None:
        if cmds.about(batch=True):
            raise HostError(f"{mesh}: this Maya has no window to paint in: paint in the panel")
        there = weight_set in self.weight_sets(mesh)
        _refuse_locked(mesh)
        with _one_step("Verdigris weights"):
            if not there:
                cmds.polyColorSet(
                    mesh, create=True, colorSet=weight_set, clamped=False, representation="RGB"
                )
            cmds.polyColorSet(mesh, currentColorSet=True, colorSet=weight_set)
            if not there:
                one = (NORMAL_WEIGHT,) * 3
                cmds.polyColorPerVertex(mesh, colorRGB=one, colorDisplayOption=True)
            cmds.select(mesh, replace=True)
        cmds.PaintVertexColorTool()

    # results

    def attach(self, material: HostMaterial, result: BakedResult) -> None:
        if material.source not in (RENDERED, STACKED, NATIVE):
            raise HostError(f"{material.name}: is no material of this scene: refresh the list")
        node, attribute = self._place_of_result(material)
        _refuse_locked(node)
        text = result.bundle.as_posix()
        if attribute == _RESULTS_ATTRIBUTE:
            text = json.dumps({**_results(node), material.key: text}, sort_keys=True)
        with _one_step("Verdigris result"):
            if not cmds.attributeQuery(attribute, node=node, exists=True):
                cmds.addAttr(node, longName=attribute, dataType="string")
            cmds.setAttr(f"{node}.{attribute}", text, type="string")
            if result.textures:
                _make_viewport_material(material.name, result.textures)

    def attached(self, material: HostMaterial) -> Path | None:
        node, attribute = self._place_of_result(material)
        if not cmds.attributeQuery(attribute, node=node, exists=True):
            return None
        if attribute == _RESULTS_ATTRIBUTE:
            text = _results(node).get(material.key, "")
        else:
            text = cmds.getAttr(f"{node}.{attribute}") or ""
        return Path(text) if text else None

    def _place_of_result(self, material: HostMaterial) -> tuple[str, str]:
        """The node and the attribute. A stack has many materials, so it has a list of them."""
        if material.source == STACKED:
            return _require_node(split_path(material.key)[0]), _RESULTS_ATTRIBUTE
        if material.source == NATIVE:
            engine = _require_node(material.key)
            return _surface_of(engine) or engine, RESULT_ATTRIBUTE
        return _require_node(material.key), RESULT_ATTRIBUTE


def _of_type(kind: str) -> list[str]:
    """The nodes of a type; a type of a plug-in that is not loaded has none."""
    if kind not in (cmds.ls(nodeTypes=True) or []):
        return []
    return list(cmds.ls(type=kind, long=True) or [])


def _require_node(node: str) -> str:
    if not cmds.objExists(node):
        raise HostError(f"{node}: is not in the scene (any more): refresh the list")
    return node


def _text(node: str, attribute: str) -> str:
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        return ""
    return cmds.getAttr(f"{node}.{attribute}") or ""


def _ufe_path(shader: str) -> str:
    return _text(shader, "ufePath")


def _results(stack: str) -> dict[str, str]:
    try:
        found = json.loads(_text(stack, _RESULTS_ATTRIBUTE) or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise HostError(
            f"{stack}: its attribute {_RESULTS_ATTRIBUTE!r} is damaged: delete the attribute"
        )
    return found


def _surface_of(engine: str) -> str:
    found = cmds.listConnections(f"{engine}.surfaceShader", source=True, destination=False)
    return found[0] if found else ""


def _parent(shape: str) -> str:
    return shape.rpartition("|")[0] or shape


def _mesh(name: str) -> tuple[om.MFnMesh, om.MDagPath]:
    _require_node(name)
    names = om.MSelectionList()
    names.add(name)
    path = names.getDagPath(0)
    return om.MFnMesh(path), path


def _load_plugin(name: str) -> None:
    if cmds.pluginInfo(name, query=True, loaded=True):
        return
    try:
        cmds.loadPlugin(name, quiet=True)
    except RuntimeError as failure:
        raise HostError(f"the plug-in {name} cannot be loaded: {failure}") from None


def _refuse_locked(node: str) -> None:
    if any(cmds.lockNode(node, query=True, lock=True) or []):
        raise HostError(f"{node}: is locked: unlock it (lockNode -lock off), or work on a copy")


@contextmanager
def _one_step(label: str) -> Iterator[None]:
    """What happens inside is undone at once, also where it fails half way."""
    cmds.undoInfo(openChunk=True, chunkName=label)
    failed = True
    try:
        yield
        failed = False
    except RuntimeError as failure:
        raise HostError(f"{label}: Maya refused: {failure}") from None
    finally:
        cmds.undoInfo(closeChunk=True)
        # an empty step is none: undoing then would take back what the artist did before
        if failed and cmds.undoInfo(query=True, undoName=True) == label:
            cmds.undo()


def _make_viewport_material(name: str, textures: Mapping[str, Path]) -> None:
    """A standardSurface with the flattened textures, for what cannot show the neural material."""
    plain = name.rpartition("|")[2].replace(":", "_").replace("%", "_")
    shader = cmds.shadingNode("standardSurface", asShader=True, name=f"{plain}_verdigris")
    engine = cmds.sets(
        renderable=True, noSurfaceShader=True, empty=True, name=f"{plain}_verdigrisSG"
    )
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    for kind, (output, target, space) in _VIEWPORT_INPUTS.items():
        if kind in textures:
            file = cmds.shadingNode("file", asTexture=True, name=f"{plain}_{kind}")
            cmds.setAttr(f"{file}.fileTextureName", textures[kind].as_posix(), type="string")
            cmds.setAttr(f"{file}.colorSpace", space, type="string")
            cmds.connectAttr(f"{file}.{output}", f"{shader}.{target}")
