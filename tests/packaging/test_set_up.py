"""The set-up: what it does, does not do twice, and mends."""

import errno
import os
import re
import sys
from dataclasses import replace

import pytest

from provision import apt, cli, search
from provision import environment as environment_module
from provision.cli import Request, parse, serve, set_up, worker_arguments
from provision.console import Finished, SetupError
from provision.environment import Environment
from provision.rights import why_stopped
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


def told_by_main(environment, monkeypatch, capsys):
    """The line that the whole program ends with in this repository."""
    monkeypatch.setattr(cli, "ROOT", environment.root)
    assert cli.main(["setup"]) == 1
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "folder"), [(".cache", ""), (".cache/bootstrap.lock", ".cache"), (".venv", "")]
)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_may_not_be_written_is_named_with_its_owner_and_what_to_do(
    name, folder, number, environment, monkeypatch, capsys
):
    root = environment.root
    (root / folder).mkdir(exist_ok=True)

    def refused(*_):
        raise OSError(number, os.strerror(number), str(root / name))

    monkeypatch.setattr(cli, "serve", refused)
    line = told_by_main(environment, monkeypatch, capsys)
    owner = "" if os.name == "nt" else f"; it belongs to {root.owner()}"
    assert line.startswith(
        f"verdigris: the system refuses the set-up the folder {root / folder} "
        f"({os.strerror(number)}{owner}). Get the right to write there, copy the repository"
    )
    assert line.endswith(" Then run the same command again.")
    assert "Errno" not in line


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="whoever runs this may write anywhere"
)
@pytest.mark.parametrize("name", ["", ".cache", ".venv"])
def test_without_rights_nothing_is_begun(name, environment, monkeypatch, capsys):
    for folder in (environment.lock.parent, environment.venv):
        folder.mkdir()
    refused = environment.root / name
    refused.chmod(0o555)
    try:
        line = told_by_main(environment, monkeypatch, capsys)
    finally:
        refused.chmod(0o755)
    assert f"the system refuses the set-up the folder {refused} (" in line


def test_a_repository_that_cannot_be_written_is_refused_before_anything_is_removed(
    environment, commands, monkeypatch
):
    environment.venv.mkdir()
    (environment.venv / "kept").touch()

    def refused(dir):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), f"{dir}/tmpabc")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with pytest.raises(SetupError, match=re.escape(f"the folder {environment.root} (")):
        set_up(RUN, environment, commands)
    assert (environment.venv / "kept").exists()
    assert commands.ran == []


@pytest.mark.parametrize("name", [".cache", ".venv"])
def test_a_file_in_the_place_of_a_folder_is_named(name, environment, monkeypatch, capsys):
    (environment.root / name).touch()
    assert told_by_main(environment, monkeypatch, capsys) == (
        f"verdigris: {environment.root / name} is no folder, and the set-up needs one there: move "
        "it away, then run the same command again."
    )


def test_what_cannot_be_removed_is_named_by_its_folder(environment, commands, monkeypatch):
    """rmtree tells of a file by the last part of its name."""
    library = environment.venv / "lib"
    library.mkdir(parents=True)

    def refused(path):
        raise PermissionError(errno.EACCES, "Permission denied", "deep.py")

    monkeypatch.setattr("shutil.rmtree", refused)
    with pytest.raises(PermissionError) as raised:
        set_up(RUN, environment, commands)
    assert raised.value.filename == str(library)


def test_a_full_disk_is_told_with_its_folder(environment):
    full = OSError(errno.ENOSPC, "No space left on device", str(environment.venv / "x"))
    told = why_stopped(full, environment.root)
    assert told.startswith(f"there is no room left in the folder {environment.root} (")
    # of what names no file the system's words are all there is
    assert "gone wrong. Mend that" in why_stopped(OSError("gone wrong"), environment.root)
