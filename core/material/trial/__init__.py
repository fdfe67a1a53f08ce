"""Tries shaders in a process of its own, which may hang or crash."""
