"""Rungs that store light: what they store, their fit to pictures, and the rungs."""
