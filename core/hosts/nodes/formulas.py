"""Formulas as nodes of MaterialX: `mix(color2, color1, blender)`, `input.r if t > 0.5 else 0`.

The syntax is that of Python's expressions. Names are inputs of a definition, or earlier formulas. A
number beside a colour counts for each channel.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from functools import cache

from verdigris.core.hosts.nodes.operands import (
    COMPONENTS,
    NodeWriter,
    Operand,
    number,
    numbers_text,
)

_BINARY: dict[type, tuple[str, Callable[[float, float], float]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("subtract", operator.sub),
    ast.Mult: ("multiply", operator.mul),
    ast.Div: ("divide", operator.truediv),
    ast.Mod: ("modulo", operator.mod),
    ast.Pow: ("power", operator.pow),
}
_COMPARISONS: dict[type, Callable[[float, float], bool]] = {
    ast.Gt: operator.gt,
    ast.Lt: operator.lt,
    ast.GtE: operator.ge,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
}
_SWAPPABLE = ("add", "multiply", "min", "max")
# name -> (category, its inputs). All inputs but numbers get the widest type.
_FUNCTIONS = {
    "min": ("min", ("in1", "in2")),
    "max": ("max", ("in1", "in2")),
    "clamp": ("clamp", ("in", "low", "high")),
    "mix": ("mix", ("bg", "fg", "mix")),
    "smoothstep": ("smoothstep", ("in", "low", "high")),
    "abs": ("absval", ("in",)),
    "sign": ("sign", ("in",)),
    "floor": ("floor", ("in",)),
    "ceil": ("ceil", ("in",)),
    "round": ("round", ("in",)),
    "sqrt": ("sqrt", ("in",)),
    "exp": ("exp", ("in",)),
    "ln": ("ln", ("in",)),
    "sin": ("sin", ("in",)),
    "cos": ("cos", ("in",)),
    "tan": ("tan", ("in",)),
    "asin": ("asin", ("in",)),
    "acos": ("acos", ("in",)),
    "atan2": ("atan2", ("iny", "inx")),
    "rgb_to_hsv": ("rgbtohsv", ("in",)),
    "hsv_to_rgb": ("hsvtorgb", ("in",)),
    "normalize": ("normalize", ("in",)),
    "cross": ("crossproduct", ("in1", "in2")),
}
# Functions that the library has for vectors and not for colours.
_OF_VECTORS = frozenset(
    ("sqrt", "exp", "ln", "sin", "cos", "tan", "asin", "acos", "atan2", "normalize", "crossproduct")
)
# Functions of a direction that return a number.
_MEASURES = {"dot": ("dotproduct", ("in1", "in2")), "length": ("magnitude", ("in",))}
# What functions of numbers return for constants.
_FOLDS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "floor": math.floor,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "clamp": lambda value, low, high: min(max(value, low), high),
}
_CHANNELS = {"r": 0, "g": 1, "b": 2, "a": 3, "x": 0, "y": 1, "z": 2, "w": 3}
_MADE = {"rgb": "color3", "xyz": "vector3", "xy": "vector2", "rgba": "color4"}
_CONVERTED = {"color": "color3", "vector": "vector3", "float": "float"}


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text.strip(), mode="eval").body


def write_formula(text: str, names: Mapping[str, Operand], writer: NodeWriter) -> Operand:
    """Writes the nodes of a formula. Returns its result."""
    return _Formula(text, names, writer).operand(_parsed(text))


class _Formula:
    def __init__(self, text: str, names: Mapping[str, Operand], writer: NodeWriter) -> None:
        self._text, self._names, self._writer = text, names, writer

    def operand(self, part: ast.expr) -> Operand:
        match part:
            case ast.Constant(value=int() | float() as value):
                return number(value)
            case ast.Name(id=name) if name in self._names:
                return self._as_number(self._names[name])
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return self._binary("multiply", operator.mul, self.operand(inner), number(-1))
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _BINARY:
                category, fold = _BINARY[type(sign)]
                return self._binary(category, fold, self.operand(left), self.operand(right))
            case ast.IfExp(test=test, body=body, orelse=other):
                known = self._known(test)
                if known is not None:
                    return self.operand(body if known else other)
                return self._choice(test, self.operand(body), self.operand(other))
            case ast.Attribute(value=inner, attr=channel) if channel in _CHANNELS:
                return self._channel(self.operand(inner), _CHANNELS[channel])
            case ast.Attribute(value=inner, attr="rgb"):
                return self._writer.convert(self.operand(inner), "color3")
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(name, [self.operand(each) for each in arguments])
        raise ValueError(f"the formula {self._text!r} has an unknown part: {ast.unparse(part)!r}")

    def _as_number(self, operand: Operand) -> Operand:
        return self._writer.convert(operand, "float") if operand.type in ("integer",) else operand

    def _binary(
        self, category: str, fold: Callable[[float, float], float], left: Operand, right: Operand
    ) -> Operand:
        folded = _folded(fold, left, right)
        if folded is not None:
            return folded
        if left.type == "float" and right.type != "float" and category in _SWAPPABLE:
            left, right = right, left
        if left.type == "float":
            left = self._writer.convert(left, right.type)
        elif right.type != "float":
            right = self._writer.convert(right, left.type)
        return self._writer.add(category, left.type, {"in1": left, "in2": right})

    def _known(self, test: ast.expr) -> bool | None:
        """The result of a test of constants. None if it depends on the place."""
        if isinstance(test, ast.Name):
            value = self._names[test.id].value
            return value == "true" if value else None
        if isinstance(test, ast.Compare):
            left, right = self.operand(test.left).numbers, self.operand(test.comparators[0]).numbers
            if left is not None and right is not None:
                return bool(_COMPARISONS[type(test.ops[0])](left[0], right[0]))
        return None

    def _choice(self, test: ast.expr, one: Operand, other: Operand) -> Operand:
        wide = _widest(one, other)
        results = {"in1": self._writer.convert(one, wide), "in2": self._writer.convert(other, wide)}
        category, values = "ifequal", (self._test(test), Operand("boolean", value="true"))
        if isinstance(test, ast.Compare):
            left, right = self.operand(test.left), self.operand(test.comparators[0])
            category, values = {
                ast.Gt: ("ifgreater", (left, right)),
                ast.Lt: ("ifgreater", (right, left)),
                ast.GtE: ("ifgreatereq", (left, right)),
                ast.LtE: ("ifgreatereq", (right, left)),
                ast.Eq: ("ifequal", (left, right)),
            }[type(test.ops[0])]
        inputs = {"value1": values[0], "value2": values[1], **results}
        return self._writer.add(category, wide, inputs)

    def _test(self, test: ast.expr) -> Operand:
        if isinstance(test, ast.Name) and self._names[test.id].type == "boolean":
            return self._names[test.id]
        if isinstance(test, ast.Compare):
            return number(0)
        raise ValueError(f"the formula {self._text!r} tests {ast.unparse(test)!r}")

    def _channel(self, operand: Operand, index: int) -> Operand:
        if operand.numbers is not None:
            return number(operand.numbers[index])
        port = {"in": operand, "index": Operand("integer", value=str(index))}
        return self._writer.add("extract", "float", port)

    def _call(self, name: str, operands: list[Operand]) -> Operand:
        writer = self._writer
        values = [each.numbers for each in operands]
        if name in _MADE and all(each is not None and len(each) == 1 for each in values):
            return Operand(_MADE[name], value=numbers_text([each[0] for each in values if each]))
        if name == "dot" and values[0] is not None and values[1] is not None:
            return number(sum(map(operator.mul, values[0], values[1])))
        folded = _folded(_FOLDS.get(name), *operands)
        if folded is not None:
            return folded
        if name in _MADE:
            ports = {f"in{at + 1}": each for at, each in enumerate(operands)}
            if name == "rgba" and len(operands) == 2:
                return writer.add("combine2", "color4", ports)
            return writer.add(f"combine{len(operands)}", _MADE[name], ports)
        if name in _CONVERTED:
            return writer.convert(operands[0], _CONVERTED[name])
        if name in _MEASURES:
            category, names = _MEASURES[name]
            vectors = [writer.convert(each, "vector3") for each in operands]
            return writer.add(category, "float", dict(zip(names, vectors, strict=True)))
        if name not in _FUNCTIONS:
            raise ValueError(f"the formula {self._text!r} has an unknown function {name!r}")
        category, names = _FUNCTIONS[name]
        wide = result = _widest(*operands)
        if category in _OF_VECTORS and wide == "color3":
            wide = "vector3"
        inputs = {}
        for at, (port, operand) in enumerate(zip(names, operands, strict=True)):
            is_number_allowed = port == "mix" or (at > 0 and category not in ("mix", "atan2"))
            is_number = operand.type == "float" and is_number_allowed
            inputs[port] = operand if is_number else writer.convert(operand, wide)
        if category in ("clamp", "smoothstep"):
            limits = {inputs[port].type for port in ("low", "high")}
            if len(limits) > 1:
                inputs |= {port: writer.convert(inputs[port], wide) for port in ("low", "high")}
        return writer.convert(writer.add(category, wide, inputs), result)


def _folded(function: Callable[..., float] | None, *operands: Operand) -> Operand | None:
    """What a function of each component returns for constants. None if an operand is none, or for
    a division by zero."""
    values = [each.numbers for each in operands]
    if function is None or any(each is None for each in values):
        return None
    wide = _widest(*operands)
    count = COMPONENTS[wide]
    spread = [each * (count // len(each)) for each in values if each]
    try:
        results = [float(function(*parts)) for parts in zip(*spread, strict=True)]
    except (ArithmeticError, TypeError, ValueError):
        return None
    return Operand(wide, value=numbers_text(results))


def _widest(*operands: Operand) -> str:
    """The first type with the most components."""
    return max((each.type for each in operands), key=lambda kind: COMPONENTS.get(kind, 1))
