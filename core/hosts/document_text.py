"""Reads MaterialX text without MaterialX, inside an application's own Python."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from xml.etree import ElementTree as xml

from verdigris.core.base.errors import HostError
from verdigris.core.material.load.mtlx_text import check_xml


def parse_text(text: str, name: str) -> xml.Element:
    """The root of a document, checked for unsafe XML."""
    check_xml(text, name)
    return xml.fromstring(text)


def material_names(text: str, name: str, with_surface: bool = True) -> tuple[str, ...]:
    """Names of the materials with a surface, or of those without."""
    root = parse_text(text, name)
    return tuple(
        child.get("name", "")
        for child in root
        if child.get("type") == "material"
        and (child.find("input[@name='surfaceshader']") is not None) == with_surface
    )


def named_folders(text: str, name: str) -> tuple[Path, ...]:
    """The folders of all absolute file names in a document. The artist has put these files into the
    scene, so they may be read."""
    folders: dict[Path, None] = {}

    def visit(element: xml.Element, prefix: str) -> None:
        prefix = element.get("fileprefix", prefix)
        if element.get("type") == "filename":
            file = prefix + element.get("value", "")
            if PurePosixPath(file).is_absolute() or PureWindowsPath(file).drive:
                folders[Path(PureWindowsPath(file).as_posix()).parent] = None
        for child in element:
            visit(child, prefix)

    visit(parse_text(text, name), "")
    return tuple(folders)


def require_material_name(text: str, name: str, name_in_host: str) -> str:
    """The material that an application calls so, or the only material."""
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
