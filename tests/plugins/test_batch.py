"""Batch programs: their bakes, summaries and exit codes, with plain files as the host."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.base.text import unused_names
from verdigris.core.hosts.file_host import FilesHost
from verdigris.plugins.common import batch_bake
from verdigris.plugins.common.batch_bake import BatchOptions, bake_scene, main

from ..core.material.documents import document, material, standard_surface

ROOT = Path(__file__).resolve().parents[2]
SCENE = document(
    standard_surface(),
    material(name="gold"),
    material(name="lead"),
)

# A small graph, which compiles fast.
CHALK = """<materialx version="1.39"><oren_nayar_diffuse_bsdf name="diffuse" type="BSDF">
<input name="color" type="color3" value="0.8, 0.8, 0.7"/></oren_nayar_diffuse_bsdf>
<surface name="surface" type="surfaceshader">
<input name="bsdf" type="BSDF" nodename="diffuse"/></surface>
<surfacematerial name="chalk" type="material">
<input name="surfaceshader" type="surfaceshader" nodename="surface"/></surfacematerial></materialx>
"""

WITHOUT_QT = """
import sys
sys.path.insert(0, {fakes!r})
import fake_{host}

class Patch:
    def setitem(self, where, name, value):
        where[name] = value

    def delitem(self, where, name):
        del where[name]

fake_{host}.install(Patch(), fake_{host}.Scene())
import verdigris.plugins.{host}.batch as batch
batch.start()
print([name for name in sys.modules if name.startswith(("PySide", "shiboken", "verdigris.ui"))])
"""


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "scene.mtlx"
    path.write_text(SCENE)
    return path


def answer(returncode=0, stdout="", stderr=""):
    """Replaces the worker and records its commands."""
    commands = []

    def run(command):
        commands.append((command, Path(command[5]).read_text()))
        return subprocess.CompletedProcess(command, returncode, stdout, stderr)

    return run, commands


def finished(path):
    return json.dumps({"event": "finished", "results": [str(path)]}) + "\n"


def test_each_material_is_baked_by_name_with_its_document_and_folders(scene, tmp_path):
    run, commands = answer(stdout='{"event": "step"}\n' + finished("out/gold.vdg"))
    choices = BatchOptions(out=tmp_path, preset="draft", time_limit=2)
    outcomes = bake_scene(FilesHost(scene), choices, run)
    assert [(each.name, each.status) for each in outcomes] == [("gold", "baked"), ("lead", "baked")]
    command, text = commands[1]
    assert text == SCENE
    assert command[1:5] == ["-P", "-m", "verdigris.core", "bake"]
    given = dict(zip(command[7::2], command[8::2], strict=True))
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
            return subprocess.CompletedProcess(command, 1, "", "a\nverdigris: no light\n")
        return subprocess.CompletedProcess(command, 0, finished("lead.vdg"), "")

    gold, lead = bake_scene(FilesHost(scene), BatchOptions(), run)
    assert gold.status == "failed" and gold.error.endswith("failed (exit code 1): no light")
    assert lead.status == "baked" and lead.bundle == "lead.vdg"


def test_a_bake_that_ends_without_a_result_has_failed(scene):
    run, _ = answer(stdout="nonsense\n[]\n")
    (gold,) = bake_scene(FilesHost(scene), BatchOptions(materials=("gold",)), run)
    assert gold.status == "failed" and "without a result" in gold.error


def test_results_are_noted_only_with_attach(scene, tmp_path):
    host = FilesHost(scene)
    run, _ = answer(stdout=finished(tmp_path / "x.vdg"))
    bake_scene(host, BatchOptions(), run)
    assert host.attached(host.materials()[0]) is None
    bake_scene(host, BatchOptions(attach=True), run)
    assert host.attached(host.materials()[0]) == tmp_path / "x.vdg"


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(scene):
    with pytest.raises(HostError, match="no material 'zinc'; it has: gold, lead"):
        bake_scene(FilesHost(scene), BatchOptions(materials=("zinc",)))


def test_the_listing_needs_no_worker(scene, capsys, monkeypatch):
    monkeypatch.setattr(batch_bake, "require_worker_python", None)
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


def test_a_material_of_a_scene_becomes_a_bundle(tmp_path, monkeypatch):
    monkeypatch.setenv("VERDIGRIS_DEVICE", "software")
    scene = tmp_path / "scene.mtlx"
    scene.write_text(CHALK)
    summary = tmp_path / "summary.json"
    small = ["--resolution", "8", "--iterations", "4", "--set", "batch=64", "--set", "network=2x16"]
    arguments = [str(scene), "-m", "chalk", "-o", str(tmp_path), "--summary", str(summary)]
    assert main("batch", FilesHost, [*arguments, "--preset", "draft", "--", *small]) == 0
    (chalk,) = json.loads(summary.read_text())["materials"]
    from verdigris.core.bundle.files.read import open_bundle

    assert open_bundle(Path(chalk["bundle"])).manifest.name == "chalk"


@pytest.mark.parametrize("host", ["maya", "houdini"])
def test_no_window_toolkit_is_imported(host):
    code = WITHOUT_QT.format(host=host, fakes=str(ROOT / "tests" / "fakes"))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
