"""The verdict on a bake: dots, words, and a band for each figure.

This module is the only home of the bands, which docs/ARTISTS.md explains. FLIP decides, because it
predicts what an eye sees when two pictures alternate. The other figures can cost dots, and say what
is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import find_number
from verdigris.core.pictures.compare.metrics import (
    INDISTINGUISHABLE_FLIP,
    INDISTINGUISHABLE_LOG_MAE,
    INDISTINGUISHABLE_PSNR,
    LARGEST_BIAS,
)

EQUAL, CLOSE, FAIR, POOR = "equal", "close", "fair", "poor"
BAND_NAMES = (EQUAL, CLOSE, FAIR, POOR)
MOST_DOTS = 5
# The largest FLIP with five, four, three and two dots.
FLIP_OF_DOTS = (INDISTINGUISHABLE_FLIP, 0.010, 0.020, 0.035)
# What a bake can be asked to reach, with the dots that FLIP then gives; the last is the default.
TARGETS = {"good": 3, "very good": 4, "indistinguishable": MOST_DOTS}
INDISTINGUISHABLE = "indistinguishable"
# A bias counts as far as it exceeds this many of its standard deviations.
DOUBT = 2.0
# By the number of dots: a target and a verdict have the same words.
_WORDS = ("", "Clearly different", "Visibly different", *(name.capitalize() for name in TARGETS))
# A draft is made to be looked at for a moment: its words are what it is good for.
DRAFT = "draft"
_DRAFT_WORDS = (
    "",
    "Good for layout and distance; not for close-ups",
    "Good for layout and distance; not for close-ups",
    "Good for most views; look twice at close-ups",
    "Good for close-ups, too",
    INDISTINGUISHABLE.capitalize(),
)


@dataclass(frozen=True)
class Band:
    """Where the bands of a figure end: up to `equal` nobody sees a difference, and so on."""

    name: str
    """The figure: a field in a table of errors."""
    table: str
    equal: float
    close: float
    fair: float
    unit: str = ""
    """`%` for shares, `dB`, or nothing."""
    text: str = ""
    """The figure in words."""
    is_higher_better: bool = False

    def of(self, value: float) -> str:
        """The name of the band. The sign of a bias does not count."""
        distance = -value if self.is_higher_better else abs(value)
        for name in (EQUAL, CLOSE, FAIR):
            end = getattr(self, name)
            if distance <= (-end if self.is_higher_better else end):
                return name
        return POOR

    def format(self, value: float) -> str:
        if self.unit == "%":
            return f"{value:+.1%}" if self.name == "bias" else f"{value:.1%}"
        return f"{value:.1f} dB" if self.unit == "dB" else f"{value:.4f}"


BANDS = (
    Band("ldr_flip", "sphere", FLIP_OF_DOTS[0], FLIP_OF_DOTS[1], 0.025, "", "visible difference"),
    Band("psnr", "sphere", INDISTINGUISHABLE_PSNR, 46.0, 37.0, "dB", "picture of a sphere", True),
    Band("log_mae", "samples", INDISTINGUISHABLE_LOG_MAE, 0.001, 0.003, "", "error of samples"),
    Band("median", "sky", 0.010, 0.015, 0.040, "%", "light of a typical place under a sky"),
    Band("p90", "sky", 0.040, 0.060, 0.150, "%", "light under a sky, except in the worst tenth"),
    Band("bias", "sky", LARGEST_BIAS, 0.015, 0.050, "%", "light gained or lost under a sky"),
)


def require_target(target: str) -> str:
    """The target with this name; `very-good` is `very good`."""
    name = " ".join(target.replace("-", " ").split()).lower()
    if name not in TARGETS:
        raise SettingsError(f"target {target!r} is not known: use one of {', '.join(TARGETS)}")
    return name


def reaches(target: str, errors: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether all given figures, by table, are good enough for a target."""
    worst = MOST_DOTS - TARGETS[target]
    for band in BANDS:
        value = errors.get(band.table, {}).get(band.name)
        if value is None:
            continue
        if band.name == "ldr_flip":
            is_good = value <= FLIP_OF_DOTS[worst]
        else:
            is_good = BAND_NAMES.index(band.of(value)) <= worst
        if not is_good:
            return False
    return True


