"""Warnings and hints for the artist, before and after training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from verdigris.core.baking.measure.measure import detail_below_texels, once
from verdigris.core.bundle.files.arithmetic import PORTABLE, advised_error_limit
from verdigris.core.importance.fill import find_masked
from verdigris.core.material.analyse.features import DISPLACEMENT, DROPPED, KEPT
from verdigris.core.material.live_inputs.live_input import KEPT_HEIGHTS
from verdigris.core.material.live_inputs.open_inputs import inputs_of_heights
from verdigris.core.material.report import describe_teacher
from verdigris.core.material.teacher.probe import (
    NEARLY_NOTHING,
    describe_excess,
    mean_albedo,
    mean_transmitted,
    probe,
)
from verdigris.core.material.teacher.unlit_maps import live_dependence, view_dependence
from verdigris.core.network.spec import RESPONSE_LIMIT
from verdigris.core.progress import Warning
from verdigris.core.settings.bake_settings import LARGEST_RESOLUTION
from verdigris.core.settings.presets import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.clock import LossWatch
    from verdigris.core.bundle.files.write import Contents
    from verdigris.core.material.evaluator import DeviceMaterial
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.network.student import Student
    from verdigris.core.settings.bake_settings import BakeSettings

_LEAST_LIGHT = 0.1
# An atlas may well leave half of its square empty.
_MOST_LEFT_OUT = 0.5
_LEAST_VARIATION = 0.02
_MOST_SKIPPED = 0.01
_MOST_RISE, _LEAST_RISE = 1.15, 0.004
DETAIL_IS_LOST = "detail finer than a texel is averaged"
# Variation of light within a texel that nobody sees.
_LEAST_DETAIL = 4e-3
# A finer texture pays if it leaves at most this part of the variation.
_MOST_LEFT = 0.8


def notices(teacher: Teacher, name: str) -> Iterator[Warning]:
    """Warns about parts that are not kept, and about a black material."""
    report = once(teacher, describe_teacher, lambda: describe_teacher(teacher))
    for part in report.parts:
        if part.fate != KEPT:
            yield Warning(f"{name}: {part.name} is {part.fate}{': ' if part.how else ''}{part.how}")
    albedo = _light_of(teacher)
    if albedo < NEARLY_NOTHING:
        found = probe(teacher)
        beside = " but for its emission" if max(found.emission) > 0 else f".{found.black_hint}"
        yield Warning(
            f"{name}: reflects only {100 * albedo:.2g}% of the light: the result is black{beside}"
        )
    elif excess := describe_excess(albedo):
        yield Warning(f"{name}: reflects {100 * albedo:.0f}% of the light{excess}")


def notices_of_relief(teacher: Teacher, notes: Sequence[str], name: str) -> Iterator[Warning]:
    """Warns about the heights of a material, unless `notices` tells why they are dropped."""
    report = once(teacher, describe_teacher, lambda: describe_teacher(teacher))
    if not any(part.name == DISPLACEMENT and part.fate == DROPPED for part in report.parts):
        yield from (Warning(f"{name}: {note}") for note in notes)


def _light_of(material: DeviceMaterial) -> float:
    """The share of light of the brightest channel that reaches a viewer from both sides."""
    return max(map(sum, zip(mean_albedo(material), mean_transmitted(material), strict=True)))


def unlearnt_places(importance: NDArray[Any] | None) -> Iterator[Warning]:
    """Warns if a map leaves out most of the surface, as black and white masks do."""
    masked = find_masked(importance)
    if masked is not None and masked.mean() > _MOST_LEFT_OUT:
        # a map with weights of 0 everywhere was refused
        percent = min(100 * masked.mean(), 99.9)
        yield Warning(
            f"the importance map is 0 (black) on {percent:.3g}% of the surface, which is not "
            "trained: paint weights above 0 there, unless nobody sees those places"
        )


def lost_light(teacher: Teacher, student: Student, name: str) -> Iterator[Warning]:
    """Warns if the result reflects nearly nothing of the light that the material reflects."""
    wanted, found = _light_of(teacher), _light_of(student)
    if wanted >= NEARLY_NOTHING and found < _LEAST_LIGHT * wanted:
        yield Warning(
            f"{name}: the result reflects {100 * found:.2g}% of the light, and the material "
            f"{100 * wanted:.2g}%: train longer or with another seed; if the material is nearly "
            "a mirror, make it rougher"
        )


def skipped_steps(before: int, now: int) -> Iterator[Warning]:
    """Warns about the first skipped steps, and each time their number has doubled."""
    if now.bit_length() > before.bit_length():
        yield Warning(f"{now} steps were skipped because their gradients were not finite")


def wasted_steps(skipped: int, steps: int) -> Iterator[Warning]:
    """Warns at the end if too many steps were skipped for a good result."""
    if skipped > _MOST_SKIPPED * steps:
        yield Warning(
            f"{skipped} of {steps} steps were skipped because their gradients were not finite: "
            "the result may be worse; bake again with another seed"
        )


def risen_loss(watch: LossWatch) -> Iterator[Warning]:
    """Warns at the end if the loss rose a lot at any time."""
    seen = [rise.factor for rise in watch.rises if rise.last - rise.lowest > _LEAST_RISE]
    largest = max(seen, default=1.0)
    if largest > _MOST_RISE:
        yield Warning(
            f"the loss rose to {largest:.3g} times its lowest value: training diverged for a "
            "while, and the result is worse; bake again with another seed"
        )


def varying_maps(teacher: Teacher, name: str) -> Iterator[Warning]:
    """Warns if emission or opacity vary with the view or with live inputs: their maps cannot hold
    that."""
    varies = view_dependence(teacher)
    if varies > _LEAST_VARIATION:
        yield Warning(
            f"{name}: emission or opacity vary by {100 * varies:.0f}% with the view: their maps "
            "hold the values seen along the normal"
        )
    changes = zip(teacher.live_inputs, live_dependence(teacher), strict=True)
    for live, change in changes:
        if change > _LEAST_VARIATION:
            yield Warning(
                f"{name}: emission or opacity vary by {100 * change:.0f}% with the live input "
                f"{live.name}: their maps hold the values at {live.wanted.default:.3g}"
            )


def kept_heights(teacher: Teacher, name: str) -> Iterator[Warning]:
    """Warns about live inputs on which the displacement depends."""
    for each in inputs_of_heights(teacher.document, teacher.material, teacher.live_inputs):
        yield Warning(f"{name}: live input {each.name}: {KEPT_HEIGHTS}")


def cut_glow(emission: NDArray[Any] | None, name: str) -> Iterator[Warning]:
    """Warns if emission was clipped."""
    if emission is not None and emission.max() >= RESPONSE_LIMIT:
        yield Warning(
            f"{name}: emission was clipped at {RESPONSE_LIMIT:,.0f}: reduce it in the material, "
            "and scale the map up where it is used"
        )


def coarse_halves(contents: Contents, name: str) -> Iterator[Warning]:
    """Warns if half floats are too coarse for the decoder of a bundle."""
    arithmetic = contents.arithmetic
    if arithmetic and arithmetic.advised == PORTABLE:
        error = 100 * arithmetic.errors["cooperative"]
        yield Warning(
            f"{name}: engines decode it in single precision, which is slower than cooperative "
            f"vectors: half floats would cause an error of {error:.2g}%, and at most "
            f"{100 * advised_error_limit(contents.bounds):.2g}% is accepted"
        )


def hint_of(teacher: Teacher, kind: Kind, settings: BakeSettings) -> str:
    """A hint about the resolution, or an empty text."""
    resolution = settings.resolution
    if kind is Kind.CONSTANT:
        return (
            "the material is constant: it has the same response at every place, so a texture of "
            f"{resolution} x {resolution} texels holds all of it"
        )
    finer = 2 * resolution
    if finer > LARGEST_RESOLUTION:
        return ""
    detail = detail_below_texels(teacher, resolution)
    if detail < _LEAST_DETAIL:
        return ""
    left = detail_below_texels(teacher, finer)
    if left > _MOST_LEFT * detail:
        return ""
    return (
        f"{DETAIL_IS_LOST}: light varies by {100 * detail:.1f}% within one, "
        f"and by {100 * left:.1f}% at a resolution of {finer}"
    )
