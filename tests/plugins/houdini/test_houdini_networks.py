"""Materials of networks in every place, and results that a scene file keeps."""

import importlib
from pathlib import Path

import pytest

from verdigris.core.base.errors import DocumentError, HostError
from verdigris.core.hosts.host import BakedResult, MakesTextures

from ..hosts import by_name
from .scenes import LIBRARY, PLATE, USD_DATA, visible

PREVIEW = """#usda 1.0
def Scope "materials" {
    def Material "clay" {
        token outputs:surface.connect = </materials/clay/preview.outputs:surface>
        def Shader "preview" {
            uniform token info:id = "UsdPreviewSurface"
            float inputs:roughness = 0.4
            token outputs:surface
        }
    }
}
"""
MATNET, KARMA = "/obj/plate/matnet1", "/obj/plate/matnet1/karma"


@pytest.fixture
def scene(houdini, host):
    """A builder in a matnet of an object, one in a subnet, a preview surface, and a library that
    is not displayed."""
    houdini.add(MATNET, "matnet")
    houdini.add_builder(KARMA, "kma", "mtlxopen_pbr_surface")
    houdini.add(f"{MATNET}/more", "subnet")
    houdini.add_builder(f"{MATNET}/more/brass", "mtlx", "mtlxstandard_surface")
    houdini.add("/mat/plastic", "usdpreviewsurface", material=True)
    houdini.add("/mat/pair", "collect", material=True, input="/mat/plastic")
    houdini.add("/mat/clay", "redshift_vopnet", material=True)
    houdini.add("/stage/library", "materiallibrary")
    houdini.add_builder("/stage/library/glass", "kma", "mtlxstandard_surface")
    for path in (KARMA, f"{MATNET}/more/brass", "/mat/plastic", "/stage/library/glass"):
        houdini.stages[path] = houdini.stages["/mat/gold"]
    return houdini


def networks(host):
    return [each.key for each in host.materials() if ":" not in each.key]


def test_materials_of_networks_are_listed_wherever_they_are(scene, host):
    assert networks(host) == [
        "/mat/gold",
        "/mat/plastic",
        "/mat/pair",
        KARMA,
        f"{MATNET}/more/brass",
        "/stage/library/glass",
        "/mat/clay",
    ]


@pytest.mark.parametrize(
    ("kind", "renderer"),
    [
        ("redshift_vopnet", "Redshift"),
        ("vray_vop_material", "V-Ray"),
        ("pxrmaterialbuilder", "RenderMan"),
        ("octane_vopnet", "Octane"),
        ("arnold_materialbuilder", "Arnold"),
        ("materialbuilder", "Mantra"),
    ],
)
def test_a_material_of_another_renderer_is_listed_last_with_the_reason(scene, host, kind, renderer):
    scene.nodes["/mat/clay"]["type"] = kind
    *others, clay = [each for each in host.materials() if ":" not in each.key]
    assert clay.key == "/mat/clay" and not any(each.problem for each in others)
    assert clay.problem.startswith(f"is a material of {renderer}: build it with MtlX nodes")
    before = scene.state()
    with pytest.raises(HostError, match=f"/mat/clay is a material of {renderer}: build it"):
        host.document(clay)
    assert scene.state() == before
    # what is inside of another's asset is none of the artist's business
    scene.nodes["/mat/clay"]["locked"] = True
    assert "/mat/clay" not in networks(host)


def test_a_library_on_the_displayed_stage_is_listed_once(scene, host, tmp_path):
    scene.add_builder("/stage/library/nested", "mtlx", "mtlxstandard_surface")
    assert "/stage/library/nested" in networks(host)
    # the displayed node reads the library
    scene.nodes[LIBRARY]["input"] = "/stage/library"
    assert "/stage/library/nested" not in networks(host)
    assert by_name(host, "nested").key == f"{LIBRARY}:/materials/nested"
    # the stage does not have this one
    assert "/stage/library/glass" in networks(host)


@pytest.fixture
def builder(scene, tmp_path):
    """A Karma builder as a Material Library translates it: the material of the fixture."""
    text = (USD_DATA / "karma.usda").read_text()
    text = text.replace('"builder"', '"karma"').replace("/builder", "/karma")
    (tmp_path / "karma.usda").write_text(text)
    scene.stages[KARMA] = str(tmp_path / "karma.usda")
    return scene


