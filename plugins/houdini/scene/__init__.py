"""The parts of the adapter that read and change the scene of Houdini."""
