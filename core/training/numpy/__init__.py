"""The trainer for the CPU."""
