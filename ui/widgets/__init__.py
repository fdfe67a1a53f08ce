"""Widgets that several parts of the panel use, its help, and the list of materials."""
