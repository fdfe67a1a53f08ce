"""Documents of Blender's materials, with Blender's own USD export."""

import xml.etree.ElementTree as xml
from pathlib import Path

import bpy
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.plugins.blender.adapter import BlenderHost

from .conftest import feed, new_image, new_material, shader_of


def document_of(name):
    host = BlenderHost()
    (material,) = (each for each in host.materials() if each.name == name)
    return host.document(material)


def input_of(document, name):
    """An input of the surface: its value, or None if it is connected."""
    root = xml.fromstring(document.text)
    (found,) = root.findall(f".//open_pbr_surface/input[@name='{name}']")
    return found.get("value")


def files_of(document):
    root = xml.fromstring(document.text)
    return [each.get("value") for each in root.iter("input") if each.get("type") == "filename"]


def test_values_of_the_principled_bsdf_arrive(harness):
    document = document_of("copper")
    assert [float(word) for word in input_of(document, "base_color").split(",")] == pytest.approx(
        [0.9, 0.4, 0.2]
    )
    assert input_of(document, "base_metalness") == "1"


def test_a_name_that_usd_cannot_have_is_replaced(harness):
    new_material("häute/ 01.x").use_fake_user = True
    document = document_of("häute/ 01.x")
    assert f'<surfacematerial name="{document.material}"' in document.text


def test_an_image_on_disk_stays_where_it_is(harness, tmp_path):
    file = tmp_path / "elsewhere" / "rust.png"
    feed(bpy.data.materials["copper"], "Base Color", "ShaderNodeTexImage").image = new_image(
        "rust", file
    )
    document = document_of("copper")
    assert files_of(document) == [str(file)]
    assert file.parent in document.search
    assert sorted(path.name for path in tmp_path.iterdir()) == ["elsewhere", "scene.blend"]


def test_a_relative_file_name_is_resolved_at_the_scene(harness, tmp_path):
    image = new_image("rust", tmp_path / "tex" / "rust.png")
    image.filepath = "//tex/rust.png"
    feed(bpy.data.materials["copper"], "Base Color", "ShaderNodeTexImage").image = image
    assert files_of(document_of("copper")) == [str(tmp_path / "tex" / "rust.png")]


@pytest.mark.parametrize("how", ["generated", "packed", "painted", "opened again"])
def test_an_image_in_memory_is_written_beside_the_scene(harness, tmp_path, how):
    file = tmp_path / "rust.png"
    image = new_image("rust", file if how in ("packed", "painted") else None)
    if how == "packed":
        image.pack()
        file.unlink()
    if how == "painted":
        image.pixels[0] = 0.75
        assert image.is_dirty
    feed(bpy.data.materials["copper"], "Base Color", "ShaderNodeTexImage").image = image
    if how == "opened again":
        bpy.ops.wm.save_mainfile()
        bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
        # its pixels are made when they are needed
        assert not bpy.data.images["rust"].has_data
    document = document_of("copper")
    (written,) = files_of(document)
    assert Path(written).is_file()
    assert tmp_path / "verdigris" / "images" / "copper" in Path(written).parents
    assert any("rust" in note and "written to" in note for note in document.notes)
    # the document can be read from the folders that it names
    loaded = parse_document(document.text, document.search, document.name)
    loaded.check(loaded.require_material(document.material))


def test_images_in_memory_of_a_scene_that_was_never_saved_are_temporary(plane):
    feed(plane.active_material, "Base Color", "ShaderNodeTexImage").image = new_image("rust")
    bpy.context.preferences.filepaths.use_relative_paths = True
    document = document_of("copper")
    assert Path(files_of(document)[0]).is_file()
    assert any("not saved" in note for note in document.notes)


def test_images_in_memory_with_one_file_name_are_an_error(harness, tmp_path):
    copper = bpy.data.materials["copper"]
    for folder, socket in (("one", "Base Color"), ("two", "Roughness")):
        image = new_image(folder, tmp_path / folder / "rust.png")
        image.pack()
        feed(copper, socket, "ShaderNodeTexImage").image = image
    with pytest.raises(HostError, match=r"(one, two|two, one) would be written to one file"):
        document_of("copper")


def test_a_shader_without_materialx_is_named_with_the_remedy(harness):
    toon = new_material("toon")
    toon.use_fake_user = True
    tree = toon.node_tree
    shader = tree.nodes.new("ShaderNodeBsdfToon")
    tree.links.new(shader.outputs["BSDF"], tree.get_output_node("ALL").inputs["Surface"])
    with pytest.raises(HostError, match=r"toon: .*'Toon BSDF'.*use a Principled BSDF"):
        document_of("toon")
    # the temporary scene is gone after an error, too
    assert [scene.name for scene in bpy.data.scenes] == ["Scene"]


