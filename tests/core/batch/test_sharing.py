"""The report says what sharing a decoder cost in error and saved in bytes."""

import json
from pathlib import Path

import pytest

from verdigris.core.batch.plan.packs import write_packs
from verdigris.core.batch.plan.plan import Choices, make_plan
from verdigris.core.batch.run.child import BAKED, FAILED, STOPPED, Outcome
from verdigris.core.batch.run.drive import NOT_REACHED, UP_TO_DATE, Manner, Result
from verdigris.core.batch.run.html_report import report_html
from verdigris.core.batch.run.run import RunOptions, run_plan
from verdigris.core.batch.run.sharing import Alone
from verdigris.core.batch.run.summary import Summary, rows_of
from verdigris.core.batch.scene.groups import Grouping
from verdigris.core.batch.scene.rules import Rule
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.scene.scene_pack import open_scene

from .scenes import read, write_baked, write_documents, write_scene

BY_HAND = Choices(grouping=Grouping.BY_HAND)
NAMES = ("a", "b", "c")


@pytest.fixture
def scene(tmp_path):
    write_documents(tmp_path / "docs", *NAMES)
    rule = Rule(group="all")
    return read(tmp_path / "docs", out=tmp_path / "out", rules=(rule,))


@pytest.fixture
def state(tmp_path):
    folder = tmp_path / "out" / ".verdigris"
    folder.mkdir(parents=True)
    return folder


def summary_of(scene, plan, alone):
    rows = tuple(rows_of(plan, [], alone))
    return Summary("docs", scene.out, "now", 1.0, "here", 0, rows)


def test_what_is_shared_is_baked_alone_too_once_with_the_steps_of_one(scene, state):
    plan = make_plan(scene, BY_HAND)
    works = Alone(state).works(plan, BY_HAND)
    assert [work.task.name for work in works] == list(NAMES)
    (shared,) = plan.works
    own = {work.task.settings["numpy"]["iterations"] for work in works}
    assert own == {shared.task.settings["numpy"]["iterations"] / 3}
    for work, error in zip(works, (0.01, 0.02, 0.04), strict=True):
        write_baked(work.materials[0], log_mae=error)
    outcome = Outcome(BAKED)
    alone = Alone(state)
    alone.take([Result(work.materials[0], BAKED, outcome=outcome) for work in works])
    # errors are kept and bundles are not
    assert not (state / "alone").exists()
    assert Alone(state).works(plan, BY_HAND) == []
    for each, error in zip(plan.materials, (0.02, 0.02, 0.02), strict=True):
        write_baked(each, log_mae=error)
    plan = make_plan(scene, BY_HAND)
    summary = summary_of(scene, plan, Alone(state))
    assert [row.sharing.ratio for row in summary.rows] == pytest.approx([2.0, 1.0, 0.5])
    (group,) = summary.groups
    # 2 x 1 x 0.5, to the third root
    assert group["error_ratio"] == pytest.approx(1.0)
    weights = (scene.out / "a.vdg" / "weights.bin").stat().st_size
    assert group["saved_bytes"] == 2 * weights
    text = report_html(summary)
    assert "What sharing decoders cost and saved" in text
    assert '<td>all</td><td><a href="#c">c</a></td>' in text
    assert json.loads(summary.text())["materials"][0]["sharing"]["ratio"] == pytest.approx(2.0)


