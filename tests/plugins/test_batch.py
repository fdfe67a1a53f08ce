"""Batch programs: their bakes, summaries and exit codes, with plain files as the host."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import HostError
from verdigris.core.base.text import unused_names
from verdigris.core.batch.scene.scene import read_scene
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import HostMaterial
from verdigris.plugins.common.batch import materials
from verdigris.plugins.common.batch.arguments import BatchOptions, read_arguments
from verdigris.plugins.common.batch.bake_process import Ended
from verdigris.plugins.common.batch.materials import bake_scene
from verdigris.plugins.common.batch.summary import Summary
from verdigris.plugins.common.batch_bake import main

from ..core.brisk import write_brisk_python
from ..core.material.documents import document, material, standard_surface

ROOT = Path(__file__).resolve().parents[2]
SCENE = document(standard_surface(), material(name="gold"), material(name="lead"))

# A small graph, which compiles fast.
CHALK = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="diffuse" type="BSDF">
<input name="color" type="color3" value="0.8, 0.8, 0.7"/></oren_nayar_diffuse_bsdf>
<surface name="surface" type="surfaceshader">
<input name="bsdf" type="BSDF" nodename="diffuse"/></surface>
<surfacematerial name="chalk" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="surface"/></surfacematerial></materialx>
"""

