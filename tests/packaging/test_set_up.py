"""The set-up: what it does, does not do twice, and mends."""

import sys
from dataclasses import replace

import pytest

from provision import apt, search
from provision import environment as environment_module
from provision.cli import Request, parse, serve, set_up, worker_arguments
from provision.console import Finished, SetupError
from provision.environment import Environment
from provision.stamp import BROKEN, STARTED, fingerprint, read_stamp, write_stamp

RUN = Request("run", ("inspect", "a.mtlx"))
TEST = Request("test")
FIRST_RUN = ["venv", "pip .[usd]", "probe"]


def refuse(command, folder):
    raise AssertionError(f"ran {command} in {folder}")


def test_the_first_run_makes_fills_and_looks_and_hands_over(environment, commands):
    handed = []
    code = serve(RUN, environment, commands, lambda *given: handed.append(given) or 7)
    assert commands.ran == FIRST_RUN
    assert handed == [([str(environment.script("verdigris")), "inspect", "a.mtlx"], None)]
    assert code == 7


def test_a_second_run_does_nothing(environment, commands, capsys):
    set_up(RUN, environment, commands)
    commands.ran.clear()
    capsys.readouterr()
    set_up(RUN, environment, commands)
    assert commands.ran == []
    assert capsys.readouterr().err == ""


def test_tests_run_in_the_repository_with_its_python(environment, commands):
    handed = []
    request = Request("test", ("-n0", "-k", "frames"))
    serve(request, environment, commands, lambda *given: handed.append(given) or 0)
    assert commands.ran == ["venv", "pip .[test,usd]", "probe"]
    python = str(environment.python)
    assert handed == [([python, "-P", "-m", "pytest", "-n0", "-k", "frames"], environment.root)]


def test_an_environment_for_tests_serves_every_run(environment, commands):
    set_up(TEST, environment, commands)
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == []


def test_an_environment_for_runs_gets_what_tests_need_in_addition(environment, commands):
    set_up(RUN, environment, commands)
    commands.ran.clear()
    set_up(TEST, environment, commands)
    assert commands.ran == ["pip .[test,usd]"]


def test_a_changed_pyproject_installs_again_into_the_same_environment(environment, commands):
    set_up(RUN, environment, commands)
    before = fingerprint(environment.root)
    pyproject = environment.root / "pyproject.toml"
    pyproject.write_text(pyproject.read_text().replace("2.4.6", "2.4.7"))
    assert fingerprint(environment.root) != before
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == ["pip .[usd]"]


def test_a_failed_installation_is_told_and_mended_by_the_next_run(environment, commands):
    noise = "\n".join(f"line {number}" for number in range(100))
    commands.answers["pip .[usd]"] = Finished(1, noise + "\nERROR: no space left on device\n")
    with pytest.raises(SetupError) as raised:
        set_up(RUN, environment, commands)
    message = str(raised.value)
    assert "ended with 1: " in message
    assert "line 71\n" in message
    assert "line 70\n" not in message
    assert "ERROR: no space left on device" in message
    assert read_stamp(environment.stamp).state == STARTED
    del commands.answers["pip .[usd]"]
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == FIRST_RUN


def test_an_interrupted_update_is_made_from_nothing(environment, commands):
    set_up(RUN, environment, commands)
    write_stamp(environment.stamp, replace(read_stamp(environment.stamp), state=STARTED))
    leftover = environment.venv / "half-installed"
    leftover.mkdir()
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == FIRST_RUN
    assert not leftover.exists()


def test_an_unreadable_stamp_counts_as_interrupted(environment, commands):
    set_up(RUN, environment, commands)
    environment.stamp.write_text('{"state": "comp')
    assert read_stamp(environment.stamp) == BROKEN
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == FIRST_RUN


def test_a_moved_repository_gets_a_new_environment(environment, commands, capsys):
    set_up(RUN, environment, commands)
    moved = Environment(environment.root.with_name("moved"))
    environment.root.rename(moved.root)
    commands.environment = moved
    commands.ran.clear()
    set_up(RUN, moved, commands)
    assert commands.ran == FIRST_RUN
    assert f"the repository was at {environment.root}" in capsys.readouterr().err


def test_another_python_gets_a_new_environment(environment, commands, monkeypatch):
    set_up(RUN, environment, commands)
    stamp = read_stamp(environment.stamp)
    write_stamp(environment.stamp, replace(stamp, python="cpython 3.10"))
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == FIRST_RUN


def test_an_environment_whose_python_was_removed_is_made_again(environment, commands):
    set_up(RUN, environment, commands)
    environment.python.unlink()
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == FIRST_RUN


