"""Runs the bakes of a plan and reports on them."""
