"""Used by all layers: errors, the device, JSON, files and locks, text, processes."""
