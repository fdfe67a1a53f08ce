"""Bytes and nanoseconds of a bundle, compared with the graph that it replaces."""
