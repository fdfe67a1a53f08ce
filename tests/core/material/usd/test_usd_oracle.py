"""Stages with MaterialX documents read as OpenUSD's own reader of documents composes them.

That reader, usdMtlx, is part of bpy's USD 25.08 and missing in usd-core. Blender's Python flattens
each stage with it.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest
from pxr import Usd, UsdShade

from verdigris.core.material.usd.open_stage import open_stage
from verdigris.core.material.usd.usdshade import convert, list_materials

from ....plugins.blender.test_in_blender import blender_python

REPOSITORY = Path(__file__).parents[4]
CORPUS = Path(os.environ.get("VERDIGRIS_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
DOCUMENTS = [
    path for top in (CORPUS, REPOSITORY / "examples") for path in sorted(top.rglob("*.mtlx"))
]
# A surface shader inside a node graph: usdMtlx takes it out and leaves what feeds it behind.
LOST_BY_USDMTLX = {"copper_tray", "enamel_badge", "foil_stamp", "painted_wood", "pearl_inlay"}
# Without values for inputs that tell them apart, usdMtlx takes the last of the fitting definitions
# (reader.cpp, _FindMatchingNodeDef), and MaterialX the first.
LAST_AND_FIRST = {
    "ND_normalmap_vector2": "ND_normalmap_float",
    "ND_clamp_color3FA": "ND_clamp_color3",
}
FLATTEN = """
import sys, bpy
bpy.utils.expose_bundled_modules()
from pxr import Usd, UsdShade
for source, target in zip(sys.argv[1::2], sys.argv[2::2]):
    Usd.Stage.Open(source).Flatten().Export(target)
"""

WOOD = """<?xml version="1.0"?>
<materialx version="1.38" colorspace="lin_rec709">
  <xi:include href="bark.mtlx"/>
  <nodegraph name="NG_wood">
    <input name="tint" type="color3" value="0.6, 0.4, 0.2"/>
    <constant name="half" type="float"><input name="value" type="float" value="0.5"/></constant>
    <multiply name="shade" type="color3">
      <input name="in1" type="color3" interfacename="tint"/>
      <input name="in2" type="float" nodename="half"/>
    </multiply>
    <output name="out" type="color3" nodename="shade"/>
  </nodegraph>
  <standard_surface name="SR_wood" type="surfaceshader">
    <input name="base_color" type="color3" nodegraph="NG_wood" output="out"/>
    <input name="specular_roughness" type="float" value="0.3"/>
  </standard_surface>
  <surfacematerial name="wood" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="SR_wood"/>
  </surfacematerial>
</materialx>
"""
BARK = """<?xml version="1.0"?>
<materialx version="1.38" colorspace="lin_rec709">
  <constant name="brown" type="color3">
    <input name="value" type="color3" value="0.2, 0.1, 0.05"/></constant>
  <standard_surface name="SR_bark" type="surfaceshader">
    <input name="base_color" type="color3" nodename="brown"/>
  </standard_surface>
  <surfacematerial name="bark" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="SR_bark"/>
  </surfacematerial>
</materialx>
"""
PROP = """#usda 1.0
(
    defaultPrim = "prop"
)
def Xform "prop" (
    prepend variantSets = "finish"
    variants = {
        string finish = "old"
    }
    prepend inherits = </_class_prop>
)
{
    def Scope "mtl" (
        payload = @./wood.mtlx@</MaterialX/Materials>
    )
    {
    }
    variantSet "finish" = {
        "new" {
            over "mtl"
            {
                over "wood"
                {
                    float inputs:specular_roughness = 0.1
                }
            }
        }
        "old" {
            def Material "extra" (
                references = @./wood.mtlx@</MaterialX/Materials/wood>
            )
            {
                float inputs:specular_roughness = 0.7
                over "NG_wood"
                {
                    color3f inputs:tint = (0.1, 0.2, 0.3)
                }
            }
        }
    }
}
class "_class_prop"
{
}
"""
SET = """#usda 1.0
(
    subLayers = [@./look.usda@]
)
over "_class_prop"
{
    over "mtl"
    {
        over "bark"
        {
            color3f inputs:coat_color = (0.9, 0.8, 0.7)
            float inputs:coat = 1
        }
    }
}
def Xform "first" (
    instanceable = true
    references = @./prop.usda@
)
{
}
def Xform "second" (
    references = @./prop.usda@
    variants = {
        string finish = "new"
    }
)
{
    over "mtl"
    {
        over "wood"
        {
            color3f inputs:base_color = (1, 0, 0)
            over "SR_wood"
            {
                color3f inputs:base_color.connect = </second/mtl/wood.inputs:base_color>
            }
        }
    }
}
def Material "special" (
    specializes = </look/wood>
)
{
    float inputs:metalness = 1
}
"""
LOOK = """#usda 1.0
def Scope "look" (
    references = @./wood.mtlx@</MaterialX/Materials>
)
{
    over "wood"
    {
        float inputs:base = 0.5
    }
}
"""
LOOKS = """<materialx version="1.39" colorspace="lin_rec709">
  <xi:include href="wood.mtlx"/>
  <collection name="furniture" includegeom="/table, /chair" excludegeom="/chair/leg"/>
  <collection name="all" includecollection="furniture" includegeom="/floor"/>
  <variantset name="wear">
    <variant name="old"><input name="coat" type="float" value="0.75"/></variant>
  </variantset>
  <look name="plain">
    <materialassign name="main" material="wood" collection="furniture">
      <variantassign name="v" variantset="wear" variant="old"/>
    </materialassign>
    <materialassign name="rest" material="bark" geom="/floor, /chair"/>
  </look>
  <look name="dark" inherit="plain">
    <materialassign name="main" material="bark" collection="all"/>
  </look>
