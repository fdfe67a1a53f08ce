"""Unpacks the worker for an application's own Python. It needs only the standard library."""