@dataclass(frozen=True)
class Judged:
    """A figure with its band."""

    band: Band
    value: float
    doubt: float = 0.0
    """The part of the value that chance may have made: only the rest counts."""

    @property
    def grade(self) -> str:
        return self.band.of(max(0.0, abs(self.value) - self.doubt) if self.doubt else self.value)

    def __str__(self) -> str:
        return self.band.format(self.value)


@dataclass(frozen=True)
class Verdict:
    """What a bake is worth to somebody who looks at it."""

    dots: int
    """The number of dots, 1 to 5."""
    text: str
    """`Very good; highlights slightly soft`, or what a draft is good for."""
    figures: tuple[Judged, ...]
    is_draft: bool = False
    """Whether it is graded as a draft: few dots are no failure."""
    fault: str = ""
    """The worst fault: `highlights slightly soft`, or nothing."""

    @property
    def line(self) -> str:
        """The verdict for a terminal or a tooltip."""
        return f"{'●' * self.dots}{'○' * (MOST_DOTS - self.dots)} {self.text}"


def judge(errors: Mapping[str, Mapping[str, Any]] | None, preset: str = "") -> Verdict | None:
    """The verdict on the errors in a bundle's manifest, by table; None without FLIP. The preset of
    the bake changes the words, and never the dots."""
    errors = errors or {}
    figures = tuple(
        Judged(band, value, DOUBT * deviation)
        for band in BANDS
        for deviation in [find_number(errors.get(band.table, {}), f"{band.name}_deviation") or 0.0]
        if (value := find_number(errors.get(band.table, {}), band.name)) is not None
    )
    by_name = {each.band.name: each for each in figures}
    flip = by_name.get("ldr_flip")
    if flip is None:
        return None
    dots = MOST_DOTS - sum(flip.value > end for end in FLIP_OF_DOTS)
    grades = {name: BAND_NAMES.index(each.grade) for name, each in by_name.items()}
    # a picture under one light does not show light that is lost elsewhere
    if max(grades.get("bias", 0), grades.get("median", 0)) >= BAND_NAMES.index(POOR):
        dots = max(1, dots - 1)
    elif dots == MOST_DOTS and any(grade > BAND_NAMES.index(CLOSE) for grade in grades.values()):
        dots -= 1
    fault, is_draft = _worst_fault(dots, by_name, grades), preset == DRAFT
    plain = f"{_WORDS[dots]}; {fault}" if fault else _WORDS[dots]
    return Verdict(dots, _DRAFT_WORDS[dots] if is_draft else plain, figures, is_draft, fault)


def judge_bake(
    samples: object, picture: object, sky: object | None, preset: str = ""
) -> Verdict | None:
    """The verdict on measurements of a bake that has just ended."""
    return judge(
        {
            "samples": vars(samples),
            "sphere": vars(picture),
            "sky": vars(sky) if sky is not None else {},
        },
        preset,
    )


def _worst_fault(dots: int, figures: Mapping[str, Judged], grades: Mapping[str, int]) -> str:
    """The worst fault in words; nothing if there is none to see."""
    if dots == MOST_DOTS:
        return ""
    bias = figures["bias"].value if "bias" in figures else 0.0
    # highlights are narrow: they change FLIP little, but light and PSNR much
    soft = [("psnr", "highlights {}soft"), ("ldr_flip", "fine detail {}soft")]
    if grades["ldr_flip"] == BAND_NAMES.index(POOR):
        soft.reverse()
    faults = (
        ("bias", "too bright" if bias > 0 else "highlights {}dull"),
        *soft,
        ("p90", "some places {}off"),
        ("median", "light {}uneven"),
    )
    worst = max((grades.get(name, 0) for name, _ in faults), default=0)
    if worst < BAND_NAMES.index(FAIR):
        return ""
    fault = next(text for name, text in faults if grades.get(name, 0) == worst)
    slightly = "slightly " if worst == BAND_NAMES.index(FAIR) else ""
    return fault.format(slightly) if "{}" in fault else slightly + fault
