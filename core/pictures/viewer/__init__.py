"""The window of `verdigris view`."""