def test_a_material_of_the_karma_builder_is_translated_by_a_temporary_library(builder, host):
    before = visible(builder)
    found = host.document(by_name(host, "karma"))
    assert found.material == "karma"
    # its surface is on the output kma:surface alone
    assert 'nodedef="ND_standard_surface_surfaceshader"' in found.text
    assert 'nodedef="ND_image_color3"' in found.text
    assert visible(builder) == before


def test_materials_of_the_karma_builder_are_listed_and_nodes_of_karma_named(scene, host):
    scene.stages[LIBRARY] = str(USD_DATA / "karma.usda")
    assert {"builder", "several"} <= {each.name for each in host.materials()}
    # of several outputs, that for MaterialX
    assert 'value="0, 1, 0"' in host.document(by_name(host, "several")).text
    worn = host.document(by_name(host, "worn"))
    assert any("'kma_curvature', a node of Karma only" in note for note in worn.notes)
    with pytest.raises(DocumentError, match="'kma_hair' is a node of Karma only"):
        host.document(by_name(host, "hair"))
    found = host.document(by_name(host, "hair_with_preview"))
    assert any("'kma_hair'" in note for note in found.notes)


def test_several_materials_are_selected_at_once(scene, host):
    def selected(*paths):
        scene.selection = list(paths)
        return [each.key for each in host.selected_materials()]

    assert selected("/mat/gold", KARMA) == ["/mat/gold", KARMA]
    # a shader inside of a builder, and a whole network
    assert selected(f"{KARMA}/surface") == [KARMA]
    assert selected(MATNET) == [KARMA, f"{MATNET}/more/brass"]
    # an object: its material, and those of its network
    assert selected(PLATE) == ["/mat/gold", KARMA, f"{MATNET}/more/brass"]
    assert selected() == []


def test_a_selected_node_of_a_library_stands_for_the_material_on_the_stage(scene, host):
    scene.add_builder("/stage/library/nested", "mtlx", "mtlxstandard_surface")
    scene.nodes[LIBRARY]["input"] = "/stage/library"
    scene.selection = ["/stage/library/nested/surface"]
    assert [each.key for each in host.selected_materials()] == [f"{LIBRARY}:/materials/nested"]


@pytest.mark.parametrize("path", ["matnet1/karma", KARMA])
def test_an_object_may_name_its_material_relative_to_itself(scene, host, path):
    scene.nodes[PLATE]["parms"]["shop_materialpath"] = path
    assert host.meshes(by_name(host, "karma")) == (PLATE,)
    assert host.meshes(by_name(host, "gold")) == ()


def test_polygons_may_name_their_material_relative_to_the_object(scene, host):
    scene.nodes[PLATE]["parms"]["shop_materialpath"] = ""
    geometry = scene.geometries["/obj/plate/shape"]
    geometry["prims"]["shop_materialpath"] = ["matnet1/karma", "/mat/other"]
    karma = by_name(host, "karma")
    assert host.meshes(karma) == (PLATE,)
    assert len(host.mesh(PLATE, karma).uv) == 2


def test_objects_in_subnets_are_meshes_of_their_material(scene, host):
    import fake_houdini

    scene.add("/obj/set", "subnet")
    scene.add("/obj/set/lid", "geo")
    scene.nodes["/obj/set/lid"]["parms"]["shop_materialpath"] = KARMA
    scene.add("/obj/set/lid/shape", "null", display=True)
    scene.geometries["/obj/set/lid/shape"] = fake_houdini.plate()
    assert host.meshes(by_name(host, "karma")) == ("/obj/set/lid",)


def test_a_result_of_a_matnet_is_found_again_in_the_saved_scene(scene, harness, tmp_path):
    host, file = harness.host, Path(harness.houdini.path)
    karma = by_name(host, "karma")
    host.attach(karma, BakedResult(tmp_path / "karma.vdg"))
    host.save_scene()
    scene.hou.hipFile.clear(suppress_save_prompt=True)
    assert not networks(host)
    host.open_scene(file)
    assert by_name(host, "karma") == karma
    assert host.attached(by_name(host, "karma")) == tmp_path / "karma.vdg"
    assert host.attached(by_name(host, "brass")) is None


