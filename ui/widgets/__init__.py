"""Widgets of the panel, one a file: they bind to the model and decide nothing."""