</materialx>
"""
LOOKED = """#usda 1.0
def "plain" (
    references = @./looks.mtlx@</ModelRoot>
    variants = {
        string LookVariant = "plain"
    }
)
{
    def Mesh "table"
    {
    }
    def Xform "chair"
    {
        def Mesh "leg"
        {
        }
        def Mesh "seat"
        {
        }
    }
    def Mesh "floor"
    {
    }
}
def "dark" (
    references = @./looks.mtlx@</ModelRoot>
    variants = {
        string LookVariant = "dark"
    }
)
{
    def Mesh "table"
    {
    }
}
"""
FILES = {
    "looks.mtlx": LOOKS,
    "looked.usda": LOOKED,
    "wood.mtlx": WOOD,
    "bark.mtlx": BARK,
    "prop.usda": PROP,
    "set.usda": SET,
    "look.usda": LOOK,
}


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    """Pairs of a stage with documents and of the stage that Blender's USD flattened, by name."""
    python = blender_python()
    if python is None:
        pytest.skip("no bpy: make it with `python3 packaging/bootstrap.py test --blender`")
    folder = tmp_path_factory.mktemp("stages")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    sources = {"composed": folder / "set.usda", "looked": folder / "looked.usda"}
    for path in DOCUMENTS:
        sources[path.stem] = folder / f"{path.stem}_stage.usda"
        sources[path.stem].write_text(f"#usda 1.0\n(\n    subLayers = [@{path.as_posix()}@]\n)\n")
    targets = {name: folder / f"{name}_flat.usda" for name in sources}
    pairs = [str(part) for name in sources for part in (sources[name], targets[name])]
    subprocess.run([str(python), "-P", "-c", FLATTEN, *pairs], check=True, capture_output=True)
    return {name: (sources[name], targets[name]) for name in sources}


def read_both(stages, name):
    """The document of each material, by its path: from our reading, and from the flattened one."""
    source, target = stages[name]
    opened, flat = open_stage(source), Usd.Stage.Open(str(target))
    assert not opened.problems
    places = list_materials(opened.stage)
    assert sorted(places) == sorted(list_materials(flat)) and places
    for place in places:
        yield place, convert(opened.stage, place).text, convert(flat, place).text


def test_documents_are_read_as_usd_reads_them(stages, subtests):
    for path in DOCUMENTS:
        with subtests.test(path.stem):
            for _, ours, theirs in read_both(stages, path.stem):
                if path.stem in LOST_BY_USDMTLX:
                    assert len(ours) > 2 * len(theirs)
                    continue
                for last, first in LAST_AND_FIRST.items():
                    theirs = theirs.replace(last, first)
                assert ours == theirs


def test_looks_of_a_document_are_variants_with_bindings(stages):
    for place, ours, theirs in read_both(stages, "looked"):
        assert ours == theirs, place
    bound = []
    for stage in (open_stage(stages["looked"][0]).stage, Usd.Stage.Open(str(stages["looked"][1]))):
        meshes = [prim for prim in stage.Traverse() if prim.GetTypeName() == "Mesh"]
        found, _ = UsdShade.MaterialBindingAPI.ComputeBoundMaterials(meshes)
        pairs = zip(meshes, found, strict=True)
        bound.append({str(mesh.GetPath()): str(each.GetPath()) for mesh, each in pairs})
    assert bound[0] == bound[1] and len(bound[0]) == 5


def test_a_stage_composes_documents_in_every_kind_of_arc(stages):
    read = {}
    for place, ours, theirs in read_both(stages, "composed"):
        assert ours == theirs, place
        read[place] = dict(re.findall(r'name="(\w+)" type="\w+" value="([^"]*)"', ours))
    assert set(read) == {
        *(f"/{prop}/mtl/{name}" for prop in ("first", "second") for name in ("wood", "bark")),
        *(f"/look/{name}" for name in ("wood", "bark")),
        "/first/extra",
        "/special",
    }
    # the values of the files above, by hand
    assert read["/first/mtl/wood"]["specular_roughness"] == "0.3"
    assert read["/second/mtl/wood"] == {"specular_roughness": "0.1", "base_color": "1, 0, 0"}
    assert read["/first/extra"]["specular_roughness"] == "0.7"
    assert read["/first/extra"]["tint"] == "0.1, 0.2, 0.3"
    assert read["/first/mtl/bark"]["coat_color"] == "0.9, 0.8, 0.7"
    assert read["/special"] == read["/look/wood"] | {"metalness": "1"}
    assert read["/look/wood"]["base"] == "0.5"
