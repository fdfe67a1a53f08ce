"""Signals and notices, on which everything else in the panel is built. Without Qt."""
