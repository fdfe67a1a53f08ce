"""Bundles as files that the user of an engine copies into a project."""
