"""The recommendation below a bake names the next preset, and its time on this machine."""

import re
from dataclasses import replace
from functools import partial

import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.cli.shared.bake_output import live_line, recommendation
from verdigris.core.pictures.compare.metrics import PictureMetrics, SampleMetrics
from verdigris.core.progress import Finished
from verdigris.core.settings.bake_settings import as_read
from verdigris.core.settings.presets import Kind, require_recipe


def source_of(settings, kind, seconds):
    """That section of the manifest of a bake on a processor."""
    return {
        "kind": kind.value,
        "trainer": "numpy",
        "settings": as_read(settings),
        "step": settings.iterations,
        "seconds": seconds,
    }


def line_after(seconds, kind=Kind.DETAILED, preset="draft", following="standard"):
    """After a bake on a processor whose training took so many seconds."""
    source = source_of(require_recipe(preset, "numpy")[kind], kind, seconds)
    return recommendation(preset, following, partial(require_recipe, following, "numpy"), source)


def test_a_draft_is_called_one_and_standard_takes_as_long_as_was_measured():
    line = line_after(40)
    assert line.startswith("next: --preset standard comes closer, and takes ")
    low, high = map(int, re.search(r"takes (\d+) to (\d+) min on this machine$", line).groups())
    # 3.6 to 3.8 times the processor time of the whole draft (docs/tried/texels.md)
    assert low * 60 < 3.6 * (40 + 12) < 3.8 * (40 + 12) < high * 60


@pytest.mark.parametrize("seconds", [10, 1000])
def test_the_time_follows_the_machine_and_the_kind_of_material(seconds):
    detailed, constant = (line_after(seconds, kind) for kind in (Kind.DETAILED, Kind.CONSTANT))
    assert detailed != constant
    assert line_after(3 * seconds) != detailed


def test_a_preset_that_is_no_draft_is_not_called_one():
    line = line_after(60, preset="standard", following="final")
    assert line.startswith("next: --preset final comes closer, and takes ")


def test_a_wider_decoder_takes_longer_on_this_machine_too():
    """`final` has a decoder that no bake on this machine had."""
    standard, final = (require_recipe(each, "numpy").largest for each in ("standard", "final"))
    samples = final.iterations * final.batch / (standard.iterations * standard.batch)
    ease = standard.spec.multiply_adds / final.spec.multiply_adds
    for seconds in (30, 3000):
        expected = seconds * samples / ease
        line = line_after(seconds, preset="standard", following="final")
        low, high, unit = re.search(r"takes (\d+) to (\d+) (min|h) on", line).groups()
        scale = {"min": 60, "h": 3600}[unit]
        assert int(low) * scale < expected < int(high) * scale


@pytest.mark.parametrize(("line", "count"), [("take standard", 1), ("", 0)])
def test_materials_that_were_baked_together_get_one_recommendation(capsys, line, count):
    figures = (SampleMetrics(0.001, 0.01, 0.01, 0.0),) * 2, (PictureMetrics(40.0, 0.01),) * 2
    done = Finished(("a.vdg", "b.vdg"), 9, 1.0, "steps", *figures)
    live_line([done], lambda bundle: f"{bundle.stem}: {line}" if line else "")
    printed = capsys.readouterr().out.splitlines()
    assert printed.count("  a: take standard") == count
    # two lines of a bundle's own, its name, and the steps
    assert len(printed) == 1 + 2 * 3 + count


def test_a_bake_of_a_few_steps_does_not_make_steps_slow():
    """As copper_tray by `--time-limit 10`: most of it chooses a size."""
    short = replace(require_recipe("draft", "numpy").largest, iterations=212)
    source = source_of(short, Kind.DETAILED, 9.9)
    line = recommendation("draft", "standard", partial(require_recipe, "standard", "numpy"), source)
    # of 200,000 samples a second it would be 15 minutes
    assert int(re.search(r"takes \d+ to (\d+) min on", line)[1]) < 5


def test_what_the_next_preset_does_not_allow_is_not_recommended():
    changes = {"batch": 1026}
    draft = require_recipe("draft", "numpy").changed(changes).largest
    source = source_of(draft, Kind.DETAILED, 40)

    # standard has four pairs of directions for two
    def standard():
        return require_recipe("standard", "numpy").changed(changes)

    with pytest.raises(SettingsError, match="batch is 1026: use a multiple of 4"):
        standard()
    assert recommendation("draft", "standard", standard, source) == ""
