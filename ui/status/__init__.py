"""The strip of fixed height with the buttons of a bake and its progress, and the messages."""
