"""Options of commands for the images of documents: `--search` repairs, `--confined` refuses."""

import json
import shlex

import numpy as np
import pytest

from ..in_process import run_command
from ..material.documents import with_image
from ..material.surfaces import write_image


@pytest.fixture
def project(tmp_path):
    """A document whose image is in a folder beside its own."""
    for folder in ("set", "my maps"):
        (tmp_path / folder).mkdir()
    write_image(tmp_path / "my maps" / "oak.png", np.full((2, 2, 3), 100, np.uint8))
    return tmp_path


def written(project, file):
    path = project / "set" / "chair.mtlx"
    path.write_text(with_image(file))
    return path


def inspected(*arguments):
    code, text, errors = run_command(("inspect", *arguments, "--no-probe", "--json"))
    assert not errors, errors
    (report,) = json.loads(text)["materials"]
    return code, report


def test_the_option_of_the_error_makes_the_image_found(project):
    path = written(project, "Oak.tif")
    code, report = inspected(path)
    option = report["problem"].partition(": add ")[2].partition(", where")[0]
    assert shlex.split(option) == ["--search", str(project / "my maps")]
    assert code and report["search_in"] == [str(project / "my maps")]
    code, report = inspected(path, *shlex.split(option))
    assert not code and report["problem"] == "" and report["search_in"] == []


@pytest.mark.parametrize("command", [("inspect",), ("scene", "plan")])
def test_an_image_elsewhere_is_read_unless_the_document_is_confined(project, command):
    path = written(project, "../my maps/oak.png")
    more = ("--no-probe",) if command == ("inspect",) else ("--out", project / "out")
    code, text, _ = run_command((*command, path, *more))
    assert not code and "outside" not in text
    _, text, _ = run_command((*command, path, *more, "--confined"))
    assert "outside of the allowed folders" in text


def test_a_scene_file_and_its_items_may_be_confined(project):
    written(project, "../my maps/oak.png")
    scene, source = project / "scene.json", "set/chair.mtlx"
    for values, is_refused in (
        ({"sources": [source]}, False),
        ({"sources": [source], "confined": True}, True),
        ({"sources": [{"source": source, "confined": True}]}, True),
    ):
        scene.write_text(json.dumps({"scene": 1, **values}))
        _, text, _ = run_command(("scene", "plan", scene, "--out", project / "out"))
        assert ("outside of the allowed folders" in text) == is_refused


def test_a_job_hands_the_rule_to_all_its_tasks(project):
    path = written(project, "oak.png")
    write_image(path.with_name("oak.png"), np.full((2, 2, 3), 100, np.uint8))
    for options in ((), ("--confined",)):
        code, text, _ = run_command(("farm", "template", path, *options))
        steps = json.loads(text)["steps"]
        scripts = [step["script"]["actions"]["onRun"]["args"] for step in steps]
        assert not code and len(scripts) == 2
        assert all(("--confined" in arguments) == bool(options) for arguments in scripts)
