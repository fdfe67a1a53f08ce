"""Bakes for the panel in a separate process, so that its failures stay there."""
