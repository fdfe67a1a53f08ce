"""Environments that light pictures: skies, HDRIs, suns, and the shadows of a mesh."""