def test_nodes_upstream_that_are_not_translated_are_named(scene, host):
    """Code in VEX inside of a builder and of a subnet in it, and nothing that is not connected."""
    noise = scene.add(f"{KARMA}/noise", "turbnoise")
    scene.nodes[f"{KARMA}/surface"]["input"] = scene.add(f"{KARMA}/look", "subnet")
    scene.add(f"{KARMA}/look/out", "suboutput", input=f"{KARMA}/look/code")
    scene.add(f"{KARMA}/look/code", "snippet", input=noise)
    scene.add(f"{KARMA}/stray", "turbnoise")
    gold = Path(scene.stages["/mat/gold"])
    gold.with_name("karma.usda").write_text(gold.read_text().replace("gold", "karma"))
    scene.stages[KARMA] = str(gold.with_name("karma.usda"))
    notes = host.document(by_name(host, "karma")).notes
    named = [note.partition(" is not a node of MaterialX")[0] for note in notes if "plain" in note]
    assert named == [f"{KARMA}/look/code (snippet)", f"{KARMA}/noise (turbnoise)"]
    # nodes of Karma that Houdini leaves out, and one that changes no reflection
    scene.nodes[noise]["input"] = scene.add(f"{KARMA}/worn", "kma_curvature")
    scene.add(f"{KARMA}/settings", "kma_material_properties")
    scene.add(f"{KARMA}/properties_output", "subnetconnector", input=f"{KARMA}/settings")
    notes = host.document(by_name(host, "karma")).notes
    (worn,) = [note for note in notes if "kma_curvature" in note]
    assert worn.startswith(f"{KARMA}/worn (kma_curvature) is not a node of MaterialX")
    (settings,) = [note for note in notes if "kma_material_properties" in note]
    assert settings.endswith("sets properties of Karma alone, which a bake does not need")


def test_a_principled_shader_is_read_as_its_preview_and_names_what_is_lost(scene, host, tmp_path):
    scene.nodes["/mat/clay"]["type"] = "principledshader::2.0"
    scene.nodes["/mat/clay"]["parms"] = {"rough": 0.4, "sheen": 0.5, "coat": ""}
    scene.nodes["/mat/clay"]["preview"] = ["rough", "basecolor"]
    (tmp_path / "clay.usda").write_text(PREVIEW)
    scene.stages["/mat/clay"] = str(tmp_path / "clay.usda")
    found = host.document(by_name(host, "clay"))
    assert 'name="roughness" type="float" value="0.4"' in found.text
    (note,) = [note for note in found.notes if "/mat/clay" in note]
    assert note.endswith("the USD Preview Surface that Houdini makes of it, without sheen")


def test_an_image_of_a_cop_is_named_with_the_way_to_a_file(scene, host, tmp_path):
    text = (
        Path(scene.stages["/mat/gold"])
        .read_text()
        .replace(
            "color3f inputs:base_color = (0.9, 0.6, 0.2)",
            "color3f inputs:base_color.connect = </materials/gold/paint.outputs:out>",
        )
    )
    shader = """def Shader "paint" {
            uniform token info:id = "ND_image_color3"
            asset inputs:file = @op:/img/rust/out@
            color3f outputs:out
        }
        def Shader "surface" {"""
    (tmp_path / "cop.usda").write_text(text.replace('def Shader "surface" {', shader))
    scene.stages["/mat/gold"] = str(tmp_path / "cop.usda")
    found = host.document(by_name(host, "gold"))
    assert "op:" not in found.text
    (note,) = [note for note in found.notes if "/img/rust/out" in note]
    assert note.startswith("the image paint is computed by /img/rust/out") and "ROP Image" in note
    assert not any("op:" in str(folder) for folder in found.search)


