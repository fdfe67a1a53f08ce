"""What the panel keeps from one session to the next, after someone damaged it."""

import json

import pytest

pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)

from PySide6.QtCore import QSettings

from verdigris.core.pictures.view import View
from verdigris.ui.memory import Memory


@pytest.mark.parametrize("files", [7, {"a": 1}, True, [1, None, ["a"]], ["x" * 5000, "a\0b"]])
def test_damaged_names_of_recent_documents_are_left_out(tmp_path, files):
    there = tmp_path / "a.mtlx"
    there.touch()
    settings = QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat)
    settings.setValue("recent", json.dumps({"files": files}))
    memory = Memory(settings)
    assert memory.recent() == []
    memory.add_recent(there)
    assert memory.recent() == [there]


def test_the_look_of_a_view_comes_back_unless_it_is_damaged(tmp_path):
    settings = QSettings(str(tmp_path / "memory.ini"), QSettings.Format.IniFormat)
    memory = Memory(settings)
    memory.store_view(View(shape="ball", tone="neutral", backdrop="grey", zoom=9.0))
    found = memory.view()
    assert (found["shape"], found["tone"], found["backdrop"]) == ("ball", "neutral", "grey")
    # where one looks is not kept
    assert "zoom" not in found
    for damaged in ({"tone": "loud"}, {"tone": 3}, {"other": 1}, [1]):
        settings.setValue("look", json.dumps(damaged))
        assert "tone" not in memory.view()
