"""Settings that a command changes: named as JSON has them, one by one, and nothing else."""

import json
from dataclasses import replace

import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.json_changes import changed
from verdigris.core.settings.presets import PRESETS
from verdigris.core.worker.session.job import settings_for

from ..training.bakes import plain_teacher

STANDARD = PRESETS["numpy"]["standard"]


def test_a_list_is_taken_where_the_preset_has_a_tuple():
    found = settings_for(plain_teacher(), "standard", {"mend_at": [0.25, 0.5]})
    assert found == replace(STANDARD, mend_at=(0.25, 0.5))


def test_fields_of_draw_are_changed_each_for_itself():
    found = settings_for(plain_teacher(), "standard", {"draw": {"pairs": 2}})
    assert found == replace(STANDARD, draw=replace(STANDARD.draw, pairs=2))
    assert (found.draw.repeats, found.draw.coarse_share) == (2, STANDARD.draw.coarse_share)


def test_what_is_on_or_off_is_taken_as_such():
    changes = json.loads('{"carries_moments": true}')
    assert settings_for(plain_teacher(), "standard", changes).carries_moments


@pytest.mark.parametrize("trainer", ["numpy", "tensor"])
def test_all_that_a_preset_says_can_be_said_again(trainer):
    for preset, settings in PRESETS[trainer].items():
        again = changed(PRESETS["numpy"]["draft"], json.loads(settings.text()))
        assert again == settings, preset


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draw": {"zz": 1}}, "settings: 'draw.zz' is not known: use one of draw.coarse_places"),
        ({"draw": {"pairs": "two"}}, "draw.pairs is 'two': use a value such as 4"),
        ({"draw": [2]}, "draw is [2]: use an object of settings"),
        ({"nonsense": 1}, "settings: 'nonsense' is not known: use one of activation"),
        ({"mend_at": 0.5}, "mend_at is 0.5: use a value such as ()"),
        ({"mend_at": [2]}, "mend_at is [2]: use numbers between 0 and 1"),
        ({"mend_at": [10**400]}, "use a value such as ()"),
        ({"decoder_rate": 10**400}, "use a value such as 0.02"),
        ({"decoder_rate": True}, "decoder_rate is True: use a value such as 0.02"),
        ({"batch": True}, "batch is True: use a value such as 4096"),
        ({"carries_moments": 1}, "carries_moments is 1: use a value such as False"),
    ],
)
def test_what_is_no_setting_is_named_with_what_would_be(changes, message):
    with pytest.raises(SettingsError) as refused:
        changed(STANDARD, json.loads(json.dumps(changes)))
    assert message in str(refused.value)
