"""The manifest's list `live`: names, ranges and defaults of live inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from verdigris.core.base.json_fields import Fields
from verdigris.core.material.live_inputs.live_input import CLOCKS, LiveInput

FIELD = "live"
_KINDS = ("float", "color3", *CLOCKS)


def live_json(inputs: Sequence[LiveInput]) -> dict[str, Any]:
    """The entry of a manifest; nothing without live inputs."""
    return {FIELD: [each.as_json() for each in inputs]} if inputs else {}


def parse_live(fields: Fields, count: int) -> tuple[LiveInput, ...]:
    """So many live inputs, as the network needs them."""
    if not count:
        return ()
    found = tuple(map(_parse_input, fields.tables(FIELD, count)))
    fields.require(len(found) == count, FIELD, f"the network has {count} live inputs")
    names = [each.name for each in found]
    fields.require(len({*names}) == len(names), FIELD, "each must have another name")
    return found


def unnamed_inputs(defaults: Sequence[float]) -> tuple[LiveInput, ...]:
    """Inputs from 0 to 1 of numbers that come without names."""
    return tuple(
        LiveInput(f"live{number}", "float", (0.0,), (1.0,), default)
        for number, default in enumerate(defaults)
    )


def _parse_input(fields: Fields) -> LiveInput:
    kind = fields.chosen("type", _KINDS)
    ends = []
    for name in ("low", "high"):
        if kind == "color3":
            ends.append(tuple(map(float, fields.numbers(name, 3))))
        else:
            ends.append((fields.number(name),))
    fields.require(ends[0] != ends[1], "high", "it must differ from low")
    default = fields.number("default")
    is_inside = math.isfinite(default) and 0 <= default <= 1
    fields.require(is_inside, "default", "use a number from 0 to 1")
    return LiveInput(fields.text("name"), kind, ends[0], ends[1], default)
