"""The parts of the panel's state, each with signals of its own."""
