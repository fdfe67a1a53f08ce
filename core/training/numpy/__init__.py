"""The trainer for the processor."""
