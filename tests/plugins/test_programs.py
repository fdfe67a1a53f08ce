"""Programs that a button starts: without a console, and with their output in a log."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from verdigris.core.base.errors import HostError
from verdigris.plugins.common import programs


def last_line(file, seconds=30):
    """The last line of a file to which a program writes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not file.read_text():
        time.sleep(0.05)
    return file.read_text().splitlines()[-1]


def test_the_output_of_a_batch_is_in_a_log_beside_its_summary(tmp_path):
    scene = tmp_path / "shot.ma"
    # this Python is not that of Maya, which the log has to say
    summary = programs.start_batch(lambda: Path(sys.executable), scene)
    log = tmp_path / "neural" / "shot.log"
    assert summary == log.with_suffix(".json")
    assert f"batch: {sys.executable} is not mayapy" in last_line(log)
    assert str(log) in programs.describe_batch(summary)


def test_the_output_of_a_selftest_is_in_a_log_beside_its_report(tmp_path):
    report = tmp_path / "made" / "report.json"
    programs.start_selftest(Path(sys.executable), report)
    assert f"selftest: {sys.executable} is not mayapy" in last_line(report.with_suffix(".log"))
    assert str(report.with_suffix(".log")) in programs.describe_selftest(report)


def test_no_console_is_opened(monkeypatch, tmp_path):
    started = []
    monkeypatch.setattr(subprocess, "Popen", lambda _, **options: started.append(options))
    monkeypatch.setattr(programs, "NO_WINDOW", 0x08000000)
    programs.start_selftest(Path("mayapy"), tmp_path / "report.json")
    (options,) = started
    assert options["creationflags"] == 0x08000000
    assert options["stdin"] == subprocess.DEVNULL


@pytest.mark.parametrize("blocked", ["neural", "neural/shot.log"])
def test_a_folder_that_cannot_be_written_is_named(tmp_path, blocked):
    # a file in the place of a folder, and a folder in that of a file
    if blocked == "neural":
        (tmp_path / blocked).write_text("")
    else:
        (tmp_path / blocked).mkdir(parents=True)
    with pytest.raises(HostError, match=r"neural.shot\.log: cannot be written \(.*\): choose"):
        programs.start_batch(lambda: Path(sys.executable), tmp_path / "shot.ma")


@pytest.mark.parametrize(
    ("raised", "shown"),
    [
        (HostError("no mesh is selected: select one"), "no mesh is selected: select one"),
        (RuntimeError("No object matches name\n(line 2)"), "RuntimeError: No object matches name)"),
        (KeyError(), "(KeyError)"),
    ],
)
def test_a_button_shows_whatever_its_action_raises_and_logs_what_is_not_ours(raised, shown, caplog):
    seen = []

    @programs.show_errors(seen.append)
    def act():
        raise raised

    act()
    (text,) = seen
    assert shown in text and "line 2" not in text
    assert ("Traceback" in caplog.text) != isinstance(raised, HostError)
