"""The self-test of a plug-in, in a scene of its own and in the open window."""
