@tool
class_name NeuralMaterial
extends ShaderMaterial
## A material of Verdigris. Its live inputs have names, and values in their own units.

const VERSION := 1
const SHADERS := "res://addons/verdigris/shaders/"
const BEHIND := "neural_behind.gdshader"
const KINDS: Array[String] = [
	"latents", "numbers", "base", "normal", "emission", "opacity", "heights", "transmitted"
]
const FORMATS := {
	"bc7": Image.FORMAT_BPTC_RGBA,
	"rgba8": Image.FORMAT_RGBA8,
	"rgba16f": Image.FORMAT_RGBAH,
	"r8": Image.FORMAT_R8,
}

@export var live_names: PackedStringArray
@export var live_low: PackedFloat32Array
@export var live_high: PackedFloat32Array

## The texels, by kind, as images: the layers of the latents, or one. Textures are made of them when
## the material is loaded, because Godot reads mip levels of texture arrays back on few renderers.
@export_storage var images: Dictionary:
	set(value):
		images = value
		_make_textures()


## Sets a live input, such as "wetness". It changes without a compilation.
func set_live(input: String, value: float) -> void:
	var index := live_names.find(input)
	if index < 0:
		push_error("%s is no live input: there are %s" % [input, ", ".join(live_names)])
		return
	var values: Vector3 = get_shader_parameter("neural_live")
	values[index] = clampf(inverse_lerp(live_low[index], live_high[index], value), 0.0, 1.0)
	set_shader_parameter("neural_live", values)


## The value of a live input in its own units.
func get_live(input: String) -> float:
	var index := live_names.find(input)
	if index < 0:
		push_error("%s is no live input: there are %s" % [input, ", ".join(live_names)])
		return 0.0
	var values: Vector3 = get_shader_parameter("neural_live")
	return lerpf(live_low[index], live_high[index], values[index])


## Repeats the material along u and v.
func tile(repetitions: Vector2, offset := Vector2.ZERO) -> void:
	var tiling := Vector4(repetitions.x, repetitions.y, offset.x, offset.y)
	set_shader_parameter("neural_tiling", tiling)
	if images.has("behind"):
		(next_pass as ShaderMaterial).set_shader_parameter("neural_tiling", tiling)


## The material of a file NAME.verdigris, a zip that `verdigris export --target godot` writes. The
## importer calls it; a game can load files with it that came later. Null, with an error, if the
## file cannot be used.
static func from_file(path: String) -> ShaderMaterial:
	var archive := ZIPReader.new()
	if archive.open(path) != OK:
		push_error("%s: is no zip: export it again" % path)
		return null
	var text := archive.read_file("material.json").get_string_from_utf8()
	var facts: Variant = JSON.parse_string(text)
	if typeof(facts) != TYPE_DICTIONARY or facts.get("format") != "verdigris.engine":
		push_error("%s: has no material.json of Verdigris: export it again" % path)
		return null
	if int(facts["version"]) != VERSION:
		push_error(
			(
				"%s: has version %s, and this add-on reads %d: export it again, with its add-on"
				% [path, facts["version"], VERSION]
			)
		)
		return null
	var shader_path: String = SHADERS + facts["shader"] + ".gdshader"
	if not ResourceLoader.exists(shader_path):
		push_error("%s: copy %s from the export, too" % [path, shader_path])
		return null
	# its own class is known by name in the editor, and not in a script that is loaded alone
	var material: ShaderMaterial = new()
	material.resource_name = facts["name"]
	material.shader = load(shader_path)
	var found := {}
	for kind: String in KINDS:
		if facts.has(kind):
			found[kind] = []
			for layer in int(facts[kind]["layers"]):
				found[kind].append(_image(archive, facts[kind], layer))
	archive.close()
	if facts.has("range"):
		var span: Array = facts["range"]
		material.set_shader_parameter("neural_range", Vector2(span[0], span[1]))
	if facts.has("passing"):
		if facts["passing"]["diffuse"]:
			found["behind"] = found["transmitted"]
			found.erase("transmitted")
		else:
			material.set_shader_parameter("neural_index", facts["passing"]["index"])
	material.set_shader_parameter("neural_tiling", _quad(facts["tiling"], 0))
	material.images = found
	for vector: String in ["scale", "offset"]:
		for quad in 2:
			material.set_shader_parameter(
				"neural_%s%d" % [vector, quad], _quad(facts[vector], quad)
			)
	var live := Vector3.ZERO
	for index in (facts["live"] as Array).size():
		var input: Dictionary = facts["live"][index]
		live[index] = input["default"]
		material.live_names.append(input["name"])
		material.live_low.append(input["low"])
		material.live_high.append(input["high"])
	material.set_shader_parameter("neural_live", live)
	return material


## Writes the material of a file as a resource, as the importer does.
static func import_file(path: String, target: String) -> Error:
	var material: ShaderMaterial = from_file(path)
	if material == null:
		return ERR_FILE_CORRUPT
	for kind: String in material.images:
		material.set_shader_parameter("neural_" + kind, null)
	material.next_pass = null
	return ResourceSaver.save(material, target)


func _make_textures() -> void:
	for kind: String in images:
		var layers: Array[Image] = []
		layers.assign(images[kind])
		if kind == "latents":
			var latents := Texture2DArray.new()
			latents.create_from_images(layers)
			set_shader_parameter("neural_latents", latents)
		elif kind == "behind":
			# light of surroundings through a leaf: engines look it up on one side of a pass
			var behind := ShaderMaterial.new()
			behind.shader = load(SHADERS + BEHIND)
			behind.set_shader_parameter(
				"neural_transmitted", ImageTexture.create_from_image(layers[0])
			)
			behind.set_shader_parameter("neural_tiling", get_shader_parameter("neural_tiling"))
			next_pass = behind
		else:
			set_shader_parameter("neural_" + kind, ImageTexture.create_from_image(layers[0]))


static func _quad(numbers: Array, quad: int) -> Vector4:
	var at := 4 * quad
	return Vector4(numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3])


## A layer of a texture with its own mip levels. The file has layer after layer, each with its
## largest level first.
static func _image(archive: ZIPReader, entry: Dictionary, layer: int) -> Image:
	var data := archive.read_file(entry["file"])
	var size := int(data.size() / int(entry["layers"]))
	return Image.create_from_data(
		int(entry["width"]),
		int(entry["height"]),
		int(entry["levels"]) > 1,
		FORMATS[entry["format"]],
		data.slice(layer * size, (layer + 1) * size)
	)
