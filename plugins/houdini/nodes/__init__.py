"""Nodes of Houdini that bake: a LOP, and a network of TOPs."""
