"""Loads and checks a MaterialX document, and finds its materials."""
