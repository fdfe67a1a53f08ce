"""Inputs of a document that stay open in a neural material: ranges, what they reach, teachers."""
