"""What MaterialX leaves wrong in documents of earlier versions that it brings up to its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

_OF_COLOURS = dict(zip("xyzw", "rgba", strict=True))
_OF_VECTORS = {colour: vector for vector, colour in _OF_COLOURS.items()}


def name_channels_by_type(root: mx.Document) -> None:
    """Gives outputs of `separate` nodes the names that they have for what comes in.

    Channels of swizzles and connections could be named x, y, z of a colour, or r, g, b of a vector.
    MaterialX 1.39.5 takes swizzles apart and hands those letters on, though the outputs of a colour
    are r, g and b alone.
    """
    import MaterialX as mx

    for port in root.traverseTree():
        source = port.getConnectedNode() if isinstance(port, mx.Input | mx.Output) else None
        if source is None or not source.getCategory().startswith("separate"):
            continue
        came_in = source.getInput("in")
        is_colour = came_in is not None and came_in.getType().startswith("color")
        letters = _OF_COLOURS if is_colour else _OF_VECTORS
        letter = port.getOutputString().removeprefix("out")
        if letter in letters:
            port.setOutputString(f"out{letters[letter]}")
