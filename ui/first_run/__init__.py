"""What the panel offers when the plug-in is new on a machine."""
