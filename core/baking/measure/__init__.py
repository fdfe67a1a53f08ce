"""Measurements of a student against its teacher, and what they decide."""
