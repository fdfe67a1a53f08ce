"""Scene packs: bundles of one decoder shape, joined for one compiled shader."""
