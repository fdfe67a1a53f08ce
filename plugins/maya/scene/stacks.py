"""The stacks of LookdevX in a Maya scene, and the shaders that render their documents."""

from __future__ import annotations

import tempfile
from pathlib import Path

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.documents import material_names
from verdigris.core.hosts.host import HostDocument
from verdigris.plugins.maya.lookdevx import document_path, read_stack, split_path
from verdigris.plugins.maya.scene.documents import make_document
from verdigris.plugins.maya.scene.nodes import bare_path, of_type, require_node, text_of

SURFACE_SHADER, STACK = "MaterialXSurfaceShader", "materialxStack"


def stacked_paths() -> list[tuple[str, str]]:
    """The UFE path and the name of each material with a surface in the stacks of the scene."""
    return [
        (f"{document_path(stack, document.name)}%{material}", material)
        for stack in of_type(STACK)
        for document in read_stack(text_of(stack, "documents"), stack)
        for material in (material_names(document.text, stack) if document.text else ())
    ]


def bare_materials() -> tuple[str, ...]:
    """A warning for each stack with materials that have no surface shader."""
    found = []
    for stack in of_type(STACK):
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


def rendered_path(shader: str) -> str:
    """The UFE path of the material that a shader renders. Empty if it has none."""
    path = text_of(shader, "ufePath")
    if not path:
        return ""
    stacks, document, name = _locate(path)
    return f"{document_path(stacks[0], document)}%{name}" if len(stacks) == 1 else path


def read_rendered(shader: str, name: str) -> HostDocument:
    """The document that a shader renders."""
    path = text_of(shader, "ufePath")
    preferred = _locate(path)[2] or name
    text = text_of(shader, "renderDocument")
    if text.strip():
        return make_document(text, shader, preferred)
    if not path:
        raise HostError(
            f"{shader} has no MaterialX document: assign a material of a LookdevX stack"
        )
    return read_stacked(path, preferred)


def read_stacked(path: str, preferred: str) -> HostDocument:
    """The document at a UFE path."""
    stacks, document, _ = _locate(path)
    if len(stacks) > 1:
        raise HostError(
            f"{preferred} may be in {len(stacks)} stacks: {', '.join(stacks)}: assign it again in "
            "LookdevX"
        )
    stack = require_node(stacks[0])
    listed = {each.name: each.text for each in read_stack(text_of(stack, "documents"), stack)}
    if document not in listed:
        raise HostError(
            f"{stack} has no document {document!r}; it has: {', '.join(listed) or 'none'}"
        )
    text = listed[document] or _export_from_lookdevx(stack, document)
    return make_document(text, f"{stack} {document}", preferred)


def _locate(path: str) -> tuple[list[str], str, str]:
    """The stacks that a UFE path may mean, with its document and its material. Maya gives an
    imported or referenced stack a namespace, but its shaders keep the former path:
    `|stack1|stackShape1,%document1%:table:Gold` for a document of `|table:stack1|…`."""
    named, document, element = split_path(path)
    namespace, _, material = element.strip(":").rpartition(":")
    leaf = bare_path(named)
    there = {stack: bare_path(stack) for stack in of_type(STACK)}
    moved = [stack for stack in there if stack.endswith(f"|{namespace}:{leaf}")]
    if namespace and moved:
        return moved, document, material
    if cmds.objExists(named):
        return [named], document, material
    return [stack for stack in there if there[stack] == leaf] or [named], document, material


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
