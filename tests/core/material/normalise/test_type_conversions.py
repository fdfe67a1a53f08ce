"""Values and connections of another type evaluate like the same converted by hand."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..apart import colours
from ..images import decoded_srgb
from ..surfaces import document, glow, hemisphere, node, probe, surface_material

AT = np.float32([[0.3, 0.7]])
VALUES = {
    "boolean": ("true", [1]),
    "integer": ("3", [3]),
    "float": ("0.25", [0.25]),
    "vector2": ("0.1, 0.2", [0.1, 0.2]),
    "vector3": ("0.1, 0.2, 0.3", [0.1, 0.2, 0.3]),
    "vector4": ("0.1, 0.2, 0.3, 0.4", [0.1, 0.2, 0.3, 0.4]),
    "color3": ("0.1, 0.2, 0.3", [0.1, 0.2, 0.3]),
    "color4": ("0.1, 0.2, 0.3, 0.4", [0.1, 0.2, 0.3, 0.4]),
}
WIDTHS = {"float": 1, "vector2": 2, "vector3": 3, "vector4": 4, "color3": 3, "color4": 4}
PAIRS = [
    *((single, several) for single in ("boolean", "integer", "float") for several in WIDTHS),
    *(("color3", "vector3"), ("vector3", "color3"), ("color4", "color3"), ("color3", "color4")),
    *(("vector4", "color4"), ("color4", "vector4")),
]
PAIRS = [(given, wanted) for given, wanted in PAIRS if given != wanted]


def expected(given, wanted):
    _, numbers = VALUES[given]
    width = WIDTHS[wanted]
    if len(numbers) == 1:
        return numbers * width
    return [*numbers, 1.0][:width]


def components(kind, source, name="colour"):
    """Nodes that show the first three components of a value as a colour, and the last of four."""
    if kind == "float":
        return node("convert", name, "color3", {"in": ("float", f"@{source}")})
    width = WIDTHS[kind]
    letters = "rgba" if kind.startswith("color") else "xyzw"
    ports = "".join(
        f'<input name="in{at}" type="float" nodename="{name}_parts" output="out{letter}"/>'
        for at, letter in enumerate(letters[:width][-3:], 1)
    )
    return (
        node(f"separate{width}", f"{name}_parts", "multioutput", {"in": (kind, f"@{source}")})
        + f'<combine3 name="{name}" type="color3">{ports}</combine3>'
    )


def shown(numbers):
    if len(numbers) == 1:
        return numbers * 3
    return (numbers[1:] if len(numbers) == 4 else [*numbers, 0])[:3]


def constant(kind, name="source"):
    return node("constant", name, kind, {"value": (kind, VALUES[kind][0])})


def connected(given, wanted):
    """The input has the type that its node wants."""
    return constant(given) + node("dot", "here", wanted, {"in": (wanted, "@source")})


def typed_by_source(given, wanted):
    """The input has the type of its source."""
    return constant(given) + node("dot", "here", wanted, {"in": (given, "@source")})


def literal(given, wanted):
    return node("dot", "here", wanted, {"in": (given, VALUES[given][0])})


def through_interface(given, wanted):
    return (
        f'<nodegraph name="g"><input name="w" type="{given}" value="{VALUES[given][0]}"/>'
        f'<dot name="inner" type="{wanted}">'
        f'<input name="in" type="{wanted}" interfacename="w"/></dot>'
        f'<output name="out" type="{wanted}" nodename="inner"/></nodegraph>'
        f'<dot name="here" type="{wanted}">'
        f'<input name="in" type="{wanted}" nodegraph="g" output="out"/></dot>'
    )


def graph_input(given, wanted):
    """The input of a graph is connected to a node of another type."""
    return (
        constant(given) + f'<nodegraph name="g"><input name="w" type="{wanted}" nodename="source"/>'
        f'<dot name="inner" type="{wanted}">'
        f'<input name="in" type="{wanted}" interfacename="w"/></dot>'
        f'<output name="out" type="{wanted}" nodename="inner"/></nodegraph>'
        f'<dot name="here" type="{wanted}">'
        f'<input name="in" type="{wanted}" nodegraph="g" output="out"/></dot>'
    )


def graph_output(given, wanted):
    return (
        f'<nodegraph name="g">{constant(given)}'
        f'<output name="out" type="{wanted}" nodename="source"/></nodegraph>'
        f'<dot name="here" type="{wanted}">'
        f'<input name="in" type="{wanted}" nodegraph="g" output="out"/></dot>'
    )


def definition(given, wanted):
    """The graph of a definition reads an input of another type."""
    return (
        f'<nodedef name="ND_own" node="own"><input name="w" type="{given}"/>'
        f'<output name="out" type="{wanted}"/></nodedef>'
        f'<nodegraph name="NG_own" nodedef="ND_own"><dot name="inner" type="{wanted}">'
        f'<input name="in" type="{wanted}" interfacename="w"/></dot>'
        f'<output name="out" type="{wanted}" nodename="inner"/></nodegraph>'
        + node("own", "here", wanted, {"w": (given, VALUES[given][0])})
    )


FORMS = (
    *(connected, typed_by_source, literal, through_interface, graph_input, graph_output),
    definition,
)


def mixed_wherever(given, wanted):
    """The sum of what each of the forms shows."""
    text, total = "", node("constant", "sum0", "color3", {"value": ("color3", "0, 0, 0")})
    for number, form in enumerate(FORMS, 1):
        part = form(given, wanted)
        for name in ("source", "here", "g"):
            part = part.replace(f'"{name}"', f'"{name}{number}"')
        text += part + components(wanted, f"here{number}", f"shown{number}")
        ports = {"in1": f"@sum{number - 1}", "in2": f"@shown{number}"}
        ports = {name: ("color3", value) for name, value in ports.items()}
        name = "colour" if number == len(FORMS) else f"sum{number}"
        total += node("add", name, "color3", ports)
    return text + total


# A value with another number of components: type, what is written, and what it shows.
WRITTEN = {
    ("color3", "0.5"): [0.5] * 3,
    ("vector3", "0.5"): [0.5] * 3,
    ("color3", "0.1, 0.2, 0.3, 0.9"): [0.1, 0.2, 0.3],
    ("vector2", "2"): [2, 2, 0],
    ("color4", "0.1, 0.2, 0.3"): [0.2, 0.3, 1],
}


def written_as(kind, value):
    return node("dot", "here", kind, {"in": (kind, value)}) + components(kind, "here")


@pytest.fixture(scope="module")
def evaluated():
    """What each of the mixes and written values shows, of one document."""
    bodies = {pair: mixed_wherever(*pair) for pair in PAIRS}
    bodies |= {case: written_as(*case) for case in WRITTEN}
    return dict(zip(bodies, colours(bodies.values()), strict=True))


@pytest.mark.parametrize(("given", "wanted"), PAIRS)
def test_every_plain_type_is_converted_wherever_it_is_mixed(given, wanted, evaluated):
    found = evaluated[given, wanted]
    np.testing.assert_allclose(found, len(FORMS) * np.array(shown(expected(given, wanted))), 1e-5)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        *(("vector2", "color3"), ("vector2", "vector3"), ("vector3", "vector2")),
        *(("color3", "float"), ("vector3", "float"), ("float", "integer"), ("float", "boolean")),
        *(("color4", "vector3"), ("vector4", "vector3")),
    ],
)
@pytest.mark.parametrize("form", [connected, literal], ids=lambda each: each.__name__)
def test_types_without_a_plain_meaning_are_refused(given, wanted, form):
    sink = "dot" if wanted == "color3" else "convert"
    text = form(given, wanted) + node(sink, "colour", "color3", {"in": (wanted, "@here")})
    made = probe(text, "colour")
    with pytest.raises(DocumentError, match=f"type {wanted}"):
        made.check(made.require_material())
    assert not made.conversions


@pytest.mark.parametrize(("kind", "written"), WRITTEN)
def test_a_value_with_another_number_of_components_is_completed(kind, written, evaluated):
    np.testing.assert_allclose(evaluated[kind, written], WRITTEN[kind, written], atol=1e-6)


def test_a_truth_may_be_written_as_a_number():
    text = node(
        "ifequal",
        "colour",
        "color3",
        {
            "value1": ("boolean", "1"),
            "value2": ("boolean", "true"),
            "in1": ("color3", "0.1, 0.2, 0.3"),
        },
    )
    made = probe(text, "colour")
    made.check(made.require_material())
    np.testing.assert_allclose(glow(Teacher(made), AT)[0], [0.1, 0.2, 0.3], atol=1e-6)


def test_a_colour_keeps_its_colour_space_where_a_vector_is_wanted():
    text = node("dot", "here", "vector3", {"in": ("color3", "0.5, 0.25, 0.1")})
    text = text.replace('value="0.5', 'colorspace="srgb_texture" value="0.5')
    made = probe(text + components("vector3", "here"), "colour")
    made.root.setColorSpace("lin_rec709")
    found = glow(Teacher(made), AT)[0]
    np.testing.assert_allclose(found, decoded_srgb(np.array([0.5, 0.25, 0.1])), atol=1e-4)


# The shape of NVIDIA's documents for neural appearance models: a colour as the base of a power of
# vectors, one number as a roughness of two, whole numbers among numbers.
NEURAL = """
<nodegraph name="NG_glaze">
  <input name="depth" type="integer" value="2"/>
  <texcoord name="uv" type="vector2"/>
  <noise2d name="speckle" type="float">
    <input name="texcoord" type="vector2" nodename="uv"/></noise2d>
  <mix name="tint" type="color3">
    <input name="fg" type="color3" value="0.9, 0.5, 0.2"/>
    <input name="bg" type="color3" value="0.3, 0.6, 0.7"/>
    <input name="mix" type="float" nodename="speckle"/></mix>
  <power name="absorbed" type="vector3">
    <input name="in1" type="{in1}" nodename="{tint}"/>
    <input name="in2" type="{in2}" {depth}/></power>
  <range name="dust" type="float"><input name="in" type="float" nodename="speckle"/>
    <input name="outlow" type="float" value="0.1"/>
    <input name="outhigh" type="float" value="0.5"/></range>
  {more}
  <output name="absorbed_out" type="color3" nodename="{absorbed}"/>
  <output name="dust_out" type="float" nodename="dust"/>
