"""Loads and checks a MaterialX document (.mtlx), and finds its materials."""
