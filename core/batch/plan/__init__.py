"""Decides what of a scene must be baked."""
