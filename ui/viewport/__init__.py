"""The viewport with its controls."""
