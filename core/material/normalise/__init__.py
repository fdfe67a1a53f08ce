"""Rewrites of a document into what the code generator expects."""
