"""Jobs for farms: openjd-cli, which is not ours, checks and runs them."""

import json
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from verdigris.core.batch.farm.openjd import JobChoices, PathRule, job_template, map_path
from verdigris.core.batch.plan.plan import Choices, make_plan
from verdigris.core.batch.run import bake_process
from verdigris.core.batch.run.bake_process import Outcome
from verdigris.core.batch.run.bake_queue import Result
from verdigris.core.batch.run.run import finish_plan
from verdigris.core.batch.scene.scene import Grouping

from ..in_process import run_command
from ..openjd_cli import openjd
from . import fake_bake as kinds
from .scenes import document, read, write_baked, write_documents, write_scene

FAKE = Path(__file__).with_name("fake_verdigris.py")


def verdigris(*arguments):
    """What a process of `FAKE` would do, in this one."""
    alone = (bake_process, "bake_command", lambda: [sys.executable, kinds.__file__])
    return subprocess.CompletedProcess(arguments, *run_command(arguments, alone))


@pytest.fixture
def farm(tmp_path):
    """Two materials, named by paths of another machine; the second's bake crashes once."""
    (tmp_path / "docs").mkdir()
    for name in ("clay", "slate"):
        (tmp_path / "docs" / f"{name}.mtlx").write_text(document(name))
    crash = {"match": "slate", "settings": {"seed": kinds.CRASH_ONCE}}
    write_scene(tmp_path / "scene.json", [f"{tmp_path}/docs/*.mtlx"], rules=[crash])
    script = tmp_path / "verdigris"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IEXEC)
    made = verdigris(
        *("farm", "template", tmp_path / "scene.json", "--out", tmp_path / "out"),
        *("--command", script, "--retry", 0, "-o", tmp_path / "job.json"),
    )
    assert made.returncode == 0, made.stderr
    return tmp_path


def test_a_job_runs_and_its_failed_task_goes_well_when_it_is_tried_again(farm):
    job = farm / "job.json"
    assert openjd("check", job).returncode == 0
    # the scene was written on a machine where all this is in /farm
    text = (farm / "scene.json").read_text()
    (farm / "scene.json").write_text(text.replace(str(farm), "/farm"))
    rules = {
        "version": "pathmapping-1.0",
        "path_mapping_rules": [
            {"source_path_format": "POSIX", "source_path": "/farm", "destination_path": str(farm)}
        ],
    }
    there = ("-p", "Scene=/farm/scene.json", "-p", "Out=/farm/out")
    there += ("--path-mapping-rules", json.dumps(rules))
    first = openjd("run", job, "--step", "Bake", *there)
    assert first.returncode == 1
    assert "openjd_status: clay: baked" in first.stdout
    assert "openjd_progress: 100.0" in first.stdout
    assert "openjd_fail: slate: the bake's process was ended by signal 9" in first.stdout
    again = openjd("run", job, "--step", "Bake", "--task-param", "Material=slate", *there)
    assert again.returncode == 0, again.stdout
    assert "openjd_status: slate: baked" in again.stdout
    # the fake has left no bundles; with them, the last step sums up what the tasks have noted
    (farm / "scene.json").write_text(text)
    for planned in make_plan(read(farm / "scene.json", out=farm / "out")).materials:
        write_baked(planned)
    report = openjd("run", job, "--step", "Report", "--no-run-dependencies")
    assert report.returncode == 0, report.stdout
    summary = json.loads((farm / "out" / "scene_summary.json").read_text())
    assert summary["counts"] == {"baked": 2}
    assert "transmission is dropped" in (farm / "out" / "scene_report.html").read_text()


def test_a_task_whose_bundle_is_up_to_date_does_nothing(farm):
    for planned in make_plan(read(farm / "scene.json", out=farm / "out")).materials:
        write_baked(planned)
    done = verdigris("farm", "task", farm / "scene.json", "--out", farm / "out", "--task", "clay")
    assert done.returncode == 0
    assert done.stdout == "openjd_status: clay: up to date\nopenjd_progress: 100.0\n"
    assert not (farm / "out" / "clay.starts").exists()


def test_a_task_that_the_scene_does_not_have_is_refused(farm):
    done = verdigris("farm", "task", farm / "scene.json", "--out", farm / "out", "--task", "oak")
    assert done.returncode == 1
    assert "openjd_fail: " in done.stdout
    assert "has no bake 'oak': use one of clay, slate" in done.stderr


@pytest.fixture
def wood(tmp_path):
    """A material alone, and two that share a decoder; with the options that say so."""
    write_documents(tmp_path / "docs", "elm", "oak", "pine")
    rules = [{"match": ["oak", "pine"], "group": "wood"}]
    scene = write_scene(tmp_path / "scene.json", ["docs"], rules=rules)
    return scene, "--shared-decoder", "--by-hand", "--out", tmp_path / "out"


