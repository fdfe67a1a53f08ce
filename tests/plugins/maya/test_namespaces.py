"""A scene with an imported stack: its shaders keep the paths that it had before."""

import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.material.load.mtlx_document import parse_document

from .scenes import DATA, open_scene

TABLE = "|myTable:materialXStack1|myTable:materialXStackShape1"


def color_of(document):
    root = parse_document(document.text, document.search).root
    (shader,) = [node for node in root.getNodes() if node.getType() == "surfaceshader"]
    return shader.getInput("base_color").getValueString(), root.getColorSpace()


def test_the_scene_has_the_shape_that_maya_writes():
    text = (DATA / "namespaced.ma").read_text()
    assert '"|materialXStack1|materialXStackShape1,%document3%:myTable:Wood"' in text


def test_the_stack_of_a_namespaced_shader_is_found_by_its_leaf(maya):
    host = open_scene(maya, "namespaced.ma")
    listed = {each.key: each for each in host.materials()}
    # not the stack of this name outside of the namespace
    assert color_of(host.document(listed["myTable:Wood"])) == ("0.5, 0.25, 0.125", "acescg")
    for key in ("Wood1", "Wood2"):
        assert color_of(host.document(listed[key])) == ("0.5, 0.25, 0.125", "acescg")
    notes = host.document(listed["myTable:Maya_Lambert6"]).notes
    assert any("'MayaND_lambert' is a node that only Maya has" in note for note in notes)


def test_a_rendered_material_is_not_listed_again_by_its_stack(maya):
    host = open_scene(maya, "namespaced.ma")
    assert [(each.key, each.source) for each in host.materials()] == [
        ("myTable:Wood", "LookdevX material"),
        ("myTable:Maya_Lambert6", "LookdevX material"),
        ("Wood1", "LookdevX material"),
        ("Wood2", "LookdevX material"),
        ("|materialXStack1|materialXStackShape1,%document3%Wood", "LookdevX document"),
    ]


def test_an_item_that_two_shaders_render_selects_both_and_the_imported_one(maya):
    host = open_scene(maya, "namespaced.ma")
    maya.selection = [f"{TABLE},%document3%Wood%standard_surface1"]
    keys = [each.key for each in host.selected_materials()]
    assert keys == ["myTable:Wood", "Wood1", "Wood2"]


def test_a_stale_path_with_several_stacks_is_refused_with_the_remedy(maya):
    host = open_scene(maya, "namespaced.ma")
    (wood,) = [each for each in host.materials() if each.key == "Wood1"]
    maya.nodes["Wood1"]["attributes"]["ufePath"] = (
        "|gone:materialXStack1|gone:materialXStackShape1,%document3%Wood"
    )
    with pytest.raises(HostError, match=r"may be in 2 stacks: .*: assign it again in LookdevX"):
        host.document(wood)
    maya.nodes["Wood1"]["attributes"]["ufePath"] = "|gone|goneShape,%document3%Wood"
    with pytest.raises(HostError, match=r"\|gone\|goneShape is not in the scene"):
        host.document(wood)
