"""The shader files that implement surfaces of a document, and the numbers that they read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.files.paths import SearchPath, is_file
from verdigris.core.material.graph.traversal import own_implementations
from verdigris.core.material.load.provenance import file_digest
from verdigris.core.material.shader.document_text import (
    DIGEST,
    OWN_FOLDER,
    TABLE,
    expand_implementation,
)
from verdigris.core.material.shader.expand import LIGHTS, is_node_source, is_shader
from verdigris.core.material.shader.light_stack import stack_files

if TYPE_CHECKING:
    import MaterialX as mx


def note_shaders(root: mx.Document, search: SearchPath) -> list[Path]:
    """The files of shaders that implement surfaces. Their digest becomes a part of the document, so
    that a changed shader is a changed document."""
    found: list[Path] = []
    for implementation in own_implementations(root):
        is_node = is_node_source(implementation)
        if is_node or is_shader(implementation.getFile()):
            shader = expand_implementation(implementation, search, is_fragment=is_node)
            tables = _tables_of(root, implementation, search)
            digests = (shader.digest, *map(file_digest, tables))
            implementation.setAttribute(DIGEST, " ".join(digests))
            if not implementation.getFile().startswith(f"{OWN_FOLDER}/"):
                found += shader.files
                found += filter(is_file, [shader.files[0].with_suffix(".json")])
            found += tables
    return found


def _tables_of(
    root: mx.Document, implementation: mx.Implementation, search: SearchPath
) -> list[Path]:
    """The files of numbers that surfaces with this implementation read."""
    definition = root.getNodeDef(implementation.getNodeDefString())
    ports = definition.getInputs() if definition is not None else []
    named = [port.getName() for port in ports if port.getAttribute(TABLE)]
    surfaces = [each for each in root.getNodes() if named and each.getNodeDef() == definition]
    given = [each.getInput(port) for each in surfaces for port in named]
    found = []
    for port in given:
        if port is not None:
            asker = f"parameter {port.getName()!r}"
            if not port.getValueString():
                raise DocumentError(
                    f"{asker} has no file: name an array of numpy (.npy) in [VerdigrisFile(...)]"
                )
            file = search.require(port.getValueString(), None, asker, DocumentError)
            found += [file, *(stack_files(file) if file.name == LIGHTS else ())]
    return found
