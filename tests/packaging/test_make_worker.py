"""The set-up of a worker from the packages of a plug-in: without a network, in a bare Python.

The wheels are tiny, but for Verdigris' own: the program, the archives and the processes are real.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import zipfile
from types import SimpleNamespace

import pytest
import verdigris_wheel
from stage import ROOT, project

from verdigris.core.base.process.unpacked_worker import (
    MARKER,
    find_plain_python,
    name_of,
    python_tag,
    read_worker,
)
from verdigris.core.base.process.worker_environment import clean_environment
from verdigris.core.worker.install import packages as listed
from verdigris.core.worker.install import program, unpack

from .tiny_packages import VERSION, lay_out, relist, write_tiny_wheel

PYTHON = find_plain_python()
WORKER = name_of(VERSION, python_tag())


@pytest.fixture(scope="module")
def verdigris(tmp_path_factory):
    """Verdigris' wheel with what the set-up needs, and an empty API: that needs numpy."""
    whole = verdigris_wheel._package_files

    def part(root):
        for name, data in whole(root):
            if name.startswith(("verdigris/core/base/", "verdigris/core/worker/")):
                yield name, data
            elif name in ("verdigris/core/__init__.py", "verdigris/core/api.py"):
                yield name, b""

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verdigris_wheel, "_package_files", part)
        return verdigris_wheel.write_wheel(tmp_path_factory.mktemp("w"), project(ROOT), ROOT)


@pytest.fixture
def tree(tmp_path, verdigris):
    return lay_out(tmp_path / "a plug-in", verdigris)


@pytest.fixture
def packages(tree):
    return listed.read_packages(tree / "wheels")


def start(tree, *options, **variables):
    """The program, as a panel starts it whose application runs in the background of a script, so
    that it ignores SIGINT."""
    deaf = ["sh", "-c", 'trap "" INT; exec "$0" "$@"'] if os.name == "posix" else []
    command = [*deaf, PYTHON, "-s", "-S", "-P", "-u", tree / "make_worker.py", "--progress", "json"]
    environment = {**clean_environment(), "HOME": str(tree.parent), **variables}
    environment.pop("VERDIGRIS_WORKERS", None)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, *options], env={**environment, **variables}, **pipes)


def run(tree, *options, **variables):
    """Its events."""
    out, err = start(tree, *options, **variables).communicate(timeout=60)
    assert not err
    return [json.loads(line) for line in out.splitlines()]


def quietly(phase, part, text):
    pass


def test_a_worker_is_unpacked_and_isolated_from_its_surroundings(tree, tmp_path):
    # what would break it, had it been read: packages of the application, the user, the folder
    poison = tmp_path / "poison"
    poison.mkdir()
    for name in ("numpy", "slangpy", "sitecustomize", "usercustomize", "json"):
        (poison / f"{name}.py").write_text("raise SystemExit('poisoned')")
    poisoned = {
        "PYTHONPATH": str(poison),
        "PYTHONSTARTUP": str(poison / "numpy.py"),
        "PYTHONUSERBASE": str(poison),
    }
    worker = tree / "worker" / WORKER
    events = run(tree)
    assert events[-1] == {"event": "finished", "worker": str(worker)}
    parts = [each["part"] for each in events[:-1]]
    assert parts == sorted(parts) and parts[0] == 0 and parts[-1] == 0.9
    assert "Unpacking slangpy" in [each["text"].partition(" (")[0] for each in events[:-1]]
    # a file of .data is at the top, a program is left out
    assert (worker / "OpenImageIO" / "__init__.py").is_file()
    assert not list(worker.rglob("oiiotool"))
    assert sorted(each.name for each in tree.iterdir()) == ["make_worker.py", "wheels", "worker"]
    code = (
        "import sys, json, slangpy, verdigris.core.api as a;"
        "print(slangpy.__file__); print(a.__file__);"
        "print([each for each in sys.path if 'site-packages' in each]); print(sys.executable)"
    )
    command = read_worker(worker).command(PYTHON)
    done = subprocess.run(
        [*command, "-c", code],
        env={**os.environ, **poisoned},
        cwd=poison,
        capture_output=True,
        text=True,
        check=False,
    )
    found = done.stdout.splitlines()
    assert found == [
        str(worker / "slangpy.py"),
        str(worker / "verdigris" / "core" / "api.py"),
        *("[]", PYTHON),
    ], done.stderr
    # a second run finds it whole, and does nothing
    assert len(run(tree)) == 2
    # another application's Python is tried, too
    other = tmp_path / "python"
    other.symlink_to(PYTHON)
    assert run(tree, "--python", str(other))[-2]["phase"] == "check"
    assert read_worker(worker).pythons == (PYTHON, str(other))


