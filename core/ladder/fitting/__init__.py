"""Fits to pictures and to responses, which all rungs share."""
