"""Converts UsdShade materials to MaterialX documents.

`pxr` comes from the host or from usd-core, and is imported where it is used. MaterialX is not
imported, because hosts have a version of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.usd import read_network as reader
from verdigris.core.material.usd.faults import refusing_damage
from verdigris.core.material.usd.signatures import find_signature
from verdigris.core.material.usd.write_mtlx import valid_name, write_document

if TYPE_CHECKING:
    from pxr import Sdf, Usd, UsdShade

    from verdigris.core.material.usd.signatures import Signature


@dataclass(frozen=True)
class ConvertedMaterial:
    """A material of a stage as a MaterialX document."""

    name: str
    """The name of the material in the document: the last part of its path, in plain letters."""

    path: str
    """The path of the prim on the stage."""

    text: str
    """The document."""

    folders: tuple[Path, ...] = ()
    """The folders of its files."""

    notes: tuple[str, ...] = ()
    """Differences between the prim and the document."""


def list_materials(stage: Usd.Stage) -> tuple[str, ...]:
    """The paths of all materials on a stage, with MaterialX or without. A material that instances
    share has the path in the first instance."""
    from pxr import Usd, UsdShade

    everything = Usd.TraverseInstanceProxies(Usd.PrimIsDefined & ~Usd.PrimIsAbstract)
    found: dict[Sdf.Path, str] = {}
    for prim in stage.Traverse(everything):
        if prim.IsActive() and UsdShade.Material(prim):
            shared = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
            found.setdefault(shared.GetPath(), str(prim.GetPath()))
    return tuple(found.values())


def require_material(stage: Usd.Stage, path: str) -> UsdShade.Material:
    """The material at this path of a stage, or the only material with this name."""
    from pxr import Sdf, UsdShade

    if Sdf.Path.IsValidPathString(path) and path.startswith("/"):
        material = UsdShade.Material(stage.GetPrimAtPath(path))
        if material:
            return material
    there = list_materials(stage)
    named = [each for each in there if each.rpartition("/")[2] == path]
    if len(named) == 1:
        return UsdShade.Material(stage.GetPrimAtPath(named[0]))
    where = stage.GetRootLayer().GetDisplayName()
    if named:
        raise DocumentError(f"{where}: {path!r} may be {', '.join(named)}: use the whole path")
    listed = ", ".join(there[:20]) or "none"
    raise DocumentError(f"{where}: has no material {path!r}; there are: {listed}")


def convert(
    stage: Usd.Stage, path: str, known: Mapping[str, Signature] | None = None
) -> ConvertedMaterial:
    """Converts the material at a path of a stage. The caller keeps the stage, without which its
    prims expire."""
    return convert_material(require_material(stage, path), known)


def convert_material(
    material: UsdShade.Material, known: Mapping[str, Signature] | None = None
) -> ConvertedMaterial:
    """Converts a material to a document that compiles to the same shader. `known` are definitions
    that the document will have beside those of the library."""
    with refusing_damage(DocumentError, material.GetPath()):
        network = reader.read_network(material, _is_defined(known))
    text = write_document(network, known)
    return ConvertedMaterial(
        valid_name(network.name),
        network.path,
        text,
        tuple(sorted(network.folders)),
        tuple(network.notes),
    )


def has_surface(stage: Usd.Stage, path: str) -> bool:
    """Whether the material at a path of a stage has a MaterialX surface. With surfaces for other
    renderers alone it cannot be baked."""
    return reader.has_surface(require_material(stage, path), _is_defined(None))


def _is_defined(known: Mapping[str, Signature] | None) -> reader.IsDefined:
    own = known or {}
    return lambda name, version: name in own or find_signature(name, version) is not None