def test_of_what_is_baked_alone_only_what_is_not_finished_keeps_its_checkpoint(tmp_path, state):
    docs = write_documents(tmp_path / "docs", *NAMES, "d", "e")
    scene = read(docs, out=tmp_path / "out", rules=(Rule(group="all"),))
    plan = make_plan(scene, BY_HAND)
    statuses = dict(zip("abcde", (BAKED, UP_TO_DATE, STOPPED, NOT_REACHED, FAILED), strict=True))
    singles = [work.materials[0] for work in Alone(state).works(plan, BY_HAND)]
    for single in singles[:3]:
        # what is replaced while it is stopped has a bundle, too
        write_baked(single)
    for single in singles:
        (state / "alone" / f"{single.entry.name}.bake.npz").write_bytes(b"")
        (state / "alone" / f".{single.entry.name}.lock").write_text("")
    Alone(state).take([Result(each, statuses[each.entry.name]) for each in singles])
    left = {path.name for path in (state / "alone").iterdir()}
    assert left == {f"{name}.bake.npz" for name in "cde"}
    works = Alone(state).works(plan, BY_HAND)
    assert {work.task.name: work.goes_on for work in works} == dict.fromkeys("cde", True)
    # a run that bakes nothing lets go of nothing
    Alone(state).take([])
    assert {path.name for path in (state / "alone").iterdir()} == left


def test_what_a_group_saves_is_known_without_the_bakes_for_comparison(scene):
    for each in make_plan(scene, BY_HAND).materials:
        write_baked(each)
    summary = summary_of(scene, make_plan(scene, BY_HAND), None)
    (group,) = summary.groups
    weights = (scene.out / "a.vdg" / "weights.bin").stat().st_size
    assert (group["error_ratio"], group["saved_bytes"]) == (None, 2 * weights)


def test_bundles_that_had_own_decoders_spare_the_bakes_for_comparison(scene, state):
    for each in make_plan(scene).materials:
        write_baked(each, log_mae=0.05)
    plan = make_plan(scene, BY_HAND)
    alone = Alone(state)
    assert alone.works(plan, BY_HAND) == []
    for each in plan.materials:
        write_baked(each, log_mae=0.1)
    assert [alone.cost(each).ratio for each in plan.materials] == pytest.approx([2.0] * 3)


def test_a_change_of_a_material_makes_what_it_was_alone_unknown(scene, state):
    for each in make_plan(scene).materials:
        write_baked(each)
    alone = Alone(state)
    alone.works(make_plan(scene, BY_HAND), BY_HAND)
    path = Path(scene.entries[1].source.name)
    path.write_text(path.read_text().replace("0.7, 0.3, 0.1", "0, 0, 1"))
    works = alone.works(make_plan(scene, BY_HAND), BY_HAND)
    assert [work.task.name for work in works] == ["b"]


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
    run_plan(plan, Choices(), RunOptions(Manner()), None, None)
    (material,) = open_scene(tmp_path / "out" / "set.vdg").materials
    assert material.name == "a_1"


def test_a_pack_of_the_scene_holds_what_was_not_meant_too(tmp_path):
    write_documents(tmp_path / "docs", *NAMES)
    file = write_scene(tmp_path / "scene.json", ["docs"], packs={"set.vdg": ["a", "b"]})
    for each in make_plan(read(file, out=tmp_path / "out")).materials:
        write_baked(each)
    meant = make_plan(read(file, out=tmp_path / "out", only=("a",)))

    def packs(*more):
        summary = run_plan(meant, Choices(), RunOptions(Manner(), packs=more), None, None)
        assert summary.exit_code == 0
        return {pack["name"]: pack["text"] for pack in summary.packs}

    assert packs("mine.vdg").keys() == {"set.vdg", "mine.vdg"}
    found = {name: open_scene(tmp_path / "out" / f"{name}.vdg") for name in ("set", "mine")}
    assert [material.name for material in found["set"].materials] == ["a", "b"]
    assert [material.name for material in found["mine"].materials] == ["a"]
    (tmp_path / "out" / "b.vdg" / "weights.bin").unlink()
    assert packs() == {"set.vdg": "is not written: not meant, and not baked: b"}


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
    summary = summary_of(scene, make_plan(scene), None)
    assert (summary.rows[0].seconds, summary.rows[0].warnings) == (0.0, ("kept",))
    assert "<h3>a</h3>" in report_html(summary)
