extends Node3D
# Draws a plane with the materials of exports, as engines.test.mjs compares it: with the default live values, and with
# others; a tilted leaf with relief, with the sun before it and behind; and glass before a colour.

const NeuralMaterialScript := preload("res://addons/verdigris/neural_material.gd")
const SIDE := 16
const TILT := 50.0


func _ready() -> void:
	# as the editor imports it and a game loads it
	if NeuralMaterialScript.import_file("res://brass.verdigris", "user://brass.res") != OK:
		push_error("the material was not saved")
	var material: ShaderMaterial = load("user://brass.res")
	var viewport := SubViewport.new()
	viewport.size = Vector2i(SIDE, SIDE)
	viewport.own_world_3d = true
	viewport.render_target_update_mode = SubViewport.UPDATE_ALWAYS
	add_child(viewport)
	var plane := MeshInstance3D.new()
	plane.mesh = QuadMesh.new()
	plane.material_override = material
	viewport.add_child(plane)
	var camera := Camera3D.new()
	camera.projection = Camera3D.PROJECTION_ORTHOGONAL
	camera.size = 1.0
	camera.position = Vector3(0.0, 0.0, 2.0)
	camera.environment = Environment.new()
	camera.environment.background_mode = Environment.BG_COLOR
	camera.environment.background_color = Color.BLACK
	camera.environment.ambient_light_source = Environment.AMBIENT_SOURCE_DISABLED
	camera.environment.reflected_light_source = Environment.REFLECTION_SOURCE_DISABLED
	viewport.add_child(camera)
	var sun := DirectionalLight3D.new()
	sun.look_at_from_position(Vector3(1.0, 2.0, 3.0), Vector3.ZERO)
	sun.light_energy = 0.5
	viewport.add_child(sun)
	for picture in 2:
		if picture:
			material.set_live("wetness", 1.5)
			material.set_live("tint", 0.25)
		await shoot(viewport)
	# as the editor imports it and a game loads it
	NeuralMaterialScript.import_file("res://leaf.verdigris", "user://leaf.res")
	plane.material_override = load("user://leaf.res")
	if plane.material_override.next_pass == null:
		push_error("the leaf has no second pass")
	plane.rotation_degrees.x = -TILT
	await shoot(viewport)
	sun.look_at_from_position(Vector3(1.0, 2.0, -3.0), Vector3.ZERO)
	await shoot(viewport)
	plane.rotation_degrees.x = 0.0
	sun.visible = false
	plane.material_override = NeuralMaterialScript.from_file("res://glass.verdigris")
	var behind := MeshInstance3D.new()
	behind.mesh = QuadMesh.new()
	behind.scale = Vector3(2.0, 2.0, 2.0)
	behind.position.z = -1.0
	behind.material_override = StandardMaterial3D.new()
	behind.material_override.shading_mode = BaseMaterial3D.SHADING_MODE_UNSHADED
	behind.material_override.albedo_color = Color8(240, 200, 160)
	viewport.add_child(behind)
	await shoot(viewport)
	print("values ", material.get_live("wetness"), " ", material.get_live("tint"))


func shoot(viewport: SubViewport) -> void:
	for frame in 4:
		await RenderingServer.frame_post_draw
	var image := viewport.get_texture().get_image()
	image.convert(Image.FORMAT_RGB8)
	print("picture ", image.get_data().hex_encode())
