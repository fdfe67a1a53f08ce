"""Groups report what sharing a decoder saves, and scene packs join bundles of a scene."""

import json

import pytest

from verdigris.core.batch.plan.packs import write_packs
from verdigris.core.batch.plan.plan import Choices, make_plan
from verdigris.core.batch.run.bake_queue import FailurePolicy
from verdigris.core.batch.run.html_report import report_html
from verdigris.core.batch.run.run import RunOptions, run_plan
from verdigris.core.batch.run.summary import Summary, rows_of
from verdigris.core.batch.scene.entry import Rule
from verdigris.core.batch.scene.scene import Grouping
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.bundle.scene.scene_pack import open_scene

from ..small_endings import FEW_SHADERS
from .scenes import read, write_baked, write_documents, write_scene

BY_HAND = Choices(grouping=Grouping.BY_HAND)
NAMES = ("a", "b", "c")


@pytest.fixture
def scene(tmp_path):
    write_documents(tmp_path / "docs", *NAMES)
    rule = Rule(group="all")
    return read(tmp_path / "docs", out=tmp_path / "out", rules=(rule,))


@pytest.fixture(autouse=True)
def _few_shaders(monkeypatch):
    monkeypatch.setattr(runtime_files, "TARGETS", FEW_SHADERS)


@pytest.fixture
def state(tmp_path):
    folder = tmp_path / "out" / ".verdigris"
    folder.mkdir(parents=True)
    return folder


def summary_of(scene, plan):
    rows = tuple(rows_of(plan, []))
    return Summary("docs", scene.out, "now", 1.0, "here", 0, rows)


def test_a_group_reports_the_bytes_that_sharing_a_decoder_saves(scene):
    for each in make_plan(scene, BY_HAND).materials:
        write_baked(each)
    summary = summary_of(scene, make_plan(scene, BY_HAND))
    (group,) = summary.groups
    weights = (scene.out / "a.vdg" / "weights.bin").stat().st_size
    assert (group["members"], group["saved_bytes"]) == ([*NAMES], 2 * weights)
    text = report_html(summary)
    assert "<h2>Shared decoders</h2>" in text
    assert '<td>all</td><td><a href="#a">a</a>, <a href="#b">b</a>' in text


def test_a_pack_is_written_once_and_again_when_a_bundle_has_changed(scene, state):
    plan = make_plan(scene)
    bundles = {each.entry.name: each.bundle for each in plan.materials}
    packs = {"all.vdg": ("*",), "some.vdg": ("a", "b")}
    for path in bundles.values():
        write_baked(next(each for each in plan.materials if each.bundle == path))

    def write():
        return write_packs(packs, bundles, scene.out, state)

    assert [pack["is_new"] for pack in write()] == [True, True]
    found = open_scene(scene.out / "all.vdg")
    assert [material.name for material in found.materials] == list(NAMES)
    # all three hold the same numbers: stored once
    size = open_bundle(bundles["a"]).manifest.weights.bytes
    assert found.weights.bytes == size
    first, second = write()
    assert (first["is_new"], second["is_new"], first["saved_bytes"]) == (False, False, 2 * size)
    write_baked(plan.materials[2], log_mae=0.5)
    assert [pack["is_new"] for pack in write()] == [True, False]
    (bundles["c"] / "manifest.json").unlink()
    first, second = write()
    assert "c.vdg" in first["error"]
    assert "error" not in second


def test_a_bracket_in_a_pattern_of_a_pack_is_itself(tmp_path):
    write_documents(tmp_path / "docs", "a")
    sources = [{"source": "docs/a.mtlx", "name": name} for name in ("a[1]", "a1")]
    file = write_scene(tmp_path / "scene.json", sources, packs={"set.vdg": "a[1]"})
    for each in make_plan(read(file, out=tmp_path / "out")).materials:
        write_baked(each)
    plan = make_plan(read(file, out=tmp_path / "out"))
    run_plan(plan, Choices(), RunOptions(FailurePolicy()), None, None)
    (material,) = open_scene(tmp_path / "out" / "set.vdg").materials
    assert material.name == "a_1"


def test_a_pack_of_the_scene_holds_what_was_not_meant_too(tmp_path):
    write_documents(tmp_path / "docs", *NAMES)
    file = write_scene(tmp_path / "scene.json", ["docs"], packs={"set.vdg": ["a", "b"]})
    for each in make_plan(read(file, out=tmp_path / "out")).materials:
        write_baked(each)
    meant = make_plan(read(file, out=tmp_path / "out", only=("a",)))

    def packs(*more):
        summary = run_plan(meant, Choices(), RunOptions(FailurePolicy(), packs=more), None, None)
        assert summary.exit_code == 0
        return {pack["name"]: pack["text"] for pack in summary.packs}

    assert packs("mine.vdg").keys() == {"set.vdg", "mine.vdg"}
    found = {name: open_scene(tmp_path / "out" / f"{name}.vdg") for name in ("set", "mine")}
    assert [material.name for material in found["set"].materials] == ["a", "b"]
    assert [material.name for material in found["mine"].materials] == ["a"]
    (tmp_path / "out" / "b.vdg" / "weights.bin").unlink()
    assert packs() == {"set.vdg": "not written: not selected, and not baked: b"}


@pytest.mark.parametrize("file", ["manifest.json", "weights.bin"])
def test_a_damaged_pack_is_written_again(file, scene, state):
    plan = make_plan(scene)
    for each in plan.materials:
        write_baked(each)
    bundles = {each.entry.name: each.bundle for each in plan.materials}
    write_packs({"all.vdg": ("*",)}, bundles, scene.out, state)
    damaged = scene.out / "all.vdg" / file
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[:30])
    (pack,) = write_packs({"all.vdg": ("*",)}, bundles, scene.out, state)
    assert pack["is_new"] and "error" not in pack
    assert damaged.read_bytes() == whole


@pytest.mark.parametrize("junk", ["", "[1]", '{"all.vdg": 5}', "{"])
def test_a_damaged_note_of_packs_costs_no_more_than_to_pack_again(junk, scene, state):
    plan = make_plan(scene)
    for each in plan.materials:
        write_baked(each)
    (state / "packs.json").write_text(junk)
    bundles = {each.entry.name: each.bundle for each in plan.materials}
    (pack,) = write_packs({"all.vdg": ("*",)}, bundles, scene.out, state)
    assert pack["is_new"]
    assert list(json.loads((state / "packs.json").read_text())) == ["all.vdg"]


@pytest.mark.parametrize("seconds", [float("nan"), 10**400, "x"], ids=["nan", "large", "text"])
def test_times_of_a_damaged_summary_are_left_out(seconds, scene):
    for each in make_plan(scene).materials:
        write_baked(each)
    told = [{"name": "a", "status": "baked", "seconds": seconds, "warnings": ["kept"]}]
    (scene.out / "scene_summary.json").write_text(json.dumps({"materials": told}))
    summary = summary_of(scene, make_plan(scene))
    assert (summary.rows[0].seconds, summary.rows[0].warnings) == (0.0, ("kept",))
    assert "<h3>a</h3>" in report_html(summary)
