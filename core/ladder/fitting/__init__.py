"""Fits to pictures and to responses, and the maps beside them."""
