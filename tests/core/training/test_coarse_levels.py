"""Coarse levels that are worse than halved finer ones begin again as these."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.baking.bake import BakeControl, BakeOptions, bake
from verdigris.core.baking.phases.coarse_levels import average_levels
from verdigris.core.base.errors import SettingsError
from verdigris.core.progress.events import Phase

from .bakes import TINY, baked, cut_off_and_resumed, plain_teacher, run

SETTINGS = replace(TINY, iterations=300, average_at=0.6)


@pytest.fixture(scope="module")
def clay():
    return plain_teacher()


@pytest.fixture
def trained(clay, tmp_path):
    """A bake that is about to round its latents."""
    held = []
    events = bake(
        [clay],
        replace(SETTINGS, average_at=0.0),
        BakeOptions("out", tmp_path, "numpy"),
        BakeControl(watch=held.append),
    )
    for event in events:
        if isinstance(event, Phase) and event.name == "rounding":
            break
    yield held[0]
    events.close()


def spoil(run, *levels):
    parameters, state = run.trainer.parameters(), run.trainer.state()
    random = np.random.default_rng(0)
    for level in levels:
        parameters.level(level)[:] = 5 * random.standard_normal(parameters.level(level).shape)
    run.trainer.restore(parameters, state)
    return parameters.latents.copy(), parameters.layout.level_offsets


def test_given_a_level_that_is_lost_when_averaged_then_it_is_a_mean_of_the_finest(trained):
    latents, offsets = spoil(trained, 1)
    assert average_levels(trained)[:1] == [1]
    parameters = trained.trainer.parameters()
    finest = parameters.level(0)[0].astype("f8")
    for row, column in ((0, 0), (3, 5), (7, 7)):
        # twice its width around its middle, over the edges
        rows, columns = (np.arange(2 * each - 1, 2 * each + 3) % 16 for each in (row, column))
        around = finest[np.ix_(rows, columns)]
        np.testing.assert_allclose(
            parameters.level(1)[0, row, column], around.mean((0, 1)), rtol=1e-5, atol=1e-6
        )
    np.testing.assert_array_equal(parameters.latents[: offsets[1]], latents[: offsets[1]])
    np.testing.assert_array_equal(parameters.latents[offsets[3] :], latents[offsets[3] :])


def test_given_a_finer_level_that_is_lost_when_averaged_then_the_coarse_one_stays(trained):
    latents, offsets = spoil(trained, 0)
    assert 1 not in average_levels(trained)
    found = trained.trainer.parameters().latents
    np.testing.assert_array_equal(found[: offsets[2]], latents[: offsets[2]])


def test_given_places_that_are_left_out_when_averaged_then_every_level_stays(trained):
    latents, _ = spoil(trained, 1)
    importance = np.ones((8, 8), np.float32)
    importance[0, 0] = 0
    trained.options = replace(trained.options, importance=importance)
    assert average_levels(trained) == []
    np.testing.assert_array_equal(trained.trainer.parameters().latents, latents)


@pytest.mark.parametrize("after", [0.5, 0.61])
def test_a_bake_cut_off_around_it_ends_as_an_uninterrupted_one(clay, tmp_path, after, monkeypatch):
    from verdigris.core.baking import bake as module

    averaged = []

    def spoilt_and_averaged(held):
        spoil(held, 1)
        averaged.append(average_levels(held))

    monkeypatch.setattr(module, "average_levels", spoilt_and_averaged)
    run([clay], tmp_path / "whole", SETTINGS)
    assert len(averaged) == 1 and 1 in averaged[0]
    cut = cut_off_and_resumed(clay, tmp_path / "cut", SETTINGS, after)
    whole = baked(tmp_path / "whole")
    np.testing.assert_array_equal(whole.latents, cut.latents)


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_that_makes_no_sense_is_refused_by_name(share):
    with pytest.raises(SettingsError, match=f"average_at is {share}: use 0 to less than 1"):
        replace(TINY, average_at=share)
