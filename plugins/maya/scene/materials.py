"""The materials of a Maya scene, as MaterialX."""

from __future__ import annotations

import tempfile
from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.definitions import (
    folders_of_definitions,
    signatures_in,
    unknown_nodes,
    with_definitions,
)
from verdigris.core.hosts.document_text import material_names, named_folders, require_material_name
from verdigris.core.hosts.host import VIEWPORT_SUFFIX, HostDocument, HostMaterial
from verdigris.plugins.maya.lookdevx import document_path, read_stack, split_path
from verdigris.plugins.maya.scene.nodes import (
    load_plugin,
    of_type,
    parent_of,
    require_node,
    surface_of,
    text_of,
)

RENDERED, STACKED, NATIVE = "LookdevX material", "LookdevX document", "Maya shader"
_SURFACE_SHADER, _STACK = "MaterialXSurfaceShader", "materialxStack"
_USD_PLUGIN = "mayaUsdPlugin"
_DEFAULT_ENGINES = ("initialShadingGroup", "initialParticleSE")


def scene_file() -> Path | None:
    """The file of the scene. None if it is not saved."""
    path = cmds.file(query=True, sceneName=True)
    return Path(path) if path else None


def unloaded_references() -> tuple[str, ...]:
    """A warning for each reference that is not loaded."""
    return tuple(
        f"the reference {reference} is not loaded: load it in the Reference Editor to bake its "
        "materials"
        for reference in cmds.file(query=True, reference=True) or []
        if not cmds.referenceQuery(reference, isLoaded=True)
    )


def bare_materials() -> tuple[str, ...]:
    """A warning for each stack with materials that have no surface shader."""
    found = []
    for stack in of_type(_STACK):
        names = [
            name
            for document in read_stack(text_of(stack, "documents"), stack)
            for name in (material_names(document.text, stack, False) if document.text else ())
        ]
        if names:
            found.append(
                f"{stack}: {', '.join(names)} has no surface shader: connect one to bake it"
            )
    return tuple(found)


def require_known(material: HostMaterial) -> None:
    """Raises an error for a material of another host."""
    if material.source not in (RENDERED, STACKED, NATIVE):
        raise HostError(f"{material.name} is not a material of this scene: refresh the list")


def node_of(material: HostMaterial) -> str:
    """The node of a material, or the stack that contains it."""
    require_known(material)
    is_inside = material.source == STACKED
    return require_node(split_path(material.key)[0] if is_inside else material.key)


def list_materials() -> tuple[HostMaterial, ...]:
    """Rendered LookdevX materials, other materials of stacks, and Maya's own shaders."""
    shaders = of_type(_SURFACE_SHADER)
    found = [HostMaterial(node, node, RENDERED) for node in shaders]
    shown = {text_of(node, "ufePath") for node in shaders}
    for stack in of_type(_STACK):
        for document in read_stack(text_of(stack, "documents"), stack):
            for material in material_names(document.text, stack) if document.text else ():
                path = f"{document_path(stack, document.name)}%{material}"
                if path not in shown:
                    found.append(HostMaterial(path, material, STACKED))
    for engine in of_type("shadingEngine"):
        shader = surface_of(engine)
        is_ours = shader.endswith(VIEWPORT_SUFFIX)
        if not shader or is_ours or engine in _DEFAULT_ENGINES:
            continue
        if cmds.nodeType(shader) != _SURFACE_SHADER:
            found.append(HostMaterial(engine, shader, NATIVE))
    return tuple(found)


def engines_of(material: HostMaterial) -> tuple[str, ...]:
    """The shading groups that assign a material to meshes."""
    if material.source == NATIVE:
        return (require_node(material.key),)
    if material.source == STACKED:
        return ()
    found = cmds.listConnections(require_node(material.key), type="shadingEngine") or []
    return tuple(dict.fromkeys(found))


def read_document(material: HostMaterial, members: tuple[str, ...]) -> HostDocument:
    """Reads a material as MaterialX. `members` are the meshes that it is assigned to."""
    require_known(material)
    if material.source == RENDERED:
        return _read_rendered(material)
    if material.source == STACKED:
        return _read_stacked(material.key, material.name)
    return _export_native(material, members)


