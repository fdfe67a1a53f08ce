"""The side of the panel: starts a worker, talks to it, watches it."""
