"""Scene packs: bundles with one architecture, joined for one compiled shader."""
