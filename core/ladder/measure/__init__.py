"""Errors and times of rungs."""
