"""Scenes whose materials have live inputs: named in the scene, or those of a bake by hand."""

import pytest

from verdigris.core.baking.bake_request import BakeRequest
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SceneError
from verdigris.core.batch.plan.plan import Choices, make_plan
from verdigris.core.batch.plan.task import Task
from verdigris.core.batch.run.bake_task import _compile
from verdigris.core.batch.scene.entry import Rule
from verdigris.core.batch.scene.scene import Grouping
from verdigris.core.material.live_inputs.live_input import parse_all_wanted

from .scenes import read, write_baked, write_documents, write_scene

ROUGH = "specular_roughness=0.1..0.9"


@pytest.fixture
def props(tmp_path):
    return write_documents(tmp_path / "props", "clay", "slate")


def plan_of(path, choices=None, **asked):
    return make_plan(read(path, **asked), choices)


def states(plan):
    return {each.entry.name: (str(each.state), each.reasons) for each in plan.materials}


CURRENT = ("up to date", ())


def test_a_scene_names_live_inputs_and_their_bundles_are_up_to_date(props, tmp_path):
    def scene(live):
        rules = [{"match": "*", "preset": "draft"}, {"match": "clay", "live": live}]
        return write_scene(tmp_path / "scene.json", ["props"], out="baked", rules=rules)

    path = scene(ROUGH)
    for each in plan_of(path).materials:
        write_baked(each)
    assert states(plan_of(path)) == {"clay": CURRENT, "slate": CURRENT}
    # more steps, as `bake --live` has them
    still, living = (
        each.entry.request.recipe("numpy").largest
        for each in sorted(plan_of(path).materials, key=lambda each: each.entry.name == "clay")
    )
    assert living.iterations == 1.5 * still.iterations and living.draw.live_inputs == 1
    found = states(plan_of(scene([f"{ROUGH}@0.2", "base_color=0,0,0..1,1,1"])))
    assert found["slate"] == CURRENT and found["clay"][0] == "stale"
    assert found["clay"][1][0].startswith("live inputs are specular_roughness=0.1..0.9@0.2, ")
    # closed again
    assert states(plan_of(scene([])))["clay"][0] == "stale"


def test_live_inputs_of_a_bake_by_hand_stay_where_a_scene_names_none(props, tmp_path):
    """`scene status` reported such bundles as out of date, and a run closed their inputs."""
    rules = (Rule(request=BakeRequest(live=parse_all_wanted([ROUGH]))),)
    out = tmp_path / "baked"
    for each in plan_of(props, out=out, rules=rules).materials:
        write_baked(each)
    assert states(plan_of(props, out=out)) == {"clay": CURRENT, "slate": CURRENT}
    # baked again for another reason, they stay open
    text = (props / "clay.mtlx").read_text()
    (props / "clay.mtlx").write_text(text.replace("0.7, 0.3", "0.6, 0.3"))
    plan = plan_of(props, out=out)
    assert states(plan)["clay"] == ("stale", ("clay.mtlx has changed",))
    (member,) = plan.works[0].task.members
    assert [*map(str, member.live)] == ["specular_roughness=0.1..0.9@0.5"]
    # an input that the material has lost is none
    (props / "clay.mtlx").write_text(
        text.replace("standard_surface", "gltf_pbr").replace("specular_roughness", "roughness")
    )
    plan = plan_of(props, out=out)
    assert states(plan)["clay"][0] == "stale"
    assert plan.works[0].task.members[0].live == ()


def test_a_bake_of_a_scene_opens_them(props, tmp_path):
    path = write_scene(
        tmp_path / "scene.json", [{"source": "props/clay.mtlx", "live": [ROUGH]}], out="baked"
    )
    (work,) = plan_of(path).works
    # as another process or machine reads it
    task = Task.from_json(work.task.as_json())
    (teacher,) = _compile(task, open_device("software"), lambda event: None)
    (live,) = teacher.live_inputs
    assert (live.name, live.low, live.high) == ("specular_roughness", (0.1,), (0.9,))


def test_materials_that_share_a_decoder_have_as_many(props, tmp_path):
    rules = [
        {"match": "*", "group": "stone"},
        {"match": "clay", "live": ROUGH},
        {"match": "slate", "live": "base_color=0,0,0..1,1,1"},
    ]
    choices = Choices(grouping=Grouping.BY_HAND)
    path = write_scene(tmp_path / "scene.json", ["props"], out="baked", rules=rules)
    (work,) = plan_of(path, choices).works
    assert [len(each.live) for each in work.task.members] == [1, 1]
    path = write_scene(tmp_path / "scene.json", ["props"], out="baked", rules=rules[:2])
    for state, (reason,) in states(plan_of(path, choices)).values():
        assert state == "cannot be baked" and "number of live inputs" in reason


@pytest.mark.parametrize(
    ("live", "told"),
    [
        ("wetness", r"rules\[0\]: live input 'wetness': use NAME=LOW..HIGH"),
        ([ROUGH, ROUGH], "specular_roughness is given twice"),
        (3, "it must be a text, or a list of texts"),
    ],
)
def test_a_request_that_makes_no_sense_names_its_rule(live, told, props, tmp_path):
    path = write_scene(
        tmp_path / "scene.json", ["props"], out="baked", rules=[{"match": "*", "live": live}]
    )
    with pytest.raises(SceneError, match=told):
        plan_of(path)


def test_an_input_that_a_material_lacks_is_told_of_it(props, tmp_path):
    rules = [{"match": "clay", "live": "rain=0..1"}]
    path = write_scene(tmp_path / "scene.json", ["props"], out="baked", rules=rules)
    state, (reason,) = states(plan_of(path))["clay"]
    assert state == "cannot be baked"
    assert "'rain' is not an input of material 'clay': it has base_color" in reason
