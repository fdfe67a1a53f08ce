"""Digests of a bundle's sources, which show later changes of a source."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from verdigris.core.base.errors import DocumentError, MissingTextureError, TextureError
from verdigris.core.base.text import printable
from verdigris.core.material.files.image_headers import find_tiles
from verdigris.core.material.files.missing_files import describe_missing
from verdigris.core.material.graph.traversal import image_inputs
from verdigris.core.material.load.displaced import height_document

if TYPE_CHECKING:
    from verdigris.core.material.load.mtlx_document import Document, Material

Digest = Callable[[Path], str]


def file_digest(path: Path) -> str:
    """The digest of the contents of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_facts(path: Path, digest: Digest = file_digest) -> dict[str, str]:
    """Name and digest of a file. Its folder is left out, because it differs between machines."""
    return {"file": path.name, "sha256": digest(path)}


def text_digest(text: str) -> str:
    """The digest of what a document says: its elements and their attributes, without comments and
    spaces between them. An application can compute it without MaterialX."""
    found = hashlib.sha256()
    try:
        # a prefix without a namespace, which MaterialX allows, is no error here
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda tag, given: found.update(
            repr((tag, sorted(given.items()))).encode()
        )
        parser.EndElementHandler = lambda tag: found.update(b"/")
        parser.Parse(text, True)
    except expat.ExpatError:
        return hashlib.sha256(text.encode()).hexdigest()
    return found.hexdigest()


def source_facts(
    document: Document, material: Material, digest: Digest = file_digest
) -> dict[str, Any]:
    """Digests of a document and all files that the material reads. Images are not decoded."""
    import MaterialX as mx

    text = mx.writeToXmlString(document.root).encode()
    if displaced := _find_displaced(document, material):
        text += mx.writeToXmlString(displaced[0].root).encode()
    return {
        "document": Path(document.name).name,
        "document_sha256": hashlib.sha256(text).hexdigest(),
        "files": [file_facts(each, digest) for each in document.files if each.is_file()],
        "textures": [file_facts(each, digest) for each in texture_files(document, material)],
        "materialx": mx.getVersionString(),
    }


def texture_files(document: Document, material: Material) -> tuple[Path, ...]:
    """All images that a material reads. Raises one TextureError for all missing images."""
    found: dict[Path, None] = {}
    if displaced := _find_displaced(document, material):
        # heights are left out if an image of theirs is missing
        with contextlib.suppress(TextureError):
            found.update(dict.fromkeys(texture_files(*displaced)))
    missing: list[MissingTextureError] = []
    for node in document.nodes_of(material):
        for port in image_inputs(node):
            file = port.getResolvedValueString()
            if file:
                asker = f"{document.name}: {node.getNamePath()}"
                try:
                    tiles = find_tiles(file, asker, document.search)
                except MissingTextureError as failure:
                    missing.append(failure)
                else:
                    found.update(dict.fromkeys(tile.path for tile in tiles))
    if missing:
        raise describe_missing(missing, document.name, document.search.has_options)
    return tuple(sorted(found))


def _find_displaced(document: Document, material: Material) -> tuple[Document, Material] | None:
    """The document of a material's heights, if it has heights that can be evaluated."""
    try:
        return height_document(document, material)
    except DocumentError:
        return None


def files_read(document: Document, material: Material) -> tuple[Path, ...]:
    """All files that are read for a material."""
    return (*document.files, *texture_files(document, material))


def changed_sources(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Descriptions of the differences between two results of `source_facts`. Where MaterialX is
    missing, `now` has the digest of the text in place of the document's."""
    reasons = []
    key = "document_sha256" if "document_sha256" in now else "text_sha256"
    if before.get(key) != now[key]:
        reasons.append(f"{now['document']} has changed")
    return reasons + _changed_files(before.get("textures"), now["textures"])


def changed_mesh(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Descriptions of the differences between two records of a mesh. Without a mesh, a record is
    empty."""
    if not now:
        return ["was baked on a mesh, but no mesh is requested"] if before else []
    name = now["files"][0]["file"]
    if not before:
        return [f"was baked without the mesh {name}"]
    if before.get("files") != now["files"]:
        return [f"the mesh {name} has changed"]
    if before.get("uv_set") != now["uv_set"]:
        return [f"the uv set is {now['uv_set']!r}, was {before.get('uv_set')!r}"]
    return []


def _changed_files(before: Any, now: Sequence[Mapping[str, str]]) -> list[str]:
    old = before if isinstance(before, list) else []
    if old == list(now):
        return []
    known = [each for each in old if isinstance(each, Mapping)]
    names = {str(each.get("file")): each.get("sha256") for each in known}
    changed = [
        f"{printable(each['file'])} {'has changed' if each['file'] in names else 'is new'}"
        for each in now
        if names.get(each["file"], "") != each["sha256"]
    ]
    gone = sorted(names.keys() - {each["file"] for each in now})
    return [*dict.fromkeys(changed), *(f"{printable(file)} is no longer read" for file in gone)]
