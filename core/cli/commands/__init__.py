"""One module for each command; those of finished bundles and of scenes in folders of their own."""
