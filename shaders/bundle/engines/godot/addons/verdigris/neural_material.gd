@tool
class_name NeuralMaterial
extends ShaderMaterial
## A material of Verdigris. Its live inputs have names, and values in their own units.

@export var live_names: PackedStringArray
@export var live_low: PackedFloat32Array
@export var live_high: PackedFloat32Array


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
	set_shader_parameter("neural_tiling", Vector4(repetitions.x, repetitions.y, offset.x, offset.y))
