"""Estimates of a bake: its seconds, bytes and quality, and the time that is left. Without Qt."""
