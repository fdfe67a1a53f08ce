"""A worker whose Python cannot run it names that Python, who has named it, and the remedy."""

import json
import subprocess
import sys
import time

import pytest

from verdigris.core.base.process import unpacked_worker, worker_environment
from verdigris.core.base.process.unpacked_worker import python_tag
from verdigris.core.base.process.worker_environment import WorkerEnvironmentError, save_python
from verdigris.core.batch.run.bake_process import bake_command
from verdigris.core.worker.client.client import GONE, SILENT, STARTING, WorkerClient
from verdigris.core.worker.client.set_up import describe_unfit, require_fit_command

from .set_up_trees import VERSION, make_old_python, make_tree, worker_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="its programs are scripts of POSIX")


@pytest.fixture(autouse=True)
def own_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.delenv("VERDIGRIS_PYTHON", raising=False)


def ended(client, seconds=30):
    """The condition of a worker that ends by itself."""
    end = time.monotonic() + seconds
    # it is silent on a busy machine
    while client.health().state in (STARTING, SILENT) and time.monotonic() < end:
        time.sleep(0.01)
    return client.health()


def test_a_python_of_another_version_is_named(tmp_path):
    python = make_old_python(tmp_path / "python3.9")
    save_python(python)
    health = ended(WorkerClient())
    assert (health.state, health.is_unfit) == (GONE, True)
    assert health.reason.startswith(
        f"{python} cannot bake: it is Python 3.9, and a bake needs Python 3.11, 3.12 or 3.13. It "
        f"is named by the setting in {tmp_path / 'config' / 'machine.json'}: correct that, or set "
        "a worker up with: python3 "
    )
    assert health.reason.endswith(" setup")


def test_a_python_without_the_packages_is_named(tmp_path, monkeypatch):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
    python = tmp_path / "bare" / "bin" / "python"
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(python))
    health = ended(WorkerClient())
    assert health.is_unfit
    missing = "verdigris, slangpy, MaterialX, OpenImageIO"
    assert health.reason.startswith(
        f"{python} cannot bake: it has no {missing}. It is named by VERDIGRIS_PYTHON: correct that"
    )


def test_a_file_that_an_antivirus_removed_from_a_worker_is_named(tmp_path, monkeypatch):
    package = make_tree(tmp_path)
    monkeypatch.setattr(worker_environment, "package_folder", lambda: package)
    monkeypatch.delenv("VERDIGRIS_WORKERS", raising=False)
    worker = worker_in(tmp_path)
    (worker / "slangpy-1.dist-info").mkdir(parents=True)
    marker = {"version": VERSION, "tag": python_tag(), "packages": ""}
    (worker / "worker.json").write_text(json.dumps(marker))
    start = worker / unpacked_worker.START
    start.parent.mkdir(parents=True)
    start.write_text("raise ImportError('DLL load failed')")
    (worker / "slangpy-1.dist-info" / "RECORD").write_text("slangpy/slang.dll,sha256=x,9\n")
    health = ended(WorkerClient())
    assert health.is_unfit
    assert health.reason == (
        f"{worker / 'slangpy' / 'slang.dll'} is missing: an antivirus program may have removed it: "
        f"exempt {worker} there, then set the worker up again"
    )


def test_a_batch_names_it_before_its_first_bake(tmp_path, monkeypatch):
    python = make_old_python(tmp_path / "python3.9")
    monkeypatch.setenv("VERDIGRIS_PYTHON", str(python))
    with pytest.raises(WorkerEnvironmentError, match=r"cannot bake: it is Python 3\.9"):
        require_fit_command()
    with pytest.raises(WorkerEnvironmentError, match="named by VERDIGRIS_PYTHON"):
        bake_command()
    monkeypatch.delenv("VERDIGRIS_PYTHON")
    assert require_fit_command() == worker_environment.require_worker_command()


WITHOUT_SLANGPY = """
import importlib.util, runpy
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "slangpy" else found(name, *rest)
runpy.run_module("verdigris.core.worker", run_name="__main__")
"""


def test_a_worker_without_slangpy_ends_before_it_takes_a_command():
    done = subprocess.run(
        [sys.executable, "-P", "-c", WITHOUT_SLANGPY], input=b"", capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"verdigris worker: {sys.executable} has no slangpy\n"


def test_a_file_that_is_no_program_is_named(tmp_path):
    broken = tmp_path / "python"
    broken.write_text("no program")
    assert f"{broken} cannot bake: it does not start (" in describe_unfit([str(broken)])


def test_a_python_that_can_bake_is_not_blamed(monkeypatch):
    assert describe_unfit(worker_environment.require_worker_command()) == ""
