"""The film of a bake."""

import numpy as np

from verdigris.ui.model.parts.film import LARGEST, MOST, Film


def shade(value, size=(40, 60)):
    return np.full((*size, 3), value, np.uint8)


def test_a_long_bake_leaves_pictures_from_its_start_to_its_end_in_bounded_memory():
    film = Film()
    for step in range(0, 10_000, 20):
        film.take(step, shade(step // 40))
        assert len(film.frames) <= MOST
    steps = [each.step for each in film.frames]
    assert steps[0] == 0 and steps[-1] == 9980
    gaps = np.diff(steps[:-1])
    assert len(film.frames) > MOST // 3 and gaps.max() <= 2 * gaps.min()
    assert all(each.pixels[0, 0, 0] == each.step // 40 for each in film.frames)
    # a picture of the same step in another view is none of the film
    film.take(9980, shade(1))
    assert len(steps) == len(film.frames)


def test_a_large_picture_is_kept_small_as_the_mean_of_its_texels():
    film, pixels = Film(), np.zeros((4 * LARGEST, 4 * LARGEST + 3, 3), np.uint8)
    pixels[::2] = 200
    film.take(1, pixels)
    kept = film.frames[0].pixels
    assert kept.shape == (LARGEST, LARGEST, 3) and (kept == 100).all()


def test_what_is_shown_ends_with_the_film():
    film, seen = Film(), []
    film.shown_changed.connect(lambda: seen.append(film.shown and film.shown.step))
    for step in (1, 2, 3):
        film.take(step, shade(step))
    film.show(1)
    film.clear()
    assert seen == [2, None] and film.frames == []
