"""Generates the Slang module of a material and repairs it."""
