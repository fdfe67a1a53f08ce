@tool
extends EditorPlugin

const Importer := preload("importer.gd")

var _importer: EditorImportPlugin


func _enter_tree() -> void:
	_importer = Importer.new()
	add_import_plugin(_importer)


func _exit_tree() -> void:
	remove_import_plugin(_importer)
	_importer = null
