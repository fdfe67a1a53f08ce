"""What tests of all hosts use."""


def by_name(host, name):
    return next(each for each in host.materials() if each.name == name)


def flattened(folder, *more):
    """Textures for viewports by their kinds."""
    kinds = ("base_color", "roughness", "metalness", "normal", *more)
    return {kind: folder / f"{kind}.png" for kind in kinds}
