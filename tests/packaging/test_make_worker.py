"""The program that makes the worker's environment: progress, cancelling, faults and their remedies.

The source that it installs is a small one with a build backend of its own, so that no network is
needed: the environment, pip and the installation are real.
"""

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from entries import TEMPLATES

PROGRAM = TEMPLATES / "make_worker.py"
BACKEND = """
import os, pathlib, time, zipfile

FILES = {
    **{f"{name}.py": "" for name in ("slangpy", "MaterialX", "OpenImageIO")},
    "verdigris/core/api.py": "",
    "verdigris-1.dist-info/METADATA": "Metadata-Version: 2.1\\nName: verdigris\\nVersion: 1\\n"
    "Provides-Extra: usd\\n",
    "verdigris-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\n"
    "Root-Is-Purelib: true\\nTag: py3-none-any\\n",
    "verdigris-1.dist-info/RECORD": "",
}

def build_wheel(folder, config_settings=None, metadata_directory=None):
    waiting = pathlib.Path(%r)
    if waiting.exists():
        waiting.write_text(str(os.getpid()))
        time.sleep(60)
    name = "verdigris-1-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder) / name, "w") as wheel:
        for file, text in FILES.items():
            wheel.writestr(file, text)
    return name
"""
PYPROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""


@pytest.fixture
def tree(tmp_path):
    tree = tmp_path / "a tree"
    (tree / "worker_source").mkdir(parents=True)
    shutil.copyfile(PROGRAM, tree / "make_worker.py")
    (tree / "worker_source" / "pyproject.toml").write_text(PYPROJECT)
    (tree / "worker_source" / "backend.py").write_text(BACKEND % str(tmp_path / "waiting"))
    return tree


