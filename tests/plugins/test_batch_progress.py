"""The lines of a batch: how many, how long, and what they tell."""

import pytest

from verdigris.plugins.common.batch import progress as module
from verdigris.plugins.common.batch.progress import FarmLines, Lines, LiveLine
from verdigris.plugins.common.batch.summary import Outcome

STEP = {"event": "step", "steps": 1000, "loss": 0.01234, "seconds_left": 75.0}
METRICS = {"event": "metrics", "samples": [{"log_mae": 0.0456}]}


@pytest.fixture
def clock(monkeypatch):
    """The time that the lines see."""
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def train(progress, clock, seconds=20.0, steps=1000):
    progress.begin(2, 14, "gold\x1b[31m")
    progress.happened({"event": "phase", "name": "training", "number": 1, "count": 1})
    progress.happened(METRICS)
    for step in range(steps):
        clock[0] += seconds / steps
        progress.happened({**STEP, "step": step})


def test_lines_come_every_few_seconds_and_at_each_phase(clock, capsys):
    train(Lines(), clock)
    first, phase, *steps = capsys.readouterr().err.splitlines()
    assert first == "[2/14] gold\N{REPLACEMENT CHARACTER}[31m  reading the material"
    assert phase.endswith("  training")
    # the first step at once, then one every five seconds
    assert [line.split()[3] for line in steps] == ["0%", "25%", "50%", "75%"]
    assert steps[1].endswith("training 25%  loss 0.0123  log MAE 0.0456  1 min 15 s left")


def test_a_bake_without_events_is_not_silent(clock, capsys):
    progress = Lines()
    progress.begin(1, 1, "gold")
    for _ in range(100):
        clock[0] += 0.2
        progress.happened(None)
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "[1/1] gold  preparing"
    assert [line.partition(", ")[2] for line in lines[2:]] == [
        *("5.2 s so far", "10 s so far", "15 s so far")
    ]


def test_a_line_is_cut_to_the_width_of_the_terminal(clock, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    train(LiveLine(), clock, steps=3)
    shown = capsys.readouterr().err
    assert "\n" not in shown
    assert {len(line.rstrip()) for line in shown.split("\r")[3:]} == {29}


def test_the_progress_of_a_farm_is_that_of_all_materials(clock, capsys):
    progress = FarmLines()
    train(progress, clock)
    progress.end(Outcome("gold", "gold", "file", "failed", error="no light"))
    lines = capsys.readouterr().err.splitlines()
    shares = [line.partition(": ")[2] for line in lines if line.startswith("openjd_progress: ")]
    assert shares[0] == "7.1" and shares[-1] == "14.3"
    assert sorted(shares, key=float) == shares
    assert "openjd_fail: gold: no light" in lines
