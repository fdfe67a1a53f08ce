@tool
extends EditorImportPlugin
## Imports NAME.verdigris, a zip that `verdigris export --target godot` writes, as a NeuralMaterial.

const VERSION := 1
const SHADERS := "res://addons/verdigris/shaders/"
const NeuralMaterialScript := preload("neural_material.gd")
const FORMATS := {
	"bc7": Image.FORMAT_BPTC_RGBA,
	"rgba8": Image.FORMAT_RGBA8,
	"rgba16f": Image.FORMAT_RGBAH,
	"r8": Image.FORMAT_R8,
}


func _get_importer_name() -> String:
	return "verdigris.material"


func _get_visible_name() -> String:
	return "Neural material"


func _get_recognized_extensions() -> PackedStringArray:
	return PackedStringArray(["verdigris"])


func _get_save_extension() -> String:
	return "res"


func _get_resource_type() -> String:
	return "ShaderMaterial"


func _get_priority() -> float:
	return 1.0


func _get_import_order() -> int:
	return 0


func _get_preset_count() -> int:
	return 1


func _get_preset_name(_preset_index: int) -> String:
	return "Default"


func _get_import_options(_path: String, _preset_index: int) -> Array[Dictionary]:
	return []


func _get_option_visibility(_path: String, _option_name: StringName, _options: Dictionary) -> bool:
	return true


func _import(
	source_file: String,
	save_path: String,
	_options: Dictionary,
	_platform_variants: Array[String],
	_gen_files: Array[String]
) -> Error:
	var archive := ZIPReader.new()
	var failure := archive.open(source_file)
	if failure != OK:
		push_error("%s: is no zip (%s): export it again" % [source_file, error_string(failure)])
		return failure
	var facts: Variant = JSON.parse_string(
		archive.read_file("material.json").get_string_from_utf8()
	)
	if typeof(facts) != TYPE_DICTIONARY or facts.get("format") != "verdigris.engine":
		push_error("%s: has no material.json of Verdigris: export it again" % source_file)
		return ERR_FILE_CORRUPT
	if int(facts["version"]) != VERSION:
		push_error(
			(
				"%s: has version %s, and this add-on reads %d: export it again, with its add-on"
				% [source_file, facts["version"], VERSION]
			)
		)
		return ERR_FILE_UNRECOGNIZED
	var shader_path: String = SHADERS + facts["shader"] + ".gdshader"
	if not ResourceLoader.exists(shader_path):
		push_error("%s: copy %s from the export, too" % [source_file, shader_path])
		return ERR_FILE_MISSING_DEPENDENCIES
	var material: NeuralMaterial = NeuralMaterialScript.new()
	material.resource_name = facts["name"]
	material.shader = load(shader_path)
	var layers: Array[Image] = []
	for layer in int(facts["latents"]["layers"]):
		layers.append(_image(archive, facts["latents"], layer))
	var latents := Texture2DArray.new()
	failure = latents.create_from_images(layers)
	if failure != OK:
		push_error("%s: its latents make no texture (%s)" % [source_file, error_string(failure)])
		return failure
	material.set_shader_parameter("neural_latents", latents)
	for texture: String in ["numbers", "base", "normal", "emission", "opacity"]:
		if facts.has(texture):
			material.set_shader_parameter(
				"neural_" + texture,
				ImageTexture.create_from_image(_image(archive, facts[texture], 0))
			)
	archive.close()
	for vector: String in ["scale", "offset"]:
		var numbers: Array = facts[vector]
		for quad in 2:
			material.set_shader_parameter(
				"neural_%s%d" % [vector, quad],
				Vector4(
					numbers[4 * quad],
					numbers[4 * quad + 1],
					numbers[4 * quad + 2],
					numbers[4 * quad + 3]
				)
			)
	var live := Vector3.ZERO
	for index in (facts["live"] as Array).size():
		var input: Dictionary = facts["live"][index]
		live[index] = input["default"]
		material.live_names.append(input["name"])
		material.live_low.append(input["low"])
		material.live_high.append(input["high"])
	material.set_shader_parameter("neural_live", live)
	var tiling: Array = facts["tiling"]
	material.set_shader_parameter(
		"neural_tiling", Vector4(tiling[0], tiling[1], tiling[2], tiling[3])
	)
	return ResourceSaver.save(material, "%s.%s" % [save_path, _get_save_extension()])


## A layer of a texture with its own mip levels. The file has layer after layer, each with its
## largest level first.
func _image(archive: ZIPReader, entry: Dictionary, layer: int) -> Image:
	var data := archive.read_file(entry["file"])
	var size := int(data.size() / int(entry["layers"]))
	return Image.create_from_data(
		int(entry["width"]),
		int(entry["height"]),
		int(entry["levels"]) > 1,
		FORMATS[entry["format"]],
		data.slice(layer * size, (layer + 1) * size)
	)