def test_every_lop_network_and_every_place_of_materials_is_searched_once(scene, host, tmp_path):
    """A LOP network in an object, an asset's own network, and nodes of Solaris that hold VOPs."""
    scene.add("/obj/look", "lopnet")
    scene.add("/obj/look/shown", "null", display=True)
    scene.stages["/obj/look/shown"] = str(tmp_path / "gold.usda")
    scene.add("/shop", "shop")
    scene.add("/shop/old", "mtlxstandard_surface", material=True)
    scene.add("/stage/edit", "editmaterial")
    scene.add_builder("/stage/edit/edited", "mtlx", "mtlxstandard_surface")
    asset = scene.add("/obj/asset", "geo", locked=True)
    scene.add(f"{asset}/matnet", "matnet", locked=True)
    scene.add(f"{asset}/matnet/inner", "mtlxstandard_surface", material=True, locked=True)
    scene.stages[f"{asset}/matnet/inner"] = scene.stages["/mat/gold"]
    keys = [each.key for each in host.materials()]
    assert len(set(keys)) == len(keys)
    expected = ["/shop/old", f"{asset}/matnet/inner", "/stage/edit/edited"]
    assert set(expected) < set(keys)
    # networks before stages, and /stage before other LOP networks
    staged = [key for key in keys if ":" in key]
    assert keys[-len(staged) - 1 :] != staged
    assert staged[0].startswith(LIBRARY) and staged[-1] == "/obj/look/shown:/materials/gold"
    assert not scene.cooks
    # what is locked is read, and not changed
    inner = by_name(host, "inner")
    with pytest.raises(HostError, match="is inside a locked asset"):
        host.attach(inner, BakedResult(tmp_path / "inner.vdg"))


def test_a_selected_lop_of_any_network_gets_the_baking_node(scene, harness, monkeypatch, tmp_path):
    scene.home = str(tmp_path)
    monkeypatch.delenv("VERDIGRIS_TREE", raising=False)
    scene.add("/obj/look", "lopnet")
    scene.add("/obj/look/shown", "null", display=True)
    scene.stages["/obj/look/shown"] = scene.stages["/mat/gold"]
    scene.selection = ["/obj/look/shown"]
    importlib.import_module("verdigris.plugins.houdini.actions").add_lop()
    assert scene.dialogs == []
    assert scene.nodes["/obj/look/verdigris_bake"]["input"] == "/obj/look/shown"


def test_objects_that_have_not_been_cooked_are_named_for_their_weights(scene, host):
    gold = by_name(host, "gold")
    assert not any("weights" in note for note in host.document(gold).notes)
    scene.stale.add(f"{PLATE}/shape")
    (note,) = [note for note in host.document(gold).notes if "weights" in note]
    assert PLATE in note and "Take weights" in note
    assert host.weight_sets(PLATE) == () and f"{PLATE}/shape" not in scene.cooks
    # a brush says what it paints
    scene.add(f"{PLATE}/brush", "attribpaint", input=f"{PLATE}/shape", display=True)
    scene.nodes[f"{PLATE}/shape"]["display"] = False
    scene.nodes[f"{PLATE}/brush"]["parms"]["attribname1"] = "verdigris_weights"
    scene.stale.add(f"{PLATE}/brush")
    assert host.weight_sets(PLATE) == ("verdigris_weights",)
    assert f"{PLATE}/shape" not in scene.cooks


@pytest.fixture
def painted(scene, harness):
    """A builder whose image nodes read COPs of both kinds, one of them twice."""
    for network, cop in (("copnet", "rust"), ("cop2net", "mask")):
        scene.add(f"/obj/{network}", network)
        scene.add(f"/obj/{network}/{cop}", "null")
    previous = ""
    for name, file in (
        ("colour", "op:/obj/copnet/rust"), ("again", "op:/obj/copnet/rust{C}"),
        ("mask", "op:/obj/cop2net/mask"), ("file", "$HIP/plain.png"),
    ):  # fmt: skip
        previous = scene.add(f"{KARMA}/{name}", "mtlximage", input=previous)
        scene.nodes[previous]["parms"]["file"] = file
    scene.nodes[f"{KARMA}/surface"]["input"] = previous
    return scene


def test_images_of_cops_become_files_in_one_undo_step(painted, harness, tmp_path):
    host = harness.host
    assert isinstance(host, MakesTextures)
    karma = by_name(host, "karma")
    assert host.nodes_for_textures(karma) == ("/obj/cop2net/mask", "/obj/copnet/rust")
    assert host.nodes_for_textures(by_name(host, "tiles")) == ()
    before, steps = harness.snapshot(), len(painted.undo_stack)
    said = host.make_textures(karma)
    folder = tmp_path / "textures"
    assert said == f"Written to {folder}: obj_cop2net_mask.exr, obj_copnet_rust.exr."
    assert {each.name: each.read_text() for each in folder.iterdir()} == {
        "obj_copnet_rust.exr": "/obj/copnet/rust", "obj_cop2net_mask.exr": "/obj/cop2net/mask"
    }  # fmt: skip
    files = [painted.nodes[f"{KARMA}/{name}"]["parms"]["file"] for name in ("colour", "again")]
    assert files == ["$HIP/textures/obj_copnet_rust.exr"] * 2
    assert painted.nodes[f"{KARMA}/file"]["parms"]["file"] == "$HIP/plain.png"
    # the node that wrote is gone
    assert set(painted.nodes) == set(before) and len(painted.undo_stack) == steps + 1
    assert host.nodes_for_textures(karma) == ()
    harness.undo()
    assert harness.snapshot() == before


