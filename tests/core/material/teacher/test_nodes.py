"""Every node of the standard libraries that gives a value or a closure generates, compiles and
gives finite values."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.teacher.teacher import Teacher

from ..many_nodes import OFFSET, VALUES, definitions, glow_by_turn, shown, sources, wired
from ..surfaces import (
    UV,
    document,
    glow,
    hemisphere,
    node,
    probe,
    respond,
    surface_material,
    write_image,
)

BATCH = 48


def value_cases():
    """(label, text of the node, text that shows it) for each output of each definition."""
    for definition in definitions((*VALUES, "multioutput")):
        outputs = [o for o in definition.getActiveOutputs() if o.getType() in VALUES]
        for output in outputs:
            name = output.getName() if len(definition.getActiveOutputs()) > 1 else ""
            yield definition, name, output.getType()


CASES = list(value_cases())
BATCHES = [CASES[at : at + BATCH] for at in range(0, len(CASES), BATCH)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    texels = np.random.default_rng(1).integers(1, 255, (16, 16, 4)).astype(np.uint8)
    write_image(folder / "grid.png", texels)
    return folder


@pytest.mark.parametrize("batch", range(len(BATCHES)))
def test_every_node_of_the_library_gives_finite_values(batch, folder):
    parts = [
        wired(definition, f"case_{at}") + shown(f"case_{at}", output, kind, f"shown_{at}")
        for at, (definition, output, kind) in enumerate(BATCHES[batch])
    ]
    _, values = glow_by_turn(parts, batch, search_paths=[folder])
    broken = [
        f"{definition.getName()}.{output}"
        for (definition, output, _), result in zip(BATCHES[batch], values, strict=True)
        if not (result > -OFFSET).all()
    ]
    assert not broken


def test_closures_of_the_library_reflect_finite_light(folder):
    """All of them in one sum with a Lambert lobe: one that is not finite would take it to zero."""
    for group in (lambda name: "lama" in name, lambda name: "lama" not in name):
        found = [d for d in definitions(("BSDF",)) if group(d.getName())]
        body = sources() + node("oren_nayar_diffuse_bsdf", "some_BSDF", "BSDF", {})
        for at, definition in enumerate(found):
            body += wired(definition, f"case_{at}")
            before = f"@sum_{at}" if at else "@some_BSDF"
            ports = {"in1": ("BSDF", before), "in2": ("BSDF", f"@case_{at}")}
            body += node("add", f"sum_{at + 1}", "BSDF", ports)
        lobes = {"bsdf": ("BSDF", f"@sum_{len(found)}")}
        body += node("surface", "surf", "surfaceshader", lobes)
        teacher = Teacher(document(UV + body + surface_material("surf")))
        random = np.random.default_rng(4)
        directions = hemisphere(random, 2000), hemisphere(random, 2000)
        got = respond(teacher, random.random((2000, 2)), *directions)
        assert np.isfinite(got).all() and (got > 0).all()


@pytest.mark.parametrize(("category", "kind"), [("conical_edf", "EDF"), ("measured_edf", "EDF")])
def test_a_node_that_materialx_cannot_write_in_slang_is_refused_by_name(category, kind):
    body = node(category, "odd_one", kind, {})
    body += node("surface", "surf", "surfaceshader", {"edf": (kind, "@odd_one")})
    with pytest.raises(DocumentError, match=r"odd_one|conical|measured"):
        Teacher(document(body + surface_material("surf")))


@pytest.mark.parametrize(
    ("category", "output", "kind"),
    [
        ("flake2d", "rand", "float"),
        ("flake3d", "rand", "float"),
        ("chiang_hair_absorption_from_color", "absorption", "vector3"),
        ("chiang_hair_roughness", "roughness_R", "vector2"),
        ("deon_hair_absorption_from_melanin", "absorption", "vector3"),
    ],
)
def test_what_is_unlit_has_the_colour_that_a_lit_surface_gives_off(category, output, kind):
    (definition,) = standard_library().getMatchingNodeDefs(category)
    body = sources() + wired(definition, "made")
    several = output if len(definition.getActiveOutputs()) > 1 else ""
    body += shown("made", several, kind, "shown")
    unlit = {"emission_color": ("color3", "@shown")}
    unlit = node("surface_unlit", "surf", "surfaceshader", unlit) + surface_material("surf")
    uv = np.random.default_rng(5).random((500, 2))
    expected = glow(Teacher(probe(body, "shown")), uv)
    assert np.ptp(expected) > 0.001
    np.testing.assert_array_equal(glow(Teacher(document(UV + body + unlit)), uv), expected)
