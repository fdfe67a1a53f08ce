"""MaterialX documents in stages, beyond what USD's own reader does (test_usd_oracle.py)."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdShade

from verdigris.core.batch.scene.sources import ReadOptions, entries_of
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.usd.open_stage import open_stage
from verdigris.core.material.usd.usdshade import convert, list_materials

from .stages import SAME

ABOVE = [each / "shared" / "scenes" / "usd" for each in Path(__file__).parents]
SCENES = next((each for each in ABOVE if each.is_dir()), ABOVE[0])
HEAD = '<?xml version="1.0"?>\n<materialx version="1.39"{}>\n'
PAINT = (
    HEAD.format("")
    + """<standard_surface name="SR_paint" type="surfaceshader">
    <input name="base_color" type="color3" value="0.1, 0.2, 0.3"/>
  </standard_surface>
  <surfacematerial name="paint" type="material">
    <input name="surfaceshader" type="surfaceshader" nodename="SR_paint"/>
  </surfacematerial>
</materialx>
"""
)
# Two uses of a definition of the document, units, a document in another colour space, a surface in
# a graph that a node of the document feeds.
RICH = (
    HEAD.format(' colorspace="acescg"')
    + """<nodedef name="ND_tinted" node="tinted">
    <input name="in" type="color3" value="0.5, 0.5, 0.5"/>
    <input name="amount" type="float" value="1"/>
    <output name="out" type="color3"/>
  </nodedef>
  <nodegraph name="NG_tinted" nodedef="ND_tinted">
    <multiply name="scaled" type="color3">
      <input name="in1" type="color3" interfacename="in"/>
      <input name="in2" type="float" interfacename="amount"/>
    </multiply>
    <output name="out" type="color3" nodename="scaled"/>
  </nodegraph>
  <tinted name="warm" type="color3">
    <input name="in" type="color3" value="0.9, 0.3, 0.1"/>
  </tinted>
  <nodegraph name="NG_layers">
    <input name="warm" type="color3" nodename="warm"/>
    <tinted name="cold" type="color3">
      <input name="in" type="color3" value="0.1, 0.3, 0.9"/>
      <input name="amount" type="float" value="0.5"/>
    </tinted>
    <standard_surface name="under" type="surfaceshader">
      <input name="base_color" type="color3" nodename="cold"/>
    </standard_surface>
    <standard_surface name="over" type="surfaceshader">
      <input name="base_color" type="color3" interfacename="warm"/>
      <input name="thin_film_thickness" type="float" value="0.4" unit="micron" unittype="distance"/>
    </standard_surface>
    <mix name="both" type="surfaceshader">
      <input name="fg" type="surfaceshader" nodename="over"/>
      <input name="bg" type="surfaceshader" nodename="under"/>
      <input name="mix" type="float" value="0.25"/>
    </mix>
    <output name="out" type="surfaceshader" nodename="both"/>
  </nodegraph>
  <surfacematerial name="rich" type="material">
    <input name="surfaceshader" type="surfaceshader" nodegraph="NG_layers" output="out"/>
  </surfacematerial>
