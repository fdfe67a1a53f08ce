"""Pictures that the worker draws for the panel."""
