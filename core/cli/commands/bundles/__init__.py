"""Commands that read or write finished bundles."""
