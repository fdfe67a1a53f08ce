"""Several bundles joined for one compiled shader."""