def test_an_output_for_one_engine_is_read_and_the_other_is_named(harness):
    copper = bpy.data.materials["copper"]
    whole = document_of("copper").text
    tree = copper.node_tree
    first, second = tree.get_output_node("ALL"), tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(tree.nodes.new("ShaderNodeBsdfDiffuse").outputs[0], second.inputs["Surface"])
    first.target, second.target = "EEVEE", "CYCLES"
    assert "copper" in [each.name for each in BlenderHost().materials()]
    read = document_of("copper")
    assert read.text == whole
    assert "the output for Cycles is left out: that for EEVEE is read" in read.notes
    # the scene stays as it was
    assert (first.target, second.target) == ("EEVEE", "CYCLES")
    # alone, that for Cycles is read
    tree.nodes.remove(first)
    assert document_of("copper").text != whole


def test_a_material_without_a_shader_is_a_warning(harness):
    bare = new_material("bare")
    bare.use_fake_user = True
    bare.node_tree.nodes.clear()
    assert [each.name for each in BlenderHost().materials()] == ["copper", "spare"]
    assert any(line.startswith("bare has no shader") for line in BlenderHost().scene_warnings())


@pytest.mark.parametrize("kind", ["key", "driver"])
def test_animated_values_are_those_of_the_frame_that_is_shown(harness, kind):
    copper = bpy.data.materials["copper"]
    port = shader_of(copper).inputs["Roughness"]
    if kind == "driver":
        port.driver_add("default_value").driver.expression = "frame / 100"
    for frame in (10, 90) if kind == "key" else ():
        port.default_value = frame / 100
        port.keyframe_insert("default_value", frame=frame)
    bpy.context.scene.frame_set(90)
    assert float(input_of(document_of("copper"), "specular_roughness")) == pytest.approx(0.9)
    # the artist's value stays
    assert port.default_value == pytest.approx(0.9)


def test_what_the_export_leaves_out_is_named(harness, tmp_path):
    copper = bpy.data.materials["copper"]
    tree, output = copper.node_tree, copper.node_tree.get_output_node("ALL")
    node = tree.nodes.new("ShaderNodeVolumeScatter")
    tree.links.new(node.outputs[0], output.inputs["Volume"])
    feed(copper, "Base Color", "ShaderNodeTexImage")
    image = new_image("wide", tmp_path / "wide.png")
    image.colorspace_settings.name, image.source = "ACEScg", "SEQUENCE"
    feed(copper, "Roughness", "ShaderNodeTexImage").image = image
    muted = feed(copper, "Metallic", "ShaderNodeTexVoronoi")
    muted.mute = True
    notes = document_of("copper").notes
    assert [note.partition(":")[0] for note in notes] == [
        "volume of copper is left out",
        "'Image Texture' has no image, and is magenta",
        "wide changes with time",
        "wide is in the colour space 'ACEScg', which Blender's export does not name, so that it is "
        "read as linear",
    ]


def test_a_muted_shader_is_named_as_such(harness):
    shader_of(bpy.data.materials["copper"]).mute = True
    with pytest.raises(HostError, match="copper: its shader 'Principled BSDF' is muted"):
        document_of("copper")


def test_a_material_that_has_lost_its_output_since_it_was_listed_is_named(harness):
    listed, tree = harness.first, bpy.data.materials["copper"].node_tree
    tree.nodes.remove(tree.get_output_node("ALL"))
    with pytest.raises(HostError, match="copper has no shader at the surface of its output"):
        harness.host.document(listed)


def test_tiles_that_were_never_saved_are_written_too(harness):
    image = bpy.data.images.new("tiles", 8, 8, tiled=True)
    assert not image.is_dirty
    feed(bpy.data.materials["copper"], "Base Color", "ShaderNodeTexImage").image = image
    (file,) = files_of(document_of("copper"))
    assert Path(file.replace("<UDIM>", "1001")).is_file()


def test_names_do_not_decide_what_verdigris_has_made(harness):
    new_material("my_verdigris").use_fake_user = True
    assert "my_verdigris" in [each.name for each in BlenderHost().materials()]


def test_a_missing_library_is_a_warning(harness, tmp_path):
    library = tmp_path / "library.blend"
    bpy.data.libraries.write(str(library), {bpy.data.materials["spare"]})
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.materials = ["spare"]
    bpy.data.libraries[0].filepath = str(tmp_path / "gone.blend")
    (warning,) = (line for line in BlenderHost().scene_warnings() if "library" in line)
    assert str(tmp_path / "gone.blend") in warning


def test_a_node_that_the_export_drops_is_named(harness):
    feed(bpy.data.materials["copper"], "Base Color", "ShaderNodeTexVoronoi")
    document = document_of("copper")
    assert any("'Voronoi Texture'" in note for note in document.notes)


def test_an_output_that_the_export_drops_is_named(harness):
    geometry = feed(bpy.data.materials["copper"], "Base Color", "ShaderNodeNewGeometry")
    tree = bpy.data.materials["copper"].node_tree
    tree.links.new(
        geometry.outputs["Pointiness"], shader_of(bpy.data.materials["copper"]).inputs[2]
    )
    (note,) = document_of("copper").notes
    assert "'Pointiness' of 'Geometry'" in note