def _read_rendered(material: HostMaterial) -> HostDocument:
    node = require_node(material.key)
    preferred = split_path(text_of(node, "ufePath"))[2] or material.name
    text = text_of(node, "renderDocument")
    if text.strip():
        return _make_document(text, node, preferred)
    path = text_of(node, "ufePath")
    if not path:
        raise HostError(f"{node} has no MaterialX document: assign a material of a LookdevX stack")
    return _read_stacked(path, preferred)


def _read_stacked(path: str, preferred: str) -> HostDocument:
    stack, document, _ = split_path(path)
    require_node(stack)
    listed = {each.name: each.text for each in read_stack(text_of(stack, "documents"), stack)}
    if document not in listed:
        raise HostError(
            f"{stack} has no document {document!r}; it has: {', '.join(listed) or 'none'}"
        )
    text = listed[document] or _export_from_lookdevx(stack, document)
    return _make_document(text, f"{stack} {document}", preferred)


def _export_from_lookdevx(stack: str, document: str) -> str:
    """The text of a linked document. Only LookdevX can write it completely."""
    import ufe

    item = ufe.Hierarchy.createItem(ufe.PathString.path(document_path(stack, document)))
    operations = ufe.ContextOps.contextOps(item) if item is not None else None
    if operations is None:
        raise HostError(f"{stack}: the document {document!r} is not loaded: load it in LookdevX")
    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / "document.mtlx"
        operations.doOp(["MxExportDocument", file.as_posix()])
        if not file.is_file():
            raise HostError(
                f"{stack}: LookdevX did not export {document!r}: export it as .mtlx by hand "
                "and bake that file"
            )
        return file.read_text(encoding="utf-8")


def _make_document(text: str, name: str, preferred: str) -> HostDocument:
    material = require_material_name(text, name, preferred)
    search = dict.fromkeys((*_project_folders(), *named_folders(text, name)))
    definitions = folders_of_definitions()
    notes = unknown_nodes(text, name, definitions)
    if scene_file() is None:
        notes += (
            "the scene is not saved: relative files are searched in the project's folders only",
        )
    text, files = with_definitions(text, name, definitions)
    search |= dict.fromkeys(file.parent for file in files)
    return HostDocument(name, text, material, tuple(search), notes)


def _project_folders() -> list[Path]:
    scene = scene_file()
    folders = [scene.parent] if scene else []
    root = cmds.workspace(query=True, rootDirectory=True)
    if root:
        folders += [Path(root), Path(root) / "sourceimages"]
    return folders


def _export_native(material: HostMaterial, members: tuple[str, ...]) -> HostDocument:
    """A shader of Maya's own, translated by the export of maya-usd."""
    from verdigris.core.material.usd.usdshade import convert

    engine = require_node(material.key)
    if not members:
        raise HostError(
            f"{material.name} is not assigned to a mesh: assign it, as Maya exports assigned "
            "shaders only"
        )
    load_plugin(_USD_PLUGIN)
    try:
        from pxr import Usd
    except ImportError as failure:
        raise HostError(
            f"{material.name}: the Python package of maya-usd is missing ({failure}): repair the "
            "installation of maya-usd"
        ) from None

    with tempfile.TemporaryDirectory(prefix="verdigris_") as folder:
        file = Path(folder) / "material.usda"
        try:
            cmds.mayaUSDExport(
                file=file.as_posix(),
                exportRoots=[parent_of(members[0])],
                shadingMode="useRegistry",
                convertMaterialsTo=["MaterialX"],
                mergeTransformAndShape=True,
            )
        except RuntimeError as failure:
            raise HostError(f"maya-usd cannot export {material.name}: {failure}") from None
        stage = Usd.Stage.Open(file.as_posix())
        # the loaded plug-in has set the folders of its definitions
        definitions = folders_of_definitions()
        found = convert(stage, engine.replace(":", "_"), signatures_in(definitions))
        del stage
    text, files = with_definitions(found.text, material.name, definitions)
    search = (*_project_folders(), *found.folders, *(file.parent for file in files))
    return HostDocument(material.name, text, found.name, tuple(dict.fromkeys(search)), found.notes)
