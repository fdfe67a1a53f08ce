"""Which arithmetic a bundle asks for: half floats are too coarse for some materials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verdigris.core.base.json_fields import Fields
    from verdigris.core.bundle.files.manifest_parts import Bounds

# By name, from the fastest, what plain code does of the hidden layers: nothing, the first layer,
# that and the careful units. NEURAL_CAREFUL of neural_decoder.slang.
COOPERATIVE, CAREFUL, EXACTING = range(3)
WAYS = {"cooperative": COOPERATIVE, "careful": CAREFUL, "exacting": EXACTING}
# What a larger error is given as, and one that is no number.
LARGEST_ERROR = 1000.0
PORTABLE = "portable"
# From the fastest to the one that is right for every material.
ADVICE = (*WAYS, PORTABLE)
IN_WORDS = {
    "cooperative": "with cooperative vectors, where a device has them",
    "careful": "with cooperative vectors and a plain first layer",
    "exacting": "with cooperative vectors, but in plain code what half floats are too coarse for",
    "portable": "in plain code: half floats are too coarse for it",
}
# Those that every bundle tells of.
_FIRST_WAYS = ("cooperative", "careful")
# The part of the bound that is let pass: other devices may round in other ways.
_MARGIN = 0.8


@dataclass(frozen=True)
class Arithmetic:
    """What was judged of a bundle's numbers."""

    advised: str
    """One of ADVICE."""
    errors: Mapping[str, float]
    """The largest relative error with cooperative vectors on the reference, by way, emulated; not
    of ways that the writer did not know."""

    def as_json(self) -> dict[str, Any]:
        return {"advised": self.advised, "errors": dict(self.errors)}

    def against_halves(self, whose: str, bounds: Bounds) -> str:
        """Why plain code is asked for, in a sentence of a table's kind."""
        errors = self.errors
        least = min(errors[name] for name in WAYS if name in errors)
        return (
            f"{whose} asks for plain code (their emulated error {errors['cooperative']:.3g}, "
            f"at best {least:.3g}, bound {bounds.relative:g})"
        )


def way_of(advised: str | None) -> int:
    """What plain code does of the hidden layers where cooperative vectors are taken, of WAYS."""
    return COOPERATIVE if advised is None else WAYS.get(advised, COOPERATIVE)


def let_pass(bounds: Bounds) -> float:
    """The largest emulated error with which cooperative vectors are advised."""
    return _MARGIN * bounds.relative


def most_careful(advice: Iterable[str]) -> str:
    """What suits all of these."""
    return max(advice, key=ADVICE.index)


def parse_arithmetic(fields: Fields, bounds: Bounds, is_newer: bool) -> Arithmetic | None:
    """None where there is none; `is_newer` says that the file's minor version
    is beyond the one that this knows."""
    if "arithmetic" not in fields:
        return None
    table = fields.table("arithmetic")
    advised = _parse_advised(table, is_newer)
    given = table.table("errors")
    # writers before know two ways
    errors = {
        name: given.number(name)
        for name in WAYS
        if name in given or name in (*_FIRST_WAYS, advised)
    }
    for name, error in errors.items():
        holds = 0 <= error <= LARGEST_ERROR
        given.require(holds, name, f"it must be from 0 to {LARGEST_ERROR:g}")
    holds = advised == PORTABLE or errors[advised] <= bounds.relative
    remedy = f"its error is beyond bounds.relative, {bounds.relative:g}"
    table.require(holds, "advised", remedy)
    return Arithmetic(advised, errors)


def parse_scene_advice(
    fields: Fields, parts: Iterable[Arithmetic | None], is_newer: bool
) -> str | None:
    """What a scene asks for, which is no faster than what any of its materials does."""
    if "arithmetic" not in fields:
        return None
    table = fields.table("arithmetic")
    advised = _parse_advised(table, is_newer)
    needed = most_careful([advised, *(part.advised for part in parts if part)])
    table.require(advised == needed, "advised", f"one of its materials asks for {needed}")
    return advised


def _parse_advised(table: Fields, is_newer: bool) -> str:
    """Of a newer minor version, a word that is not known is plain code, which is always right."""
    if is_newer and table.text("advised") not in ADVICE:
        return PORTABLE
    return table.chosen("advised", ADVICE)
