"""Of two bakes with one name in one folder, one is told to wait."""

import os
import subprocess
import sys
import threading

import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.lock import locked

HOLD = """
import sys, time
from pathlib import Path
from verdigris.core.base.lock import locked
with locked(Path(sys.argv[1]), "clay"):
    print("held", flush=True)
    time.sleep(60)
"""


def holder(folder):
    command = [sys.executable, "-c", HOLD, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_bake_of_the_name_is_refused_naming_the_process(tmp_path):
    other = holder(tmp_path)
    try:
        with (
            pytest.raises(SettingsError, match=rf"'clay' is being baked .*process \({other.pid}\)"),
            locked(tmp_path, "clay"),
        ):
            pass
        with locked(tmp_path, "slate"):
            pass
    finally:
        other.kill()
        other.wait()


def test_the_lock_of_a_process_that_died_is_taken_over(tmp_path):
    other = holder(tmp_path)
    other.kill()
    other.wait()
    path = tmp_path / ".clay.lock"
    assert path.read_text() == str(other.pid)
    with locked(tmp_path, "clay"):
        assert path.read_text() == str(os.getpid())
    assert list(tmp_path.iterdir()) == []


def test_an_error_inside_lets_go_of_the_lock(tmp_path):
    with pytest.raises(KeyError), locked(tmp_path, "clay"):
        raise KeyError
    with locked(tmp_path, "clay"):
        pass


def test_of_many_that_come_at_once_one_holds_it_at_a_time(tmp_path):
    inside, most, entered = [], [], []

    def try_often():
        for _ in range(200):
            try:
                with locked(tmp_path, "clay"):
                    inside.append(1)
                    most.append(len(inside))
                    entered.append(1)
                    inside.pop()
            except SettingsError:
                pass

    threads = [threading.Thread(target=try_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(entered) > 4


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    with (
        pytest.raises(SettingsError, match="gone: cannot be written to"),
        locked(tmp_path / "gone", "clay"),
    ):
        pass


def test_a_full_disk_is_told_and_leaves_no_lock(tmp_path):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with (
            pytest.raises(SettingsError, match=r"cannot be written to \(.*lift the limit"),
            locked(tmp_path, "clay"),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path, "clay"):
        assert (tmp_path / ".clay.lock").read_text() == str(os.getpid())
