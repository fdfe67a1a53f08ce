"""Finds and reads the files of a document."""