def test_one_of_a_group_is_no_task_of_its_own(wood, tmp_path):
    refused = verdigris("farm", "task", *wood, "--task", "oak")
    assert refused.returncode == 1
    assert "has no bake 'oak': use one of elm, wood.group" in refused.stderr
    assert not (tmp_path / "out").exists()


def test_the_time_of_a_group_counts_once(wood, tmp_path):
    plan = make_plan(read(wood[0], out=tmp_path / "out"), Choices(grouping=Grouping.BY_HAND))
    for planned in plan.materials:
        write_baked(planned)
    results = [
        Result(planned, "baked", outcome=Outcome("baked", seconds=seconds))
        for planned, seconds in zip(plan.materials, (4.0, 9.0, 9.0), strict=True)
    ]
    summary = finish_plan(plan, results)
    assert [row.seconds for row in summary.rows] == [4.0, 9.0, 9.0]
    assert summary.seconds == 13.0


@pytest.mark.parametrize("name", ["a {{b}}", "two\nlines", "{{{{", " ", "x" * 200])
def test_a_job_of_any_name_is_one_that_the_specification_allows(name, tmp_path):
    write_documents(tmp_path / "docs", "clay")
    scene = write_scene(tmp_path / "scene.json", ["docs"])
    made = verdigris("farm", "template", scene, "--name", name, "-o", tmp_path / "job.json")
    assert made.returncode == 0, made.stderr
    checked = openjd("check", tmp_path / "job.json")
    assert checked.returncode == 0, checked.stdout


def test_a_material_whose_name_jobs_take_for_an_expression_is_refused(tmp_path):
    write_documents(tmp_path / "docs", "clay")
    sources = [{"source": "docs/clay.mtlx", "name": "a {{b}}"}]
    scene = write_scene(tmp_path / "scene.json", sources)
    refused = verdigris("farm", "template", scene, "-o", tmp_path / "job.json")
    assert refused.returncode == 1
    assert "'a {{b}}' has two braces, which begin an expression in jobs" in refused.stderr
    assert not (tmp_path / "job.json").exists()


def test_a_job_takes_the_place_of_no_scene_and_no_document(tmp_path):
    write_documents(tmp_path / "docs", "clay")
    scene = write_scene(tmp_path / "scene.json", [{"source": "docs/clay.mtlx"}])
    for target, message in (
        (
            scene,
            "scene.json: is an input of the result and would be overwritten: choose another name",
        ),
        (tmp_path / "docs" / "clay.mtlx", "exists and is not a .json or .yaml or .yml: choose"),
    ):
        before = target.read_bytes()
        refused = verdigris("farm", "template", scene, "-o", target)
        assert refused.returncode == 1
        assert message in " ".join(refused.stderr.split())
        assert target.read_bytes() == before


def test_the_line_that_submits_a_job_is_for_a_shell(tmp_path):
    folder = tmp_path / "my show"
    write_documents(folder / "docs", "clay")
    made = verdigris("farm", "template", folder / "docs", "-o", folder / "a job.json")
    arguments = shlex.split(made.stdout)
    assert arguments[:2] == ["openjd", "run"]
    assert Path(arguments[2]) == folder / "a job.json"
    assert arguments[-2:] == ["-p", f"Out={Path('baked').absolute()}"]


def test_many_bakes_are_parted_into_steps_that_the_specification_allows(tmp_path):
    names = [f"m{number}" for number in range(2500)]
    choices = JobChoices("many", needs_gpu=True, task_seconds=60, search=(tmp_path,))
    job = job_template(tmp_path, tmp_path / "out", names, choices)
    (tmp_path / "job.json").write_text(json.dumps(job))
    checked = openjd("check", tmp_path / "job.json")
    assert checked.returncode == 0, checked.stdout
    # no path has a default here: they are given at submission, as on another machine
    given = [f"-p{name}={tmp_path}" for name in ("Scene", "Out", "Search1")]
    told = json.loads(openjd("summary", tmp_path / "job.json", *given, "--output", "json").stdout)
    assert told["total_tasks"] == 2500 + 1
    assert [step["total_tasks"] for step in told["steps"]] == [1024, 1024, 452, 1]


@pytest.mark.parametrize(
    ("path", "mapped"),
    [
        ("/farm/a/b.exr", "/mnt/a/b.exr"),
        ("/farm", "/mnt"),
        ("/farming/b", "/farming/b"),
        ("/farm/deep/b", "/deep/b"),
        ("P:\\show\\Tex\\b.exr", "/show/Tex/b.exr"),
        ("p:/SHOW/b", "/show/b"),
        ("textures/b.exr", "textures/b.exr"),
    ],
)
def test_the_longest_rule_that_fits_maps_a_path(path, mapped):
    rules = (
        PathRule("/farm", False, "/mnt"),
        PathRule("/farm/deep/", False, "/deep"),
        PathRule("P:\\show", True, "/show/"),
    )
    assert map_path(path, rules) == mapped
