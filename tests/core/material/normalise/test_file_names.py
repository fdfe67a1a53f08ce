"""File names that other nodes pass on."""

import numpy as np
import pytest

from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..images import decoded_srgb
from ..surfaces import glow, node, probe, write_image

STORED = np.array([51, 102, 204]) / 255
FILE = 'type="filename" value="{}" colorspace="srgb_texture"'
NAMED = f'<constant name="named" type="filename"><input name="value" {FILE}/></constant>'
BY_DOT = f'<dot name="named" type="filename"><input name="in" {FILE}/></dot>'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "maps").mkdir()
    write_image(tmp_path / "maps" / "i.png", np.full((2, 2, 3), (51, 102, 204), np.uint8))
    return tmp_path


def image(category="image", file='nodename="named"'):
    return (
        f'<{category} name="colour" type="color3"><input name="file" type="filename" {file}/>'
        f"</{category}>"
    )


def in_graph(attributes, *nodes):
    return (
        f'<nodegraph name="g" {attributes}>{"".join(nodes)}'
        '<output name="out" type="filename" nodename="named"/></nodegraph>'
    )


OF_GRAPH = 'nodegraph="g" output="out"'
AT = "maps/i.png"
WAYS = {
    "constant": NAMED.format(AT) + image(),
    "dot": BY_DOT.format(AT) + image(),
    "dot of a constant": NAMED.format(AT).replace("named", "first")
    + node("dot", "named", "filename", {"in": ("filename", "@first")})
    + image(),
    "of a graph": in_graph("", NAMED.format(AT)) + image(file=OF_GRAPH),
    "of a graph with a folder": in_graph('fileprefix="maps/"', NAMED.format("i.png"))
    + image(file=OF_GRAPH),
    "of an input of a graph": in_graph(
        "",
        f'<input name="which" {FILE.format(AT)}/>',
        '<constant name="named" type="filename">'
        '<input name="value" type="filename" interfacename="which"/></constant>',
    )
    + image(file=OF_GRAPH),
    "for a node with a graph": NAMED.format(AT) + image("tiledimage"),
    "for a node of glTF": NAMED.format(AT) + image("gltf_image"),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_colour_space_that_is_reported_with_a_name_counts(folder, way):
    made = probe(WAYS[way], "colour", search_paths=[folder])
    seen = glow(Teacher(made), [[0.5, 0.5]])[0]
    np.testing.assert_allclose(seen, decoded_srgb(STORED), atol=1e-5)
    [facts] = describe(made, probe=False)[0].textures
    assert (facts.colour_space, facts.width) == ("srgb_texture", 2)


def test_what_reads_a_name_may_say_the_colour_space_itself(folder):
    plain = NAMED.format(AT).replace(' colorspace="srgb_texture"', "")
    for space, expected in (("srgb_texture", decoded_srgb(STORED)), ("none", STORED)):
        body = plain + image(file=f'nodename="named" colorspace="{space}"')
        made = probe(body, "colour", search_paths=[folder])
        np.testing.assert_allclose(glow(Teacher(made), [[0.5, 0.5]])[0], expected, atol=1e-5)
