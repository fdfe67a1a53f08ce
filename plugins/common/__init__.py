"""Code that the plug-ins share."""
