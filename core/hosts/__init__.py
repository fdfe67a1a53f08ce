"""Hosts that need no application."""
