"""Comparing pictures: metrics, what they mean for an eye, and heat maps."""
