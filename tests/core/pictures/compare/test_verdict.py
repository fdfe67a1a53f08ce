"""The verdict follows what an eye sees, and its bands are those of the page for artists."""

import re
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.pictures.compare.metrics import measure_picture
from verdigris.core.pictures.compare.verdict import BANDS, TARGETS, judge, reaches, require_target

SIZE = 64
PAGE = Path(__file__).parents[4] / "docs" / "ARTISTS.md"
AS_GOOD_AS_PERFECT = {
    "samples": {"log_mae": 0.0003, "smape": 0.01, "relative_l1": 0.01, "bias": 0.0},
    "sphere": {"psnr": 55.0, "ldr_flip": 0.005},
    "sky": {"median": 0.01, "p90": 0.04, "largest": 0.2, "bias": -0.005},
}


@pytest.fixture(scope="module")
def picture():
    """A lit sphere with stripes and a highlight, in linear light."""
    y, x = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    radius = x**2 + y**2
    normal = np.sqrt(np.maximum(0, 1 - radius))
    light = np.clip(0.5 * normal - 0.4 * x + 0.5 * y, 0, None)
    colour = np.stack([0.6 + 0.2 * np.sin(20 * x), 0.4 + 0 * x, 0.25 + 0.1 * np.sin(31 * y)], -1)
    highlight = np.exp(-60 * ((x + 0.3) ** 2 + (y - 0.4) ** 2))[..., None]
    return ((light[..., None] * colour + highlight) * (radius < 1)[..., None]).astype(np.float32)


def verdict_on(changed, reference):
    return judge({"sphere": vars(measure_picture(changed, reference))})


def blurred(picture, times):
    for _ in range(times):
        for axis in (0, 1):
            shifted = np.roll(picture, 1, axis), np.roll(picture, -1, axis)
            picture = 0.5 * picture + 0.25 * sum(shifted)
    return picture


@pytest.mark.parametrize(
    ("log_mae", "bias", "targets"),
    [
        (3e-4, 0.005, 3),
        (3e-4, -0.005, 3),
        (3.01e-4, 0.0, 2),
        (0.0, 0.0051, 2),
        (0.001, -0.015, 2),
        (0.0011, 0.0, 1),
        (0.003, 0.05, 1),
        (0.0, 0.051, 0),
        (float("nan"), 0.0, 0),
        (0.0, float("nan"), 0),
    ],
)
def test_samples_reach_as_many_targets_as_their_bands_allow(log_mae, bias, targets):
    # SMAPE has no limit
    errors = {"samples": {"log_mae": log_mae, "smape": 9.0}, "sky": {"bias": bias}}
    assert [reaches(each, errors) for each in TARGETS] == [True] * targets + [False] * (3 - targets)


@pytest.mark.parametrize(
    ("psnr", "flip", "targets"),
    [
        (55.0, 0.005, 3),
        (54.9, 0.0, 2),
        (100.0, 0.0051, 2),
        (46.0, 0.0101, 1),
        (100.0, 0.0201, 0),
        (float("nan"), 0.0, 0),
        (60.0, float("nan"), 0),
    ],
)
def test_pictures_reach_the_targets_whose_dots_they_get(psnr, flip, targets):
    errors = {"sphere": {"psnr": psnr, "ldr_flip": flip}}
    assert [reaches(each, errors) for each in TARGETS] == [True] * targets + [False] * (3 - targets)
    dots = judge(errors).dots if targets else 0
    assert dots >= max((TARGETS[each] for each in TARGETS if reaches(each, errors)), default=0)


def test_a_target_is_named_in_words_and_another_is_refused():
    assert require_target("Very-Good") == "very good"
    with pytest.raises(SettingsError, match=r"'great'.*good, very good, indistinguishable"):
        require_target("great")


@pytest.mark.parametrize(("target", "flip"), list(zip(TARGETS, (0.02, 0.01, 0.005), strict=True)))
def test_a_result_that_just_reaches_a_target_is_called_by_its_name(target, flip):
    errors = {"sphere": {"ldr_flip": flip}}
    assert reaches(target, errors)
    assert judge(errors).text.split("; ")[0].lower() == target


