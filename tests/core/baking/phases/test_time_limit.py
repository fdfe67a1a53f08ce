"""A time limit has room for steps, for moves to blocks, and for the choice of a size."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from verdigris.core.baking.phases import time_limit
from verdigris.core.baking.phases.time_limit import seconds_to_move, steps_within
from verdigris.core.settings.bake_settings import SizeSettings
from verdigris.core.settings.presets import require_recipe

DRAFT = replace(require_recipe("draft", "numpy").largest, iterations=10**6)
RATE, MOVE = 250.0, 0.2


def seconds_of(steps, move, trials=()):
    """Of a draft on a processor: its moves are 128 steps apart, and those of a trial, which takes a
    50th of its steps, at least 16. `trials` are parts of the largest texture."""
    moves = steps // 128 + 16 * sum(trials)
    return steps * (1 + 0.02 * len(trials)) / RATE + move * moves


@pytest.mark.parametrize("limit", [30.0, 600.0])
def test_moves_and_trials_take_of_the_time_of_the_steps(limit):
    found = steps_within(DRAFT, limit, RATE, MOVE)
    assert seconds_of(found, MOVE, (1, 0.25, 0.5, 0.5)) == pytest.approx(limit, rel=0.03)
    fixed = replace(DRAFT, size=SizeSettings())
    assert seconds_of(steps_within(fixed, limit, RATE, MOVE), MOVE) == pytest.approx(
        limit, rel=0.03
    )
    bytes_alone = replace(fixed, latent_format="rgba8")
    assert steps_within(bytes_alone, limit, RATE, MOVE) == limit * RATE


def test_a_choice_that_takes_too_long_leaves_half_of_the_time_to_training():
    found = steps_within(DRAFT, 5.0, RATE, MOVE)
    assert seconds_of(found, MOVE) == pytest.approx(2.5, rel=0.15)
    assert steps_within(replace(DRAFT, iterations=10), 5.0, RATE, MOVE) == 10
    assert steps_within(DRAFT, 1e-9, RATE, MOVE) == 1


def test_a_move_of_a_large_texture_is_estimated_from_a_small_one(monkeypatch):
    now = [0.0]

    def move(layout, latents, *_):
        assert len(latents) == layout.texel_count
        now[0] += 1e-6 * layout.texel_count

    monkeypatch.setattr(time_limit, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(time_limit, "move_to_blocks", move)
    for resolution in (16, 1024):
        settings = replace(DRAFT, resolution=resolution)
        texels = 3 * settings.layout().texel_count
        assert seconds_to_move(settings, 3) == pytest.approx(1e-6 * texels)
    assert now[0] < 0.2
    assert seconds_to_move(replace(DRAFT, latent_format="rgba8"), 1) == 0
