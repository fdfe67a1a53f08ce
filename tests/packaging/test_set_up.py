"""The set-up: its steps, repeated runs, and repairs."""

import errno
import json
import os
import re
import sys
from dataclasses import replace

import pytest

from provision import apt, cli, search
from provision import environment as environment_module
from provision.cli import Request, parse, serve, set_up, worker_arguments
from provision.console import Finished, SetupError
from provision.environment import Environment, pinned_packages
from provision.rights import explain_failure
from provision.stamp import BROKEN, STARTED, fingerprint, read_stamp, write_stamp

RUN = Request("run", ("inspect", "a.mtlx"))
TEST = Request("test")
FIRST_RUN = ["venv", "pip .", "probe"]


def refuse(command, folder):
    raise AssertionError(f"ran {command} in {folder}")


def test_the_first_run_sets_up_and_runs_the_command(environment, commands):
    handed = []
    code = serve(RUN, environment, commands, lambda *given: handed.append(given) or 7)
    assert commands.ran == FIRST_RUN
    assert handed == [([str(environment.script("verdigris")), "inspect", "a.mtlx"], None)]
    assert code == 7


def test_the_packages_to_install_are_listed_without_their_conditions(tmp_path):
    condition = "; sys_platform == 'linux' and platform_machine == 'x86_64'"
    (tmp_path / "pyproject.toml").write_text(
        f'[project]\ndependencies = ["wgpu==0.32.0{condition}", "numpy==2.4.6"]\n'
    )
    assert pinned_packages(tmp_path, ()) == ["numpy 2.4.6", "wgpu 0.32.0"]


def test_a_second_run_does_nothing(environment, commands, capsys):
    set_up(RUN, environment, commands)
    commands.ran.clear()
    capsys.readouterr()
    set_up(RUN, environment, commands)
    assert commands.ran == []
    assert capsys.readouterr().err == ""


def test_a_check_runs_the_tools_and_quick_tests_that_exist(environment, commands):
    handed = []
    serve(Request("check", ("-n0",)), environment, commands, lambda *given: handed.append(given))
    ((command, folder),) = handed
    assert commands.ran == ["venv", "pip .[test,usd]", "probe"]
    assert (command[3:], folder) == (["pytest", *cli.QUICK_TESTS, "-n0"], environment.root)
    assert "tests/test_architecture.py" in cli.QUICK_TESTS
    assert [each for each in cli.QUICK_TESTS if not (cli.ROOT / each).exists()] == []


def test_developers_get_the_tools_without_a_run(environment, commands, capsys):
    assert serve(Request("dev"), environment, commands, refuse) == 0
    assert commands.ran == ["venv", "pip .[test,usd]", "probe"]
    assert "ready" in capsys.readouterr().err


@pytest.mark.parametrize("is_software", [True, False])
def test_a_set_up_for_a_gpu_compiles_its_kernels_in_the_background(
    is_software, environment, commands, monkeypatch
):
    begun = []
    monkeypatch.setattr(commands, "begin", begun.append)
    device = {"kind": "vulkan", "adapter": "a card", "software": is_software}
    commands.answers["probe"] = Finished(0, json.dumps(device))
    assert serve(Request("setup"), environment, commands, refuse) == 0
    ahead = [str(environment.python), "-P", "-m", "verdigris.core.baking.warm_up"]
    assert begun == ([] if is_software else [ahead])


def test_tests_run_in_the_repository_with_its_python(environment, commands):
    handed = []
    request = Request("test", ("-n0", "-k", "frames"))
    serve(request, environment, commands, lambda *given: handed.append(given) or 0)
    assert commands.ran == ["venv", "pip .[test,usd]", "probe"]
    python = str(environment.python)
    assert handed == [([python, "-P", "-m", "pytest", "-n0", "-k", "frames"], environment.root)]


def test_the_fuzzer_runs_with_the_tools_of_tests(environment, commands):
    handed = []
    request = parse(["fuzz", "--minutes", "2", "mesh"])
    serve(request, environment, commands, lambda *given: handed.append(given))
    assert commands.ran == ["venv", "pip .[test,usd]", "probe"]
    ((command, folder),) = handed
    assert command[1:] == ["-P", str(environment.root / cli.FUZZER), "--minutes", "2", "mesh"]
    assert (cli.ROOT / cli.FUZZER).is_file() and folder == environment.root


