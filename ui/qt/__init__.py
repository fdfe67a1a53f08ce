"""General Qt parts: binding, keys, colours, layouts and small widgets."""
