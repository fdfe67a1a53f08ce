"""The plan says what is to be baked and what is up to date: by contents, not by times."""

import os
import re
import shutil
import time

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.errors import SettingsError
from verdigris.core.batch.plan.inputs import DigestCache
from verdigris.core.batch.plan.plan import Choices, State, longest_first, make_plan
from verdigris.core.batch.scene.entry import Rule
from verdigris.core.batch.scene.scene import Grouping
from verdigris.core.settings.presets import PRESETS, Kind

from .scenes import baked_settings, document, read, write_baked, write_documents, write_scene

STEPS = {name: recipe.largest.iterations for name, recipe in PRESETS["numpy"].items()}


@pytest.fixture
def props(tmp_path):
    folder = write_documents(tmp_path / "props", "clay", "slate")
    (folder / "oak.mtlx").write_text(document("oak", file="grain.png"))
    (folder / "grain.png").write_bytes(b"pixels")
    (folder / "map.exr").write_bytes(b"weights")
    rules = [{"match": "slate", "importance": "props/map.exr"}, {"match": "*", "preset": "draft"}]
    return write_scene(tmp_path / "scene.json", ["props"], out="baked", rules=rules)


def plan_of(scene, choices=None, hashes=None, **asked):
    return make_plan(read(scene, **asked), choices, hashes)


def bake_all(scene, choices=None, **changes):
    for each in plan_of(scene, choices).materials:
        write_baked(each, **changes)


def states(plan):
    return {each.entry.name: (str(each.state), each.reasons) for each in plan.materials}


CURRENT = ("up to date", ())


def test_what_was_never_baked_is_to_be_baked_and_then_is_not(props):
    assert {state for state, _ in states(plan_of(props)).values()} == {"not baked"}
    assert len(plan_of(props).works) == 3
    bake_all(props)
    plan = plan_of(props)
    assert set(states(plan).values()) == {CURRENT}
    assert (plan.works, plan.seconds, plan.bytes) == ((), 0, 0)


def test_bakes_that_are_likely_long_begin_first(props):
    rules = (Rule(match=("slate",), request=BakeRequest(changes={"iterations": 90_000})),)

    def order():
        plan = plan_of(props, rules=rules)
        return [work.task.name for work in longest_first(plan.works)]

    # the long one has no image, and may be constant; of the others one has an image
    assert order() == ["slate", "oak", "clay"]
    for each in plan_of(props, rules=rules).materials:
        if each.entry.name == "oak":
            write_baked(each, verdigris="0", kind=Kind.CONSTANT)
    assert order() == ["slate", "clay", "oak"]


def test_how_long_bakes_take_is_learnt_from_those_that_are_there(props):
    # the three that are there drew 100 steps of 4,096 samples in 2, 4 and 40 seconds
    for each, seconds in zip(plan_of(props).materials, (2.0, 40.0, 4.0), strict=True):
        write_baked(each, seconds=seconds, verdigris="0")
    for work in plan_of(props, Choices(trainer="numpy")).works:
        settings = work.materials[0].entry.request.recipe("numpy").largest
        drawn = settings.iterations * settings.batch
        beside = work.seconds - drawn / (100 * 4096 / 4.0)
        # beside training
        assert beside == pytest.approx(12.0)


def test_a_copy_elsewhere_and_a_touched_file_are_the_same(props, tmp_path):
    bake_all(props)
    for path in (props.parent / "props").iterdir():
        os.utime(path, (1, 1))
    shutil.copytree(props.parent, tmp_path / "copy", ignore=lambda *_: {"copy"})
    assert set(states(plan_of(tmp_path / "copy" / "scene.json")).values()) == {CURRENT}
    assert set(states(plan_of(props)).values()) == {CURRENT}