@pytest.mark.parametrize(
    ("version", "place", "ran"),
    [
        ("{0}.{1}.9", "", ["pip .[usd]", "probe"]),
        ("3.9.1", "", FIRST_RUN),
        ("{0}.{1}.9", "/elsewhere", FIRST_RUN),
    ],
)
def test_an_environment_made_by_hand_is_kept_where_it_can_serve(
    environment, commands, version, place, ran
):
    commands.take_effect("venv")
    (environment.venv / "pyvenv.cfg").write_text(
        f"home = /usr/bin\nversion = {version.format(*sys.version_info)}\n"
        f"command = /usr/bin/python3 -m venv {place}{environment.venv}\n"
    )
    set_up(RUN, environment, commands)
    assert commands.ran == ran


def test_a_python_without_ensurepip_is_told_the_package(environment, commands, monkeypatch):
    monkeypatch.setattr(
        environment_module.importlib.util, "find_spec", lambda name: None if "pip" in name else 1
    )
    with pytest.raises(SetupError) as raised:
        set_up(RUN, environment, commands)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"sudo apt-get install python{version}-venv" in str(raised.value)
    assert not environment.venv.exists()


def test_a_device_is_looked_for_again_only_when_asked(environment, commands):
    set_up(RUN, environment, commands)
    commands.ran.clear()
    set_up(replace(RUN, recheck=True), environment, commands)
    assert commands.ran == ["probe"]
    assert read_stamp(environment.stamp).device.adapter == "llvmpipe"


@pytest.fixture
def bookworm_without_device(commands, monkeypatch, tmp_path):
    release = tmp_path / "os-release"
    release.write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    monkeypatch.setattr(apt, "OS_RELEASES", (release,))
    monkeypatch.setattr(search.sys, "platform", "linux")
    monkeypatch.setattr(apt, "read_sources", lambda: ())
    commands.answers["probe"] = Finished(0, '{"problem": "no driver offers a device"}')
    return commands


def test_without_rights_the_set_up_stops_until_a_device_is_there(
    environment, bookworm_without_device, monkeypatch
):
    commands = bookworm_without_device
    monkeypatch.setattr(search, "is_root", lambda: False)
    commands.answers["apt-cache policy mesa-vulkan-drivers"] = Finished(0, "  Candidate: 25.0.7\n")
    with pytest.raises(SetupError, match="sudo sh -c 'apt-get update && DEBIAN_FRONTEND="):
        set_up(RUN, environment, commands)
    commands.answers["probe"] = Finished(0, '{"kind": "vulkan", "adapter": "llvmpipe"}')
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == ["probe"]


def test_a_device_that_went_away_is_forgotten_even_if_the_set_up_stops(
    environment, commands, request, monkeypatch
):
    set_up(RUN, environment, commands)
    request.getfixturevalue("bookworm_without_device")
    monkeypatch.setattr(search, "is_root", lambda: False)
    commands.answers["apt-cache policy mesa-vulkan-drivers"] = Finished(0, "  Candidate: 25.0.7\n")
    with pytest.raises(SetupError):
        set_up(replace(RUN, recheck=True), environment, commands)
    assert read_stamp(environment.stamp).device is None


def test_where_nothing_can_be_installed_the_set_up_warns_and_goes_on(
    environment, bookworm_without_device, capsys
):
    commands = bookworm_without_device
    commands.answers["apt-cache policy mesa-vulkan-drivers"] = Finished(0, "  Candidate: 22.3.6\n")
    set_up(RUN, environment, commands)
    told = capsys.readouterr().err
    assert "no device computes here (vulkan: no driver offers a device; cuda: no driver" in told
    assert "No apt source of this machine serves bookworm" in told
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == []
    assert "--recheck-device looks for one again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "request_"),
    [
        ([], Request("help")),
        (["-h"], Request("help")),
        (["setup"], Request("setup")),
        (["--recheck-device"], Request("setup", recheck=True)),
        (["setup", "--recheck-device"], Request("setup", recheck=True)),
        (["--recheck-device", "bake", "a"], Request("run", ("bake", "a"), recheck=True)),
        (["test", "-k", "setup"], Request("test", ("-k", "setup"))),
        (["bake", "a.mtlx", "--help"], Request("run", ("bake", "a.mtlx", "--help"))),
    ],
)
def test_arguments_are_ours_only_in_front(arguments, request_):
    assert parse(arguments) == request_


@pytest.mark.parametrize(
    ("arguments", "cores", "added"),
    [
        ((), 2, ["-n", "2", "--dist", "loadfile"]),
        (("-k", "x"), 16, ["-n", "2", "--dist", "loadfile"]),
        ((), 1, []),
        (("-n", "4"), 8, []),
        (("-n0",), 8, []),
        (("--numprocesses=3",), 8, []),
    ],
)
def test_tests_share_two_cores_unless_told_otherwise(arguments, cores, added):
    assert worker_arguments(arguments, cores) == added