</materialx>
"""
)


def make_stage(folder, text, **documents):
    for name, content in documents.items():
        (folder / f"{name}.mtlx").write_text(content)
    path = folder / "show.usda"
    path.write_text(f"#usda 1.0\n{text}")
    return path


def only_text(path):
    opened = open_stage(path)
    assert not opened.problems
    [place] = list_materials(opened.stage)
    return convert(opened.stage, place).text


def test_what_usds_reader_loses_is_kept(tmp_path, samples):
    path = make_stage(tmp_path, "(\n    subLayers = [@rich.mtlx@]\n)\n", rich=RICH)
    seen, expected = (
        Teacher(loaded, loaded.require_material("rich")).response(*samples)
        for loaded in (parse_document(only_text(path)), parse_document(RICH))
    )
    assert expected.max() > 0.1
    assert np.abs(seen - expected).max() < SAME


@pytest.mark.parametrize("shader", ["SR_paint", "ND_standard_surface_surfaceshader"])
def test_a_shader_is_overridden_by_either_name_that_usd_gave_it(tmp_path, shader):
    text = f"""def "mtl" (
    references = @./paint.mtlx@</MaterialX/Materials>
)
{{
    over "paint"
    {{
        over "{shader}"
        {{
            float inputs:base.connect = None
            float inputs:base = 0.25
        }}
    }}
}}
"""
    assert 'name="base" type="float" value="0.25"' in only_text(
        make_stage(tmp_path, text, paint=PAINT)
    )


def test_a_value_over_a_connection_is_named_as_usd_ignores_it(tmp_path):
    text = """def "mtl" (
    references = @./rich.mtlx@</MaterialX/Materials>
)
{
    over "rich"
    {
        over "NG_layers"
        {
            over "over"
            {
                color3f inputs:base_color = (1, 0, 0)
            }
        }
    }
}
"""
    opened = open_stage(make_stage(tmp_path, text, rich=RICH))
    found = convert(opened.stage, "/mtl/rich")
    [note] = found.notes
    assert note.startswith("/mtl/rich/NG_layers/over.base_color: the stage overrides its value")
    assert "/mtl/rich/NodeGraphs/warm/scaled feeds it" in note


def test_a_reference_without_the_path_of_a_prim_is_the_whole_document(tmp_path):
    path = make_stage(tmp_path, 'def "X" (\n    references = @paint.mtlx@\n)\n{\n}\n', paint=PAINT)
    assert list_materials(open_stage(path).stage) == ("/X/Materials/paint",)


def test_documents_that_cannot_be_read_are_problems_where_they_are_used(tmp_path, capfd):
    text = """def "a" (
    references = [@broken.mtlx@</MaterialX>, @gone.mtlx@</MaterialX>, @paint.mtlx@</MaterialX>]
    prepend variantSets = "v"
    variants = {
        string v = "one"
    }
)
{
    variantSet "v" = {
        "one" {
        }
        "two" (
            references = @unused.mtlx@</MaterialX>
        ) {
        }
    }
}
def "b" (
    references = @other.usda@
)
{
}
"""
    path = make_stage(tmp_path, text, broken="<materialx", unused="<materialx", paint=PAINT)
    entries = {each.name: each.problem for each in entries_of(path, ReadOptions())}
    assert set(entries) == {"broken", "gone", "paint"} and not entries["paint"]
    assert entries["broken"].startswith(f"{tmp_path / 'broken.mtlx'}: not valid XML")
    assert entries["gone"] == f"gone.mtlx: there is no such file: correct its reference in {path}"
    said = capfd.readouterr().err
    # other warnings of USD stay
    assert "other.usda" in said and ".mtlx" not in said


def test_documents_and_includes_outside_of_allowed_folders_are_refused(tmp_path):
    inner, outer = tmp_path / "in", tmp_path / "out"
    inner.mkdir()
    outer.mkdir()
    (outer / "paint.mtlx").write_text(PAINT)
    include = HEAD.format("") + '<xi:include href="../out/paint.mtlx"/></materialx>'
    arcs = "[@../out/paint.mtlx@</MaterialX>, @all.mtlx@</MaterialX>]"
    path = make_stage(inner, f'def "a" (\n    references = {arcs}\n)\n{{\n}}\n', all=include)
    found = entries_of(path, ReadOptions(allowed=(inner,)))
    assert {each.name for each in found} == {"paint", "all"}
    assert all("outside of" in each.problem for each in found)


def test_a_package_has_its_documents_inside(tmp_path):
    path = make_stage(tmp_path, 'def "X" (\n    references = @./paint.mtlx@</MaterialX>\n)\n{\n}\n')
    package = tmp_path / "show.usdz"
    with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
        for name, text in ((path.name, path.read_text()), ("paint.mtlx", PAINT)):
            # USD requires that contents start at multiples of 64 bytes
            info = zipfile.ZipInfo(name)
            start = archive.fp.tell() + 30 + len(name)
            info.extra = b"\x86\x19" + (-(start + 4) % 64).to_bytes(2, "little")
            info.extra += bytes(-(start + 4) % 64)
            archive.writestr(info, text)
    assert 'value="0.1, 0.2, 0.3"' in only_text(package)


def test_the_layers_of_a_stage_cannot_be_saved_with_names_of_layers_in_memory(tmp_path):
    path = make_stage(tmp_path, "(\n    subLayers = [@paint.mtlx@]\n)\n", paint=PAINT)
    before, opened = path.read_text(), open_stage(path)
    assert not opened.stage.GetRootLayer().permissionToSave
    assert path.read_text() == before


def test_a_shader_with_the_name_of_its_definition_is_read(tmp_path):
    # as older versions of usdMtlx name it
    layer = Sdf.Layer.CreateNew(str(tmp_path / "flat.usda"))
    stage = Usd.Stage.Open(layer)
    material = UsdShade.Material.Define(stage, "/m")
    shader = UsdShade.Shader.Define(stage, "/m/ND_standard_surface_surfaceshader")
    shader.CreateIdAttr("ND_standard_surface_surfaceshader")
    shader.CreateInput("base", Sdf.ValueTypeNames.Float).Set(0.25)
    output = shader.CreateOutput("surface", Sdf.ValueTypeNames.Token)
    material.CreateSurfaceOutput("mtlx").ConnectToSource(output)
    loaded = parse_document(convert(stage, "/m").text)
    loaded.check(loaded.require_material("m"))
    [node] = loaded.root.getNodes("standard_surface")
    assert node.getNodeDef().getName() == "ND_standard_surface_surfaceshader"


@pytest.mark.skipif(not SCENES.is_dir(), reason="no ../shared/scenes")
def test_stages_of_others_are_read(subtests):
    for path in sorted(SCENES.rglob("*.usd*")):
        with subtests.test(path.name):
            entries = entries_of(path, ReadOptions())
            assert entries
            for entry in entries:
                assert not entry.problem and not entry.notes
                loaded = entry.source.load()
                loaded.check(loaded.require_material(entry.material))
