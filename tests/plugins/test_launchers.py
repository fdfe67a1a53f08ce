"""The launchers, by path, in fresh processes: they find Verdigris, end the application, and return
the true exit code. The fake applications lose it when the interpreter ends by itself."""

import json
import shutil
import sys

import pytest
from hosts import BY_NAME
from stage import stage

from .interpreters import LAUNCHERS, SCENE, make_interpreter

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the interpreters are scripts")

CALLS = {"mayapy": ["initialize", "uninitialize"], "hython": ["releaseLicense"]}
HOSTS = {"mayapy": "maya-2026", "hython": "houdini-21.0"}


@pytest.fixture(params=["mayapy", "hython"])
def interpreter(request, tmp_path):
    return make_interpreter(request.param, tmp_path)


@pytest.fixture
def mayapy(tmp_path):
    return make_interpreter("mayapy", tmp_path)


@pytest.fixture(scope="module")
def trees(tmp_path_factory):
    out = tmp_path_factory.mktemp("staged")
    return {name: stage(BY_NAME[host], out / host, wheels=False) for name, host in HOSTS.items()}


def listed(done):
    """The names of materials in a summary, which is all of the standard output."""
    return [each["name"] for each in json.loads(done.stdout)["materials"]]


def test_a_batch_of_a_staged_tree_runs_by_path(interpreter, trees):
    batch = trees[interpreter.file.name] / "batch.py"
    done = interpreter.run(batch, SCENE, "--list")
    assert (done.returncode, listed(done)) == (0, ["gold"]), done.stderr
    assert interpreter.calls == CALLS[interpreter.file.name]


def test_packages_of_the_tree_come_before_those_of_the_application(mayapy, trees, tmp_path):
    tree = shutil.copytree(trees["mayapy"], tmp_path / "verdigris")
    (tree / "site-packages" / "platformdirs.py").write_text(
        "import sys\nprint('of the tree', file=sys.stderr)\nuser_config_dir = '/gone{}{}'.format\n"
    )
    # the listing needs no worker; `require_fit_command` imports platformdirs
    done = mayapy.run(tree / "batch.py", SCENE)
    assert "of the tree" in done.stderr


def test_a_failure_of_the_checkout_returns_1(tmp_path):
    hython = make_interpreter("hython", tmp_path)
    done = hython.run(LAUNCHERS / "batch.py", tmp_path / "gone.ma")
    assert done.returncode == 1
    assert "gone.ma does not exist" in json.loads(done.stdout)["error"]
    assert "gone.ma does not exist" in done.stderr
    assert hython.calls == CALLS["hython"]


def test_wrong_usage_returns_2_and_starts_no_maya(mayapy):
    done = mayapy.run(LAUNCHERS / "batch.py", "--fast")
    assert done.returncode == 2
    assert "mayapy batch.py: error: " in done.stderr
    assert mayapy.calls == []


def test_an_application_that_fails_to_start_returns_1_with_the_error(mayapy):
    mayapy.variables["FAKE_FAULT"] = "start"
    done = mayapy.run(LAUNCHERS / "batch.py", SCENE)
    assert done.returncode == 1
    assert "RuntimeError: no license" in done.stderr
    assert mayapy.calls == ["initialize"]


def test_an_application_that_ends_badly_does_not_change_the_exit_code(mayapy, tmp_path):
    mayapy.variables["FAKE_FAULT"] = "end"
    done = mayapy.run(LAUNCHERS / "batch.py", tmp_path / "gone.ma")
    assert done.returncode == 1
    assert "gone.ma does not exist" in json.loads(done.stdout)["error"]
    assert "the application did not end" in done.stderr
    assert mayapy.calls == CALLS["mayapy"]


def test_another_python_is_refused_by_name(tmp_path):
    other = make_interpreter("python", tmp_path)
    done = other.run(LAUNCHERS / "batch.py", SCENE)
    assert done.returncode == 1
    assert "is not mayapy or hython: run this file with mayapy or hython" in " ".join(
        done.stderr.split()
    )


def test_the_selftest_writes_its_report_and_returns_its_result(interpreter, trees):
    report = interpreter.folder / "report.json"
    done = interpreter.run(trees[interpreter.file.name] / "selftest.py", report)
    found = json.loads(report.read_text())
    assert done.returncode == (0 if found["passed"] else 1), done.stderr
    assert f"report in {report}" in done.stdout
    assert found["host"].startswith("Maya" if interpreter.file.name == "mayapy" else "Houdini")
    assert interpreter.calls == CALLS[interpreter.file.name]


def test_both_launchers_find_verdigris_in_the_same_way():
    def code(name):
        text = (LAUNCHERS / f"{name}.py").read_text()
        return text.partition("import sys\n")[2].replace(f'PROGRAM = "{name}"', "")

    assert code("batch") == code("selftest")
