"""Jobs for scenes of Maya and Houdini: openjd-cli, which is not ours, checks and runs them."""

import json
import shutil
import subprocess
import sys

import pytest

from verdigris.core.base.errors import SceneError
from verdigris.core.batch.farm.openjd import HostJobChoices, host_job_template, read_material_list

from ...plugins.interpreters import LAUNCHERS, SCENE, fake_worker, make_interpreter
from ..in_process import run_command
from ..openjd_cli import openjd


def verdigris(*arguments):
    return subprocess.CompletedProcess(arguments, *run_command(arguments))


def tasks_of(job, *given):
    """The steps of a job that openjd-cli takes, and their numbers of tasks."""
    found = openjd("summary", job, *given, "--output", "json")
    assert found.returncode == 0, found.stdout
    return [(step["name"], step["total_tasks"]) for step in json.loads(found.stdout)["steps"]]


@pytest.fixture
def shot(tmp_path):
    """A scene of Maya."""
    return shutil.copy(SCENE, tmp_path / "shot.ma")


@pytest.mark.skipif(sys.platform == "win32", reason="the interpreters are scripts")
def test_a_job_bakes_a_scene_of_maya_and_reports_its_progress(shot, tmp_path):
    mayapy = make_interpreter("mayapy", tmp_path)
    mayapy.variables.update(fake_worker(tmp_path))
    made = verdigris(
        *("farm", "host-template", shot, "--out", tmp_path / "baked", "--parts", 2),
        *("--interpreter", mayapy.file, "-o", tmp_path / "job.json"),
    )
    assert made.returncode == 0, made.stderr
    # scene and folder lie beside the job, so the line names neither
    assert made.stdout.split() == ["openjd", "run", str(tmp_path / "job.json")]
    job = tmp_path / "job.json"
    assert tasks_of(job) == [("Bake", 2)]
    done = openjd("run", job, FAKE_SECONDS="0.1", **mayapy.environment)
    assert done.returncode == 0, done.stdout
    assert "openjd_status: [1/1] gold training 0% loss 0.5000" in done.stdout
    assert "[1/1] gold: baked in " in done.stdout and "openjd_progress: 100.0" in done.stdout
    assert (tmp_path / "baked" / "gold.pid").exists()
    # the second part of one material is empty
    assert "mayapy batch.py: 0 materials: nothing to bake" in done.stdout
    assert mayapy.calls == ["initialize", "uninitialize"] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="the interpreters are scripts")
def test_a_task_of_a_material_that_fails_fails_with_the_reason(shot, tmp_path):
    hython = make_interpreter("hython", tmp_path)
    scene = shot.rename(tmp_path / "shot.hip")
    hython.variables.update(fake_worker(tmp_path))
    made = verdigris(
        *("farm", "host-template", scene, "--out", tmp_path / "baked", "--material", "zinc"),
        *("--interpreter", hython.file, "-o", tmp_path / "job.json"),
    )
    assert made.returncode == 0, made.stderr
    done = openjd("run", tmp_path / "job.json", **hython.environment)
    assert done.returncode == 1
    assert "openjd_fail: the scene has no material 'zinc'; it has: gold" in done.stdout
    assert hython.calls == ["releaseLicense"]


def test_materials_of_a_listing_are_tasks_of_steps_that_the_specification_allows(shot, tmp_path):
    keys = [f"|stack|shape,%document1%m{number}" for number in range(1500)]
    listing = tmp_path / "list.json"
    listing.write_text(
        json.dumps({"materials": [{"key": key, "status": "listed"} for key in keys]})
    )
    assert read_material_list(listing) == keys
    made = verdigris(
        *("farm", "host-template", shot, "--list", listing, "--gpu", "--task-seconds", 60),
        *("--set", "resolution=64", "--preset", "draft", "-o", tmp_path / "job.json"),
    )
    assert made.returncode == 0, made.stderr
    job = json.loads((tmp_path / "job.json").read_text())
    given = ("-p", f"Out={tmp_path}")
    assert tasks_of(tmp_path / "job.json", *given) == [("Bake1", 1024), ("Bake2", 476)]
    (parameters,) = ({each["name"]: each for each in job["parameterDefinitions"]},)
    assert parameters["Interpreter"]["default"] == "mayapy"
    assert parameters["Launcher"]["default"] == str(LAUNCHERS / "batch.py")
    assert parameters["Preset"]["default"] == "draft"
    action = job["steps"][0]["script"]["actions"]["onRun"]
    assert action["args"][-3:] == ["--", "--set", "resolution=64"]
    assert action["timeout"] == 60


def test_a_listing_without_materials_is_refused(tmp_path):
    listing = tmp_path / "list.json"
    listing.write_text('{"materials": []}')
    with pytest.raises(SceneError, match=r"lists no material: write it with batch\.py --list"):
        read_material_list(listing)


def test_a_name_that_jobs_take_for_an_expression_is_refused(tmp_path):
    choices = HostJobChoices("job", "mayapy", "batch.py")
    with pytest.raises(SceneError, match="has two braces, which begin an expression"):
        host_job_template(tmp_path / "a.ma", tmp_path, ["{{gold}}"], choices)


def test_a_scene_of_another_kind_is_refused_by_either_command(shot, tmp_path):
    refused = verdigris("farm", "host-template", tmp_path / "a.mtlx")
    assert refused.returncode == 1
    assert "is not a scene of Maya or Houdini (.ma, .mb, .hip, " in refused.stderr
    refused = verdigris("farm", "template", shot)
    assert refused.returncode == 1
    assert "is a scene of Maya: bake it with mayapy and the plug-in" in " ".join(
        refused.stderr.split()
    )
    refused = verdigris("farm", "host-template", tmp_path / "gone.hip")
    assert refused.returncode == 1 and "gone.hip: there is no such file" in refused.stderr
