"""Converts UsdShade networks to MaterialX documents."""
