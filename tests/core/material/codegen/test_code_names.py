"""Names of nodes, definitions and ports do not change a material."""

import numpy as np
import pytest

from verdigris.core.base.errors import TextureError
from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.codegen.generator_input import rename_nodes_for_code
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..apart import apart
from ..documents import document, material
from ..many_nodes import glow_by_turn, shown
from ..surfaces import glow, node, probe, write_image
from ..untouched import raw

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
        f'<input name="{port.rstrip("_")}" type="{port_kind}" {written}/>'
        for port, (port_kind, written) in ports.items()
    )
    return f'<{category} name="{name}" type="{kind}">{lines}</{category}>'


def published(name, kind="color3"):
    """What an input reads that stands for one of its graph."""
    return kind, f'interfacename="{name}"'


def twice_by_functions(name):
    """A definition with an input of this name: a chain that calls each of the functions, and ends
    at twice what comes in."""
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
    # normalize of a vector is of length 1, so t is what comes in
    return definition(given(name, "vector3", "0.5, 0.25, 0.125"), graph)


def test_inputs_of_defined_nodes_may_be_called_like_anything():
    names = (*WORDS, *FUNCTIONS)
    parts = []
    for at, name in enumerate(names):
        connected = node("own", "seen", "color3", {name: ("vector3", "@ramp")})
        # its default counts
        bare = node("own", "bare", "color3", {})
        each = apart(twice_by_functions(name) + connected + bare, f"_{at}")
        parts.append(each + shown(f"seen_{at}", "", "color3", f"shown_{2 * at}"))
        parts.append(shown(f"bare_{at}", "", "color3", f"shown_{2 * at + 1}"))
    parts[0] = node("convert", "ramp", "vector3", {"in": ("vector2", "@uv")}) + parts[0]
    uv, found = glow_by_turn(parts, 11, offset=4.0)
    for at, name in enumerate(names):
        ramp = np.pad(uv[2 * at], ((0, 0), (0, 1)))
        np.testing.assert_allclose(found[2 * at], 2 * ramp, atol=1e-5, err_msg=name)
        defaults = np.tile([1, 0.5, 0.25], (len(ramp), 1))
        np.testing.assert_allclose(found[2 * at + 1], defaults, atol=1e-5, err_msg=name)


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
    written = f'nodename="two" output="{name}"'
    link = read("add", "seen", "color3", in1=("color3", written), in2=("color3", written))
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


COLOUR = 0.5
SRGB = ((COLOUR + 0.055) / 1.055) ** 2.4


def doubled(name, colour_space="lin_rec709"):
    """A node that doubles a grey which it takes in a colour space."""
    grey = f'value="{COLOUR}, {COLOUR}, {COLOUR}" colorspace="{colour_space}"'
    return (
        f'<multiply name="{name}" type="color3"><input name="in1" type="color3" {grey}/>'
        '<input name="in2" type="float" value="2"/></multiply>'
    )


def in_graph(name, body, result):
    output = f'<output name="out" type="color3" nodename="{result}"/>'
    return f'<nodegraph name="{name}">{body}{output}</nodegraph>'


def in_definition(name, body, result):
    definition = (
        f'<nodedef name="ND_{name}" node="{name}"><output name="out" type="color3"/></nodedef>'
    )
    return definition + in_graph(name, body, result).replace(">", f' nodedef="ND_{name}">', 1)


def added(first, second, name="sum"):
    return (
        f'<add name="{name}" type="color3"><input name="in1" type="color3" {first}/>'
        f'<input name="in2" type="color3" {second}/></add>'
    )


def given_off(body):
    return glow(Teacher(probe(body, "sum")), [[0.5, 0.5]])[0]


TWO_GRAPHS = added('nodegraph="first" output="out"', 'nodegraph="second" output="out"')


@pytest.mark.parametrize(
    ("spaces", "expected"),
    [
        (("lin_rec709", "lin_rec709"), 4 * COLOUR),
        (("srgb_texture", "lin_rec709"), 2 * SRGB + 2 * COLOUR),
        (("srgb_texture", "srgb_texture"), 4 * SRGB),
    ],
)
def test_nodes_of_two_graphs_may_have_one_name(spaces, expected):
    first, second = (
        in_graph(name, doubled("tint", space), "tint")
        for name, space in zip(("first", "second"), spaces, strict=True)
    )
    np.testing.assert_allclose(given_off(first + second + TWO_GRAPHS), expected, atol=1e-5)


def test_a_node_of_a_graph_may_have_the_name_of_one_outside():
    inside = in_graph("first", doubled("tint", "srgb_texture"), "tint")
    outside = doubled("tint", "srgb_texture")
    sum_of_both = added('nodegraph="first" output="out"', 'nodename="tint"')
    np.testing.assert_allclose(given_off(inside + outside + sum_of_both), 4 * SRGB, atol=1e-5)


@pytest.mark.parametrize("name", ["tint.001", "base tint", "1", "tint-a", "a:tint", "名"])
def test_a_node_may_have_a_name_that_code_cannot_have(name):
    outermost = doubled(name)
    graph = in_graph("first", doubled(name), name)
    definition = in_definition("second", doubled(name), name)
    use = node("second", "used", "color3", {})
    of_graphs = added('nodegraph="first" output="out"', 'nodename="used"', "of_graphs")
    both = added(f'nodename="{name}"', 'nodename="of_graphs"')
    body = outermost + graph + definition + use + of_graphs + both
    np.testing.assert_allclose(given_off(body), 6 * COLOUR, atol=1e-5)


def test_a_missing_image_is_reported_by_the_name_that_its_node_has_in_the_document():
    image = (
        '<image name="tint" type="color3">'
        '<input name="file" type="filename" value="{}.png"/></image>'
    )
    graphs = (in_graph(name, image.format(name), "tint") for name in ("first", "second"))
    with pytest.raises(TextureError, match="second/tint/file"):
        Teacher(probe("".join(graphs).replace("first.png", "") + TWO_GRAPHS, "sum"))


def test_a_node_without_a_use_for_another_name_keeps_its_own():
    made = probe(in_graph("first", doubled("tint"), "tint") + doubled("sum"), "sum")
    assert "sum_in2_tmp" in Teacher(made).generated.source


def test_what_is_written_before_a_node_is_called_after_it_in_all_graphs():
    """Why generator_input.py renames nodes; with a colour space in both, MaterialX would crash."""
    body = "".join(in_graph(name, doubled("tint"), "tint") for name in ("first", "second"))
    made = probe(body.replace(' colorspace="lin_rec709"', "") + TWO_GRAPHS, "sum")
    assert raw(made).count("const float tint_in2_tmp") == 2


def test_names_that_become_the_same_are_reported_apart_by_their_order():
    """And not by that of a set, which differs between processes: so would the code."""
    names = [f"tint{sign}1" for sign in "-. +~^"]
    root = probe("".join(map(doubled, names)) + doubled("sum"), "sum").root
    renamed, _ = rename_nodes_for_code(root, root, root)

    def tints(document):
        named = (each.getName() for each in document.getNodes())
        return [name for name in named if name.startswith("tint")]

    assert tints(renamed) == [f"tint_1_{number}" for number in range(2, 2 + len(names))]
    assert tints(root) == names