def test_a_set_up_that_was_interrupted_is_not_used_and_continues(tree, packages, monkeypatch):
    place, files = tree / "worker", []
    unpack_wheel = unpack._unpack_wheel

    def interrupted(folder, wheel, target):
        if len(files) == 2:
            # a part of the wheel is there
            (target / "verdigris").mkdir()
            raise KeyboardInterrupt
        files.append(wheel.file)
        unpack_wheel(folder, wheel, target)

    monkeypatch.setattr(unpack, "_unpack_wheel", interrupted)
    with pytest.raises(KeyboardInterrupt):
        unpack.unpack(packages, place, quietly, lambda _: None)
    assert read_worker(place / WORKER) is None
    assert [each.name for each in place.iterdir()] == [f"{WORKER}.new"]
    again = []
    monkeypatch.setattr(
        unpack, "_unpack_wheel", lambda *given: (again.append(given[1].file), unpack_wheel(*given))
    )
    worker = unpack.unpack(packages, place, quietly, lambda _: None)
    assert files + again == [each.file for each in packages.wheels]
    assert read_worker(worker).packages == packages.digest
    assert [each.name for each in place.iterdir()] == [WORKER]


def test_the_panel_cancels_a_set_up_and_a_second_one_waits(tree):
    # long enough to interrupt: the check of the worker
    write_tiny_wheel(tree / "wheels", "slangpy", {"slangpy.py": "import time; time.sleep(300)"})
    relist(tree)
    first = start(tree)
    for line in first.stdout:
        if json.loads(line)["phase"] == "check":
            break
    assert "another process sets up a worker" in run(tree)[-1]["text"]
    first.send_signal(signal.SIGINT)
    out, _ = first.communicate(timeout=30)
    assert first.returncode == 130
    assert json.loads(out.splitlines()[-1])["text"].startswith("cancelled: nothing has changed")
    assert not (tree / "worker" / WORKER).exists()
    write_tiny_wheel(tree / "wheels", "slangpy", {"slangpy.py": ""})
    relist(tree)
    assert run(tree)[-1]["event"] == "finished"


def test_a_newer_plug_in_renews_the_worker_and_keeps_the_old_one_until_it_works(tree):
    run(tree)
    (tree / "worker" / "mine").mkdir()
    other = tree / "worker" / name_of("0.0.1", "cp399")
    other.mkdir()
    (other / MARKER).write_text(json.dumps({"version": "0.0.1", "tag": "cp399", "packages": ""}))
    # the packages of the next version do not load
    write_tiny_wheel(tree / "wheels", "slangpy", {"slangpy.py": "raise OSError('of the driver')"})
    relist(tree, "9.0.0")
    text = run(tree)[-1]["text"]
    assert "do not load" in text and "OSError: of the driver" in text and "exempt it" in text
    assert read_worker(tree / "worker" / WORKER) is not None
    write_tiny_wheel(tree / "wheels", "slangpy", {"slangpy.py": ""})
    relist(tree, "9.0.0")
    assert run(tree)[-1]["event"] == "finished"
    # what is not ours, and what another Python uses, stays
    left = {each.name for each in (tree / "worker").iterdir()}
    assert left == {name_of("9.0.0", python_tag()), "mine", other.name}
    assert [each["event"] for each in run(tree, "--remove")] == ["removed", "removed"]
    assert [each.name for each in (tree / "worker").iterdir()] == ["mine"]


