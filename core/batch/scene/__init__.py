"""Reads a scene: its materials, rules and groups."""
