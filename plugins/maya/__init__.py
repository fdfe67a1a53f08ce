"""The Maya adapter."""
