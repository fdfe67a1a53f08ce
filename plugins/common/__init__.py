"""What the plug-ins of all applications share."""
