"""Geometry properties that stand for numbers of a texel, and the code that reads them."""

from __future__ import annotations

_PROPERTY = "verdigris_texel"
_WIDTHS = {"float": 1, "vector2": 2, "vector3": 3, "color3": 3, "vector4": 4, "color4": 4}


def texel_property(first: int) -> str:
    """The name of a property whose value begins with this channel of a texel."""
    return f"{_PROPERTY}{first}"


def texel_code(variable: str, kind: str) -> str | None:
    """The code of the value of a variable of the vertex data; None of other variables."""
    _, found, rest = variable.partition(f"geomprop_{_PROPERTY}")
    if not found:
        return None
    first, width = int(rest.partition("_")[0]), _WIDTHS[kind]
    parts = ", ".join(f"gTexelValues[{first + part}]" for part in range(width))
    return parts if width == 1 else f"float{width}({parts})"
