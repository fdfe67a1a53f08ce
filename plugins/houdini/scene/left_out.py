"""What no document of a material in a network can have: its nodes of other languages, and settings
of a Principled Shader that Houdini does not show to USD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import hou

from verdigris.plugins.common.usd_stages import listed

# Nodes that MaterialX or USD define, or that notes on the stage name.
_TRANSLATED = ("mtlx", "hmtlx", "usd")
_WITHOUT_EFFECT = {
    "kma_material_properties": "sets properties of Karma alone, which a bake does not need"
}
# Nodes that connect others.
_STRUCTURE = ("subnet", "subnetconnector", "suboutput", "subinput", "collect", "parameter", "null")
_OUTPUTS = ("subnetconnector", "suboutput")
_PRINCIPLED = "principledshader"


def left_out(material: hou.VopNode, notes: Sequence[str]) -> list[str]:
    """A line for each node upstream that is not translated, unless a note names it already."""
    found = []
    for node in upstream(material):
        kind = node.type().name()
        # as prims have the names of their nodes
        is_named = any(re.search(rf"/{re.escape(node.name())}[ :]", note) for note in notes)
        if kind in _WITHOUT_EFFECT:
            found.append(f"{node.path()} ({kind}) {_WITHOUT_EFFECT[kind]}")
        elif kind.startswith(_PRINCIPLED):
            found += _lost_settings(node)
        elif not (is_named or kind.startswith(_TRANSLATED) or kind in _STRUCTURE):
            found.append(
                f"{node.path()} ({kind}) is not a node of MaterialX, so what it drives has its "
                "plain value: replace it by MtlX nodes, or bake what it does to a texture"
            )
    return found


def upstream(material: hou.VopNode) -> Iterator[hou.VopNode]:
    """The nodes that a material reads, in its subnets too, and the material itself."""
    seen: set[str] = set()
    waiting = [material]
    while waiting:
        node = waiting.pop()
        if node.path() in seen:
            continue
        seen.add(node.path())
        yield node
        waiting += [each for each in node.inputs() if each is not None]
        # a builder or a subnet: what reaches its outputs
        waiting += [each for each in node.children() if each.type().name() in _OUTPUTS]


def _lost_settings(shader: hou.VopNode) -> list[str]:
    shown = set(shader.usdPreviewShaderParms())
    lost = sorted(name for name in shader.usdShaderParms() if name not in shown)
    text = f"{shader.path()} is read as the USD Preview Surface that Houdini makes of it"
    return [f"{text}, without {listed(lost)}" if lost else text]
