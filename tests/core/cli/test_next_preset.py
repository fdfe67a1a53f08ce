"""The recommendation below a bake names the next preset, and its time on this machine."""

import re

import pytest

from verdigris.core.cli.shared.next_preset import recommend
from verdigris.core.settings.bake_settings import as_read
from verdigris.core.settings.presets import require_recipe
from verdigris.core.settings.recipe import Kind


def line_after(seconds, kind=Kind.DETAILED, preset="draft", following="standard"):
    """After a bake on a processor whose training took so many seconds."""
    settings = require_recipe(preset, "numpy")[kind]
    source = {
        "kind": kind.value,
        "trainer": "numpy",
        "settings": as_read(settings),
        "step": settings.iterations,
        "seconds": seconds,
    }
    return recommend(preset, following, require_recipe(following, "numpy"), source)


def test_a_draft_is_called_one_and_standard_has_the_time_of_eight_times_the_samples():
    line = line_after(40)
    assert line.startswith("a draft is for a first look: --preset standard takes ")
    low, high = map(int, re.search(r"takes (\d+) to (\d+) min here, and comes", line).groups())
    # 20,000 steps for 2,500, and about as long beside them as any bake
    assert low * 60 < 8 * 40 < high * 60


@pytest.mark.parametrize("seconds", [10, 1000])
def test_the_time_follows_the_machine_and_the_kind_of_material(seconds):
    detailed, constant = (line_after(seconds, kind) for kind in (Kind.DETAILED, Kind.CONSTANT))
    assert detailed != constant
    assert line_after(3 * seconds) != detailed


def test_a_preset_that_is_no_draft_is_not_called_one():
    line = line_after(60, preset="standard", following="final")
    assert line.startswith("--preset final takes ") and line.endswith(" here, and comes closer")
