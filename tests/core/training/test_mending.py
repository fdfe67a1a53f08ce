"""Texels that have gone astray, and what begins them again."""

import re
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.measure.texel_judge import Judge
from verdigris.core.baking.phases.mending import mend
from verdigris.core.base.errors import SettingsError
from verdigris.core.material.evaluator import POINT
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.parameters import initialise
from verdigris.core.network.student import Student
from verdigris.core.progress.events import Phase
from verdigris.core.settings.bake_settings import BakeSettings

from .bakes import TINY, baked, cut_off_and_resumed, run

SIZE = 16
# coarser levels have too few texels to be searched
SETTINGS = replace(TINY, resolution=SIZE, iterations=600, mend_at=(0.5, 0.8))
STRAYS = {(3, 4), (0, 15), (10, 10), (10, 11)}


def in_progress(teacher, folder, settings):
    """A bake that is about to round its latents, without what it led astray itself."""
    held = []
    events = bake(
        [teacher], settings, BakeOptions("out", folder, "numpy"), BakeControl(watch=held.append)
    )
    for event in events:
        if isinstance(event, Phase) and event.name == "rounding":
            mend(held[0])
            return events, held[0]
    raise AssertionError("there was no such phase")


def led_astray(run):
    """Puts texels of the finest level where the material is nothing like it."""
    parameters, state = run.trainer.parameters(), run.trainer.state()
    texels = np.array([row * SIZE + column for row, column in sorted(STRAYS)])
    random = np.random.default_rng(0)
    parameters.latents[texels] = 8 * random.standard_normal((len(texels), 8))
    state["latents_v"][texels] = 7.0
    run.trainer.restore(parameters, state)
    return texels


def texel_error(run):
    """[SIZE, SIZE]: of the finest level at texel middles, without the device's student."""
    rows, columns = np.indices((SIZE, SIZE)).reshape(2, -1)
    uv = np.stack([columns + 0.5, rows + 0.5], 1).astype(np.float32) / SIZE
    wi = np.broadcast_to(np.array([0.6, 0, 0.8], np.float32), (SIZE * SIZE, 3)).copy()
    wo = np.broadcast_to(np.array([0, -0.28, 0.96], np.float32), (SIZE * SIZE, 3)).copy()
    parameters = run.trainer.parameters()
    found = evaluate(parameters.spec, parameters, uv, 0, wi, wo)
    wanted = run.teachers[0].response(uv, wi, wo)
    return np.abs(np.asarray(found) - wanted).max(1).reshape(SIZE, SIZE)


def test_stray_texels_begin_again_as_a_neighbour_and_no_others_change(clay, tmp_path):
    events, held = in_progress(clay, tmp_path, SETTINGS)
    before = texel_error(held)
    texels = led_astray(held)
    rows, columns = np.divmod(texels, SIZE)
    assert texel_error(held)[rows, columns].min() > 8 * before.max()
    astray, squares = held.trainer.parameters().latents, held.trainer.state()

    assert mend(held) == len(texels)

    assert texel_error(held).max() < 2 * before.max()
    mended, state = held.trainer.parameters().latents, held.trainer.state()
    others = np.setdiff1d(np.arange(len(mended)), texels)
    np.testing.assert_array_equal(mended[others], astray[others])
    np.testing.assert_array_equal(state["latents_v"][others], squares["latents_v"][others])
    for texel, row, column in zip(texels, rows, columns, strict=True):
        around = [
            (row + y) % SIZE * SIZE + (column + x) % SIZE
            for y in (-1, 0, 1)
            for x in (-1, 0, 1)
            if x or y
        ]
        donor = [one for one in around if np.array_equal(mended[texel], astray[one])]
        assert len(donor) == 1 and donor[0] not in texels
        np.testing.assert_array_equal(state["latents_v"][texel], squares["latents_v"][donor[0]])
    events.close()


def test_nothing_is_done_where_no_texel_stands_out(clay, tmp_path):
    events, held = in_progress(clay, tmp_path, SETTINGS)
    before = held.trainer.parameters()
    assert mend(held) == 0
    np.testing.assert_array_equal(held.trainer.parameters().latents, before.latents)
    events.close()


@pytest.mark.parametrize("after", [0.5, 0.51, 0.85])
def test_a_bake_cut_off_around_it_ends_as_an_uninterrupted_one(clay, tmp_path, after, monkeypatch):
    """Each time something is found: texels are led astray just before."""
    from verdigris.core.baking import bake as module

    found = []

    def led_astray_and_mended(held):
        led_astray(held)
        found.append(mend(held))

    monkeypatch.setattr(module, "mend", led_astray_and_mended)
    run([clay], tmp_path / "whole", SETTINGS)
    assert len(found) == 2 and min(found) > 0
    cut = cut_off_and_resumed(clay, tmp_path / "cut", SETTINGS, after)
    whole = baked(tmp_path / "whole")
    np.testing.assert_array_equal(whole.latents, cut.latents)
    np.testing.assert_array_equal(whole.decoder, cut.decoder)


@pytest.mark.parametrize("wrong", [(0.5, 1.5), (float("nan"),), ("half",), 0.5, None])
def test_what_is_no_list_of_shares_is_refused_by_name(wrong):
    told = f"mend_at is {wrong!r}: use numbers between"
    with pytest.raises(SettingsError, match=re.escape(told)):
        replace(TINY, mend_at=wrong)


def test_settings_survive_json():
    assert BakeSettings.from_json(SETTINGS.to_json()) == SETTINGS


def test_what_is_left_of_a_texel_is_the_difference_of_cube_roots_with_a_donors_values(clay):
    parameters = initialise(TINY.spec, TINY.layout(), 3)
    parameters.latents *= 20
    student = Student(parameters, clay.device)
    texels, donors = np.array([5, 200, 17]), np.array([[5, 200, 17], [6, 199, 33]])
    pairs = []

    class Noted(Judge):
        def directions(self, count, is_mirrored):
            drawn = super().directions(count, is_mirrored)
            pairs.append([each.to_numpy().view(np.float32).reshape(count, 3) for each in drawn])
            return drawn

    found = Noted(clay, student, 16, POINT, np.random.default_rng(1)).errors(texels, donors, 2)
    # of every third pair, the first among them, light and viewer are mirrored
    np.testing.assert_array_equal(pairs[0][1], pairs[0][0] * [-1, -1, 1])
    assert (pairs[1][1] != pairs[1][0] * [-1, -1, 1]).any()
    wanted = np.zeros((2, 3))
    for wi, wo in pairs:
        material = np.cbrt(clay.response(np.full((3, 2), 0.5, np.float32), wi, wo))
        for row, places in zip(wanted, donors, strict=True):
            uv = (np.stack([places % 16, places // 16], 1) + 0.5) / 16
            values = evaluate(TINY.spec, parameters, uv.astype(np.float32), 0, wi, wo)
            row += np.abs(np.cbrt(np.asarray(values)) - material).sum(1)
    np.testing.assert_allclose(found, wanted, rtol=1e-3)
