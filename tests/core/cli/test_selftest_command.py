"""`verdigris selftest`: finds the application, runs its walk, says how it went."""

import json
import sys
import zipfile
from pathlib import Path

import pytest

from verdigris.core.cli.commands.selftest import HostName, find_program

from ..in_process import run_command

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
LAUNCHER, ADDON = PLUGINS / "launchers" / "selftest.py", PLUGINS / "blender"
PASSED = {"name": "start", "outcome": "passed", "detail": "", "seconds": 0.1}
REFUSED = {"name": "paint", "outcome": "refused", "detail": "no window", "seconds": 0.1}
FAILED = {"name": "attach", "outcome": "failed", "detail": "Traceback\nKeyError: 'x'\n"}

INTERPRETER = """#!{python}
import json, sys
assert sys.argv[1] == {launcher!r} and sys.argv[2].endswith(".json"), sys.argv
report = {report!r}
if report is None:
    sys.exit("No module named verdigris")
open(sys.argv[2], "w").write(report)
"""


@pytest.fixture
def run(tmp_path):
    def run(report, *arguments):
        text = report if report is None or isinstance(report, str) else json.dumps(report)
        program = tmp_path / "mayapy"
        launcher = str(LAUNCHER if "--tree" not in arguments else tmp_path / "selftest.py")
        program.write_text(
            INTERPRETER.format(python=sys.executable, report=text, launcher=launcher)
        )
        program.chmod(0o755)
        out = tmp_path / "report.json"
        given = arguments or ("--program", str(program))
        return run_command(["selftest", "--host", "maya", "-o", out, *given])

    return run


def report_of(*steps):
    passed = all(step["outcome"] != "failed" for step in steps)
    return {
        "host": "Maya 2026",
        "python": "3.11.4",
        "system": "Linux",
        "passed": passed,
        "steps": steps,
    }


def test_a_walk_without_a_failure_ends_with_0_and_says_what_was_refused(run, tmp_path):
    features = {"Bake": "", "Brush": "it has no window"}
    code, out, _ = run({**report_of(PASSED, REFUSED), "probe": {"features": features}})
    assert code == 0 and "  off      Brush: it has no window\n" in out and "Bake" not in out
    assert "Maya 2026, Python 3.11.4, Linux" in out
    assert "  passed   start\n  refused  paint: no window\n" in out
    assert str(tmp_path / "report.json") in out


def test_blender_runs_the_programs_of_its_add_on(tmp_path):
    report = json.dumps(report_of(PASSED))
    checks = (
        'words = sys.argv[1:]\nassert words[:2] == ["--background", "--python"], words\n'
        f"assert words[2] == {str(ADDON / 'selftest.py')!r} and words[3] == '--', words\n"
    )
    program = tmp_path / "blender"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n{checks}open(words[4], 'w').write({report!r})\n"
    )
    program.chmod(0o755)
    out = tmp_path / "report.json"
    command = ["selftest", "--host", "blender", "--program", program, "-o", out]
    code, _, errors = run_command(command)
    assert code == 0, errors
    assert (ADDON / "selftest.py").is_file()


def test_a_report_as_zip_has_the_log_and_no_names_on_request(run, tmp_path):
    program = ("--program", str(tmp_path / "mayapy"), "-o", str(tmp_path / "report.zip"))
    found = {
        **report_of(PASSED),
        "probe": {"home": str(tmp_path / "x")},
        "documents": {"a": "<a/>"},
    }
    assert run(found, *program, "--redact")[0] == 0
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        assert {"probe.json", "selftest.json", "documents/1_a.mtlx"} <= {*archive.namelist()}
        assert json.loads(archive.read("probe.json"))["home"].endswith("<project2>/x")
    code, _, err = run(found, *program[:2], "-o", str(tmp_path / "report"))
    assert code == 1 and "a report is a .zip or a .json: choose such a name" in err


def test_a_walk_with_a_failure_ends_with_1_and_names_it(run):
    code, out, _ = run(report_of(PASSED, FAILED))
    assert code == 1 and "  failed   attach: KeyError: 'x'\n" in out


def test_an_application_without_the_plug_in_is_told_with_the_remedy(run):
    code, _, err = run(None)
    assert code == 1
    assert "No module named verdigris. Stage the plug-in with packaging/stage.py and name" in err


def test_the_launcher_of_a_staged_tree_is_run_by_path(run, tmp_path):
    program = ("--program", str(tmp_path / "mayapy"), "--tree", str(tmp_path))
    code, _, err = run(report_of(PASSED), *program)
    assert code == 1
    assert f"{tmp_path}: has no selftest.py: name the folder" in " ".join(err.split())
    (tmp_path / "selftest.py").write_text("")
    assert run(report_of(PASSED), *program)[0] == 0


@pytest.mark.parametrize("report", ["", "[]", "{}", '{"steps": 1, "passed": true}'])
def test_a_report_that_is_none_is_told(run, report):
    code, _, err = run(report)
    assert code == 1 and "is not a report of a self-test" in err


def test_an_interpreter_that_is_not_there_is_told_with_the_remedy(run, tmp_path):
    code, _, err = run(None, "--program", str(tmp_path / "gone"))
    assert code == 1 and "no such file: name it with --program, or set MAYA_LOC" in err


def test_a_report_takes_the_place_of_no_other_file_and_of_none_until_it_is_written(run, tmp_path):
    kept = tmp_path / "wood.mtlx"
    kept.write_text("<materialx/>")
    program = ("--program", str(tmp_path / "mayapy"))
    code, _, err = run(report_of(PASSED), *program, "-o", str(kept))
    assert code == 1 and "wood.mtlx: exists and is not a .zip or .json: choose another name" in err
    assert kept.read_text() == "<materialx/>"
    (tmp_path / "folder").mkdir()
    code, _, err = run(report_of(PASSED), *program, "-o", str(tmp_path / "folder"))
    assert code == 1 and "folder: exists and is not a plain file" in err
    before = tmp_path / "report.json"
    before.write_text("of before")
    assert run(None)[0] == 1
    assert before.read_text() == "of before"


def test_an_interpreter_beside_one_is_run_and_one_that_cannot_be_is_told(
    run, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert run(report_of(PASSED), "--program", "./mayapy")[0] == 0
    (tmp_path / "text").write_text("no program")
    code, _, err = run(None, "--program", "text")
    assert code == 1 and "text cannot be run (Permission denied): name the host's" in err
    code, _, err = run(None, "--program", str(tmp_path))
    assert code == 1 and f"{tmp_path} is a folder: name it with --program" in " ".join(err.split())


def test_the_applications_own_folder_goes_before_the_path(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HFS", str(tmp_path))
    assert find_program(HostName.HOUDINI) == tmp_path / "bin" / "hython"
    monkeypatch.delenv("HFS")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_program(HostName.HOUDINI) is None
    (tmp_path / "hython").write_text("")
    (tmp_path / "hython").chmod(0o755)
    assert find_program(HostName.HOUDINI) == tmp_path / "hython"
