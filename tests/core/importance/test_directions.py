"""Profiles and tables of directions, and the files they are read from."""

import json

import numpy as np
import pytest

from verdigris.core.errors import SettingsError
from verdigris.core.importance.directions import (
    PROFILES,
    checked_table,
    profile_table,
    read_directions,
)
from verdigris.core.sampling.draw_samples import DrawSettings
from verdigris.core.settings import BakeSettings


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_keeps_some_weight_everywhere(name):
    table = np.array(profile_table(name))
    assert table.min() >= 1
    assert table.max() <= 8
    assert (table.max() > 4) == (name != "uniform")


def test_profiles_weigh_what_their_name_says():
    grazing, above = np.array(profile_table("grazing")), np.array(profile_table("overhead-light"))
    assert (grazing[0] > 6).all() and (grazing[-1] < 1.1).all()
    assert (above[:, -1] > 6).all() and (above[:, 0] < 1.1).all()


@pytest.mark.parametrize("table", [(), ((1.0, 2.0), (0.0, 3.0))])
def test_a_table_survives_the_settings_text(table):
    settings = BakeSettings(draw=DrawSettings(direction_table=table))
    again = BakeSettings.from_json(json.loads(settings.text()))
    assert again == settings
    assert again.draw.direction_weights() == (table or profile_table("uniform"))


def test_tables_are_read_from_json_and_npy(tmp_path):
    rows = [[1, 2, 3], [4, 5, 6]]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    np.save(tmp_path / "t.npy", np.array(rows))
    for name in ("t.json", "t.npy"):
        assert read_directions(str(tmp_path / name)) == ("uniform", checked_table(rows))
    assert read_directions("grazing") == ("grazing", ())


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([[1, 2], [3]], "equally many"),
        ([1, 2], r"shape \(2,\)"),
        ([[0, 0]], "not all 0"),
        ([[1, -1]], "from 0 up"),
        ([[float("nan")]], "finite"),
        (np.ones((65, 2)), "at most 64"),
    ],
)
def test_what_is_no_table_is_refused(values, text):
    with pytest.raises(SettingsError, match=text):
        checked_table(values)


def test_names_and_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="'sideways' are neither one of uniform, grazing"):
        read_directions("sideways")
    with pytest.raises(SettingsError, match=r"no\.json: cannot be read"):
        read_directions(str(tmp_path / "no.json"))
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(SettingsError, match=r"bad\.json: cannot be read"):
        read_directions(str(tmp_path / "bad.json"))
    with pytest.raises(SettingsError, match="'sideways' are not known"):
        DrawSettings(directions="sideways")
