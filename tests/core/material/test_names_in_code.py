"""Nodes that a document defines, their inputs and outputs, may have any name."""

import numpy as np
import pytest

from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from .documents import document, material
from .surfaces import glow, node, write_image

AT = np.float32([[0.25, 0.75], [0.5, 0.125]])
RAMP = node("texcoord", "uv", "vector2", {}) + node(
    "convert", "ramp", "vector3", {"in": ("vector2", "@uv")}
)
SEEN = node("surface_unlit", "s", "surfaceshader", {"emission_color": ("color3", "@seen")})
# Keywords, types and macros, and what the generator has variables and fields of.
WORDS = (
    "new",
    "operator",
    "this",
    "extension",
    "half",
    "M_PI",
    "interface",
    "vd",
    "out",
    "_u",
    "x",
)
# Functions that the code of the graph calls.
FUNCTIONS = ("max", "abs", "length", "normalize", "floor", "clamp", "pow")


def seen(text, **options):
    loaded = parse_document(text, **options)
    return glow(Teacher(loaded), AT)


def definition(ports, graph, output="result", inherit=""):
    return (
        f'<nodedef name="ND_own" node="own"{inherit}>{ports}'
        f'<output name="{output}" type="color3"/></nodedef>'
        f'<nodegraph name="NG_own" nodedef="ND_own">{graph}'
        f'<output name="{output}" type="color3" nodename="end"/></nodegraph>'
    )


def given(name, kind, value):
    return f'<input name="{name}" type="{kind}" value="{value}"/>'


def read(category, name, kind, **ports):
    """A node whose inputs are `from_of_type` other nodes, interface inputs or values."""
    lines = "".join(
        f'<input name="{port.rstrip("_")}" type="{port_kind}" {said}/>'
        for port, (port_kind, said) in ports.items()
    )
    return f'<{category} name="{name}" type="{kind}">{lines}</{category}>'


def published(name, kind="color3"):
    """What an input reads that stands for one of its graph."""
    return kind, f'interfacename="{name}"'


@pytest.mark.parametrize("name", [*WORDS, *FUNCTIONS])
def test_inputs_of_defined_nodes_may_be_called_like_anything(name):
    """A chain that calls each of the functions, and ends at twice what comes in."""
    here = published(name, "vector3")
    graph = "".join(
        (
            read("max", "a", "vector3", in1=here, in2=("vector3", 'value="-9, -9, -9"')),
            read("absval", "b", "vector3", in_=("vector3", 'nodename="a"')),
            read("power", "p", "vector3", in1=("vector3", 'nodename="b"'), in2=here),
            read("floor", "f", "vector3", in_=("vector3", 'nodename="p"')),
            read("clamp", "c", "vector3", in_=("vector3", 'nodename="f"')),
            read("normalize", "n", "vector3", in_=here),
            read("magnitude", "m", "float", in_=("vector3", 'nodename="n"')),
            read("multiply", "t", "vector3", in1=here, in2=("float", 'nodename="m"')),
            read("subtract", "l", "vector3", in1=("vector3", 'nodename="c"'), in2=here),
            read("add", "k", "vector3", in1=("vector3", 'nodename="l"'), in2=here),
            read(
                "multiply",
                "z",
                "vector3",
                in1=("vector3", 'nodename="k"'),
                in2=("float", 'value="0"'),
            ),
            read("add", "o", "vector3", in1=("vector3", 'nodename="t"'), in2=here),
            read(
                "add",
                "q",
                "vector3",
                in1=("vector3", 'nodename="o"'),
                in2=("vector3", 'nodename="z"'),
            ),
            read("convert", "end", "color3", in_=("vector3", 'nodename="q"')),
        )
    )
    own = definition(given(name, "vector3", "0.5, 0.25, 0.125"), graph)
    use = node("own", "seen", "color3", {name: ("vector3", "@ramp")})
    # normalize of a vector is of length 1, so t is what comes in
    np.testing.assert_allclose(
        seen(document(RAMP, own, use, SEEN, material("s"))),
        2 * np.pad(AT, ((0, 0), (0, 1))),
        atol=1e-5,
    )
    # not connected, its default counts
    use = node("own", "seen", "color3", {})
    np.testing.assert_allclose(
        seen(document(own, use, SEEN, material("s"))), [[1, 0.5, 0.25]] * 2, atol=1e-5
    )