def test_what_flip_sees_decides_and_more_distortion_never_gets_more_dots(picture):
    # half a step of an 8-bit display is on no screen, and a fifth more light is on every one
    ends = [verdict_on(picture * (1 + each), picture).dots for each in (0.002, 0.2)]
    assert ends == [5, 1]
    for distort, strengths in (
        (lambda by: picture * (1 + by), (0.002, 0.006, 0.012, 0.03, 0.2)),
        (lambda by: picture + by * (blurred(picture, 2) - picture), (0, 0.1, 0.25, 0.6, 1)),
    ):
        found = [verdict_on(distort(by), picture).dots for by in strengths]
        assert found == sorted(found, reverse=True) and len(set(found)) >= 4, found


def test_a_lost_highlight_and_a_soft_texture_are_told_apart(picture):
    y, x = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    highlight = np.exp(-60 * ((x + 0.3) ** 2 + (y - 0.4) ** 2))[..., None]
    dull = verdict_on((picture - 0.5 * highlight).clip(0).astype(np.float32), picture)
    assert dull.text.endswith("highlights slightly soft")
    assert verdict_on(blurred(picture, 16), picture).text.endswith("soft")


def test_a_weave_that_is_blurred_everywhere_is_no_soft_highlight():
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    weave = (0.5 + 0.3 * np.sin(2.1 * x) * np.sin(1.9 * y))[..., None] * (0.8, 0.3, 0.3)
    found = verdict_on(blurred(weave, 2).astype(np.float32), weave.astype(np.float32))
    assert found.text.endswith("; fine detail soft")


def test_figures_that_count_as_equal_get_five_dots_and_each_worse_one_takes_some():
    perfect = judge(AS_GOOD_AS_PERFECT)
    assert (perfect.dots, perfect.text) == (5, "Indistinguishable")
    assert {each.grade for each in perfect.figures} == {"equal"}
    for band in BANDS:
        worse = {name: dict(table) for name, table in AS_GOOD_AS_PERFECT.items()}
        sign = -1 if band.is_higher_better else 1
        worse[band.table][band.name] = band.fair + sign * 0.001
        found = judge(worse)
        assert found.dots < 5, band.name
        assert [each.grade for each in found.figures if each.band is band] == ["poor"]
    dark = {**AS_GOOD_AS_PERFECT, "sky": {"bias": -0.04}}
    assert judge(dark).text == "Very good; highlights slightly dull"
    assert judge(dark).line == "●●●●○ Very good; highlights slightly dull"


def test_a_loss_of_light_that_chance_explains_does_not_count():
    doubtful = {**AS_GOOD_AS_PERFECT, "sky": {"bias": -0.04, "bias_deviation": 0.02}}
    assert judge(doubtful).text == judge(AS_GOOD_AS_PERFECT).text
    certain = {**AS_GOOD_AS_PERFECT, "sky": {"bias": -0.06, "bias_deviation": 0.02}}
    assert judge(certain).dots == judge(AS_GOOD_AS_PERFECT).dots - 1


def test_a_manifest_of_strangers_gives_no_verdict_or_one_without_the_figure():
    assert judge(None) is None
    assert judge({"sphere": {"ldr_flip": "small"}}) is None
    assert judge({"sphere": {"ldr_flip": 0.012}, "sky": {"bias": None}}).dots == 3


def test_the_page_for_artists_has_these_bands():
    text = PAGE.read_text(encoding="utf-8")
    for band in BANDS:
        (row,) = re.findall(rf"^\| {re.escape(band.text)}[^|]*\|(.*)\|$", text, re.MULTILINE)
        shown = [cell.strip() for cell in row.split("|")]
        ends = [getattr(band, name) for name in ("equal", "close", "fair")]
        assert shown == [band.format(end).removeprefix("+") for end in ends], band.name


@pytest.mark.parametrize(
    ("flip", "dots", "text"),
    [
        (0.2, 1, "Good for layout and distance; not for close-ups"),
        (0.03, 2, "Good for layout and distance; not for close-ups"),
        (0.015, 3, "Good for most views; look twice at close-ups"),
        (0.008, 4, "Good for close-ups, too"),
    ],
)
def test_a_draft_is_graded_by_what_it_is_good_for_with_the_same_dots(flip, dots, text):
    errors = {"sphere": {"ldr_flip": flip, "psnr": 30.0}}
    draft, standard = judge(errors, "draft"), judge(errors, "standard")
    assert (draft.dots, draft.text, draft.is_draft) == (dots, text, True)
    assert standard.dots == dots and not standard.is_draft
    assert draft.fault and standard.text.endswith(f"; {draft.fault}")
