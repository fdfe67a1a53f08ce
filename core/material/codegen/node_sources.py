"""Code of nodes that a document defines itself: sources for Slang, or GLSL that is plain enough.

MaterialX reads the files of implementations wherever they are. Here a file is expanded with what it
includes, as a shader file is, and MaterialX reads the expanded copy.
"""

from __future__ import annotations

import hashlib
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.device import cache_folder
from verdigris.core.base.files import make_folders, replace_file
from verdigris.core.material.graph.library import copy_document
from verdigris.core.material.graph.traversal import own_implementations
from verdigris.core.material.shader.document_text import expand_implementation
from verdigris.core.material.shader.expand import is_node_source

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document

_FOLDER = "nodes"


def has_sources(root: mx.Document) -> bool:
    """Whether files implement nodes of a document."""
    return any(is_node_source(each) for each in own_implementations(root))


def with_sources(root: mx.Document, document: Document) -> mx.Document:
    """A copy in which implementations name expanded files."""
    copied = copy_document(root)
    for each in own_implementations(copied):
        if is_node_source(each):
            asker = f"{document.name}: "
            text = expand_implementation(each, document.search, asker, is_fragment=True).text
            # what follows in the generated code has its own lines
            each.setFile(_kept(f'{text}\n#line 1 "generated"\n').as_posix())
    return copied


def _kept(text: str) -> Path:
    data = text.encode()
    path = _folder() / f"{hashlib.sha256(data).hexdigest()[:24]}.slang"
    if not (path.is_file() and path.read_bytes() == data):
        replace_file(path, data)
    return path


@lru_cache(maxsize=1)
def _folder() -> Path:
    kept = cache_folder()
    folder = kept / _FOLDER if kept else Path(tempfile.mkdtemp(prefix="verdigris-"))
    make_folders(folder)
    return folder