def test_a_worker_that_runs_is_not_removed(tree):
    run(tree)
    older = read_worker(tree / "worker" / WORKER)
    code = "print('runs', flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*older.command(PYTHON), "-c", code], **pipes) as running:
        assert running.stdout.readline() == "runs\n"
        relist(tree, "9.0.0")
        assert run(tree)[-1]["event"] == "finished"
        assert read_worker(older.folder) == older
        assert "is in use: close all windows that bake" in run(tree, "--remove")[-1]["text"]
        running.communicate("\n")
    assert run(tree)[-1]["event"] == "finished" and not older.folder.exists()


def test_files_that_an_antivirus_program_holds_for_a_moment_are_renamed(
    packages, monkeypatch, tmp_path
):
    rename, failures = unpack.rename_file, [PermissionError(13, "in use")] * 3

    def held(old, new):
        if failures:
            raise failures.pop()
        rename(old, new)

    monkeypatch.setattr(unpack, "rename_file", held)
    monkeypatch.setattr(unpack, "_PAUSE", 0)
    worker = unpack.unpack(packages, tmp_path, quietly, lambda _: None)
    assert read_worker(worker) and not failures
    failures += [PermissionError(13, "in use")] * 99
    (worker / "slangpy.py").unlink()
    with pytest.raises(
        listed.SetUpError, match=r"cannot be replaced .*close all windows that bake"
    ):
        unpack.unpack(packages, tmp_path, quietly, lambda _: None)
    assert read_worker(worker)


def test_a_file_that_is_gone_is_named_and_set_up_again(tree):
    run(tree)
    file = tree / "worker" / WORKER / "slangpy.py"
    file.unlink()
    found = unpack.find_damage(tree / "worker" / WORKER)
    assert found.startswith(f"{file} is missing: an antivirus program may have removed it: exempt")
    (tree / "worker" / WORKER / "MaterialX.py").write_text("shorter or longer")
    assert run(tree)[-1]["event"] == "finished"
    assert file.is_file() and not unpack.find_damage(file.parent)


def test_a_plug_in_that_is_read_only_or_on_a_network_gets_its_worker_with_the_user(
    tree, packages, monkeypatch, tmp_path
):
    # a file in the place of the folder: access rights do not stop an administrator
    (tree / "worker").write_text("")
    worker = tmp_path / "data" / "verdigris" / "worker" / WORKER
    assert run(tree)[-1] == {"event": "finished", "worker": str(worker)}
    (tmp_path / "data").rename(tmp_path / "older")
    (tmp_path / "data").write_text("")
    text = run(tree)[-1]["text"]
    assert "cannot be written" in text and "VERDIGRIS_WORKERS" in text
    into = tmp_path / "elsewhere"
    assert run(tree, VERDIGRIS_WORKERS=str(into))[-1]["worker"] == str(into / WORKER)
    assert run(tree, "--into", str(into))[-1]["worker"] == str(into / WORKER)
    monkeypatch.setattr(program, "is_on_network", lambda each: each == tmp_path / "share")
    place = program._writable([tmp_path / "share", tmp_path / "home"])
    assert place == tmp_path / "home"
    assert unpack.is_on_network(r"\\server\share\maya") and not unpack.is_on_network(r"M:\maya")
    # DRIVE_REMOTE: Microsoft, GetDriveTypeW
    monkeypatch.undo()
    monkeypatch.setattr(unpack, "_kind_of_drive", {"M:": 4, "C:": 3}.get)
    assert unpack.is_on_network(r"M:\maya") and not unpack.is_on_network(r"C:\maya")


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("damaged", r"slangpy-1\.0-.*\.whl is damaged: its SHA-256 is .* unzip the archive again"),
        ("gone", r"slangpy-1\.0-.*\.whl is missing: unzip the whole archive again; if an"),
        ("no list", "the packages of the worker are missing in .*wheels: unzip the whole archive"),
        ("bad list", r"packages\.json is damaged: unzip the whole archive"),
        ("evil", r"has a file with the name '\.\./evil\.py': do not use it"),
    ],
)
def test_an_archive_that_is_not_whole_is_refused_by_name(what, said, tree):
    wheel = tree / "wheels" / "slangpy-1.0-py3-none-any.whl"
    if what == "damaged":
        data = bytearray(wheel.read_bytes())
        data[60] ^= 1
        wheel.write_bytes(data)
    elif what == "gone":
        wheel.unlink()
    elif what == "evil":
        with zipfile.ZipFile(wheel, "a") as archive:
            archive.writestr("../evil.py", "")
        relist(tree)
    else:
        file = tree / "wheels" / "packages.json"
        file.write_text("[]") if what == "bad list" else file.unlink()
    last = run(tree)[-1]
    assert last["event"] == "error"
    assert re.search(said, last["text"]), last["text"]
    assert not (tree / "worker" / WORKER).exists()


