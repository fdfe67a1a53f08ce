"""Running other programs, looking for a device, and waiting for another set-up."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from provision import cli, lock
from provision.console import NOT_FOUND, TIMED_OUT, Commands, Finished
from provision.device import find_device, kinds_for, read_answer
from provision.lock import held
from provision.stamp import Device

PACKAGING = Path(cli.__file__).parent.parent

HOLDER = """
import sys, time
from pathlib import Path
from provision.lock import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_both_streams_and_the_exit_code_come_back():
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
    done = Commands().run(python(code))
    assert (done.code, done.output.split()) == (3, ["out", "err"])


def test_a_missing_program_is_a_result():
    done = Commands().run(["verdigris-no-such-program"])
    assert done.code == NOT_FOUND
    assert done.output.startswith("verdigris-no-such-program: ")


def test_a_program_that_hangs_is_ended():
    done = Commands().run(python("import time; time.sleep(60)"), timeout=0.5)
    assert done.code == TIMED_OUT


def test_packages_of_another_python_do_not_get_in(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/studio/packages")
    assert Commands().run(python("import sys; print(sys.path)")).output.count("/studio") == 0


def test_the_driver_s_noise_does_not_hide_its_answer():
    answer = 'WARNING: lavapipe is not conformant\n{"kind": "vulkan", "adapter": "A"}\nrhi: bye\n'
    assert read_answer(Finished(0, answer)) == Device(kind="vulkan", adapter="A")


def test_a_driver_that_crashes_is_a_problem_and_the_next_kind_is_tried(tmp_path):
    ran = []

    class Crashing(Commands):
        def run(self, command, **_):
            ran.append(command[-1])
            if command[-1] == "vulkan":
                return Finished(-11, "starting\nSegmentation fault\n")
            return Finished(0, '{"kind": "cuda", "adapter": "B"}')

    assert find_device(tmp_path / "python", Crashing(), "linux").kind == "cuda"
    assert ran == ["vulkan", "cuda"]


def test_the_problem_of_each_kind_is_reported(tmp_path):
    class Nothing(Commands):
        def run(self, command, **_):
            if command[-1] == "vulkan":
                return Finished(-11, "Segmentation fault\n")
            return Finished(0, '{"problem": "no driver offers a device"}')

    assert find_device(tmp_path / "python", Nothing(), "linux").problem == (
        "vulkan: the driver crashed (exit code -11): Segmentation fault; "
        "cuda: no driver offers a device"
    )


@pytest.mark.parametrize(
    ("platform", "kinds"),
    [("linux", ("vulkan", "cuda")), ("win32", ("vulkan", "d3d12", "cuda")), ("darwin", ("metal",))],
)
def test_the_kinds_of_device_of_each_system(platform, kinds):
    assert kinds_for(platform) == kinds


def start_holder(lock: Path) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGING)}
    command = [sys.executable, "-c", HOLDER, str(lock)]
    holder = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    return holder


def test_a_second_set_up_waits_and_names_the_first(tmp_path, capsys, monkeypatch):
    path = tmp_path / "cache" / "lock"
    holder, waited = start_holder(path), []

    def sleep(seconds):
        waited.append(seconds)
        holder.kill()
        holder.wait()

    monkeypatch.setattr(lock, "time", SimpleNamespace(sleep=sleep))
    with held(path):
        assert len(waited) == 1
    assert f"another set-up is running here (process {holder.pid})" in capsys.readouterr().err


def test_the_lock_of_a_killed_set_up_is_free(tmp_path, capsys):
    lock = tmp_path / "lock"
    holder = start_holder(lock)
    holder.kill()
    holder.wait()
    with held(lock):
        assert lock.read_text() == f"{os.getpid()}\n"
    assert capsys.readouterr().err == ""


def test_an_unexpected_failure_is_reported(monkeypatch, capsys, tmp_path):
    def fail(*_):
        raise OSError(5, "Input/output error", "/on/a/worn/disk")

    monkeypatch.setattr(cli, "serve", fail)
    assert cli.main(["setup"]) == 1
    output = capsys.readouterr().err
    where = Path("/on/a/worn/disk")
    assert output == (
        f"verdigris: the set-up stopped at {where} (Input/output error): correct this, then run "
        "the same command again.\n"
    )


def test_wrong_usage_of_the_bootstrap_exits_with_2(capsys):
    assert cli.main(["setup", "everything"]) == 2
    assert "setup takes no arguments, but got 'everything'" in capsys.readouterr().err
