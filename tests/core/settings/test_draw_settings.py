"""Profiles and tables of directions, and the files they are read from."""

import json

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.core.settings.draw_settings import (
    PROFILES,
    DrawSettings,
    checked_table,
    profile_table,
    read_directions,
)

from .arrays import npy_claiming, npy_of


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
    again = BakeSettings.from_json(json.loads(json.dumps(settings.to_json())))
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


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("deep.json", b"[" * 200000, "is nested too deeply"),
        ("huge.npy", npy_claiming("(1000000, 1000000)"), "is not a numpy array .*greater than"),
        ("beyond.npy", npy_claiming(f"({10**30}, 1)"), "is not a numpy array .*too large"),
        ("header.npy", npy_of(b"{{{{{(((\n"), "is not a numpy array .*EOF in multi-line"),
        ("zip.npy", b"PK\3\4" + bytes(100), "is not a numpy array .*not a zip file"),
        ("empty.npy", b"", "is not a numpy array"),
    ],
)
def test_damaged_files_are_refused_by_name(tmp_path, name, data, text):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(SettingsError, match=f"{name}: {text}"):
        read_directions(str(tmp_path / name))


def test_a_file_of_several_arrays_is_refused(tmp_path):
    np.savez(tmp_path / "t.npz", first=np.ones((2, 2)))
    (tmp_path / "t.npz").rename(tmp_path / "t.npy")
    with pytest.raises(SettingsError, match=r"t\.npy: contains several arrays \(\.npz\): save one"):
        read_directions(str(tmp_path / "t.npy"))


def test_an_array_that_is_no_table_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.npy"
    with path.open("wb") as file:
        # a hole of 8 TB, where the file system can
        file.write(npy_claiming("(1000000, 1000000)"))
        try:
            file.truncate(file.tell() + 8 * 10**12)
        except OSError:
            pytest.skip("this file system holds no file so large")
    with pytest.raises(SettingsError, match=r"large.npy has shape \(1000000, 1000000\): use rows"):
        read_directions(str(path))


def test_names_and_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="'sideways' are neither one of uniform, grazing"):
        read_directions("sideways")
    for name in ("no.json", "no.npy"):
        with pytest.raises(SettingsError, match=rf"{name}: there is no such file"):
            read_directions(str(tmp_path / name))
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(SettingsError, match=r"bad\.json: is not JSON"):
        read_directions(str(tmp_path / "bad.json"))
    with pytest.raises(SettingsError, match="'sideways' are not known"):
        DrawSettings(directions="sideways")
