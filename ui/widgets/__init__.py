"""The parts of the panel, one per file. They show the model and send it what the artist does."""
