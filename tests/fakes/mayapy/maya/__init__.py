"""The module maya of a mayapy that has just started: nothing but `standalone` works yet."""
