"""The parts of a batch: arguments, bakes, progress, interruption, summary."""