@pytest.mark.parametrize(
    ("file", "contents", "name", "reason"),
    [
        ("clay.mtlx", document("clay", colour="0, 0, 1"), "clay", "clay.mtlx has changed"),
        ("grain.png", "other pixels", "oak", "grain.png has changed"),
        ("map.exr", "other weights", "slate", "the importance map map.exr has changed"),
    ],
)
def test_a_changed_file_makes_its_own_material_stale(file, contents, name, reason, props):
    bake_all(props)
    (props.parent / "props" / file).write_text(contents)
    found = states(plan_of(props))
    assert found.pop(name) == ("stale", (reason,))
    assert set(found.values()) == {CURRENT}


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (Rule(request=BakeRequest(changes={"resolution": 64})), "resolution is 64, was 512"),
        (Rule(request=BakeRequest(changes={"draw": {"pairs": 4}})), "draw.pairs is 4, was 2"),
        (
            Rule(request=BakeRequest(preset="standard")),
            f"iterations is {STEPS['standard']}, was {STEPS['draft']}",
        ),
        (Rule(request=BakeRequest(time_limit=30.0)), "time_limit is 30.0, was None"),
        (Rule(request=BakeRequest(target="very good")), "target is very good, was None"),
    ],
)
def test_other_settings_make_it_stale_and_say_which(rule, reason, props):
    bake_all(props)
    for state, reasons in states(plan_of(props, rules=(rule,))).values():
        assert state == "stale"
        assert reason in reasons


@pytest.mark.parametrize("kind", list(Kind))
def test_a_bundle_of_any_kind_is_up_to_date_with_the_settings_of_its_kind(kind, props):
    bake_all(props, kind=kind)
    assert set(states(plan_of(props)).values()) == {CURRENT}
    found = states(plan_of(props, rules=(Rule(request=BakeRequest(changes={"seed": 7})),)))
    assert set(found.values()) == {("stale", ("seed is 7, was 0",))}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"verdigris": "0.0.1"}, "was made with verdigris 0.0.1, this is"),
        ({"materialx": "1.38"}, "was made with materialx 1.38, this is 1.39.5"),
        ({"stopped_by": "request"}, "its bake was ended early"),
        ({"settings": "none"}, "its manifest has no valid settings"),
        ({"settings": []}, "its manifest has no valid settings"),
    ],
)
def test_another_version_or_a_half_bake_is_stale(changes, reason, props):
    bake_all(props, **changes)
    for state, reasons in states(plan_of(props)).values():
        assert state == "stale"
        assert reason in reasons[0]


def test_a_bake_that_had_no_time_to_encode_is_up_to_date(props):
    rules = (
        Rule(request=BakeRequest(time_limit=30.0, changes={"resolution": 512, "encode_from": 512})),
    )
    wished = baked_settings(plan_of(props, rules=rules).materials[0].entry)

    def found(**changes):
        for each in plan_of(props, rules=rules).materials:
            write_baked(each, time_limit=30.0, settings={**wished, **changes})
        return set(states(plan_of(props, rules=rules)).values())

    assert found(encode_from=0, iterations=7) == {CURRENT}
    assert found(encode_from=1024) == {("stale", ("encode_from is 512, was 1024",))}
    # without a limit there is time enough
    for each in plan_of(props).materials:
        write_baked(each, settings={**baked_settings(each.entry), "encode_from": 0})
    assert all("encode_from is" in why[0] for _, why in states(plan_of(props)).values())


def test_what_either_trainer_made_is_up_to_date_unless_one_is_wanted(props):
    bake_all(props, trainer="tensor")
    assert set(states(plan_of(props)).values()) == {CURRENT}
    for state, reasons in states(plan_of(props, Choices(trainer="numpy"))).values():
        assert state == "stale"
        assert "was made by the trainer tensor, requested is numpy" in reasons


def test_what_verdigris_bake_gave_a_shared_decoder_is_stale(props):
    bake_all(props, decoder_shared_by=["clay"])
    assert set(states(plan_of(props)).values()) == {CURRENT}
    bake_all(props, decoder_shared_by=["clay", "oak"])
    for state, reasons in states(plan_of(props)).values():
        assert state == "stale"
        assert reasons == ("shares its decoder with 1 other, and should have its own",)
    # that of a group says of which
    groups = Choices(grouping=Grouping.BY_PLAN)
    bake_all(props, groups, decoder_shared_by=["clay", "oak"])
    assert states(plan_of(props, groups))["oak"] == CURRENT


