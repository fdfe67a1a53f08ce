"""Importance maps: weights of the places of a surface, from painted meshes, cameras and files."""