def test_an_archive_without_its_wheels_says_so(tree):
    shutil.rmtree(tree / "wheels")
    out, err = start(tree).communicate(timeout=60)
    assert not out and "make_worker: the packages of the worker are missing in" in err
    assert "unzip the whole archive again" in err


def test_packages_of_another_python_system_or_machine_are_refused(packages, monkeypatch):
    def refused(**changes):
        found = listed.Packages(**{**vars(packages), **changes})
        with pytest.raises(listed.SetUpError) as failure:
            listed.require_fit(found)
        return str(failure.value)

    listed.require_fit(packages)
    assert "is for Python 3.9, and this application has Python 3." in refused(tag="cp39")
    assert "use the archive whose name ends in" in refused(system="solaris")
    assert "is for riscv64 processors, and this application runs as" in refused(machine="riscv64")
    monkeypatch.setattr(listed.sys, "platform", "darwin")
    monkeypatch.setattr(listed.platform, "machine", lambda: "x86_64")
    assert "Rosetta" in refused(system="macos", machine="arm64")
    # PEP 600: manylinux_X_Y needs that version of glibc; macosx_X_Y that of macOS
    wheel = listed.Wheel("slangpy-0.43.1-cp311-cp311-macosx_26_0_arm64.whl", "", 0, 0)
    monkeypatch.setattr(listed.platform, "mac_ver", lambda: ("15.6.1", ("",) * 3, "arm64"))
    monkeypatch.setattr(listed.platform, "machine", lambda: "arm64")
    text = refused(system="macos", machine="arm64", wheels=(wheel,))
    assert text == "slangpy needs macOS 26.0, and this machine has 15.6: update macOS"
    monkeypatch.undo()
    monkeypatch.setattr(listed.os, "confstr", lambda _: "glibc 2.28")
    two = "numpy-2.4.6-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl"
    assert listed._why_too_old(two) == ""
    name = "slangpy-0.43.1-cp311-cp311-manylinux_2_34_x86_64.whl"
    assert "slangpy needs glibc 2.34, and this machine has 2.28" in listed._why_too_old(name)


def test_a_full_disk_and_long_paths_are_named_before_the_work(packages, monkeypatch, tmp_path):
    usage = SimpleNamespace(free=50_000_000)
    monkeypatch.setattr(unpack.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(listed.SetUpError, match=r"has 50 MB of free space, and the worker needs"):
        unpack.unpack(packages, tmp_path, quietly, lambda _: None)
    monkeypatch.undo()
    deep = tmp_path / ("a" * 120) / ("b" * 90)
    monkeypatch.setattr(unpack.sys, "platform", "win32")
    with pytest.raises(listed.SetUpError, match=r"too long for Windows: .* such as C:.verdigris"):
        unpack.unpack(packages, deep, quietly, lambda _: None)
    assert not deep.exists()


def test_a_disk_that_fills_up_meanwhile_is_named(packages, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(unpack.shutil, "copyfileobj", full)
    with pytest.raises(
        listed.SetUpError, match="the disk is full: free space, or name a folder on another"
    ):
        unpack.unpack(packages, tmp_path, quietly, lambda _: None)