def test_a_damaged_bundle_is_baked_again(props):
    bake_all(props)
    weights = props.parent / "baked" / "clay.vdg" / "weights.bin"
    weights.write_bytes(weights.read_bytes()[:100])
    state, reasons = states(plan_of(props))["clay"]
    assert state == "stale"
    assert "weights.bin: bytes are 100" in reasons[0]


def test_a_bundle_of_an_older_format_is_baked_again(props):
    bake_all(props)
    manifest = props.parent / "baked" / "clay.vdg" / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(
        re.sub(r'"version": "\d+\.\d+"', '"version": "3.0"', text, count=1), "utf-8"
    )
    state, (reason,) = states(plan_of(props))["clay"]
    assert state == "stale"
    assert reason.startswith("cannot be read: ")
    assert "version is '3.0'" in reason


def test_a_missing_image_breaks_its_own_material_alone(props):
    (props.parent / "props" / "grain.png").unlink()
    found = states(plan_of(props))
    state, (reason,) = found.pop("oak")
    assert state == "cannot be baked"
    assert "'grain.png' was not found" in reason
    assert {each for each, _ in found.values()} == {"not baked"}
    assert [work.task.name for work in plan_of(props).works] == ["clay", "slate"]


def test_a_setting_that_cannot_be_breaks_its_own_material_alone(props):
    rules = (Rule(match=("clay",), request=BakeRequest(changes={"resolution": 100})),)
    found = states(plan_of(props, rules=rules))
    assert found["clay"][0] == "cannot be baked"
    assert "resolution is 100: use a power of two" in found["clay"][1][0]
    assert found["oak"][0] == "not baked"


def test_materials_of_a_group_depend_on_each_other(props):
    rule = (Rule(match=("clay", "oak"), group="earth"),)
    choices = Choices(grouping=Grouping.BY_HAND)

    def planned():
        return make_plan(read(props, rules=rule), choices)

    (group,) = [work for work in planned().works if len(work.materials) > 1]
    assert group.task.name == "earth.group"
    # every batch holds both: each sees as many samples as alone
    assert group.task.request.recipe("numpy", 2).largest.iterations == 2 * STEPS["draft"]
    for each in planned().materials:
        write_baked(each)
    assert not planned().works
    (props.parent / "props" / "grain.png").write_bytes(b"other")
    found = states(planned())
    assert found["oak"][1][0] == "grain.png has changed"
    assert found["clay"] == ("stale", ("a material that shares the decoder of earth has changed",))
    assert found["slate"] == CURRENT
    # without sharing, each has to have its own again
    reasons = states(plan_of(props, rules=rule))["clay"][1]
    assert "shares its decoder, and should have its own" in reasons


def test_the_plan_groups_what_has_one_surface_and_equal_settings(props):
    # slate has a map of its own
    choices = Choices(grouping=Grouping.BY_PLAN)
    groups = {each.entry.name: each.group for each in plan_of(props, choices).materials}
    assert groups == {"clay": "standard_surface-1", "oak": "standard_surface-1", "slate": ""}
    rule = (Rule(match=("oak",), request=BakeRequest(changes={"resolution": 64})),)
    plan = make_plan(read(props, rules=rule), choices)
    assert {each.group for each in plan.materials} == {""}


def test_a_group_of_the_plan_takes_no_name_of_a_group_by_hand(tmp_path):
    folder = write_documents(tmp_path / "props", "clay", "oak", "pine", "slate")
    rules = [{"match": ["clay", "oak"], "group": "Standard_surface-1"}]
    scene = write_scene(tmp_path / "scene.json", [folder.name], rules=rules)
    plan = plan_of(scene, Choices(grouping=Grouping.BY_PLAN), out=tmp_path / "out")
    by_hand, by_plan = "Standard_surface-1", "standard_surface-2"
    assert [each.group for each in plan.materials] == [by_hand, by_hand, by_plan, by_plan]