@pytest.fixture
def program(tree):
    """The program of the tree as a module."""
    spec = importlib.util.spec_from_file_location("make_worker", tree / "make_worker.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def no_ensurepip(tmp_path):
    """This Python, which says that it has no ensurepip: its pip installs, and much faster."""
    answer = json.dumps([sys.executable, list(sys.version_info[:2]), False, True])
    wrapper = tmp_path / "python"
    wrapper.write_text(f"#!/bin/sh\necho '{answer}'\n")
    wrapper.chmod(0o755)
    return "--python", str(wrapper)


def start(tree, *options):
    command = [sys.executable, str(tree / "make_worker.py"), "--progress", "json", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, **pipes)


def events_of(process):
    out, err = process.communicate(timeout=120)
    return [json.loads(line) for line in out.splitlines()], err


def is_running(number):
    """Whether a process is there and has not ended. One that nobody waits for is a zombie."""
    stat = Path("/proc", str(number), "stat")
    return stat.is_file() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX"


@pytest.mark.usefixtures("heard")
def test_a_cancelled_set_up_keeps_the_earlier_environment_and_can_run_again(
    tree, tmp_path, no_ensurepip
):
    earlier = tree / "worker" / "earlier"
    earlier.parent.mkdir()
    earlier.write_text("")
    waiting = tmp_path / "waiting"
    waiting.write_text("")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    first = start(tree, "--wheels", str(wheels), *no_ensurepip)
    end = time.monotonic() + 60
    while not waiting.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    # a second one does not disturb the first
    events, _ = events_of(start(tree))
    assert events[-1]["event"] == "error"
    assert "is being made by another process" in events[-1]["text"]
    first.send_signal(signal.SIGINT)
    events, _ = events_of(first)
    assert first.returncode == 130 and events[-1]["text"].startswith(
        "cancelled: nothing has changed"
    )
    assert earlier.is_file() and not (tree / "worker.new").exists()
    assert not is_running(int(waiting.read_text())), "the build goes on"
    waiting.unlink()
    again = start(tree, "--wheels", str(wheels), *no_ensurepip)
    events, err = events_of(again)
    assert again.returncode == 0, err
    python = tree / (
        "worker/Scripts/python.exe" if sys.platform == "win32" else "worker/bin/python"
    )
    assert events[-1] == {"event": "finished", "python": str(python)}
    parts = [each["part"] for each in events[:-1]]
    assert parts == sorted(parts) and parts[0] == 0 and parts[-1] == 0.9
    assert [each["phase"] for each in events[:2]] == ["python", "packages"]
    assert events[-2]["phase"] == "check"
    subprocess.run([python, "-c", "import verdigris.core.api"], check=True)
    assert sorted(each.name for each in tree.iterdir() if each.name[0] != ".") == [
        "make_worker.py",
        "worker",
        "worker_source",
    ]
    assert sorted(each.name for each in (tree / "worker_source").iterdir()) == [
        "backend.py",
        "pyproject.toml",
    ]
    events, _ = events_of(start(tree, "--remove"))
    assert events == [{"event": "removed", "folder": str(tree / "worker")}]
    assert not (tree / "worker").exists()


def test_without_a_network_the_remedy_is_named(program):
    lines = ["WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError'"]
    lines += ["ERROR: No matching distribution found for numpy==2.4.6"]
    assert "pass a folder of wheels with --wheels FOLDER" in program.explain(
        ["p", "-m", "pip"], lines
    )
    lines = ["ERROR: Could not install packages due to an OSError: [Errno 28] No space left", ""]
    assert "No space left" in program.explain(["p", "-m", "pip"], lines)


def test_a_missing_folder_of_wheels_and_one_that_cannot_be_written_are_named(tree, tmp_path):
    events, _ = events_of(start(tree, "--wheels", str(tmp_path / "none")))
    assert events == [
        {"event": "error", "text": f"--wheels {tmp_path / 'none'}: there is no such folder"}
    ]
    (tmp_path / "file").write_text("")
    events, _ = events_of(start(tree, "--into", str(tmp_path / "file" / "worker")))
    assert "choose another folder with --into FOLDER" in events[-1]["text"]


def test_a_python_that_cannot_is_passed_over_and_the_reasons_are_listed(program, tmp_path):
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\necho '[\"/usr/bin/python3\", [3, 9], true, true]'\n")
    bare = tmp_path / "bare"
    bare.write_text("#!/bin/sh\necho '[\"/opt/bare\", [3, 12], false, false]'\n")
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no libpython >&2; exit 127\n")
    for each in (old, bare, broken):
        each.chmod(0o755)
    with pytest.raises(program.SetUpError) as failure:
        program.make_environment(tmp_path / "made", [[str(each)] for each in (old, bare, broken)])
    text = str(failure.value)
    assert text.startswith("no Python 3.11, 3.12 or 3.13 on this machine can make an environment")
    assert "/usr/bin/python3 is Python 3.9" in text
    assert "/opt/bare has no ensurepip" in text
    assert f"{broken} does not start, or lacks parts of Python" in text


def test_the_python_of_an_application_comes_last(program, monkeypatch, tmp_path):
    mayapy = tmp_path / "mayapy"
    mayapy.write_text("")
    monkeypatch.setattr(sys, "executable", str(mayapy))
    assert program.candidates()[-1] == [str(mayapy)] and len(program.candidates()) > 1
    other = tmp_path / "python3.12"
    other.write_text("")
    monkeypatch.setattr(sys, "executable", str(other))
    assert program.candidates()[0] == [str(other)]


def test_variables_of_an_application_do_not_reach_the_new_python(program, monkeypatch):
    for name in (
        "LD_LIBRARY_PATH",
        "PYTHONHOME",
        "PYTHONPATH",
        "PIP_USER",
        "DYLD_INSERT_LIBRARIES",
    ):
        monkeypatch.setenv(name, "of Maya")
    monkeypatch.setenv("PIP_INDEX_URL", "kept")
    found = program.clean_environment()
    assert "of Maya" not in found.values() and found["PIP_INDEX_URL"] == "kept"
    assert found.get("PATH") == os.environ.get("PATH")
