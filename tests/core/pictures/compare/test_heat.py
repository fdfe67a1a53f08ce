"""The scale of differences, its colours and its bar."""

import numpy as np
import pytest

from verdigris.core.pictures.compare.heat import (
    LOCKED_TOP,
    automatic_top,
    difference,
    heat_colours,
    scale_ticks,
    with_colour_bar,
)

# How people without cones of one kind see linear Rec.709 (Machado and others, 2009, severity 1).
COLOUR_BLIND = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
OKLAB = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]


@pytest.mark.parametrize("sight", [None, *COLOUR_BLIND])
def test_more_difference_is_lighter_for_every_eye(sight):
    colours = heat_colours(np.linspace(0, LOCKED_TOP, 65, dtype=np.float32)).astype(np.float64)
    if sight:
        colours = np.maximum(colours @ np.array(COLOUR_BLIND[sight]).T, 0)
    lightness = np.cbrt(colours @ np.array(OKLAB).T) @ [0.2105, 0.7936, -0.0041]
    steps = np.diff(lightness)
    assert (steps > 0.003).all()
    # no part of the scale is crowded: each quarter has a tenth of all lightness
    assert np.diff(lightness[::16]).min() > 0.1 * (lightness[-1] - lightness[0])


@pytest.mark.parametrize(
    ("top", "labels"),
    [
        (0.1, ["0%", "2%", "4%", "6%", "8%", "10%+"]),
        (0.05, ["0%", "1%", "2%", "3%", "4%", "5%+"]),
        (0.005, ["0%", "0.1%", "0.2%", "0.3%", "0.4%", "0.5%+"]),
        (0.03, ["0%", "1%", "2%", "3%+"]),
        (0.037, ["0%", "1%", "2%", "3%", "3.7%+"]),
        (1.0, ["0%", "20%", "40%", "60%", "80%", "100%"]),
    ],
)
def test_ticks_are_round_numbers_from_end_to_end(top, labels):
    ticks = scale_ticks(top)
    assert [label for _, label in ticks] == labels
    assert [value for value, _ in ticks] == pytest.approx(
        [float(label.strip("%+")) / 100 for label in labels]
    )


def test_an_automatic_scale_holds_nearly_all_errors():
    errors = np.full(1000, 0.004, np.float32)
    assert automatic_top(errors) == 0.005
    errors[:50] = 0.04
    assert automatic_top(errors) == 0.05
    assert automatic_top(np.zeros(0, np.float32)) == 0.005


def test_highlights_that_a_screen_clips_differ():
    bright, brighter = (np.full((2, 2, 3), level, np.float32) for level in (3.0, 6.0))
    found = difference(bright, brighter)
    # x / (1 + x) is 3/4 and 6/7, then the sRGB curve
    curve = [1.055 * x ** (1 / 2.4) - 0.055 for x in (3 / 4, 6 / 7)]
    np.testing.assert_allclose(found, curve[1] - curve[0], rtol=1e-5)


@pytest.mark.parametrize("top", [0.1, 0.02])
def test_the_bar_of_a_picture_file_has_the_map_s_colours_in_order(top):
    picture = with_colour_bar(np.full((256, 256, 3), 0.3, np.float32), top)
    # 3% margin, 3.5% width
    bar = picture[:, 256 - 8 - 5]
    rows = np.flatnonzero(np.abs(bar - 0.3).max(-1) > 1e-6)
    start, stop = 256 - 8 - round(0.42 * 256), 256 - 8
    assert rows.min() <= start and rows.max() >= stop - 1
    for share in (0.1, 0.5, 0.9):
        row = round(stop - share * (stop - start)) - 1
        expected = heat_colours(np.float32([share * top]), top)[0]
        assert np.abs(bar[row] - expected).max() < 0.02
    # the ticks are labelled in light ink
    assert (picture[start:stop, 256 - 60 : 256 - 20].max(-1) > 0.7).sum() > 60


def test_a_small_picture_has_no_room_for_a_bar():
    picture = np.full((64, 64, 3), 0.3, np.float32)
    np.testing.assert_array_equal(with_colour_bar(picture), picture)
