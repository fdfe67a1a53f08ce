"""UsdShade networks become documents that say the same.

The stages in data/ are written by hand as Solaris and maya-usd write theirs, or made by usdMtlx
from the project's examples; what they should evaluate to is written in MaterialX beside them.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdShade

from verdigris.core.base.device import CACHE_VARIABLE
from verdigris.core.base.errors import DocumentError, TextureError
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.usd.signatures import find_signature
from verdigris.core.material.usd.usdshade import (
    convert,
    convert_material,
    list_materials,
    require_material,
)

from ..documents import document, material, with_surface
from .stages import DATA, SAME, converted
from .test_usd_package import write_package

EXAMPLES = Path(__file__).parents[4] / "examples"

NESTED = with_surface(
    '<input name="base_color" type="color3" nodename="scaled"/>'
    '<input name="metalness" type="float" value="0.2"/>'
    '<input name="specular_roughness" type="float" value="0.35"/>',
    '<multiply name="scaled" type="color3">'
    '<input name="in1" type="color3" value="0.5, 0.25, 0.125" colorspace="srgb_texture"/>'
    '<input name="in2" type="float" value="0.375"/></multiply>',
)
CASCADE = document(
    '<oren_nayar_diffuse_bsdf name="diffuse" type="BSDF">'
    '<input name="color" type="color3" value="0.2, 0.4, 0.6"/>'
    '<input name="weight" type="float" value="0.5"/></oren_nayar_diffuse_bsdf>'
    '<surface name="shader" type="surfaceshader">'
    '<input name="bsdf" type="BSDF" nodename="diffuse"/></surface>',
    material(),
)
TILES = with_surface(
    '<input name="base_color" type="color3" nodename="turned"/>'
    '<input name="specular" type="float" value="0"/>',
    '<image name="picture" type="color3"><input name="file" type="filename" '
    'value="tiles.&lt;UDIM&gt;.png" colorspace="srgb_texture"/></image>'
    '<separate3 name="parts" type="multioutput">'
    '<input name="in" type="color3" nodename="picture"/></separate3>'
    '<combine3 name="turned" type="color3">'
    '<input name="in1" type="float" nodename="parts" output="outb"/>'
    '<input name="in2" type="float" nodename="parts" output="outg"/>'
    '<input name="in3" type="float" nodename="parts" output="outr"/></combine3>',
)
PLAIN = with_surface(
    '<input name="base" type="float" value="1"/>'
    '<input name="base_color" type="color3" nodename="picture"/>'
    '<input name="specular" type="float" value="0"/>',
    '<image name="picture" type="color3"><input name="file" type="filename" value="plain.png" '
    'colorspace="srgb_texture"/><input name="filtertype" type="string" value="cubic"/></image>',
)


def open_stage(name):
    return Usd.Stage.Open(str(DATA / f"{name}.usda"))


@pytest.fixture(scope="module")
def solaris():
    return open_stage("solaris")


@pytest.fixture(scope="module")
def maya():
    return open_stage("maya_usd")


def response(loaded, samples, name=None):
    return Teacher(loaded, loaded.require_material(name)).response(*samples)


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        pytest.param("solaris", "/materials/nested", NESTED, id="graphs in graphs"),
        pytest.param("solaris", "/materials/cascade", CASCADE, id="graph into graph"),
        pytest.param("solaris", "/materials/tiles", TILES, id="tiles, of 1.38"),
        pytest.param("maya_usd", "standardSurface2SG", PLAIN, id="maya-usd's export"),
    ],
)
def test_a_network_evaluates_like_the_same_material_written_by_hand(name, path, expected, samples):
    _, loaded = converted(open_stage(name), path)
    by_hand = response(parse_document(expected, [DATA / "textures"]), samples)
    assert by_hand.max() > 0.01 and np.ptp(by_hand) > 0.01
    assert np.abs(response(loaded, samples) - by_hand).max() < SAME


@pytest.mark.parametrize("name", ["glazed_tile", "two_tone_velvet"])
def test_what_usdmtlx_made_of_an_example_evaluates_like_the_example(name, samples):
    _, loaded = converted(open_stage(name), name)
    original = response(load_document(EXAMPLES / f"{name}.mtlx"), samples)
    assert original.max() > 0.01
    assert np.abs(response(loaded, samples) - original).max() < SAME


def test_every_material_of_a_stage_is_listed_by_its_path(solaris, maya):
    assert [path.rpartition("/")[2] for path in list_materials(solaris)] == [
        *("nested", "cascade", "tiles", "karma", "preview", "bare", "absent")
    ]
    assert len(list_materials(maya)) == 3


def test_a_material_that_instances_share_is_listed_once(stage):
    UsdShade.Material.Define(stage, "/tree/bark")
    for name in ("first", "second", "third"):
        prim = stage.DefinePrim(f"/wood/{name}")
        prim.GetReferences().AddInternalReference("/tree")
        prim.SetInstanceable(name != "third")
    assert list_materials(stage) == ("/tree/bark", "/wood/first/bark", "/wood/third/bark")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/materials/bare", r"has no surface: connect a MaterialX surface shader"),
        ("/materials/absent", r"its reference is not loaded or empty"),
    ],
)
def test_what_solaris_may_hold_and_cannot_be_converted_is_refused_by_name(solaris, path, message):
    with pytest.raises(DocumentError, match=message):
        convert_material(require_material(solaris, path))


def test_a_surface_that_only_maya_has_is_refused_by_name(maya):
    with pytest.raises(
        DocumentError, match=r"'MayaND_lambert_surfaceshader' is a node of Maya only"
    ):
        convert_material(require_material(maya, "/plate/mtl/lambert2SG"))


def test_a_name_that_two_materials_share_has_to_be_given_with_its_path(maya):
    with pytest.raises(DocumentError, match=r"may be /plate/mtl/lambert2SG, /plate/spare/lamb"):
        require_material(maya, "lambert2SG")
    with pytest.raises(DocumentError, match=r"no material 'tin'; there are: /plate/mtl/standard"):
        require_material(maya, "tin")


def test_graphs_interfaces_outputs_and_versions_are_those_of_the_stage(solaris):
    _, loaded = converted(solaris, "/materials/nested")
    graph = loaded.root.getNodeGraph("outer")
    assert graph.getInput("amount").getValue() == 0.75
    assert graph.getNode("scale").getInput("in2").getInterfaceName() == "amount"
    assert graph.getOutput("split_outy").getOutputString() == "outy"
    assert graph.getNode("scale").getInput("in1").getColorSpace() == "srgb_texture"
    assert 'version="1.39"' in converted(solaris, "/materials/nested")[0].text
    assert 'version="1.38"' in converted(solaris, "/materials/tiles")[0].text


def test_displacement_goes_along_for_the_report_to_name(solaris):
    found, _ = converted(solaris, "/materials/cascade")
    assert 'name="displacementshader" type="displacementshader" nodename="lift"' in found.text


def test_what_cannot_be_carried_over_is_noted(solaris, maya):
    notes = converted(solaris, "/materials/tiles")[0].notes
    assert notes == ("/materials/tiles/bump.scale is animated: its first value is used",)
    (note,) = converted(maya, "standardSurface2SG")[0].notes
    assert "'unheard_of' is unknown to ND_standard_surface_surfaceshader" in note


def test_folders_of_the_files_are_handed_over_and_missing_files_keep_their_place(tmp_path, solaris):
    assert converted(solaris, "/materials/tiles")[0].folders == (DATA / "textures",)
    text = (DATA / "maya_usd.usda").read_text()
    (tmp_path / "moved.usda").write_text(text)
    moved = Usd.Stage.Open(str(tmp_path / "moved.usda"))
    found = convert_material(require_material(moved, "standardSurface2SG"))
    assert (tmp_path / "textures" / "plain.png").as_posix() in found.text


def test_a_stage_that_was_never_saved_still_converts(samples):
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString((DATA / "solaris.usda").read_text())
    _, loaded = converted(stage, "/materials/nested")
    by_hand = response(parse_document(NESTED), samples)
    assert np.abs(response(loaded, samples) - by_hand).max() < SAME


@pytest.fixture
def stage():
    return Usd.Stage.CreateInMemory()


def make_material(stage, definition, outputs=("out",)):
    """A material whose surface is one shader of this definition."""
    made = UsdShade.Material.Define(stage, "/made")
    shader = UsdShade.Shader.Define(stage, "/made/surface")
    shader.CreateIdAttr(definition)
    for output in outputs:
        shader.CreateOutput(output, Sdf.ValueTypeNames.Token)
    made.CreateOutput("mtlx:surface", Sdf.ValueTypeNames.Token).ConnectToSource(
        shader.ConnectableAPI(), outputs[0]
    )
    made.GetPrim().CreateAttribute("config:mtlx:version", Sdf.ValueTypeNames.String).Set("1.39")
    return made, shader


def test_a_closure_that_is_no_surface_is_refused_with_the_remedy(stage):
    made, _ = make_material(stage, "ND_oren_nayar_diffuse_bsdf")
    with pytest.raises(DocumentError, match=r"type BSDF: connect a surfaceshader node"):
        convert_material(made)


def test_a_definition_that_nobody_knows_is_refused_with_the_version(stage):
    made, _ = make_material(stage, "ND_swizzle_color3_color3")
    with pytest.raises(DocumentError, match=r"is not defined in MaterialX 1\.39"):
        convert_material(made)


def test_a_shader_that_is_defined_by_source_code_is_refused(stage):
    made, shader = make_material(stage, "ND_standard_surface_surfaceshader")
    shader.SetSourceCode("surface made() {}", "osl")
    with pytest.raises(DocumentError, match=r"/made/surface: is defined by its sourceCode"):
        convert_material(made)


def test_an_output_that_a_node_lacks_is_refused_with_those_it_has(stage):
    made, shader = make_material(stage, "ND_standard_surface_surfaceshader")
    split = UsdShade.Shader.Define(stage, "/made/split")
    split.CreateIdAttr("ND_separate3_vector3")
    split.CreateOutput("outw", Sdf.ValueTypeNames.Float)
    shader.CreateInput("base", Sdf.ValueTypeNames.Float).ConnectToSource(
        split.ConnectableAPI(), "outw"
    )
    with pytest.raises(DocumentError, match=r"no output 'outw'; ND_separate3_vector3 has outx, ou"):
        convert_material(made)


def test_every_kind_of_value_reads_back_as_it_was(stage):
    made, shader = make_material(stage, "ND_standard_surface_surfaceshader")
    shader.CreateInput("base", Sdf.ValueTypeNames.Float).Set(0.1)
    shader.CreateInput("specular_IOR", Sdf.ValueTypeNames.Double).Set(1 / 3)
    shader.CreateInput("base_color", Sdf.ValueTypeNames.Float3).Set((0.1, 1e-7, 3))
    shader.CreateInput("thin_walled", Sdf.ValueTypeNames.Bool).Set(True)
    loaded = parse_document(convert_material(made).text)
    node = loaded.root.getNode("surface")
    assert np.float32(node.getInput("base").getValue()) == np.float32(0.1)
    assert np.float32(node.getInput("specular_IOR").getValue()) == np.float32(1 / 3)
    assert node.getInput("base_color").getType() == "color3"
    assert node.getInput("base_color").getValue().asTuple() == tuple(
        float(np.float32(v)) for v in (0.1, 1e-7, 3)
    )
    assert node.getInput("thin_walled").getValue() is True
    assert 'value="0.1"' in convert_material(made).text


@pytest.mark.parametrize(
    ("definition", "name"),
    [("ND_geompropvalue_vector2", "geomprop"), ("ND_UsdPrimvarReader_vector2", "varname")],
)
def test_texture_coordinates_that_are_read_by_name_are_those_of_the_sample(
    stage, definition, name, samples
):
    made, shader = make_material(stage, "ND_surface_unlit")
    reader = UsdShade.Shader.Define(stage, "/made/reader")
    reader.CreateIdAttr(definition)
    reader.CreateInput(name, Sdf.ValueTypeNames.String).Set("st")
    reader.CreateOutput("out", Sdf.ValueTypeNames.Float2)
    split = UsdShade.Shader.Define(stage, "/made/split")
    split.CreateIdAttr("ND_separate2_vector2")
    split.CreateInput("in", Sdf.ValueTypeNames.Float2).ConnectToSource(
        reader.ConnectableAPI(), "out"
    )
    split.CreateOutput("outx", Sdf.ValueTypeNames.Float)
    shader.CreateInput("emission", Sdf.ValueTypeNames.Float).ConnectToSource(
        split.ConnectableAPI(), "outx"
    )
    loaded = parse_document(convert_material(made).text)
    emitted = Teacher(loaded, loaded.require_material()).unlit(samples[0], samples[2])[:, :3]
    assert np.abs(emitted - samples[0][:, :1]).max() < SAME
    (report,) = describe(loaded, probe=False)
    assert report.varying_inputs == ("emission",)
    assert not [part for part in report.parts if "geometry" in part.name]


def test_an_image_of_a_package_is_read_and_another_is_refused(stage, tmp_path, monkeypatch):
    """A stage may reference packages, which are no folders for a reader of images."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    files = {"a.usda": "#usda 1.0\n", "maps/c.png": b"pixels"}
    package = write_package(tmp_path / "b.usdz", files)
    (tmp_path / "secret.png").touch()
    _, shader = make_material(stage, "ND_standard_surface_surfaceshader")
    picture = UsdShade.Shader.Define(stage, "/made/picture")
    picture.CreateIdAttr("ND_image_color3")
    file = picture.CreateInput("file", Sdf.ValueTypeNames.Asset)
    picture.CreateOutput("out", Sdf.ValueTypeNames.Color3f)
    shader.CreateInput("base_color", Sdf.ValueTypeNames.Color3f).ConnectToSource(
        picture.ConnectableAPI(), "out"
    )
    file.Set(f"{package}[maps/c.png]")
    text = convert(stage, "/made").text
    (written,) = re.findall(r'type="filename" value="([^"]*c.png)"', text)
    assert Path(written).read_bytes() == b"pixels" and tmp_path / "cache" in Path(written).parents
    for inner in ("gone.png", "../../../../secret.png"):
        file.Set(f"{package}[{inner}]")
        with pytest.raises(TextureError, match="cannot be unpacked: unpack the package, a zip"):
            convert(stage, "/made")


