"""Generates the teacher's Slang module from a material, and repairs it."""