def test_an_environment_for_tests_serves_every_run(environment, commands):
    set_up(TEST, environment, commands)
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == []


@pytest.mark.parametrize(
    ("arguments", "extras"),
    [
        (("bake", "a.mtlx", "-p", "draft"), ()),
        (("bake", "a.mtlx", "b.USDA"), ("usd",)),
        (("bake", "stage.usdc"), ("usd",)),
        # a folder may hold stages, a panel may open one
        (("scene", "run", "folder"), ("usd",)),
        (("panel",), ("usd",)),
    ],
)
def test_runs_that_name_only_materialx_install_no_package_for_usd(arguments, extras):
    assert Request("run", arguments).extras == extras


def test_a_run_with_a_stage_installs_the_package_for_usd_in_addition(environment, commands):
    set_up(RUN, environment, commands)
    commands.ran.clear()
    set_up(Request("run", ("inspect", "a.usda")), environment, commands)
    set_up(RUN, environment, commands)
    assert commands.ran == ["pip .[usd]"]


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
    assert commands.ran == ["pip ."]


def test_a_failed_installation_is_reported_and_repaired_by_the_next_run(environment, commands):
    noise = "\n".join(f"line {number}" for number in range(100))
    commands.answers["pip ."] = Finished(1, noise + "\nERROR: no space left on device\n")
    with pytest.raises(SetupError) as raised:
        set_up(RUN, environment, commands)
    message = str(raised.value)
    assert "(exit code 1): " in message
    assert "line 71\n" in message
    assert "line 70\n" not in message
    assert "ERROR: no space left on device" in message
    assert read_stamp(environment.stamp).state == STARTED
    del commands.answers["pip ."]
    commands.ran.clear()
    set_up(RUN, environment, commands)
    assert commands.ran == FIRST_RUN


def test_an_interrupted_update_starts_again(environment, commands):
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
        ("{0}.{1}.9", "", ["pip .", "probe"]),
        ("3.9.1", "", FIRST_RUN),
        ("{0}.{1}.9", "/elsewhere", FIRST_RUN),
    ],
)
def test_an_environment_made_by_hand_is_kept_if_it_fits(environment, commands, version, place, ran):
    commands.take_effect("venv")
    (environment.venv / "pyvenv.cfg").write_text(
        f"home = /usr/bin\nversion = {version.format(*sys.version_info)}\n"
        f"command = /usr/bin/python3 -m venv {place}{environment.venv}\n"
    )
    set_up(RUN, environment, commands)
    assert commands.ran == ran


def test_without_ensurepip_the_package_to_install_is_named(environment, commands, monkeypatch):
    monkeypatch.setattr(
        environment_module.importlib.util, "find_spec", lambda name: None if "pip" in name else 1
    )
    with pytest.raises(SetupError) as raised:
        set_up(RUN, environment, commands)
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert f"sudo apt-get install python{version}-venv" in str(raised.value)
    assert not environment.venv.exists()


def test_a_device_is_searched_again_only_on_request(environment, commands):
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


def test_a_lost_device_is_removed_from_the_stamp(environment, commands, request, monkeypatch):
    set_up(RUN, environment, commands)
    request.getfixturevalue("bookworm_without_device")
    monkeypatch.setattr(search, "is_root", lambda: False)
    commands.answers["apt-cache policy mesa-vulkan-drivers"] = Finished(0, "  Candidate: 25.0.7\n")
    with pytest.raises(SetupError):
        set_up(replace(RUN, recheck=True), environment, commands)
    assert read_stamp(environment.stamp).device is None


