"""Bakes in a process of its own, so that what goes wrong there stays there."""