</nodegraph>
<oren_nayar_diffuse_bsdf name="body" type="BSDF">
  <input name="color" type="color3" nodegraph="NG_glaze" output="absorbed_out"/>
  </oren_nayar_diffuse_bsdf>
<dielectric_bsdf name="coat" type="BSDF">
  <input name="roughness" type="{roughness}" {dust}/></dielectric_bsdf>
<layer name="glazed" type="BSDF"><input name="top" type="BSDF" nodename="coat"/>
  <input name="base" type="BSDF" nodename="body"/></layer>
<surface name="surf" type="surfaceshader">
  <input name="bsdf" type="BSDF" nodename="glazed"/></surface>
"""
BY_HAND = {
    "in1": "vector3",
    "tint": "as_vector",
    "in2": "vector3",
    "depth": 'nodename="deep"',
    "absorbed": "as_colour",
    "roughness": "vector2",
    "dust": 'nodename="pair"',
    "more": (
        '<convert name="as_vector" type="vector3"><input name="in" type="color3" nodename="tint"/>'
        '</convert><convert name="deep" type="vector3">'
        '<input name="in" type="integer" interfacename="depth"/></convert>'
        '<convert name="as_colour" type="color3">'
        '<input name="in" type="vector3" nodename="absorbed"/></convert>'
    ),
}
PAIR = (
    '<convert name="pair" type="vector2">'
    '<input name="in" type="float" nodegraph="NG_glaze" output="dust_out"/></convert>'
)
MIXED = {
    "in1": "color3",
    "tint": "tint",
    "in2": "integer",
    "depth": 'interfacename="depth"',
    "absorbed": "absorbed",
    "more": "",
    "roughness": "float",
    "dust": 'nodegraph="NG_glaze" output="dust_out"',
}


def of_neural_shape(parts, before=""):
    return document(before + NEURAL.format(**parts) + surface_material("surf"))


@pytest.mark.parametrize(
    "types",
    [{}, {"in1": "vector3", "in2": "vector3", "roughness": "vector2"}],
    ids=["inputs of the source's type", "inputs of the wanted type"],
)
def test_documents_of_neural_appearance_evaluate_like_those_converted_by_hand(types):
    random = np.random.default_rng(0)
    samples = random.uniform(0, 8, (300, 2)), *(hemisphere(random, 300, 0.05) for _ in range(2))
    samples = [each.astype(np.float32) for each in samples]
    made = of_neural_shape({**MIXED, **types})
    made.check(made.require_material())
    by_hand = of_neural_shape(BY_HAND, PAIR)
    by_hand.check(by_hand.require_material())
    assert not by_hand.conversions
    found, wanted = (Teacher(each).response(*samples) for each in (made, by_hand))
    assert np.ptp(wanted) > 0.1
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_one_notice_lists_all_conversions_of_a_document():
    (report,) = describe(of_neural_shape(MIXED), probe=False)
    assert not report.problem
    (notice,) = [part for part in report.parts if part.name == "types"]
    assert notice.fate == "kept"
    assert notice.how == (
        "3 converted, because the document mixes types: NG_glaze/absorbed/in1: color3 to vector3; "
        "NG_glaze/absorbed/in2: integer to vector3; coat/roughness: float to vector2"
    )


def test_conversions_of_other_materials_are_not_in_the_notice():
    alone = node("dot", "alone", "color3", {"in": ("vector3", "1, 1, 1")})
    made = probe(alone + node("constant", "colour", "color3", {}), "colour")
    assert [each.what for each in made.conversions] == ["alone/in: vector3 to color3"]
    (report,) = describe(made, probe=False)
    assert "types" not in [part.name for part in report.parts]


def test_a_document_without_mixed_types_stays_as_it_is():
    text = f'<materialx version="1.39">{constant("color3")}{constant("float", "other")}</materialx>'
    assert not parse_document(text).conversions