def test_the_table_of_definitions_is_that_of_the_library():
    import MaterialX as mx

    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    definitions = library.getNodeDefs()
    assert len(definitions) > 700
    for definition in definitions:
        found = find_signature(definition.getName(), (1, 39))
        assert found.category == definition.getNodeString()
        assert found.outputs == {
            port.getName(): port.getType() for port in definition.getActiveOutputs()
        }
        assert found.inputs == {
            port.getName(): port.getType() for port in definition.getActiveInputs()
        }
    assert find_signature("ND_swizzle_color3_float", (1, 38)).node_type == "float"
    assert find_signature("ND_swizzle_color3_float", (1, 39)) is None


def test_a_name_in_letters_that_materialx_lacks_is_that_in_the_document(stage):
    made = UsdShade.Material.Define(stage, "/häute")
    shader = UsdShade.Shader.Define(stage, "/häute/surface")
    shader.CreateIdAttr("ND_standard_surface_surfaceshader")
    made.CreateOutput("mtlx:surface", Sdf.ValueTypeNames.Token).ConnectToSource(
        shader.CreateOutput("out", Sdf.ValueTypeNames.Token)
    )
    found = convert_material(made)
    document = parse_document(found.text)
    assert [each.name for each in document.materials] == [found.name] == ["h_ute"]