WITHOUT_QT = """
import importlib
import sys
sys.path.insert(0, {fakes!r})

class Patch:
    def setitem(self, where, name, value):
        where[name] = value

    def delitem(self, where, name):
        del where[name]

for host in ("maya", "houdini"):
    fake = importlib.import_module("fake_" + host)
    fake.install(Patch(), fake.Scene())
    importlib.import_module("verdigris.plugins." + host + ".batch")
    importlib.import_module("verdigris.plugins." + host + ".without_window").start()
print([name for name in sys.modules if name.startswith(("PySide", "shiboken", "verdigris.ui"))])
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.mtlx"
    path.write_text(SCENE)
    return path


def answer(ended):
    """Replaces the worker and records its commands."""
    commands = []

    def run(command):
        commands.append((command, Path(command[6]).read_text()))
        return ended

    return run, commands


def finished(path):
    return Ended(0, {"event": "finished", "results": [str(path)], "stopped_by": "steps"})


def test_each_material_is_baked_by_name_with_its_document_and_folders(scene, tmp_path):
    run, commands = answer(finished("out/gold.vdg"))
    choices = BatchOptions(out=tmp_path, request=BakeRequest(preset="draft", time_limit=2))
    outcomes = bake_scene(FilesHost(scene), choices, run)
    assert [(each.name, each.status) for each in outcomes] == [("gold", "baked"), ("lead", "baked")]
    command, text = commands[1]
    assert text == SCENE
    assert command[1:6] == ["-P", "-u", "-m", "verdigris.core", "bake"]
    assert command[-1] == "--if-changed"
    given = dict(zip(command[8:-1:2], command[9:-1:2], strict=True))
    assert given == {
        "--material": "lead",
        "--name": "lead",
        "--out": str(tmp_path),
        "--preset": "draft",
        "--time-limit": "2",
        "--search": str(tmp_path),
    }


def test_a_failure_is_reported_and_does_not_stop_the_other_bakes(scene):
    calls = []

    def run(command):
        calls.append(command)
        if "gold" in command:
            return Ended(1, None, "no light")
        return finished("lead.vdg")

    gold, lead = bake_scene(FilesHost(scene), BatchOptions(), run)
    assert gold.status == "failed" and gold.error.endswith("failed (exit code 1): no light")
    assert lead.status == "baked" and lead.bundle == "lead.vdg"


def test_an_error_of_the_application_does_not_stop_the_other_bakes(scene, capsys):
    host, (run, _) = FilesHost(scene), answer(finished("lead.vdg"))
    whole = host.document

    def document(material):
        if material.name == "gold":
            raise RuntimeError("No object matches name: gold")
        return whole(material)

    host.document = document
    gold, lead = bake_scene(host, BatchOptions(), run)
    assert (gold.status, lead.status) == ("failed", "baked")
    assert gold.error == (
        "unexpected RuntimeError: No object matches name: gold: report it with the traceback"
    )
    assert "Traceback" in capsys.readouterr().err


def test_a_bake_that_ends_without_a_result_has_failed(scene):
    run, _ = answer(Ended(0))
    (gold,) = bake_scene(FilesHost(scene), BatchOptions(materials=("gold",)), run)
    assert gold.status == "failed" and "without a result" in gold.error


def test_results_are_noted_only_with_attach(scene, tmp_path):
    host = FilesHost(scene)
    run, _ = answer(finished(tmp_path / "x.vdg"))
    bake_scene(host, BatchOptions(), run)
    assert host.attached(host.materials()[0]) is None
    bake_scene(host, BatchOptions(attach=True), run)
    assert host.attached(host.materials()[0]) == tmp_path / "x.vdg"


def test_what_cannot_be_noted_in_the_scene_is_written_all_the_same(scene, tmp_path):
    host = FilesHost(scene)
    run, _ = answer(finished(tmp_path / "x.vdg"))

    def refuse(material, result):
        raise HostError("gold is linked: make it local")

    host.attach = refuse
    [found] = bake_scene(host, BatchOptions(materials=("gold",), attach=True), run)
    assert (found.status, found.bundle) == ("failed", str(tmp_path / "x.vdg"))
    assert found.error == (
        f"{tmp_path / 'x.vdg'} is written, but it is not noted in the scene: gold is linked: make "
        "it local"
    )


def test_a_material_that_is_up_to_date_is_reported_and_attached_once(scene, tmp_path):
    host, bundle = FilesHost(scene), str(tmp_path / "x.vdg")
    run, _ = answer(Ended(0, {"event": "up_to_date", "results": [bundle]}))
    options = BatchOptions(materials=("gold",), attach=True)
    (gold,) = bake_scene(host, options, run)
    assert (gold.status, gold.bundle) == ("up to date", bundle)
    assert host.attached(host.materials()[0]) == tmp_path / "x.vdg"
    host.attach = None  # a second call would be an error
    assert bake_scene(host, options, run)[0].status == "up to date"


def test_a_result_that_was_baked_again_is_attached_again(scene, tmp_path):
    host, noted = FilesHost(scene), []
    run, _ = answer(finished(tmp_path / "x.vdg"))
    host.attach = lambda material, result: noted.append(result.bundle)
    host.attached = lambda material: tmp_path / "x.vdg"
    bake_scene(host, BatchOptions(materials=("gold",), attach=True), run)
    assert noted == [tmp_path / "x.vdg"]


def test_warnings_of_a_bake_are_notes_of_its_outcome(scene):
    run, _ = answer(Ended(0, finished("x.vdg").result, warnings=("transmission is dropped",)))
    (gold,) = bake_scene(FilesHost(scene), BatchOptions(materials=("gold",)), run)
    assert gold.notes == ("transmission is dropped",)


def test_paths_are_absolute_as_an_application_can_change_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, summary, options = read_arguments("batch", ["a.ma", "-o", "out", "--summary", "s.json"])
    assert (found, summary) == (tmp_path / "a.ma", tmp_path / "s.json")
    assert options.out == tmp_path / "out"


def test_force_bakes_what_is_up_to_date(scene):
    run, commands = answer(finished("out/gold.vdg"))
    bake_scene(FilesHost(scene), BatchOptions(materials=("gold",), force=True), run)
    assert "--if-changed" not in commands[0][0]


def test_a_material_that_cannot_be_baked_is_left_out_with_its_reason_unless_it_is_named(
    scene, tmp_path
):
    why = "Verdigris does not read V-Ray's shader VRayMtl"

    class Host(FilesHost):
        def materials(self):
            return (*super().materials(), HostMaterial("car", "car", "V-Ray", why))

    run, commands = answer(finished("x.vdg"))
    options = BatchOptions(hand_over=True, out=tmp_path)
    outcomes = bake_scene(Host(scene), options, run)
    assert [each.status for each in outcomes] == ["handed over", "handed over", "left out"]
    assert outcomes[2].error == why and not commands
    summary = Summary(scene, tmp_path / "summary.json", outcomes=outcomes)
    summary.save()
    read = read_scene(summary.file).entries
    assert read and not [each for each in read if each.problem or each.name == "car"]
    (named,) = bake_scene(Host(scene), replace(options, materials=("car",)), run)
    assert named.status == "failed" and why in named.error


def test_the_parts_of_a_batch_are_all_of_it_with_the_same_names(tmp_path):
    scene = tmp_path / "scene.mtlx"
    names = ("gold", "Gold", "lead", "tin", "zinc")
    scene.write_text(document(standard_surface(), *(material(name=name) for name in names)))
    run, commands = answer(finished("x.vdg"))

    def names_of(**options):
        commands.clear()
        bake_scene(FilesHost(scene), BatchOptions(**options), run)
        return [command[command.index("--name") + 1] for command, _ in commands]

    parts = [names_of(part=(number, 2)) for number in (1, 2)]
    assert parts == [["gold", "lead", "zinc"], ["Gold_2", "tin"]]
    assert names_of(materials=("Gold",)) == ["Gold_2"]


@pytest.mark.parametrize("part", ["0/2", "3/2", "1", "a/b", "1/0"])
def test_a_part_that_is_none_is_wrong_usage(part, capsys):
    with pytest.raises(SystemExit) as ended:
        main("batch", FilesHost, ["scene.mtlx", "--part", part])
    assert ended.value.code == 2
    assert f"{part!r} is not a part such as 2/4" in capsys.readouterr().err


def test_the_summary_is_on_disk_after_each_material(scene, tmp_path, monkeypatch):
    file = tmp_path / "summary.json"
    seen = []

    def run(command, *_):
        seen.append([each["status"] for each in json.loads(file.read_text())["materials"]])
        return finished("x.vdg")

    monkeypatch.setattr(materials, "run_bake", run)
    assert main("batch", FilesHost, [str(scene), "--summary", str(file)]) == 0
    assert seen == [["waiting", "waiting"], ["baked", "waiting"]]
    found = json.loads(file.read_text())
    assert (found["complete"], found["baked"], found["waiting"]) == (True, 2, 0)
    assert [each.name for each in tmp_path.iterdir() if each.suffix == ".tmp"] == []


def test_a_summary_that_cannot_be_written_is_an_error_before_the_first_bake(
    scene, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(materials, "run_bake", None)
    (tmp_path / "file").write_text("")
    given = [str(scene), "--summary", str(tmp_path / "file" / "summary.json")]
    assert main("batch", FilesHost, given) == 1
    assert "summary.json: cannot be written" in capsys.readouterr().err


def test_a_summary_that_fails_meanwhile_stops_no_bake(scene, tmp_path, monkeypatch, capsys):
    file, baked = tmp_path / "deep" / "summary.json", []

    def run(command, *_):
        baked.append(command)
        # the folder of the summary becomes a file
        if len(baked) == 1:
            shutil.rmtree(file.parent)
            file.parent.write_text("")
        return finished("x.vdg")

    monkeypatch.setattr(materials, "run_bake", run)
    assert main("batch", FilesHost, [str(scene), "--summary", str(file)]) == 1
    assert len(baked) == 2
    assert capsys.readouterr().err.count("summary.json: cannot be written") == 3


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(scene):
    with pytest.raises(HostError, match="no material 'zinc'; it has: gold, lead"):
        bake_scene(FilesHost(scene), BatchOptions(materials=("zinc",)))


def test_the_listing_needs_no_worker(scene, capsys, monkeypatch):
    monkeypatch.setattr(materials, "require_fit_command", None)
    assert main("batch", FilesHost, [str(scene), "--list"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["host"], summary["listed"], summary["failed"]) == ("files", 2, 0)
    assert [each["key"] for each in summary["materials"]] == ["gold", "lead"]


def test_documents_can_be_written_for_a_farm(scene, tmp_path):
    summary = tmp_path / "deep" / "summary.json"
    out = tmp_path / "documents"
    arguments = [str(scene), "--hand-over", "-o", str(out), "--summary", str(summary)]
    assert main("batch", FilesHost, arguments) == 0
    found = json.loads(summary.read_text())
    assert found["handed_over"] == 2
    assert (out / "gold.mtlx").read_text() == SCENE
    assert found["materials"][0]["search"] == [str(tmp_path)]


def test_a_missing_scene_exits_with_1(tmp_path, capsys):
    assert main("batch", FilesHost, [str(tmp_path / "no.mtlx")]) == 1
    output = capsys.readouterr()
    assert "there is no such file" in json.loads(output.out)["error"]
    assert "there is no such file" in output.err


def test_a_scene_without_materials_exits_with_1(tmp_path, capsys):
    empty = tmp_path / "empty.mtlx"
    empty.write_text(document())
    assert main("batch", FilesHost, [str(empty)]) == 1
    assert "no MaterialX material: add one" in json.loads(capsys.readouterr().out)["error"]


def test_wrong_usage_exits_with_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main("batch", FilesHost, ["scene.mtlx", "--fast"])
    assert ended.value.code == 2


def test_names_of_results_differ_without_regard_to_case():
    assert unused_names(["gold", "Gold", "|a|gold,%d%gold", "gold"]) == [
        *("gold", "Gold_2", "a_gold__d_gold", "gold_3")
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="its worker is a script of POSIX")
def test_a_material_of_a_scene_becomes_a_bundle_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    monkeypatch.setenv("VERDIGRIS_PYTHON", write_brisk_python(tmp_path / "python"))
    scene = tmp_path / "scene.mtlx"
    scene.write_text(CHALK)
    summary = tmp_path / "summary.json"
    small = ["--resolution", "8", "--iterations", "4", "--set", "batch=64", "--set", "network=2x16"]
    small += ["--set", "starts=1"]
    arguments = [str(scene), "-m", "chalk", "-o", str(tmp_path), "--summary", str(summary)]
    arguments += ["--preset", "draft", "--", *small]
    assert main("batch", FilesHost, arguments) == 0
    (chalk,) = json.loads(summary.read_text())["materials"]
    assert chalk["status"] == "baked"
    from verdigris.core.bundle.files.read import open_bundle

    assert open_bundle(Path(chalk["bundle"])).manifest.name == "chalk"
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0] == f"batch: opens {scene}"
    assert lines[1].startswith("[1/1] chalk  reading the material")
    assert any(re.match(r"\[1/1\] chalk  training \d+%  loss \d\.\d+  ", each) for each in lines)
    assert re.fullmatch(r"\[1/1\] chalk: baked in [\d.]+ s: .*chalk\.vdg", lines[-2])
    # the same again bakes nothing, and other settings bake
    assert main("batch", FilesHost, arguments) == 0
    (chalk,) = json.loads(summary.read_text())["materials"]
    assert (chalk["status"], Path(chalk["bundle"]).name) == ("up to date", "chalk.vdg")


def test_no_window_toolkit_is_imported():
    code = WITHOUT_QT.format(fakes=str(ROOT / "tests" / "fakes"))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
