"""The trainer for GPUs."""
