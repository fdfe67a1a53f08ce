"""UsdShade networks as MaterialX documents."""