@pytest.mark.parametrize("grouping", [Grouping.BY_HAND, Grouping.BY_PLAN])
def test_what_is_meant_alone_stays_in_its_group(grouping, tmp_path):
    folder = write_documents(tmp_path / "props", "clay", "oak", "pine", "slate")
    rules = [{"match": ["oak", "slate"], "group": "set"}]
    if grouping == Grouping.BY_PLAN:
        # the plan makes pairs in the scene's order: clay and oak, pine and slate
        rules = []
    scene = write_scene(tmp_path / "scene.json", [folder.name], rules=rules)
    choices = Choices(grouping=grouping, group_size=2)
    out = tmp_path / "out"
    for each in plan_of(scene, choices, out=out).materials:
        write_baked(each)
    plan = plan_of(scene, choices, out=out, only=("slate",))
    first = "oak" if grouping == Grouping.BY_HAND else "pine"
    assert states(plan) == {first: CURRENT, "slate": CURRENT}
    (folder / "slate.mtlx").write_text(document("slate", colour="0, 0, 1"))
    (work,) = plan_of(scene, choices, out=out, only=("slate",)).works
    assert [each.entry.name for each in work.materials] == [first, "slate"]


def test_a_group_with_different_wishes_is_refused(props):
    rules = (
        Rule(match=("clay", "oak"), group="earth"),
        Rule(match=("oak",), request=BakeRequest(changes={"resolution": 64})),
    )
    found = states(make_plan(read(props, rules=rules), Choices(grouping=Grouping.BY_HAND)))
    for name in ("clay", "oak"):
        assert found[name][0] == "cannot be baked"
        assert "clay and oak are to be baked differently" in found[name][1][0]


def test_files_are_read_once_until_they_change(props, tmp_path):
    for path in (props.parent / "props").iterdir():
        os.utime(path, (1e9, 1e9))
    cache = tmp_path / "cache"
    cache.mkdir()
    first, second = DigestCache(cache), DigestCache(cache)
    plan_of(props, hashes=first)
    # three documents, an image, a map
    assert first.read == 5
    second = DigestCache(cache)
    plan_of(props, hashes=second)
    assert second.read == 0
    (props.parent / "props" / "grain.png").write_bytes(b"PIXELS")
    third = DigestCache(cache)
    plan_of(props, hashes=third)
    assert third.read == 1


def test_a_file_that_is_young_is_read_again_as_it_may_change_unseen(tmp_path):
    path = tmp_path / "image"
    path.write_bytes(b"one")
    # it stays young however long this takes
    os.utime(path, (4e9, 4e9))
    state = path.stat()
    first = DigestCache(tmp_path)
    before = first(path)
    first.save()
    path.write_bytes(b"two")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert DigestCache(tmp_path)(path) != before


def test_a_hundred_materials_are_planned_in_three_seconds(tmp_path):
    for number in range(100):
        text = document(f"m{number}", file=f"i{number}.png")
        (tmp_path / f"d{number}.mtlx").write_text(text)
        (tmp_path / f"i{number}.png").write_bytes(bytes([number % 256]) * 4096)
    began = time.process_time()
    plan = plan_of(tmp_path, out=tmp_path / "baked")
    assert time.process_time() - began < 3
    assert len(plan.works) == 100
    assert {each.state for each in plan.materials} == {State.MISSING}


LONG = "n" * 300


@pytest.mark.parametrize("above", ["", "gone/"])
def test_a_folder_that_cannot_be_made_is_told_once(above, props, tmp_path):
    with pytest.raises(SettingsError) as refused:
        plan_of(props, out=tmp_path / f"{above}{LONG}")
    assert str(refused.value) == (
        f"{tmp_path}/{above}{LONG}: cannot be made (File name too long): choose another folder"
    )


def test_a_folder_of_a_rule_that_cannot_be_made_breaks_its_own_material(tmp_path):
    write_documents(tmp_path / "props", "clay", "slate")
    rules = [{"match": "slate", "out": LONG}, {"match": "clay", "importance": f"{LONG}.exr"}]
    scene = write_scene(tmp_path / "scene.json", ["props"], out="baked", rules=rules)
    assert states(plan_of(scene)) == {
        "clay": (
            "cannot be baked",
            (
                f"{tmp_path}/{LONG}.exr: cannot be read (File name too long): correct the path, "
                "or the file",
            ),
        ),
        "slate": (
            "cannot be baked",
            (
                f"{tmp_path}/baked/{LONG}/slate.vdg: cannot be made (File name too long): choose "
                "another folder",
            ),
        ),
    }
