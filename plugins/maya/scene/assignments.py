"""Materials that are assigned for a time, and the former assignments, which the scene stores.

A shading group with the attribute `verdigrisFormer` displays something other than the material: the
weights of the brush, or a baked look. The attribute holds the former assignment of its meshes,
by UUID, so that it is found after a rename, and after the scene was opened again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from maya import cmds

from verdigris.core.base.errors import HostError
from verdigris.core.base.json_fields import find_json
from verdigris.plugins.maya.scene.nodes import identity_of, nodes_with, note_text, text_of

FORMER = "verdigrisFormer"
_DEFAULT_ENGINE = "initialShadingGroup"
_WHOLE = ""


@dataclass(frozen=True)
class Former:
    """The part of a mesh that had a material: `f[0:3]`, or empty for the whole mesh."""

    mesh: str
    """The UUID of the mesh."""
    path: str
    """Its path, which chooses one of several instances."""
    engine: str
    """The UUID of the shading group. Empty if there was none."""
    part: str


def engines_on(mesh: str) -> set[str]:
    """The shading groups of a mesh, and its former ones."""
    found = set(cmds.listConnections(mesh, type="shadingEngine") or [])
    uuid = identity_of(mesh)
    for keeper in nodes_with(FORMER):
        found |= {_node(each.engine) for each in read_former(keeper) if each.mesh == uuid}
    return found - {""}


def members_of(engine: str) -> list[str]:
    """The members of a shading group, and those that display something else for now."""
    members = list(cmds.sets(engine, query=True) or [])
    uuid = identity_of(engine)
    for keeper in nodes_with(FORMER):
        members += [_member(each) for each in read_former(keeper) if each.engine == uuid]
    return [member for member in dict.fromkeys(members) if member]


def former_parts(mesh: str, engines: Iterable[str]) -> list[str]:
    """The parts of a mesh that had one of these shading groups."""
    uuid, wanted = identity_of(mesh), {identity_of(engine) for engine in engines}
    return [
        each.part
        for keeper in nodes_with(FORMER)
        for each in read_former(keeper)
        if each.mesh == uuid and each.engine in wanted
    ]


def meshes_of(members: list[str]) -> list[str]:
    """The meshes of members."""
    return list(cmds.ls(members, objectsOnly=True, type="mesh", long=True) or []) if members else []


def assignment_of(mesh: str, engines: Iterable[str] = ()) -> list[Former]:
    """The assignment of a mesh, or the part of it that has one of these shading groups."""
    wanted = set(engines)
    there = dict.fromkeys(cmds.listConnections(mesh, type="shadingEngine") or [])
    found = [
        Former(identity_of(mesh), mesh, identity_of(engine), member.partition(".")[2])
        for engine in there
        if not wanted or engine in wanted
        for member in cmds.sets(engine, query=True) or []
        if mesh in meshes_of([member])
    ]
    return found if found or wanted else [Former(identity_of(mesh), mesh, "", _WHOLE)]


def assign(keeper: str, parts: list[Former]) -> None:
    """Assigns a shading group to parts of meshes, and adds their assignment to its record."""
    record = [*read_former(keeper), *parts]
    text = json.dumps([[each.mesh, each.path, each.engine, each.part] for each in record])
    note_text(keeper, FORMER, text)
    members = [member for each in parts if (member := _member(each))]
    if members:
        cmds.sets(*members, edit=True, forceElement=keeper)


def put_back(keeper: str, whole_meshes: bool = False) -> None:
    """Assigns what the meshes of a shading group had before. Deleted meshes are left out. New faces
    of a mesh that was assigned as a whole get the first material."""
    record = read_former(keeper)
    if whole_meshes:
        first = {(each.mesh, each.path): replace(each, part=_WHOLE) for each in reversed(record)}
        for each in first.values():
            _assign_to(each, keeper)
    for each in record:
        if each.part or not whole_meshes:
            _assign_to(each, keeper)
    note_text(keeper, FORMER, "")


def read_former(keeper: str) -> list[Former]:
    """The record of a shading group."""
    text = text_of(keeper, FORMER)
    try:
        return [Former(*map(str, each)) for each in find_json(text or "[]")]
    except TypeError:
        raise HostError(f"{keeper}: the attribute {FORMER!r} is damaged: delete it") from None


def _assign_to(each: Former, keeper: str) -> None:
    member = _member(each)
    if not member:
        return
    if each.engine:
        cmds.sets(member, edit=True, forceElement=_node(each.engine) or _DEFAULT_ENGINE)
    else:
        cmds.sets(member, edit=True, remove=keeper)


def _member(each: Former) -> str:
    """The name of a part today. Empty if the mesh is gone."""
    there = cmds.ls(each.mesh, long=True, allPaths=True) or []
    if not there:
        return ""
    mesh = each.path if each.path in there else there[0]
    return f"{mesh}.{each.part}" if each.part else mesh


def _node(uuid: str) -> str:
    """The node of a UUID. Empty if it is gone."""
    found = cmds.ls(uuid) if uuid else []
    return str(found[0]) if found else ""