@pytest.mark.parametrize("name", ["new", "operator", "max", "this"])
def test_outputs_of_defined_nodes_may_be_called_like_anything(name):
    graph = read("multiply", "end", "color3", in1=published("c"), in2=("float", 'value="0.5"'))
    own = definition(given("c", "color3", "0.2, 0.4, 0.6"), graph, name)
    other = '<output name="rest" type="float"/></nodedef>'
    rest = (
        read("extract", "x", "float", in_=published("c"))
        + '<output name="rest" type="float" nodename="x"/></nodegraph>'
    )
    both = own.replace("</nodedef>", other).replace("</nodegraph>", rest)
    said = f'nodename="two" output="{name}"'
    link = read("add", "seen", "color3", in1=("color3", said), in2=("color3", said))
    several = document(both, '<own name="two" type="multioutput"/>', link, SEEN, material("s"))
    np.testing.assert_allclose(seen(several), [[0.2, 0.4, 0.6]] * 2, atol=1e-6)
    single = document(own, '<own name="seen" type="color3"/>', SEEN, material("s"))
    np.testing.assert_allclose(seen(single), [[0.1, 0.2, 0.3]] * 2, atol=1e-6)


@pytest.mark.parametrize("is_named_apart", [True, False])
@pytest.mark.parametrize("name", ["new", "operator", "max", "vd"])
def test_graphs_of_defined_nodes_may_be_called_like_anything(name, is_named_apart):
    """Colours out of images are decoded by `max` in the same code."""
    graph = read(
        "max", "end", "color3", in1=published("c"), in2=("color3", 'value="0.1, 0.1, 0.1"')
    )
    own = definition(given("c", "color3", "0.2, 0.4, 0"), graph).replace("NG_own", name)
    if is_named_apart:
        own = own.replace(f'name="{name}" nodedef="ND_own"', f'name="{name}"')
        own += f'<implementation name="IM_own" nodedef="ND_own" nodegraph="{name}"/>'
    # what the copy could be called is taken
    taken = node("constant", f"own_{name}_2", "color3", {})
    found = seen(document(taken, own, '<own name="seen" type="color3"/>', SEEN, material("s")))
    np.testing.assert_allclose(found, [[0.2, 0.4, 0.1]] * 2, atol=1e-6)


def test_what_a_definition_inherits_is_called_as_it_was():
    graph = read("multiply", "end", "color3", in1=published("in1"), in2=published("new", "float"))
    own = definition(given("new", "float", "0.5"), graph, "out", ' inherit="ND_multiply_color3"')
    use = node("own", "seen", "color3", {"in1": ("color3", "0.2, 0.4, 0.6"), "new": ("float", "2")})
    found = seen(document(own, use, SEEN, material("s")))
    np.testing.assert_allclose(found, [[0.4, 0.8, 1.2]] * 2, atol=1e-6)


def test_names_may_differ_by_what_is_put_before_them():
    graph = read(
        "mix",
        "end",
        "color3",
        fg=published("a"),
        bg=published("own_a"),
        mix=published("own_own_a", "float"),
    )
    ports = (
        given("a", "color3", "1, 0, 0")
        + given("own_a", "color3", "0, 1, 0")
        + given("own_own_a", "float", "0.25")
    )
    use = node("own", "seen", "color3", {"own_a": ("color3", "0, 0.5, 0")})
    found = seen(document(definition(ports, graph), use, SEEN, material("s")))
    np.testing.assert_allclose(found, [[0.25, 0.375, 0]] * 2, atol=1e-6)


def test_a_definition_that_a_graph_of_the_library_implements_keeps_its_names():
    """NG_contrast_color3: (in - pivot) * amount + pivot."""
    ports = given("in", "color3", "0, 0, 0") + given("amount", "color3", "1, 1, 1")
    own = (
        f'<nodedef name="ND_own" node="own">{ports}{given("pivot", "color3", "0.5, 0.5, 0.5")}'
        '<output name="out" type="color3"/></nodedef>'
        '<implementation name="IM_own" nodedef="ND_own" nodegraph="NG_contrast_color3"/>'
    )
    use = node(
        "own",
        "seen",
        "color3",
        {"in": ("color3", "0.75, 0.5, 0.25"), "amount": ("color3", "2, 2, 2")},
    )
    found = seen(document(own, use, SEEN, material("s")))
    np.testing.assert_allclose(found, [[1, 0.5, 0]] * 2, atol=1e-6)


def test_files_and_messages_go_by_the_documents_own_names(tmp_path):
    write_image(tmp_path / "red.png", np.tile(np.uint8((255, 51, 0)), (2, 2, 1)))
    graph = read("image", "end", "color3", file=published("new", "filename"))
    own = definition('<input name="new" type="filename" value=""/>', graph)
    use = node("own", "seen", "color3", {"new": ("filename", "red.png")})
    text = document(own, use, SEEN, material("s"))
    np.testing.assert_allclose(seen(text, search_paths=tmp_path), [[1, 0.2, 0]] * 2, atol=1e-6)
    loaded = parse_document(text)
    [slot] = generate(loaded, loaded.require_material()).textures
    assert (slot.file, slot.asker) == ("red.png", "document: seen/new")
    [report] = describe(loaded, probe=False)
    assert "document: seen: 'red.png' was not found" in report.problem
