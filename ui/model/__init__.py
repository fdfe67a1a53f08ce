"""The state of the panel and its connection to the worker, without Qt."""
