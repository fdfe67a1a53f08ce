"""Shading nodes of applications as MaterialX, and the loop that reads networks of them."""
