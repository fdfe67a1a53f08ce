"""The rungs: a module for each, and `registry.py`, which lists them."""
