"""A scene is read from a JSON, a folder, a stage, or from what an application handed over."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from verdigris.core.base.errors import SceneError
from verdigris.core.batch.plan.plan import make_plan
from verdigris.core.batch.scene.scene import SceneOptions, read_scene
from verdigris.core.settings.presets import PRESETS

from .scenes import document, read, write_documents, write_scene

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
posix = pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
STAGE = """#usda 1.0
def Scope "Looks"
{
    def Material "clay"
    {
        token outputs:mtlx:surface.connect = </Looks/clay/SR.outputs:out>
        def Shader "SR"
        {
            uniform token info:id = "ND_standard_surface_surfaceshader"
            color3f inputs:base_color = (0.7, 0.3, 0.1)
            token outputs:out
        }
    }
    def Material "karma"
    {
        token outputs:mtlx:surface.connect = </Looks/karma/SR.outputs:out>
        def Shader "SR"
        {
            uniform token info:id = "kma_hair"
            token outputs:out
        }
    }
}
"""

PAINTED = """#usda 1.0
def Material "paint"
{
    token outputs:mtlx:surface.connect = </paint/SR.outputs:out>
    def Shader "SR"
    {
        uniform token info:id = "ND_standard_surface_surfaceshader"
        color3f inputs:base_color.connect = </paint/picture.outputs:out>
        token outputs:out
    }
    def Shader "picture"
    {
        uniform token info:id = "ND_image_color3"
        asset inputs:file = @FILE@
        color3f outputs:out
    }
}
"""


def write_stage(folder, file):
    """A stage whose material reads a file, and that of the layer `looks/paint.usda`."""
    (folder / "looks").mkdir(parents=True, exist_ok=True)
    (folder / "looks" / "paint.usda").write_text(PAINTED.replace("FILE", file))
    stage = folder / "set.usda"
    reference = '#usda 1.0\ndef "paint" (references = @./looks/paint.usda@</paint>) {}\n'
    stage.write_text(reference)
    return stage


def names(scene):
    return [entry.name for entry in scene.entries]


def test_a_folder_gives_every_material_below_it(tmp_path):
    write_documents(tmp_path / "a", "clay", "slate")
    (tmp_path / "a" / "two.mtlx").write_text(document("oak", "pine"))
    write_documents(tmp_path / "a" / "deep", "moss")
    write_documents(tmp_path / "a" / ".hidden", "secret")
    assert names(read(tmp_path / "a")) == ["clay", "moss", "slate", "oak", "pine"]


def test_a_document_for_others_to_include_is_no_failure(tmp_path):
    write_documents(tmp_path, "clay")
    (tmp_path / "library.mtlx").write_text('<materialx version="1.39"/>')
    assert names(read(tmp_path)) == ["clay"]


def test_a_broken_document_is_an_entry_that_says_why(tmp_path):
    write_documents(tmp_path, "clay", "slate")
    (tmp_path / "slate.mtlx").write_text("<materialx version='1.39'><")
    clay, slate = read(tmp_path).entries
    assert clay.problem == ""
    assert "slate.mtlx: not valid XML" in slate.problem


@posix
def test_what_is_no_file_is_told_and_not_waited_for(tmp_path):
    write_documents(tmp_path / "elsewhere", "clay")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "clay.mtlx").symlink_to("../elsewhere/clay.mtlx")
    os.mkfifo(tmp_path / "set" / "pipe.mtlx")
    scene = write_scene(tmp_path / "scene.json", ["set/*.mtlx"])
    for found in (read(tmp_path / "set"), read(scene), read(tmp_path / "set" / "pipe.mtlx")):
        *links, pipe = found.entries
        assert all((each.material, each.problem) == ("clay", "") for each in links)
        assert (pipe.name, pipe.problem) == (
            "pipe",
            f"{tmp_path}/set/pipe.mtlx: not a plain file: name another document, or remove it",
        )


@posix
def test_a_link_that_goes_round_breaks_its_own_material_alone(tmp_path):
    write_documents(tmp_path / "set", "clay")
    (tmp_path / "set" / "z.mtlx").symlink_to("z.mtlx")
    scene = write_scene(tmp_path / "scene.json", ["set"])
    for found in (read(tmp_path / "set"), read(scene)):
        clay, z = found.entries
        assert (clay.name, clay.problem) == ("clay", "")
        assert z.problem.startswith(f"{tmp_path}/set/z.mtlx: cannot be read")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_document_that_no_bundle_can_tell_of_is_not_baked(tmp_path):
    (tmp_path / os.fsdecode(b"a\xff.mtlx")).write_text(document("clay"))
    (tmp_path / "\u6728.mtlx").write_text(document("oak"))
    clay, oak = read(tmp_path).entries
    assert clay.problem.endswith("the file name is not Unicode: rename it")
    assert oak.problem == ""


def test_materials_of_one_name_get_that_of_their_document(tmp_path):
    (tmp_path / "wall.mtlx").write_text(document("clay", "slate"))
    (tmp_path / "roof.mtlx").write_text(document("Clay"))
    assert names(read(tmp_path)) == ["roof-Clay", "wall-clay", "slate"]


def test_the_materials_of_a_stage_come_as_documents(tmp_path):
    (tmp_path / "set.usda").write_text(STAGE)
    clay, karma = read(tmp_path / "set.usda").entries
    loaded = clay.source.load()
    (surface,) = (each for each in loaded.root.getNodes() if each.getType() == "surfaceshader")
    assert tuple(surface.getInputValue("base_color")) == pytest.approx((0.7, 0.3, 0.1))
    assert loaded.require_material(clay.material).name == "clay"
    assert "kma_hair" in karma.problem


def plan_of_one(path, out, **asked):
    (material,) = make_plan(read(path, out=out, **asked)).materials
    return str(material.state), material.reasons


@pytest.mark.parametrize("file", ["./grain.png", "../grain.png"])
def test_what_a_layer_names_may_lie_in_the_folder_of_the_stage_or_below(file, tmp_path):
    stage = write_stage(tmp_path / "set", file)
    (stage.parent / "looks" / file).write_bytes(b"pixels")
    assert plan_of_one(stage, tmp_path / "out") == ("not baked", ())


@posix
def test_what_a_stage_names_may_lie_beside_the_link_to_it(tmp_path):
    stage = tmp_path / "shot" / "set.usda"
    stage.parent.mkdir()
    (tmp_path / "published.usda").write_text(PAINTED.replace("FILE", "./grain.png"))
    stage.symlink_to("../published.usda")
    (stage.parent / "grain.png").write_bytes(b"pixels")
    assert plan_of_one(stage, tmp_path / "out") == ("not baked", ())


@pytest.mark.parametrize("file", ["{elsewhere}/grain.png", "../../elsewhere/grain.png"])
def test_a_texture_outside_is_refused_if_confined_of_a_stage_as_of_a_document(file, tmp_path):
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    (elsewhere / "grain.png").write_bytes(b"pixels")
    stage = write_stage(tmp_path / "set", file.format(elsewhere=elsewhere.as_posix()))
    beside = write_documents(stage.parent, "oak", file=f"{elsewhere.as_posix()}/grain.png")
    refused = (
        f"is {elsewhere / 'grain.png'}, outside of the allowed folders ({stage.parent}): "
        f"allow its folder with --search {elsewhere}"
    )
    for path in (stage, beside / "oak.mtlx"):
        state, (reason,) = plan_of_one(path, out, confined=True)
        assert (state, reason[-len(refused) :]) == ("cannot be baked", refused)
        for allowed in ({"search": (elsewhere,), "confined": True}, {}):
            assert plan_of_one(path, out, **allowed) == ("not baked", ())


def test_a_broken_stage_is_an_entry_that_says_why_in_one_place(tmp_path):
    write_documents(tmp_path, "clay")
    (tmp_path / "set.usda").write_text(STAGE.replace("token outputs:out", "token outputs:out }", 1))
    (tmp_path / "no.usda").write_text("garbage")
    scene = write_scene(tmp_path / "scene.json", ["clay.mtlx", "set.usda", "no.usda"])
    clay, stage, other = read(scene).entries
    assert clay.problem == ""
    assert f"{tmp_path}/set.usda:11:" in stage.problem
    assert "no.usda> is not a valid usda layer" in other.problem
    assert not any("line" in each.problem for each in (stage, other))


def test_what_an_application_handed_over_is_a_scene(tmp_path):
    write_documents(tmp_path, "clay")
    summary = {
        "scene": "set.ma",
        "host": "Maya",
        "materials": [
            {
                "name": "clay",
                "key": "|clay",
                "status": "handed over",
                "document": "clay.mtlx",
                "search": [str(tmp_path / "images")],
                "notes": ["a reroute was left out"],
                "live": ["wetness=0..1"],
            },
            {"name": "lambert", "status": "failed", "error": "is no MaterialX"},
        ],
    }
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    clay, lambert = read(tmp_path / "summary.json").entries
    assert (clay.name, clay.material, clay.notes) == ("clay", "clay", ("a reroute was left out",))
    assert clay.source.search == (tmp_path / "images",)
    assert [str(each) for each in clay.request.live] == ["wetness=0..1"]
    # as everything else, the scene file decides
    rules = [{"match": "*", "live": "age=0..2"}]
    scene = write_scene(tmp_path / "scene.json", ["summary.json"], rules=rules)
    assert [str(each) for each in read(scene).entries[0].request.live] == ["age=0..2"]
    assert lambert.problem == "is no MaterialX"


def test_later_rules_stand_in_place_of_earlier_ones_and_the_source_of_all(tmp_path):
    write_documents(tmp_path / "props", "hero_oak", "oak", "pine")
    scene = write_scene(
        tmp_path / "scene.json",
        [
            {"source": "props/pine.mtlx", "settings": {"seed": 7}, "out": "trees"},
            {"source": "props/*oak.mtlx"},
        ],
        rules=[
            {"match": "*", "preset": "draft", "settings": {"resolution": 32, "draw": {"pairs": 2}}},
            {"match": "hero_*", "preset": "final", "settings": {"draw": {"mirror_share": 0.2}}},
            {"match": ["*oak"], "importance": "maps/{name}.exr"},
            {"match": "oak", "importance": ""},
        ],
    )
    entries = {entry.name: entry for entry in read(scene).entries}
    by_name = {name: entry.request for name, entry in entries.items()}
    hero = by_name["hero_oak"].recipe("numpy").largest
    final = PRESETS["numpy"]["final"].largest
    assert (hero.network, hero.resolution) == (final.network, 32)
    assert (hero.draw.pairs, hero.draw.mirror_share) == (2, 0.2)
    assert hero.draw.coarse_share == final.draw.coarse_share
    assert by_name["hero_oak"].importance == tmp_path / "maps" / "hero_oak.exr"
    assert by_name["oak"].importance is None
    assert by_name["pine"].recipe("tensor").largest.seed == 7
    assert entries["pine"].folder == "trees"


def test_a_source_and_a_rule_change_only_the_fields_of_draw_that_they_name(tmp_path):
    write_documents(tmp_path, "clay")
    source = {"source": "clay.mtlx", "settings": {"draw": {"pairs": 2}, "quantise_share": 0.2}}
    rule = {"preset": "standard", "settings": {"draw": {"finest_width": 0.5}}}
    (clay,) = read(write_scene(tmp_path / "scene.json", [source], rules=[rule])).entries
    standard = PRESETS["numpy"]["standard"].largest
    draw = replace(standard.draw, pairs=2, finest_width=0.5)
    assert clay.request.recipe("numpy").largest == replace(standard, draw=draw, quantise_share=0.2)


def test_what_a_source_says_is_for_its_own_materials_alone(tmp_path):
    (tmp_path / "wall.mtlx").write_text(document("clay"))
    (tmp_path / "roof.mtlx").write_text(document("clay"))
    scene = write_scene(
        tmp_path / "scene.json", [{"source": "wall.mtlx", "settings": {"seed": 5}}, "roof.mtlx"]
    )
    wall, roof = read(scene).entries
    assert (wall.name, roof.name) == ("wall-clay", "roof-clay")
    assert (
        wall.request.recipe("numpy").largest.seed,
        roof.request.recipe("numpy").largest.seed,
    ) == (5, 0)


@pytest.mark.parametrize("text", [None, '<materialx version="1.39"/>'])
def test_a_folder_that_holds_no_material_is_told_as_such(text, tmp_path):
    folder = tmp_path / "wrong"
    folder.mkdir()
    if text is not None:
        (folder / "library.mtlx").write_text(text)
    file = write_scene(tmp_path / "scene.json", ["wrong"])
    for scene in (folder, file):
        with pytest.raises(SceneError, match=f"^{scene}: has no material: name documents"):
            read(scene)


def test_some_materials_can_be_left_out_and_some_alone_be_meant(tmp_path):
    write_documents(tmp_path / "props", "oak", "pine", "old_pine")
    rules = [{"match": "old_*", "skip": True}]
    scene = write_scene(tmp_path / "scene.json", ["props"], rules=rules)
    assert names(read(scene)) == ["oak", "pine"]
    assert names(read(scene, only=("p*",))) == ["pine"]
    with pytest.raises(
        SceneError, match="no material is selected: its materials are oak, old_pine"
    ):
        read(scene, only=("q*",))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"scene": 2}, "scene is 2: this reads version 1"),
        ({"scene": True}, "scene is True: this reads version 1"),
        ({"sources": []}, "sources is empty"),
        ({"sources": ["gone.mtlx"]}, "gone.mtlx: there is no such file"),
        ({"sources": ["*.gone"]}, "matches no file"),
        ({"sources": [f"{'a' * 300}*.gone"]}, "matches no file"),
        ({"sources": [f"{'a' * 300}/*.gone"]}, "cannot be searched (File name too long)"),
        (
            {"sources": ["**paint.mtlx"]},
            "/**paint.mtlx: ** matches whole folders: write it alone between /, or use *",
        ),
        (
            {"sources": [{"source": "clay.mtlx", "metrial": "clay"}]},
            "sources[0].metrial' is not known: use one of",
        ),
        ({"sources": [{"source": "clay.mtlx", "materials": "x"}]}, "no material is called x"),
        ({"rules": [{"match": "*", "out": "../up"}]}, "out is '../up': use a folder below"),
        (
            {"rules": [{"match": "*", "time_limit": -1}]},
            "time_limit is -1: it must be a number above 0",
        ),
        ({"rules": [{"match": 3}]}, "match is 3: it must be a text, or a list of texts"),
        ({"rules": {"match": "*"}}, "rules is"),
        (
            {"rules": [{"match": "c*"}, {"match": ["cly", "slate"]}]},
            "scene.json: rules[1]: match: no bundle matches cly, slate: its bundles are clay",
        ),
        (
            {"packs": {"set.vdg": ["clay", "cly"]}},
            "scene.json: packs.set.vdg: no bundle matches cly: its bundles are clay",
        ),
        ({"packs": {"a/b.vdg": "*"}}, "'a/b.vdg' is not a valid file name"),
        ({"packs": {"Clay.vdg": "*"}}, "'Clay.vdg' is the bundle of the material clay: choose"),
        ({"sources": [""]}, "sources[0]: source is empty: name a document"),
        ({"sources": [{"preset": "draft"}]}, "sources[0]: source is empty: name a document"),
        ({"sources": ["n" * 300]}, "cannot be read (File name too long): correct the path"),
        ({"sources": [{"source": "clay.mtlx", "name": ".."}]}, "'..' is not a file name"),
        ({"sources": [{"source": "clay.mtlx", "name": "a\nb"}]}, "is not a file name: leave"),
        (
            {"sources": [{"source": "clay.mtlx", "name": "n" * 201}]},
            "bytes: choose one with at most",
        ),
        ({"rules": [{"group": "../../wood"}]}, "group: the name '../../wood' is not a file name"),
        ({"rules": [{"out": "a\0b"}]}, "out is 'a\\x00b': leave out characters"),
        ({"rules": [{"out": "a\ud800"}]}, "out is 'a\\ud800': leave out characters"),
        ({"out": "\ud800"}, "out is '\\ud800': leave out characters"),
        ({"search": ["nowhere"]}, "scene.json: search: the folder"),
        (
            {"search": ["nowhere"]},
            "nowhere cannot be read (No such file or directory): correct it, or leave it out",
        ),
        ({"search": ["clay.mtlx"]}, "clay.mtlx is not a folder: correct it, or leave it out"),
        ({"search": ["n" * 300]}, "cannot be read (File name too long): correct it, or leave"),
        (
            {"sources": [{"source": "clay.mtlx", "search": "nowhere"}]},
            "scene.json: sources[0].search: the folder",
        ),
        ({"search": ["a\0b"]}, "search is ['a\\x00b']: it must be a text, or a list of texts"),
        ({"rules": [{"time_limit": float("inf")}]}, "Infinity is not a JSON number"),
        ({"rules": [{"target_error": 10**400}]}, "it must be a number above 0"),
        (
            {"rules": [{"target": "fine"}]},
            "scene.json: rules[0]: target 'fine' is not known: use one of good, very good",
        ),
        (
            {"rules": [{"settings": {}}, {"settings": {"resolution": 100}}]},
            "scene.json: rules[1]: resolution is 100: use a power of two from 4 to 8192",
        ),
        (
            {"sources": [{"source": "clay.mtlx", "settings": {"draw": {"mirror_share": 2}}}]},
            "scene.json: sources[0]: mirror_share is 2.0: use 0 to less than 1",
        ),
        (
            {"rules": [{"settings": {"resolutoin": 64}}]},
            "settings: 'resolutoin' is not known: use one",
        ),
        ({"rules": [{"settings": {"network": "9x9"}}]}, "rules[0]: network is '9x9': use one of"),
        ({"rules": [{"settings": {"activation": "tanh"}}]}, "'tanh'"),
        ({"rules": [{"preset": "drift"}]}, "rules[0]: preset 'drift' is not known: use one of"),
    ],
)
def test_a_wrong_field_is_named_with_what_would_be_right(fields, message, tmp_path):
    write_documents(tmp_path, "clay")
    values = {"scene": 1, "sources": ["clay.mtlx"], **fields}
    (tmp_path / "scene.json").write_text(json.dumps(values))
    with pytest.raises(SceneError) as caught:
        read_scene(tmp_path / "scene.json")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ('{"scene": 1, "sources": ["clay.mtlx"], "rules": [], "rules": []}', "rules"),
        ('{"scene": 1, "sources": ["clay.mtlx"], "rules": [{"out": "a", "out": "b"}]}', "out"),
    ],
)
def test_a_field_that_is_given_twice_is_named(text, twin, tmp_path):
    write_documents(tmp_path, "clay")
    (tmp_path / "scene.json").write_text(text)
    with pytest.raises(SceneError, match=f"scene.json: '{twin}' is given twice: leave one out"):
        read(tmp_path / "scene.json")


def test_a_pattern_for_a_document_that_is_broken_stops_no_other_material(tmp_path):
    write_documents(tmp_path, "clay")
    (tmp_path / "woods.mtlx").write_text("<materialx version='1.39'><")
    rules, packs = [{"match": "oak", "preset": "draft"}], {"set.vdg": ["clay", "oak"]}
    scene = write_scene(tmp_path / "scene.json", ["*.mtlx"], rules=rules, packs=packs)
    clay, woods = read(scene).entries
    assert (clay.problem, "not valid XML" in woods.problem) == ("", True)


def test_a_pattern_for_what_is_left_out_is_told_for_a_pack_and_taken_for_a_rule(tmp_path):
    write_documents(tmp_path, "clay", "old")
    fields = {"rules": [{"match": "old", "skip": True}], "packs": {"set.vdg": ["clay"]}}
    scene = write_scene(tmp_path / "scene.json", ["clay.mtlx", "old.mtlx"], **fields)
    assert names(read(scene)) == ["clay"]
    fields["packs"] = {"set.vdg": ["clay", "old"]}
    scene = write_scene(tmp_path / "scene.json", ["clay.mtlx", "old.mtlx"], **fields)
    with pytest.raises(SceneError, match="no bundle matches old: its bundles are clay"):
        read(scene)


def test_a_materials_name_is_mistyped_also_where_another_of_the_stage_cannot_be_baked(tmp_path):
    (tmp_path / "set.usda").write_text(STAGE)
    scene = write_scene(tmp_path / "scene.json", ["set.usda"], rules=[{"match": "cly"}])
    with pytest.raises(SceneError, match="no bundle matches cly: its bundles are clay, karma"):
        read(scene)


def test_a_bracket_in_a_pattern_is_itself(tmp_path):
    write_documents(tmp_path, "clay")
    sources = [
        {"source": "clay.mtlx", "name": name, "settings": {"seed": seed}}
        for seed, name in enumerate(["hero [1]", "hero 1", "hero ?"], 1)
    ]
    rules = [{"match": "hero [1]", "preset": "draft"}]
    scene = write_scene(tmp_path / "scene.json", sources, rules=rules)
    assert [each.request.preset for each in read(scene).entries] == ["draft", None, None]
    assert [each.request.changes["seed"] for each in read(scene).entries] == [1, 2, 3]
    assert names(read(scene, only=("hero [1]",))) == ["hero [1]"]
    assert names(read(scene, only=("*[?]",))) == ["hero [1]"]
    assert names(read(scene, only=("hero \\?",))) == ["hero ?"]
    assert names(read(scene, only=("hero ?",))) == ["hero 1", "hero ?"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"small_resolution": 1024}, {"encode_from": 2048}),
        ({"encode_from": 128}, {"small_resolution": 64}),
        ({"batch": 4095}, {"draw": {"pairs": 3}}),
    ],
)
def test_settings_that_only_go_with_those_of_other_rules_are_taken(first, second, tmp_path):
    write_documents(tmp_path, "clay")
    for rules in ((first, second), (second, first)):
        scene = write_scene(
            tmp_path / "scene.json", ["clay.mtlx"], rules=[{"settings": each} for each in rules]
        )
        (clay,) = make_plan(read(scene, out=tmp_path / "out")).materials
        assert str(clay.state) == "not baked"


def test_a_name_that_is_too_long_breaks_its_own_material_alone(tmp_path):
    write_documents(tmp_path, "clay", "n" * 201)
    clay, long = make_plan(read(tmp_path, out=tmp_path / "out")).materials
    assert str(clay.state) == "not baked"
    assert str(long.state) == "cannot be baked"
    assert "has 201 bytes: choose one with at most 200" in long.reasons[0]


def test_only_what_the_scene_says_is_a_pattern(tmp_path):
    folder = write_documents(tmp_path / "show [v2]" / "set", "clay").parent
    write_documents(folder / "take[1]", "oak")
    write_documents(folder / "take1", "pine")
    scene = write_scene(folder / "scene.json", ["set/*.mtlx", "take[1]", f"{folder}/t*1/p*.mtlx"])
    assert names(read(scene)) == ["clay", "oak", "pine"]


def test_a_material_that_two_sources_name_is_one_unless_they_give_it_names(tmp_path):
    write_documents(tmp_path / "props", "clay", "oak")
    sources = [
        {"source": "props", "preset": "draft", "settings": {"seed": 3}},
        {"source": "props/../props/oak.mtlx", "preset": "final"},
        {"source": "props/oak.mtlx", "name": "far_oak", "settings": {"seed": 9}},
    ]
    clay, oak, far = read(write_scene(tmp_path / "scene.json", sources)).entries
    assert [entry.name for entry in (clay, oak, far)] == ["clay", "oak", "far_oak"]
    assert [entry.request.preset for entry in (clay, oak, far)] == ["draft", "final", None]
    assert [entry.request.changes["seed"] for entry in (clay, oak, far)] == [3, 3, 9]


def test_paths_of_another_machine_become_those_of_this_one(tmp_path):
    write_documents(tmp_path / "here", "clay")
    (tmp_path / "here" / "images").mkdir()
    scene = write_scene(tmp_path / "scene.json", ["/farm/clay.mtlx"], search=["/farm/images"])
    found = read(scene, to_here=lambda path: path.replace("/farm", str(tmp_path / "here")))
    assert found.entries[0].source.search == (tmp_path / "here" / "images",)


def test_what_was_handed_over_on_another_machine_is_found_on_this_one(tmp_path):
    write_documents(tmp_path / "here", "clay")
    handed = {"name": "clay", "status": "handed over", "document": "/farm/clay.mtlx"}
    handed["search"] = ["/farm/images"]
    (tmp_path / "summary.json").write_text(json.dumps({"materials": [handed]}))
    scene = write_scene(tmp_path / "scene.json", ["summary.json"])
    for path in (tmp_path / "summary.json", scene):
        (clay,) = read(path, to_here=lambda each: each.replace("/farm", f"{tmp_path}/here")).entries
        assert (clay.problem, clay.material) == ("", "clay")
        assert clay.source.search == (tmp_path / "here" / "images",)


def test_the_examples_are_a_scene():
    assert len(read(EXAMPLES).entries) >= 10


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"out": "../../x"}, "out"),
        ({"out": "/tmp/x"}, "out"),
        ({"out": "linked"}, "out"),
        ({"search": [".."]}, "scene.json"),
        ({"sources": ["../other/clay.mtlx"]}, "scene.json"),
        ({"sources": ["../oth*/*.mtlx"]}, "scene.json"),
        ({"sources": [{"source": "set/clay.mtlx", "search": ["/"]}]}, "scene.json"),
        ({"rules": [{"importance": "../other/{name}.exr"}]}, "importance"),
        ({"rules": [{"directions": "../other/table.json"}]}, "directions"),
    ],
)
def test_a_confined_scene_names_nothing_outside_of_its_folder(tmp_path, fields, field):
    write_documents(tmp_path / "other", "clay")
    write_documents(tmp_path / "own" / "set", "clay")
    if "linked" in fields.values():
        try:
            (tmp_path / "own" / "linked").symlink_to(tmp_path / "other")
        except OSError:
            pytest.skip("this system lets nobody link")
    given = {"sources": ["set/clay.mtlx"], **fields}
    scene = write_scene(tmp_path / "own" / "scene.json", given.pop("sources"), **given)
    # without --confined, a scene is the user's own
    assert read_scene(scene).entries
    with pytest.raises(SceneError, match=rf"{field}.*(outside of|must be below)"):
        read_scene(scene, SceneOptions(confined=True))


def test_a_confined_scene_may_name_files_of_the_folders_of_search(tmp_path):
    write_documents(tmp_path / "other", "clay")
    (tmp_path / "own").mkdir()
    scene = write_scene(tmp_path / "own" / "scene.json", ["../other/clay.mtlx"], out="baked")
    found = read_scene(scene, SceneOptions(search=(tmp_path / "other",), confined=True))
    assert not found.entries[0].problem
    assert found.out == tmp_path / "own" / "baked"
    # they are read, and not written to
    write_scene(scene, ["../other/clay.mtlx"], out="../other")
    with pytest.raises(SceneError, match=r"out is '\.\./other': with --confined it must be below"):
        read_scene(scene, SceneOptions(search=(tmp_path / "other",), confined=True))
    given = tmp_path / "given"
    options = SceneOptions(given, (tmp_path / "other",), confined=True)
    assert read_scene(scene, options).out == given


def test_a_confined_hand_over_names_nothing_outside_of_its_folder(tmp_path):
    write_documents(tmp_path / "other", "clay")
    write_documents(tmp_path / "own", "clay")
    summary = tmp_path / "own" / "summary.json"
    clay = {"name": "clay", "status": "handed over", "document": "clay.mtlx"}
    for changes in ({"document": "../other/clay.mtlx"}, {"search": ["/"]}):
        summary.write_text(json.dumps({"materials": [clay | changes]}))
        assert read_scene(summary).entries
        with pytest.raises(SceneError, match="outside of"):
            read_scene(summary, SceneOptions(confined=True))


@posix
@pytest.mark.parametrize("source", ["set", "set/clay.mtlx", "set/*.mtlx"])
def test_a_linked_document_of_a_confined_scene_has_a_problem(tmp_path, source):
    write_documents(tmp_path / "other", "clay")
    (tmp_path / "own" / "set").mkdir(parents=True)
    (tmp_path / "own" / "set" / "clay.mtlx").symlink_to(tmp_path / "other" / "clay.mtlx")
    scene = write_scene(tmp_path / "own" / "scene.json", [source])
    assert not read_scene(scene).entries[0].problem
    try:
        (entry,) = read_scene(scene, SceneOptions(confined=True)).entries
    except SceneError as failure:
        assert "outside of" in str(failure)
    else:
        assert "outside of" in entry.problem


@pytest.mark.parametrize("is_confined", [False, True])
def test_a_source_with_a_null_character_is_refused(tmp_path, is_confined):
    path = write_scene(tmp_path / "scene.json", ["a\0b"])
    with pytest.raises(SceneError, match="there is no such file"):
        read_scene(path, SceneOptions(confined=is_confined))
