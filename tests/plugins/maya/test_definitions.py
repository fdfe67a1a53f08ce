"""Surfaces of Maya only: read with the definitions of maya-usd, else refused by name."""

import base64
import json
import os
import zlib
from pathlib import Path

import fake_maya
import MaterialX as mx
import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DocumentError
from verdigris.core.hosts import documents
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ..hosts import by_name
from .scenes import ACESCG_TO_REC_709, SHAPE, USD_DATA, add_native, export, open_scene

HERE = Path(__file__).parent / "data" / "definitions"
STACK = "|materialXStack1|materialXStackShape1"
# In the format of LookdevX, with a second material of MaterialX.
TEXT = """<?xml version="1.0"?>
<materialx version="1.39">
  <MayaLambert name="lambert1" type="surfaceshader" nodedef="MayaND_lambert_surfaceshader">
    <input name="color" type="color3" value="0.5, 0.1, 0.25" />
    <input name="transparency" type="color3" value="0.75, 0, 0" />
    <input name="incandescence" type="color3" value="0, 2, 0" />
  </MayaLambert>
  <surfacematerial name="Lambert" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="lambert1" />
  </surfacematerial>
</materialx>
"""


@pytest.fixture
def maya(monkeypatch):
    scene = fake_maya.Scene()
    fake_maya.install(monkeypatch, scene)
    for name in documents.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return scene


@pytest.fixture
def with_maya_usd(maya, monkeypatch):
    """Sets the search path to the definitions and the libraries of MaterialX."""
    standard = Path(mx.getDefaultDataSearchPath().asString()) / "libraries"
    both = os.pathsep.join(map(str, (standard, HERE, HERE / "gone")))
    monkeypatch.setenv("PXR_MTLX_STDLIB_SEARCH_PATHS", both)


def open_with(maya, text):
    host = open_scene(maya, "stack.ma")
    packed = base64.b64encode(len(text).to_bytes(4, "big") + zlib.compress(text.encode()))
    documents = json.dumps([{"name": "document1", "document": packed.decode()}])
    maya.nodes[STACK]["attributes"]["documents"] = documents
    return host


def check_lambert(found, cover, glow, colour=(0.5, 0.1, 0.25)):
    """Compares response, opacity and emission with the graph, whose colour has the factor 0.8."""
    loaded = parse_document(found.text, found.search)
    material = loaded.require_material(found.material)
    loaded.check(material)
    teacher = Teacher(loaded, material, open_device("software"))
    uv = np.full((1, 2), 0.5, np.float32)
    wi, wo = np.float32([[0.6, 0, 0.8]]), np.float32([[0, 0, 1]])
    wanted = 0.8 * np.array(colour) / np.pi * 0.8
    np.testing.assert_allclose(teacher.response(uv, wi, wo)[0], cover * wanted, rtol=1e-4)
    np.testing.assert_allclose(teacher.unlit(uv, wo)[0, 3], cover, atol=1e-6)
    np.testing.assert_allclose(teacher.unlit(uv, wo)[0, :3], cover * np.array(glow), rtol=1e-4)


@pytest.mark.usefixtures("with_maya_usd")
def test_a_lambert_of_a_stack_is_read_with_the_definition_of_maya_usd(maya):
    host = open_with(maya, TEXT)
    before = maya.state()
    found = host.document(by_name(host, "Lambert"))
    assert maya.state() == before
    assert not any("Maya" in note for note in found.notes)
    assert HERE in found.search
    # the document contains the definitions that the graph uses, but none of MaterialX
    included = [line.partition('href="')[2] for line in found.text.splitlines() if "href" in line]
    names = {Path(each.partition('"')[0]).name for each in included}
    assert names == {"surfaces.mtlx", "utilities.mtlx", "utilities_ng.mtlx"}
    check_lambert(found, 0.25, (0, 2, 0))


@pytest.mark.usefixtures("with_maya_usd")
def test_a_lambert_that_maya_exports_is_read_with_the_definition_of_maya_usd(maya, tmp_path):
    host = open_scene(maya, "stack.ma")
    text = (USD_DATA / "maya_usd.usda").read_text()
    maya.export = tmp_path / "export.usda"
    # only the first material of this name
    text = text.replace("(0.8, 0.1, 0.1)", "(0.5, 0.1, 0.25)").replace(
        'def Scope "spare"', 'over "s"'
    )
    maya.export.write_text(text)
    add_native(maya, [SHAPE])
    maya.add("lambert2", "lambert")
    maya.add("lambert2SG", "shadingEngine")
    maya.connections["lambert2SG.surfaceShader"] = "lambert2.outColor"
    maya.members["lambert2SG"] = [SHAPE]
    # colours of Maya are in its rendering space, which is ACEScg
    in_rec_709 = ACESCG_TO_REC_709 @ (0.5, 0.1, 0.25)
    check_lambert(export(host, "lambert2"), 1, (0, 0, 0), in_rec_709)
    maya.rendering_space = "scene-linear Rec.709-sRGB"
    check_lambert(export(host, "lambert2"), 1, (0, 0, 0))


def test_without_its_definition_a_surface_is_refused_with_the_remedy(maya):
    host = open_with(maya, TEXT)
    before = maya.state()
    found = host.document(by_name(host, "Lambert"))
    assert maya.state() == before
    assert found.notes == (
        f"{STACK} document1: 'MayaND_lambert_surfaceshader' is a node that only Maya has: "
        "materials with it cannot be baked: use a MaterialX surface such as OpenPBR or Standard "
        "Surface",
    )
    assert found.text == TEXT
    loaded = parse_document(found.text, found.search)
    with pytest.raises(DocumentError, match="'MayaLambert', which no library defines"):
        loaded.check(loaded.require_material(found.material))


@pytest.mark.usefixtures("with_maya_usd")
def test_a_definition_without_a_graph_is_reported(maya):
    grain = '<MayaGrain name="g" type="color3" nodedef="MayaND_grain_color3"/></materialx>'
    host = open_with(maya, TEXT.replace("</materialx>", grain))
    notes = host.document(by_name(host, "Lambert")).notes
    assert [note for note in notes if "'MayaND_grain_color3' is a node that only Maya has" in note]


def test_an_unreadable_file_does_not_hide_others(tmp_path):
    (tmp_path / "broken.mtlx").write_text("<materialx>")
    for path in HERE.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    found = documents.find_definitions((tmp_path,))
    assert set(found) == {"MayaND_lambert_surfaceshader", "MayaND_dim_color3"}
    lambert = found["MayaND_lambert_surfaceshader"].signature
    assert (lambert.category, lambert.node_type) == ("MayaLambert", "surfaceshader")
    assert lambert.inputs["color"] == "color3"
