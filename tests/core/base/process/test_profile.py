"""Profiles: spans of several processes in one trace."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.process import profile

CHILD = """
from verdigris.core.base.process.profile import Phases, profiled, span

@profiled("work")
def work():
    with span("part"):
        return 42

assert work() == 42
phases = Phases()
for name in ("first", "second", ""):
    phases.begin(name)
"""


def spans_of(path: Path) -> list[dict]:
    """The format allows an array that is not closed."""
    return json.loads(path.read_text().rstrip().removesuffix(",") + "]")


@pytest.fixture
def begun(tmp_path, monkeypatch):
    monkeypatch.setenv(profile.PROFILE_VARIABLE, "")
    monkeypatch.setattr(profile, "_recorder", None)
    path = tmp_path / "trace.json"
    profile.begin_profile(path)
    return path


def test_a_child_process_appends_its_spans_to_those_of_its_parent(begun):
    with profile.span("parent"):
        subprocess.run([sys.executable, "-c", CHILD], check=True, env=dict(os.environ))
    profile._recorder.write()
    found = {each["name"]: each for each in spans_of(begun)}
    assert set(found) == {"parent", "work", "part", "first", "second"}
    assert found["parent"]["pid"] == os.getpid() != found["work"]["pid"]

    def interval(name):
        return found[name]["ts"], found[name]["ts"] + found[name]["dur"]

    for outer, inner in (("parent", "work"), ("work", "part"), ("parent", "second")):
        (begin, end), (inner_begin, inner_end) = interval(outer), interval(inner)
        assert begin <= inner_begin <= inner_end <= end
    # microseconds since the start of the system, whose sum rounds
    assert interval("first")[1] == pytest.approx(interval("second")[0], rel=1e-14)


def test_a_span_is_recorded_when_its_block_fails(begun):
    with pytest.raises(ValueError, match="lost"), profile.span("failing"):
        raise ValueError("lost")
    profile._recorder.write()
    assert [each["name"] for each in spans_of(begun)] == ["failing"]


def test_nothing_is_recorded_without_a_profile(monkeypatch, tmp_path):
    monkeypatch.setattr(profile, "_recorder", None)
    monkeypatch.chdir(tmp_path)
    with profile.span("unseen"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_profile_that_cannot_be_written_is_refused_by_name(tmp_path):
    path = tmp_path / "no such folder" / "trace.json"
    with pytest.raises(
        SettingsError, match=r"trace\.json: the profile cannot be written .*: .*choose another file"
    ):
        profile.begin_profile(path)
