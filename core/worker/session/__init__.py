"""The state of a worker: the open document, the bake, and its forecasts."""
