"""Rewrites a document into the form that the code generator expects."""
