"""Fits the student to the teacher and measures how well it did."""
