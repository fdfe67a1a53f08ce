"""Settings that a command changes: named as JSON has them, one by one, and nothing else."""

import json
from dataclasses import replace

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import as_read
from verdigris.core.settings.changes import changes_to, check_changes
from verdigris.core.settings.presets import PRESETS, Kind, Recipe

STANDARD = PRESETS["numpy"]["standard"]


def test_fields_of_draw_are_changed_one_by_one_for_every_kind_of_material():
    found = BakeRequest(preset="standard", changes={"draw": {"pairs": 1}}).recipe("numpy")
    for kind in Kind:
        settings = STANDARD[kind]
        assert found[kind] == replace(settings, draw=replace(settings.draw, pairs=1))


@pytest.mark.parametrize("trainer", ["numpy", "tensor"])
def test_all_that_a_preset_says_can_be_said_again(trainer):
    for preset, recipe in PRESETS[trainer].items():
        changes = changes_to(as_read(recipe.largest.with_live_inputs(1)))
        check_changes(changes)
        found = BakeRequest(preset="draft", changes=changes).recipe("numpy")
        assert found == Recipe.of(recipe.largest), preset


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draw": {"zz": 1}}, "settings: 'draw.zz' is not known: use one of draw.coarse_places"),
        ({"draw": {"pairs": "two"}}, "draw.pairs is 'two': use a value such as 1"),
        ({"draw": [2]}, "draw is [2]: use an object of settings"),
        ({"nonsense": 1}, "settings: 'nonsense' is not known: use one of activation"),
        ({"decoder_rate": [0.1]}, "decoder_rate is [0.1]: use a value such as 0.02"),
        ({"network": 2}, "network is 2: use a value such as '2x32'"),
        ({"decoder_rate": 10**400}, "use a value such as 0.02"),
        ({"decoder_rate": True}, "decoder_rate is True: use a value such as 0.02"),
        ({"batch": True}, "batch is True: use a value such as 16384"),
    ],
)
def test_what_is_no_setting_is_named_with_what_would_be(changes, message):
    with pytest.raises(SettingsError) as refused:
        check_changes(json.loads(json.dumps(changes)))
    assert message in str(refused.value)
