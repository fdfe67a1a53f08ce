"""MaterialX text inside an application's own Python, which may lack MaterialX: names of materials,
folders of files, and the application's own node definitions.

Environment variables name the folders of definitions to the application's USD, such as those of
maya-usd's `MayaND_…`. Only definitions that a graph implements are of use: the others need the
renderer that they are written for.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree import ElementTree as xml

from verdigris.core.base.errors import DocumentError, HostError, VerdigrisError
from verdigris.core.material.load.mtlx_text import check_xml, read_text
from verdigris.core.material.usd.foreign_nodes import foreign_origin
from verdigris.core.material.usd.signatures import Signature, find_signature, known_categories

VARIABLES = ("PXR_MTLX_PLUGIN_SEARCH_PATHS", "PXR_MTLX_STDLIB_SEARCH_PATHS")
_INCLUDE = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href={}/>\n'
_END = "</materialx>"


def parse_text(text: str, name: str) -> xml.Element:
    """The root of a document, checked for unsafe XML."""
    check_xml(text, name)
    try:
        return xml.fromstring(text)
    except xml.ParseError as failure:
        # such as a prefix without a namespace, which MaterialX allows
        raise DocumentError(f"{name}: is not valid XML ({failure}): export it again") from None


def material_names(text: str, name: str, with_surface: bool = True) -> tuple[str, ...]:
    """Names of the materials with a surface, or of those without."""
    root = parse_text(text, name)
    return tuple(
        child.get("name", "")
        for child in root
        if child.get("type") == "material"
        and (child.find("input[@name='surfaceshader']") is not None) == with_surface
    )


def named_files(text: str, name: str) -> tuple[str, ...]:
    """All file names in a document, with their prefixes and forward slashes."""
    files: dict[str, None] = {}

    def visit(element: xml.Element, prefix: str) -> None:
        prefix = element.get("fileprefix", prefix)
        if element.get("type") == "filename" and element.get("value"):
            files[PureWindowsPath(prefix + element.get("value", "")).as_posix()] = None
        for child in element:
            visit(child, prefix)

    visit(parse_text(text, name), "")
    return tuple(files)


def named_folders(text: str, name: str) -> tuple[Path, ...]:
    """The folders of all absolute file names in a document. The artist has put the files into the
    scene, so they may be read."""
    files = named_files(text, name)
    absolute = (
        each for each in files if PurePosixPath(each).is_absolute() or PureWindowsPath(each).drive
    )
    return tuple(dict.fromkeys(Path(each).parent for each in absolute))


def require_material_name(text: str, name: str, name_in_host: str) -> str:
    """The material that has this name in the application, or the only material."""
    there = material_names(text, name)
    if name_in_host in there:
        return name_in_host
    if len(there) == 1:
        return there[0]
    if not there:
        raise HostError(
            f"{name}: has no material with a surface: connect a surface shader to a "
            "surfacematerial node"
        )
    raise HostError(f"{name}: has no material {name_in_host!r}: use one of {', '.join(there)}")


@dataclass
class Definition:
    """A node definition with its implementation graph."""

    signature: Signature
    files: tuple[Path, ...]
    """The files of the definition and of the graph."""

    uses: frozenset[str] = field(default_factory=frozenset)
    """The categories of nodes in the graph."""


def folders_of_definitions() -> tuple[Path, ...]:
    """The existing folders that the environment variables name."""
    named = [part for key in VARIABLES for part in os.environ.get(key, "").split(os.pathsep)]
    return tuple(dict.fromkeys(Path(part) for part in named if part and Path(part).is_dir()))


@lru_cache(maxsize=8)
def find_definitions(folders: tuple[Path, ...]) -> Mapping[str, Definition]:
    """The definitions in these folders that MaterialX itself lacks, by name."""
    signatures: dict[str, tuple[Signature, Path]] = {}
    graphs: dict[str, tuple[Path, frozenset[str]]] = {}
    for path in sorted({path for folder in folders for path in folder.rglob("*.mtlx")}):
        try:
            root = parse_text(read_text(path), str(path))
        except VerdigrisError:
            # a broken file is the application's problem, and no document needs it
            continue
        names = [element.get("name", "") for element in root.iter("nodedef")]
        if any(_is_standard(name) for name in names):
            continue
        for element in root.iter("nodedef"):
            signatures[element.get("name", "")] = _signature(element), path
        for element in root.iter("nodegraph"):
            if element.get("nodedef"):
                graphs[element.get("nodedef", "")] = path, kinds_of_nodes(element)
    return {
        name: Definition(
            signature, tuple(dict.fromkeys((path, graphs[name][0]))), graphs[name][1] - {name}
        )
        for name, (signature, path) in signatures.items()
        if name in graphs
    }


def signatures_in(folders: tuple[Path, ...]) -> dict[str, Signature]:
    """Signatures of these definitions, for the converter of USD stages."""
    return {name: found.signature for name, found in find_definitions(folders).items()}


def with_definitions(text: str, name: str, folders: tuple[Path, ...]) -> tuple[str, list[Path]]:
    """The document with includes of the definitions that it needs, and their files."""
    there = find_definitions(folders)
    by_kind: dict[str, list[Definition]] = {}
    for found in there.values():
        for key in {found.signature.category, found.signature.definition}:
            by_kind.setdefault(key, []).append(found)
    root = parse_text(text, name)
    own = {element.get("node", "") for element in root.iter("nodedef")}
    open_kinds, done = set(kinds_of_nodes(root)) - own, set(own)
    files: dict[Path, None] = {}
    while open_kinds:
        kind = open_kinds.pop()
        done.add(kind)
        for found in by_kind.get(kind, ()):
            files |= dict.fromkeys(found.files)
            open_kinds |= found.uses - done
    if not files:
        return text, []
    lines = [_INCLUDE.format(_quoted(path.absolute().as_posix())) for path in files]
    head, end, tail = text.rpartition(_END)
    return f"{head}{''.join(lines)}{end}{tail}", list(files)


def with_length_unit(text: str, name: str, unit: str) -> str:
    """The document with a unit of its displacements, for those that name none."""
    root = parse_text(text, name)
    changed = False
    for node in root.iter("displacement"):
        ports = {port.get("name"): port for port in node.findall("input")}
        if any(port.get("unit") for port in ports.values()):
            continue
        scale = ports.get("scale")
        if scale is None:
            scale = xml.SubElement(node, "input", name="scale", type="float", value="1")
        # MaterialX converts values only
        if scale.get("value") is not None:
            scale.attrib.update(unittype="distance", unit=unit)
            changed = True
    return xml.tostring(root, encoding="unicode") if changed else text


def unknown_nodes(text: str, name: str, folders: tuple[Path, ...]) -> tuple[str, ...]:
    """A message for each category of nodes that only an application has, and that no definition in
    these folders implements."""
    there = find_definitions(folders)
    known = set(there) | {found.signature.category for found in there.values()}
    known |= known_categories()
    root = parse_text(text, name)
    known |= {element.get("node", "") for element in root.iter("nodedef")}
    lines = []
    for kind in sorted(kinds_of_nodes(root) - known):
        origin = foreign_origin(kind)
        if origin:
            lines.append(
                f"{name}: {kind!r} is a node that only {origin[0]} has: materials with it cannot "
                f"be baked: {origin[1]}"
            )
    return tuple(lines)


def kinds_of_nodes(element: xml.Element) -> frozenset[str]:
    """The categories below an element, and the definitions that its nodes name."""
    kinds: set[str] = set()
    for each in element.iter():
        if each.tag not in ("nodedef", "nodegraph", "materialx", "input", "output"):
            kinds |= {each.tag, each.get("nodedef", "")}
    return frozenset(kinds - {""})


def _signature(element: xml.Element) -> Signature:
    def ports(children: Iterable[xml.Element]) -> dict[str, str]:
        return {child.get("name", ""): child.get("type", "") for child in children}

    return Signature(
        element.get("name", ""),
        element.get("node", ""),
        ports(element.iter("output")),
        ports(element.iter("input")),
        is_current=True,
    )


def _is_standard(name: str) -> bool:
    return any(find_signature(name, version) for version in ((1, 39), (1, 38)))


def _quoted(value: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(value)
