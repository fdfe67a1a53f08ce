"""Nodes that a document defines, by a graph or by code: what is found in them and refused."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.load.provenance import texture_files
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from .documents import DEFINITION, IMAGE, document, material, with_surface
from .surfaces import write_image

FILE = '<input name="file" type="filename" value="{}"/>'


@pytest.mark.parametrize(
    ("inputs", "said", "given", "expected"),
    [
        ("", 'value="inner.png"', "", "inner.png"),
        (FILE.format("default.png"), 'interfacename="file"', "", "default.png"),
        (FILE.format("default.png"), 'interfacename="file"', FILE.format("own.png"), "own.png"),
    ],
)
def test_images_are_found_in_nodes_that_the_document_defines(
    tmp_path, inputs, said, given, expected
):
    for name in ("inner.png", "default.png", "own.png"):
        write_image(tmp_path / name, np.zeros((2, 2, 3), np.uint8))
    nodes = DEFINITION.format(inputs=inputs, nodes=IMAGE.format(said=said))
    nodes += f'<wear name="worn" type="color3">{given}</wear>'
    shown = '<input name="base_color" type="color3" nodename="worn"/>'
    loaded = parse_document(with_surface(shown, nodes), [tmp_path])
    [report] = describe(loaded, probe=False)
    assert report.problem == ""
    assert [facts.file for facts in report.textures] == [str(tmp_path / expected)]
    assert report.varying_inputs == ("base_color",)
    assert texture_files(loaded, loaded.require_material()) == (tmp_path / expected,)


def test_what_a_defined_node_leaves_to_its_users_may_be_anything():
    surface = (
        '<nodedef name="ND_glassy" node="glassy"><input name="clear" type="float" value="0"/>'
        '<output name="out" type="surfaceshader"/></nodedef>'
        '<nodegraph name="NG_glassy" nodedef="ND_glassy">'
        '<standard_surface name="inner" type="surfaceshader">'
        '<input name="transmission" type="float" interfacename="clear"/></standard_surface>'
        '<output name="out" type="surfaceshader" nodename="inner"/></nodegraph>'
        '<glassy name="shader" type="surfaceshader">'
        '<input name="clear" type="float" value="1"/></glassy>'
    )
    [report] = describe(parse_document(document(surface, material())), probe=False)
    assert "transmission" in [part.name for part in report.parts if part.fate == "dropped"]


def test_code_that_does_not_compile_is_shown_with_what_is_wrong_in_it():
    own = (
        '<nodedef name="ND_own" node="own"><input name="given" type="color3" value="1, 0, 0"/>'
        '<output name="out" type="color3"/></nodedef><implementation name="IM_own" '
        'nodedef="ND_own" sourcecode="{{given}} * twice" target="genslang"/>'
        '<own name="painted" type="color3"/>'
    )
    text = with_surface('<input name="base_color" type="color3" nodename="painted"/>', own)
    teacher = Teacher(parse_document(text))
    up = np.float32([[0, 0, 1]])
    with pytest.raises(DocumentError, match=r"compile for .*identifier 'twice', in '.* \* twice;'"):
        teacher.response(np.float32([[0.5, 0.5]]), up, up)


def test_code_that_a_document_brings_in_a_file_is_refused(tmp_path):
    (tmp_path / "own.slang").write_text("void own(float3 given, out float3 result) {}")
    own = (
        '<nodedef name="ND_own" node="own"><input name="given" type="color3" value="1, 0, 0"/>'
        '<output name="out" type="color3"/></nodedef><implementation name="IM_own" '
        f'nodedef="ND_own" file="{tmp_path / "own.slang"}" function="own" target="genslang"/>'
        '<own name="painted" type="color3"/>'
    )
    text = with_surface('<input name="base_color" type="color3" nodename="painted"/>', own)
    with pytest.raises(DocumentError, match=r"node 'painted' is .* the file '.*own\.slang', which"):
        Teacher(parse_document(text, search_paths=[tmp_path]))