def test_a_cop_that_writes_nothing_changes_nothing(painted, harness):
    painted.nodes["/obj/copnet/rust"]["fails"] = True
    before = harness.snapshot()
    with pytest.raises(HostError, match=r"/obj/copnet/rust wrote no image to .*errors on the node"):
        harness.host.make_textures(by_name(harness.host, "karma"))
    assert harness.snapshot() == before
    painted.path = ""
    with pytest.raises(HostError, match="save it first, as images are written beside it"):
        harness.host.make_textures(by_name(harness.host, "karma"))


def test_what_assets_of_others_hold_for_themselves_is_left_alone(scene, host):
    """Assets of SideFX have networks of their own, with Principled Shaders and stages."""
    scene.add("/obj/asset", "geo", locked=True)
    scene.add("/obj/asset/matnet", "matnet", locked=True)
    scene.add("/obj/asset/matnet/own", "principledshader::2.0", material=True, locked=True)
    scene.add("/obj/asset/stage", "lopnet", locked=True)
    inner = scene.add("/obj/asset/stage/inner", "null", display=True, locked=True)
    scene.stages[inner] = scene.stages["/mat/gold"]
    scene.stale.add(inner)
    assert not any(each.key.startswith("/obj/asset") for each in host.materials())
    assert not any("/obj/asset" in line for line in host.scene_warnings())
    # an artist's own Principled Shader is listed
    scene.nodes["/mat/clay"]["type"] = "principledshader::2.0"
    assert "/mat/clay" in networks(host)


def test_stages_that_wait_are_named_in_one_line(scene, host):
    for number in range(6):
        network = scene.add(f"/obj/look{number}", "lopnet")
        scene.stale.add(scene.add(f"{network}/shown", "null", display=True))
    (line,) = [line for line in host.scene_warnings() if "not been cooked" in line]
    assert "/obj/look0/shown" in line and "and 3 more" in line


def test_a_translation_in_manual_update_mode_says_what_to_choose(scene, host):
    scene.update_mode = "Manual"
    with pytest.raises(HostError, match=r"/mat/gold.* update mode is Manual.* Auto Update"):
        host.document(by_name(host, "gold"))


def test_a_material_of_a_cooked_library_is_read_from_its_own_stage(scene, host, tmp_path):
    """Nothing is made for it, and a scene that is saved stays so."""
    scene.nodes["/stage/library"]["parms"] |= {
        "materials": 1, "matnode1": "*", "matpathprefix": "/looks/"
    }  # fmt: skip
    text = Path(scene.stages["/mat/gold"]).read_text()
    text = text.replace("materials", "looks").replace("gold", "glass").replace("0.9", "0.1")
    (tmp_path / "library.usda").write_text(text)
    scene.stages["/stage/library"] = str(tmp_path / "library.usda")
    scene.unsaved, before = False, scene.state()
    glass = by_name(host, "glass")
    assert 'value="0.1, 0.6, 0.2"' in host.document(glass).text
    assert scene.state() == before and not scene.unsaved and not scene.cooks
    # otherwise, the hidden network translates the node
    scene.stale.add("/stage/library")
    assert 'value="0.9, 0.6, 0.2"' in host.document(gold_as_glass(scene, host, tmp_path)).text
    assert "/stage/library" not in scene.cooks


def gold_as_glass(scene, host, tmp_path):
    text = Path(scene.stages["/mat/gold"]).read_text().replace("gold", "glass")
    (tmp_path / "glass.usda").write_text(text)
    scene.stages["/stage/library/glass"] = str(tmp_path / "glass.usda")
    return by_name(host, "glass")