def test_without_an_installable_device_the_set_up_warns_and_continues(
    environment, bookworm_without_device, capsys
):
    commands = bookworm_without_device
    commands.answers["apt-cache policy mesa-vulkan-drivers"] = Finished(0, "  Candidate: 22.3.6\n")
    set_up(RUN, environment, commands)
    output = capsys.readouterr().err
    assert "no usable device (vulkan: no driver offers a device; cuda: no driver" in output
    assert "No apt source of this machine serves bookworm" in output
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
        (["dev"], Request("dev")),
        (["check", "-x"], Request("check", ("-x",))),
        (["--recheck-device"], Request("setup", recheck=True)),
        (["setup", "--recheck-device"], Request("setup", recheck=True)),
        (["--recheck-device", "bake", "a"], Request("run", ("bake", "a"), recheck=True)),
        (["test", "-k", "setup"], Request("test", ("-k", "setup"))),
        (["bake", "a.mtlx", "--help"], Request("run", ("bake", "a.mtlx", "--help"))),
    ],
)
def test_only_leading_arguments_belong_to_the_bootstrap(arguments, request_):
    assert parse(arguments) == request_


@pytest.mark.parametrize(
    ("arguments", "cores", "added"),
    [
        ((), 2, ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]),
        (("-k", "x"), 16, ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]),
        ((), 1, []),
        (("-n", "4"), 8, []),
        (("-n0",), 8, []),
        (("--numprocesses=3",), 8, []),
    ],
)
def test_tests_use_two_processes_by_default(arguments, cores, added):
    assert worker_arguments(arguments, cores) == added


def message_of_main(environment, monkeypatch, capsys):
    """The line that the whole program ends with in this repository."""
    monkeypatch.setattr(cli, "ROOT", environment.root)
    assert cli.main(["setup"]) == 1
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "folder"), [(".cache", ""), (".cache/bootstrap.lock", ".cache"), (".venv", "")]
)
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_read_only_folder_is_named_with_its_owner_and_the_remedy(
    name, folder, number, environment, monkeypatch, capsys
):
    root = environment.root
    (root / folder).mkdir(exist_ok=True)

    def refused(*_):
        raise OSError(number, os.strerror(number), str(root / name))

    monkeypatch.setattr(cli, "serve", refused)
    line = message_of_main(environment, monkeypatch, capsys)
    owner = "" if os.name == "nt" else f"; owner: {root.owner()}"
    assert line.startswith(
        f"verdigris: the set-up may not change the folder {root / folder} "
        f"({os.strerror(number)}{owner}). Get write access, or copy the repository"
    )
    assert line.endswith(" Then run the same command again.")
    assert "Errno" not in line


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="whoever runs this may write anywhere"
)
@pytest.mark.parametrize("name", ["", ".cache", ".venv"])
def test_without_rights_nothing_is_changed(name, environment, monkeypatch, capsys):
    for folder in (environment.lock.parent, environment.venv):
        folder.mkdir()
    refused = environment.root / name
    refused.chmod(0o555)
    try:
        line = message_of_main(environment, monkeypatch, capsys)
    finally:
        refused.chmod(0o755)
    assert f"the set-up may not change the folder {refused} (" in line


def test_a_read_only_repository_is_refused_before_anything_is_removed(
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
    assert message_of_main(environment, monkeypatch, capsys) == (
        f"verdigris: {environment.root / name} is not a folder, and the set-up needs one there: "
        "move it, then run the same command again."
    )


def test_a_file_that_cannot_be_removed_is_named_with_its_folder(environment, commands, monkeypatch):
    """Fails as rmtree does, with the last part of a path only."""
    library = environment.venv / "lib"
    library.mkdir(parents=True)

    def refused(path):
        raise PermissionError(errno.EACCES, "Permission denied", "deep.py")

    monkeypatch.setattr("shutil.rmtree", refused)
    with pytest.raises(PermissionError) as raised:
        set_up(RUN, environment, commands)
    assert raised.value.filename == str(library)


def test_a_full_disk_is_reported_with_its_folder(environment):
    full = OSError(errno.ENOSPC, "No space left on device", str(environment.venv / "x"))
    output = explain_failure(full, environment.root)
    assert output.startswith(f"the disk of the folder {environment.root} is full (")
    # without a file name, only the text of the system is known
    assert "gone wrong. Correct this" in explain_failure(OSError("gone wrong"), environment.root)
