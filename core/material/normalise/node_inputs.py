"""Repairs of single inputs and outputs of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

_READER, _FALLBACK, _BLACK = "UsdUVTexture", "fallback", "black"
_COLOUR_CHANNELS = dict(zip("xyzw", "rgba", strict=True))
_VECTOR_CHANNELS = {colour: vector for vector, colour in _COLOUR_CHANNELS.items()}


def copy_inherited_inputs(root: mx.Document) -> None:
    """Copies inherited inputs into nodes: the generator reads their values only."""
    for node in root.getNodes():
        for port in node.getActiveInputs() if node.hasInheritString() else ():
            if node.getInput(port.getName()) is None:
                node.addInput(port.getName(), port.getType()).copyContentFrom(port)


def border_black(root: mx.Document) -> None:
    """Removes the fallback of USD textures with a black border.

    In USD the fallback replaces a file that cannot be read. MaterialX's graph returns it outside of
    the image.
    """
    import MaterialX as mx

    for node in list(root.traverseTree()):
        if isinstance(node, mx.Node) and node.getCategory() == _READER and _value(node, "file"):
            is_black = _BLACK in (_value(node, "wrapS"), _value(node, "wrapT"))
            if is_black and node.getInput(_FALLBACK) is not None:
                node.removeInput(_FALLBACK)


def _value(node: mx.Node, name: str) -> str:
    """The value of an input, or of the graph input that it reads."""
    port = node.getInput(name)
    return str((port.getInterfaceInput() or port).getValueString()) if port is not None else ""


def rename_channel_outputs(root: mx.Document) -> None:
    """Renames outputs of `separate` nodes by the type of their input.

    Swizzles may use x, y, z for a colour, or r, g, b for a vector. MaterialX 1.39.5 replaces
    swizzles and keeps those letters, but a colour has the outputs r, g and b only.
    """
    import MaterialX as mx

    for port in root.traverseTree():
        source = port.getConnectedNode() if isinstance(port, mx.Input | mx.Output) else None
        if source is None or not source.getCategory().startswith("separate"):
            continue
        separated = source.getInput("in")
        is_colour = separated is not None and separated.getType().startswith("color")
        letters = _COLOUR_CHANNELS if is_colour else _VECTOR_CHANNELS
        letter = port.getOutputString().removeprefix("out")
        if letter in letters:
            port.setOutputString(f"out{letters[letter]}")
