"""Versions of a bundle: earlier bakes of a material, in a folder beside it."""
