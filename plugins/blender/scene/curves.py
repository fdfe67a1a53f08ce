# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Curves of Blender's curve nodes as arithmetic: straight lines between places of the curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import bpy

from .node_graph import NodeGraph

CURVES = ("ShaderNodeRGBCurve", "ShaderNodeFloatCurve", "ShaderNodeVectorCurve")
# As many places as the tables of Cycles have, the slopes of whose ends go on beyond the curve.
_PARTS = 255
# Lines that differ by less become one.
_TOLERANCE = 1e-3
_TINY = 1e-6
# The curve of an RGB node that is applied before those of the channels.
_COMBINED = 3

Line = tuple[float, tuple[float, ...]]


def add_curve(graph: NodeGraph, node: bpy.types.Node, share: Any, value: Any) -> Any:
    """The socket with what a curve node makes of a value, as far as its factor says."""
    places = _places(node.mapping)
    is_number = len(places[0][1]) == 1
    of: Callable[..., Any] = graph.math if is_number else graph.vector
    is_open = node.mapping.extend == "EXTRAPOLATED"
    found: Any = places[0][1][0] if is_number else places[0][1]
    last = len(places) - 2
    for index, ((start, before), (end, after)) in enumerate(pairwise(places)):
        part = of("MULTIPLY_ADD", value, 1 / (end - start), start / (start - end))
        if index > 0 or not is_open:
            part = of("MAXIMUM", part, 0.0)
        if index < last or not is_open:
            part = of("MINIMUM", part, 1.0)
        change = tuple(b - a for a, b in zip(before, after, strict=True))
        found = of("MULTIPLY_ADD", part, change[0] if is_number else change, found)
    return of("MULTIPLY_ADD", of("SUBTRACT", found, value), share, value)


def _places(mapping: bpy.types.CurveMapping) -> list[Line]:
    """Places on the axis with the values of each channel."""
    mapping.initialize()
    curves = list(mapping.curves)
    ends = {point.location[0] for curve in curves for point in curve.points}
    low, high = min(ends), max(ends)
    if high - low < _TINY:
        low, high = 0.0, 1.0
    inner = {low + (high - low) * part / _PARTS for part in range(_PARTS + 1)}

    def values(place: float) -> tuple[float, ...]:
        if len(curves) > _COMBINED:
            place = mapping.evaluate(curves[_COMBINED], place)
        return tuple(mapping.evaluate(each, place) for each in curves[:_COMBINED])

    apart: list[float] = []
    for each in sorted(inner | ends):
        if not apart or each - apart[-1] > _TINY:
            apart.append(each)
    lines = [(each, values(each)) for each in apart]
    if mapping.extend == "EXTRAPOLATED":
        return [lines[0], *_simplified(lines[1:-1]), lines[-1]]
    return _simplified(lines)


def _simplified(lines: Sequence[Line]) -> list[Line]:
    """The ends, and the places between that the line from end to end does not show."""
    (start, before), (end, after) = lines[0], lines[-1]

    def distance(line: Line) -> float:
        part = (line[0] - start) / (end - start)
        return max(
            abs(a + (b - a) * part - value)
            for a, b, value in zip(before, after, line[1], strict=True)
        )

    inner = range(1, len(lines) - 1)
    farthest = max(inner, key=lambda index: distance(lines[index]), default=0)
    if not farthest or distance(lines[farthest]) < _TOLERANCE:
        return [lines[0], lines[-1]]
    return _simplified(lines[: farthest + 1])[:-1] + _simplified(lines[farthest:])
