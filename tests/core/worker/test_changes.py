"""Settings that a command changes: named as JSON has them, one by one, and nothing else."""

import json
from dataclasses import replace

import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.json_changes import changed
from verdigris.core.settings.presets import PRESETS
from verdigris.core.settings.recipe import Kind, Recipe
from verdigris.core.worker.session.job import recipe_for

from ..baking.bakes import plain_teacher

STANDARD = PRESETS["numpy"]["standard"]


def test_fields_of_draw_are_changed_one_by_one_for_every_kind_of_material():
    found = recipe_for(plain_teacher(), "standard", {"draw": {"pairs": 1}})
    for kind in Kind:
        settings = STANDARD[kind]
        assert found[kind] == replace(settings, draw=replace(settings.draw, pairs=1))


@pytest.mark.parametrize("trainer", ["numpy", "tensor"])
def test_all_that_a_preset_says_can_be_said_again(trainer):
    for preset, recipe in PRESETS[trainer].items():
        changes = json.loads(json.dumps(recipe.largest.to_json()))
        assert changed(PRESETS["numpy"]["draft"], changes) == Recipe.of(recipe.largest), preset


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draw": {"zz": 1}}, "settings: 'draw.zz' is not known: use one of draw.coarse_places"),
        ({"draw": {"pairs": "two"}}, "draw.pairs is 'two': use a value such as 4"),
        ({"draw": [2]}, "draw is [2]: use an object of settings"),
        ({"nonsense": 1}, "settings: 'nonsense' is not known: use one of activation"),
        ({"decoder_rate": [0.1]}, "decoder_rate is [0.1]: use a value such as 0.02"),
        ({"network": 2}, "network is 2: use a value such as '2x32'"),
        ({"decoder_rate": 10**400}, "use a value such as 0.02"),
        ({"decoder_rate": True}, "decoder_rate is True: use a value such as 0.02"),
        ({"batch": True}, "batch is True: use a value such as 4096"),
    ],
)
def test_what_is_no_setting_is_named_with_what_would_be(changes, message):
    with pytest.raises(SettingsError) as refused:
        changed(STANDARD, json.loads(json.dumps(changes)))
    assert message in str(refused.value)
