"""The arithmetic that a bundle needs: for some materials, half floats are too coarse."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verdigris.core.base.json_fields import Fields
    from verdigris.core.bundle.files.manifest_parts import Bounds

# NEURAL_CAREFUL of neural_decoder.slang, fastest first. Plain code evaluates no hidden layer, the
# first layer, or the first layer and the careful units of the others.
COOPERATIVE, CAREFUL, EXACTING = range(3)
WAYS = {"cooperative": COOPERATIVE, "careful": CAREFUL, "exacting": EXACTING}
# Larger errors and NaN are stored as this.
LARGEST_ERROR = 1000.0
PORTABLE = "portable"
# Fastest first. The last is right for every material.
ADVICE = (*WAYS, PORTABLE)
IN_WORDS = {
    "cooperative": "with cooperative vectors, if the device has them",
    "careful": "with cooperative vectors and a plain first layer",
    "exacting": "with cooperative vectors, and plain code for the parts that need it",
    "portable": "in plain code: half floats are too coarse for it",
}
# Every bundle has the errors of these ways.
_FIRST_WAYS = ("cooperative", "careful")
# Advise below this share of the bound: other devices may round differently.
_MARGIN = 0.8


@dataclass(frozen=True)
class Arithmetic:
    """The advised arithmetic of a bundle, and the errors that led to it."""

    advised: str
    """One of ADVICE."""
    errors: Mapping[str, float]
    """Largest relative error on the reference for each of WAYS, emulated. Other writers may omit
    some."""

    def as_json(self) -> dict[str, Any]:
        return {"advised": self.advised, "errors": dict(self.errors)}

    def portable_reason(self, whose: str, bounds: Bounds) -> str:
        """One line that tells why plain code is advised."""
        errors = self.errors
        least = min(errors[name] for name in WAYS if name in errors)
        return (
            f"{whose} needs plain code (emulated error {errors['cooperative']:.3g}, "
            f"at best {least:.3g}, bound {bounds.relative:g})"
        )


def careful_level(advised: str | None) -> int:
    """The value of WAYS for this advice; COOPERATIVE without advice, and for plain code."""
    return COOPERATIVE if advised is None else WAYS.get(advised, COOPERATIVE)


def advised_error_limit(bounds: Bounds) -> float:
    """The largest emulated error for which cooperative vectors are advised."""
    return _MARGIN * bounds.relative


def slowest_arithmetic(advice: Iterable[str]) -> str:
    """The fastest arithmetic that suits all this advice."""
    return max(advice, key=ADVICE.index)


def parse_arithmetic(fields: Fields, bounds: Bounds, is_newer: bool) -> Arithmetic | None:
    """The table `arithmetic`, if there is one. `is_newer`: the minor version is above MINOR."""
    if "arithmetic" not in fields:
        return None
    table = fields.table("arithmetic")
    advised = _parse_advised(table, is_newer)
    given = table.table("errors")
    # older writers know two ways
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


def parse_pack_arithmetic(
    fields: Fields, parts: Iterable[Arithmetic | None], is_newer: bool
) -> str | None:
    """The arithmetic of a scene pack: the slowest of its materials."""
    if "arithmetic" not in fields:
        return None
    table = fields.table("arithmetic")
    advised = _parse_advised(table, is_newer)
    needed = slowest_arithmetic([advised, *(part.advised for part in parts if part)])
    table.require(advised == needed, "advised", f"one of its materials needs {needed}")
    return advised


def _parse_advised(table: Fields, is_newer: bool) -> str:
    """In a newer minor version, an unknown word means plain code, which is always right."""
    if is_newer and table.text("advised") not in ADVICE:
        return PORTABLE
    return table.chosen("advised", ADVICE)
