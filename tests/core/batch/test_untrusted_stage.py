"""Confined stages are read in a process that may fail."""

import sys

import pytest

from verdigris.core.base.errors import SceneError
from verdigris.core.batch.scene import untrusted_stage
from verdigris.core.batch.scene.sources import ReadOptions, entries_of, read_stage

from .scenes import document


def make_stage(tmp_path):
    (tmp_path / "props.mtlx").write_text(document("oak", "pine"))
    path = tmp_path / "set.usda"
    path.write_text(
        "#usda 1.0\n(\n    subLayers = [@props.mtlx@, @gone.mtlx@]\n)\n"
        'def "a" (\n    references = @props.mtlx@</MaterialX/Materials>\n)\n{\n}\n'
        'def Material "bare"\n{\n}\n'
    )
    return path


def test_the_process_answers_what_reading_here_gives(tmp_path, capfd):
    path = make_stage(tmp_path)
    options = ReadOptions((tmp_path,), confined=True, allowed=(tmp_path,))
    here = list(read_stage(path, options))
    assert {each.name for each in here} == {"gone", "oak", "pine", "bare"}
    assert sum(bool(each.links) for each in here) == 2
    assert entries_of(path, options) == here
    empty = tmp_path / "empty.usda"
    empty.write_text("#usda 1.0\n")
    with pytest.raises(SceneError, match=r"empty\.usda: has no material"):
        entries_of(empty, options)


def test_a_crash_of_usd_is_a_problem_of_the_stage(tmp_path, monkeypatch):
    fake = tmp_path / "crashing" / "pxr"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("import os\nos.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(fake.parent))
    [entry] = entries_of(make_stage(tmp_path), ReadOptions(confined=True))
    assert "USD's library failed as it read the stage: it may be damaged" in entry.problem
    (fake / "__init__.py").write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(untrusted_stage, "MOST_SECONDS", 1)
    [entry] = entries_of(make_stage(tmp_path), ReadOptions(confined=True))
    assert "USD has not read it after 1 s" in entry.problem


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_process_may_not_take_more_memory_than_its_limit(tmp_path, monkeypatch):
    fake = tmp_path / "greedy" / "pxr"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text("found = bytearray(9 << 30)\n")
    monkeypatch.setenv("PYTHONPATH", str(fake.parent))
    [entry] = entries_of(make_stage(tmp_path), ReadOptions(confined=True))
    assert "USD's library failed" in entry.problem
