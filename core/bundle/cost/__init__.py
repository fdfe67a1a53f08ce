"""Bytes and nanoseconds of a bundle, against the graph that it replaces."""
