"""Access to the shading nodes of a scene, and the values of their attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from verdigris.core.hosts.nodes.operands import SURFACE, Operand, numbers_text

Value = bool | int | float | str | Sequence[float] | None
_BOOLEANS = {"true": 1, "false": 0}
_TOLERANCE = 1e-6
_OF_MATRIX = 16


@dataclass(frozen=True)
class HostImage:
    """The file of a texture node."""

    file: str
    space: str = ""
    """The name of its colour space. Empty for a file without colours."""


class HostNodes(Protocol):
    """Access to the nodes of a scene. Attributes are named by their last part; elements of arrays
    as `inputs[2].color`."""

    def kind(self, node: str) -> str: ...

    def value(self, node: str, attribute: str) -> Value:
        """The value, angles in degrees. None if the node does not have the attribute."""

    def source(self, node: str, attribute: str) -> tuple[str, str] | None:
        """The node and its output that are connected to exactly this attribute."""

    def children(self, node: str, attribute: str) -> Sequence[str]:
        """The components of an attribute or an output, such as colorR, colorG, colorB."""

    def parent(self, node: str, attribute: str) -> str:
        """The attribute that this one is a component of; empty if there is none."""

    def indices(self, node: str, array: str) -> Sequence[int]:
        """The elements of an array, which may have gaps."""

    def image(self, node: str) -> HostImage:
        """The file of a texture node."""

    def is_animation(self, kind: str) -> bool:
        """Whether nodes of this kind are no shading nodes: curves, expressions, controls."""


def element_path(array: str, index: int, child: str) -> str:
    """The attribute of an element of an array, or a numbered attribute: `input#`."""
    if "#" in child:
        return child.replace("#", str(index))
    return f"{array}[{index}]" if child == array else f"{array}[{index}].{child}"


def constant(value: Value, kind: str) -> Operand | None:
    if kind == SURFACE or value is None:
        return None
    if kind == "boolean":
        return Operand(kind, value="true" if value else "false")
    if kind == "integer":
        return Operand(kind, value=str(int(value)))  # type: ignore[arg-type]
    if isinstance(value, str):
        return Operand(kind, value=value)
    numbers = _numbers(value)
    if kind == "matrix44" and len(numbers) != _OF_MATRIX:
        return None
    return Operand(kind, value=numbers_text(numbers))


def _numbers(value: Value) -> list[float]:
    if isinstance(value, str):
        return [float(_BOOLEANS.get(each, each)) for each in value.split(",")]
    return [float(each) for each in value] if isinstance(value, Sequence) else [float(value or 0)]


def is_same(value: Value, text: str) -> bool:
    try:
        one, other = _numbers(value), _numbers(text)
    except ValueError:
        return str(value) == text
    if len(other) == 1:
        other = other * len(one)
    return len(one) == len(other) and all(
        abs(a - b) <= _TOLERANCE for a, b in zip(one, other, strict=True)
    )


def text_of(value: Value) -> str:
    return value if isinstance(value, str) else numbers_text(_numbers(value)).replace(",", "")
