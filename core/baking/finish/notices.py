"""What the artist should know of a material before it is baked, and what to call it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from verdigris.core.bundle.files.arithmetic import PORTABLE, advised_error_limit
from verdigris.core.importance.fill import find_masked
from verdigris.core.material.analyse.features import KEPT
from verdigris.core.material.report import describe_teacher
from verdigris.core.material.teacher.probe import (
    NEARLY_NOTHING,
    describe_excess,
    mean_albedo,
    probe,
)
from verdigris.core.material.teacher.unlit_maps import view_dependence
from verdigris.core.network.spec import RESPONSE_LIMIT
from verdigris.core.progress.events import Warning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.measure.loss_watch import LossWatch
    from verdigris.core.bundle.files.arithmetic import Arithmetic
    from verdigris.core.bundle.files.manifest_parts import Bounds
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student

_LEAST_LIGHT = 0.1
# An atlas may well leave half of its square empty.
_MOST_LEFT_OUT = 0.5
_LEAST_VARIATION = 0.02
_MOST_SKIPPED = 0.01
_MOST_RISE, _LEAST_RISE = 1.15, 0.004


def notices(teacher: Teacher, name: str) -> Iterator[Warning]:
    """A warning for each part that is approximated or dropped, and if there is nothing to learn."""
    for part in describe_teacher(teacher).parts:
        if part.fate != KEPT:
            yield Warning(f"{name}: {part.name} is {part.fate}{': ' if part.how else ''}{part.how}")
    albedo = max(mean_albedo(teacher))
    if albedo < NEARLY_NOTHING:
        found = probe(teacher)
        beside = " but for its emission" if max(found.emission) > 0 else f".{found.black_hint}"
        yield Warning(
            f"{name}: reflects almost nothing ({100 * albedo:.2g}% of the light): there is nothing "
            f"to learn, and the result is black{beside}"
        )
    elif excess := describe_excess(albedo):
        yield Warning(f"{name}: reflects {100 * albedo:.0f}% of the light{excess}")


def unlearnt_places(importance: NDArray[Any] | None) -> Iterator[Warning]:
    """A warning if a map leaves out most of the surface, as a black and white mask does."""
    masked = find_masked(importance)
    if masked is not None and masked.mean() > _MOST_LEFT_OUT:
        # of a map something is left, however little
        percent = min(100 * masked.mean(), 99.9)
        yield Warning(
            f"nothing is learnt on {percent:.3g}% of the surface, where the importance map is 0 "
            "(black): weigh those places above 0, unless nobody sees them"
        )


def lost_light(teacher: Teacher, student: Student, name: str) -> Iterator[Warning]:
    """A warning if next to nothing of what the material reflects was learnt."""
    wanted, found = max(mean_albedo(teacher)), max(mean_albedo(student))
    if wanted >= NEARLY_NOTHING and found < _LEAST_LIGHT * wanted:
        yield Warning(
            f"{name}: reflects {100 * found:.2g}% of the light, and the material "
            f"{100 * wanted:.2g}%: train longer or with another --seed, and make it rougher if it "
            "is nearly a mirror, whose highlight takes longest to learn"
        )


def skipped_steps(before: int, now: int) -> Iterator[Warning]:
    """A warning of the first steps that were not taken, and whenever there are twice as many."""
    if now.bit_length() > before.bit_length():
        yield Warning(f"steps skipped, since their gradients were not finite: {now}")


def wasted_steps(skipped: int, steps: int) -> Iterator[Warning]:
    """A warning at the end if so many steps were not taken that the result is worse for it."""
    if skipped > _MOST_SKIPPED * steps:
        yield Warning(
            f"{skipped} of {steps} steps taught nothing, since their gradients were not finite: "
            "the result can be worse for it: bake again with another --seed"
        )


def risen_loss(watch: LossWatch) -> Iterator[Warning]:
    """A warning at the end if training went astray, then or on the way: its loss falls otherwise,
    but for one that is next to nothing."""
    seen = [rise.factor for rise in watch.rises if rise.last - rise.lowest > _LEAST_RISE]
    largest = max(seen, default=1.0)
    if largest > _MOST_RISE:
        yield Warning(
            f"the loss rose to {largest:.3g} times what it had been before: training went astray, "
            "and the result is worse for it: bake again with another --seed"
        )


def varying_maps(teacher: Teacher, name: str) -> Iterator[Warning]:
    """A warning if glow or coverage vary with the view more than their maps can hold."""
    varies = view_dependence(teacher)
    if varies > _LEAST_VARIATION:
        yield Warning(
            f"{name}: emission or opacity vary by {100 * varies:.0f}% with the view: their maps "
            "hold what is seen from straight ahead"
        )


def cut_glow(emission: NDArray[Any] | None, name: str) -> Iterator[Warning]:
    """A warning if a material glows more than its teacher tells."""
    if emission is not None and emission.max() >= RESPONSE_LIMIT:
        yield Warning(
            f"{name}: emission is cut off at {RESPONSE_LIMIT:,.0f}: make it darker, and the map "
            "brighter where it is used"
        )


def coarse_halves(arithmetic: Arithmetic, bounds: Bounds, name: str) -> Iterator[Warning]:
    """A warning if half floats are too coarse for what was learnt."""
    if arithmetic.advised == PORTABLE:
        error = 100 * arithmetic.errors["cooperative"]
        yield Warning(
            f"{name}: is decoded in plain code, which takes longer than cooperative vectors on "
            f"cards that have them: their half floats would be off by {error:.2g}%, and "
            f"{100 * advised_error_limit(bounds):.2g}% is let pass"
        )


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names with a number behind each that is there already: clay, clay-2."""
    found: list[str] = []
    for name in names:
        unique, number = name, 2
        while unique in found or (unique != name and unique in names):
            unique, number = f"{name}-{number}", number + 1
        found.append(unique)
    return tuple(found)
