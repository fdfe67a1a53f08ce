"""File names of included documents, with tokens of other programs, and passed between nodes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import TextureError
from verdigris.core.base.outputs import resolved
from verdigris.core.material.files.image_headers import Tile, find_tiles
from verdigris.core.material.graph.traversal import file_inputs, source_of

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.files.paths import SearchPath

# Tokens of Arnold and Maya, of Houdini, and of Maya for Mudbox' tiles.
_TOKENS = {
    re.compile(r"<udim>|%\(udim\)d", re.IGNORECASE): "<UDIM>",
    re.compile(r"<uvtile>|%\(uvtile\)[ds]|u<U>_v<V>", re.IGNORECASE): "<UVTILE>",
}
# category of a node that passes a file name on -> its input
_PASSED_ON = {"constant": "value", "dot": "in"}


def prefer_files_beside_document(
    included: mx.Document, folder: Path, search: SearchPath, outer: Path | None
) -> None:
    """Prefers files beside an included document over others with the same name.

    The including document lies in the folder `outer`. If its search would find another file, the
    folder of the included document is written into the file name.
    """
    beside = search.with_folder(folder)
    for port in file_inputs(included):
        if port.hasValueString():
            file = port.getResolvedValueString()
            preferred = _find_tiles(file, beside)
            if preferred and preferred != _find_tiles(file, search):
                port.setValueString(_name_from(outer, folder, file))
                port.setFilePrefix("")


def _find_tiles(file: str, search: SearchPath) -> tuple[Tile, ...]:
    try:
        return find_tiles(file, "", search)
    except TextureError:
        return ()


def _name_from(outer: Path | None, folder: Path, file: str) -> str:
    """The name of a file in `folder`, seen from the folder `outer`. It is relative if possible, so
    that a moved folder keeps its digest."""
    whole, start = resolved(folder), resolved(outer) if outer else None
    if start and whole.is_relative_to(start):
        whole = whole.relative_to(start)
    return (whole / file.replace("\\", "/")).as_posix()


def unify_tile_tokens(root: mx.Document) -> None:
    """Replaces other programs' tokens for UDIM tiles with those of MaterialX."""
    import MaterialX as mx

    for port in root.traverseTree():
        if isinstance(port, mx.ValueElement) and port.getType() == "filename":
            file = port.getValueString()
            # lower case means ZBrush's tiles, which count from 0
            if "u<u>_v<v>" in file:
                continue
            for tokens, known in _TOKENS.items():
                file = tokens.sub(known, file)
            if file != port.getValueString():
                port.setValueString(file)


def inline_file_names(root: mx.Document) -> None:
    """Copies file names with their colour space from constants to the inputs that read them."""
    for port in file_inputs(root):
        named = _find_constant(port)
        if named is not None:
            _copy_file_name(named, port)


def _find_constant(port: mx.Input) -> mx.Input | None:
    """The input of the constant whose value another input reads."""
    seen: set[str] = set()
    named = None
    node = source_of(port)
    while node is not None and node.getNamePath() not in seen:
        seen.add(node.getNamePath())
        named = node.getInput(_PASSED_ON.get(node.getCategory(), ""))
        if named is None or node.getType() != "filename":
            return None
        node = source_of(named)
    given = named and (named.getInterfaceInput() or named)
    return given if given and given.hasValueString() else None


def _copy_file_name(named: mx.Input, port: mx.Input) -> None:
    for attribute in ("nodename", "nodegraph", "output", "interfacename"):
        port.removeAttribute(attribute)
    port.setValueString(named.getValueString())
    port.setFilePrefix(named.getActiveFilePrefix())
    if named.hasColorSpace():
        port.setColorSpace(named.getColorSpace())
