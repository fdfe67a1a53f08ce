"""Blender's own tests need its module bpy: test_in_blender.py runs them in its environment."""

from importlib.util import find_spec

collect_ignore = ["inside"] if find_spec("bpy") is None else []
