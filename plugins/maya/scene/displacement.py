"""What displaces a shading group: its displacement node or texture, and what MtoA adds to meshes.

MtoA displaces a mesh by its height (`aiDispHeight`) times what the shading group returns, without
the mesh's zero value (`aiDispZeroValue`); vectors as they are. Lengths are in centimetres, Maya's
own unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from maya import cmds

from verdigris.core.hosts.nodes.displacement import VECTOR, HostDisplacement
from verdigris.plugins.maya.scene.documents import UNIT

if TYPE_CHECKING:
    from verdigris.core.hosts.nodes.host_nodes import HostNodes

_PORT, _NODE = "displacementShader", "displacementShader"
_HEIGHT, _ZERO = "aiDispHeight", "aiDispZeroValue"
# By displacementMode; the first is a height, and a vector that is connected has the space of
# vectorSpace.
_SPACES = ("", "tangent", "object", "world")
_VECTOR_SPACES = ("world", "object", "tangent")


def find_displacement(
    scene: HostNodes, engine: str, meshes: Sequence[str]
) -> tuple[HostDisplacement | None, list[str]]:
    """What displaces a shading group on meshes, and notes; None if nothing does that can be
    read."""
    source = scene.source(engine, _PORT)
    if source is None:
        return None, []
    node, output = source
    if scene.kind(node) == _NODE and scene.source(node, VECTOR) is not None:
        space = _space_of(scene, node)
        if space != "tangent":
            return None, [
                f"{node} displaces {engine} by vectors in {space} space, which are left out: use "
                "vectors in tangent space, or heights"
            ]
        return HostDisplacement(node, VECTOR, unit=UNIT), []
    height, zero, notes = _of_meshes(engine, meshes)
    return HostDisplacement(node, output, height, zero, UNIT), notes


def _space_of(scene: HostNodes, node: str) -> str:
    mode, space = (scene.value(node, name) for name in ("displacementMode", "vectorSpace"))
    return _SPACES[_whole(mode)] or _VECTOR_SPACES[_whole(space)]


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _of_meshes(engine: str, meshes: Sequence[str]) -> tuple[float, float, list[str]]:
    """The height and the zero value of the first mesh, and a note if others differ."""
    found = {mesh: (_number(mesh, _HEIGHT, 1.0), _number(mesh, _ZERO, 0.0)) for mesh in meshes}
    if not found:
        return 1.0, 0.0, []
    first, values = next(iter(found.items()))
    notes = [
        f"{engine} displaces {mesh} by another height than {first} ({_HEIGHT}, {_ZERO}): that of "
        f"{first} is used"
        for mesh, own in found.items()
        if own != values
    ]
    return *values, notes[:1]


def _number(node: str, attribute: str, usual: float) -> float:
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        return usual
    return float(cmds.getAttr(f"{node}.{attribute}"))
