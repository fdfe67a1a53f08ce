"""Finds whether light passes through the surface of a material, and how: through a thin wall, or
through one interface of a solid with an index.

The teacher then answers for light from both sides, and the student learns both
(docs/FORMAT.md, "Both sides").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.analyse.adjusted_lobes import input_text, written_numbers
from verdigris.core.material.analyse.features import APPROXIMATED, Feature, Part
from verdigris.core.material.analyse.parts import is_on
from verdigris.core.material.graph.traversal import is_fed
from verdigris.core.material.sides import INDICES

if TYPE_CHECKING:
    import MaterialX as mx

_USUAL_INDEX = 1.5
# Nearer to 1 the half vector of refraction has no direction: light goes on straight.
_LEAST_INDEX_STEP = 0.1


@dataclass(frozen=True)
class Transmission:
    """How light passes through a surface."""

    is_thin: bool
    """Whether the surface is a thin wall, behind which light goes on straight."""

    index: float
    """The index of the solid below; 1 for a thin wall."""


@dataclass(frozen=True)
class _Model:
    """Features of a surface model that transmit, its index, and what makes it a thin wall."""

    features: tuple[Feature, ...]
    index: str = ""
    weight: str = ""
    """An input by which the reflection along the normal is multiplied, which changes the index."""

    thin: str = ""
    """A boolean input."""

    solid: str = ""
    """An input that makes the surface a solid if it differs from 0."""

    is_thin: bool = False


def _feature(name: str, needs: str = "", off: float = 0.0, unless: tuple[str, ...] = ()) -> Feature:
    return Feature(name, (name,), off=off, needs=needs, unless=unless)


_MODELS = {
    "standard_surface": _Model(
        (_feature("transmission"), _feature("subsurface", "thin_walled")),
        "specular_IOR",
        thin="thin_walled",
    ),
    "open_pbr_surface": _Model(
        (_feature("transmission_weight"), _feature("subsurface_weight", "geometry_thin_walled")),
        "specular_ior",
        "specular_weight",
        "geometry_thin_walled",
    ),
    "gltf_pbr": _Model((_feature("transmission"),), "ior", solid="thickness", is_thin=True),
    "UsdPreviewSurface": _Model(
        (_feature("opacity", off=1.0, unless=("opacityMode", "opacityThreshold")),),
        "ior",
        is_thin=True,
    ),
    "disney_principled": _Model((_feature("specTrans"),), "ior"),
    "surface": _Model((), thin="thin_walled"),
}
# The root of the reflection along the normal, of an index of 20.
_LARGEST_ROOT = 19 / 21
# Closures that transmit, each with the input of its index.
_DIFFUSE = ("translucent_bsdf", "LamaTranslucent")
_REFRACTING = {"LamaDielectric": "IOR", "LamaIridescence": "", "LamaGeneralizedSchlick": ""}


def find_transmission(nodes: Sequence[mx.Node]) -> Transmission | None:
    """How light passes through a material with these nodes; None if it is opaque."""
    surfaces = [node for node in nodes if node.getCategory() in _MODELS]
    found = [node for node in nodes if _transmits(node)]
    is_thin = any(_is_thin(node) for node in surfaces)
    if is_thin and not found:
        found = [node for node in nodes if node.getCategory() == "subsurface_bsdf"]
    if not found:
        return None
    solid = next((index for node in found if (index := _index_of(node)) is not None), None)
    # light that passes only by diffuse closures has no direction to bend
    if is_thin or solid is None or abs(solid - 1) < _LEAST_INDEX_STEP:
        return Transmission(True, 1.0)
    return Transmission(False, solid)


def varying_walls(nodes: Sequence[mx.Node]) -> list[Part]:
    """What is lost of surfaces that are thin walls in places only."""
    return [
        Part("thin walls", APPROXIMATED, f"{thin} varies, and all of the surface is a thin wall")
        for node in nodes
        if (model := _MODELS.get(node.getCategory())) is not None
        and (thin := model.thin)
        and is_fed(node, thin)
        and find_transmission([node]) is not None
    ]


def require_transmission(nodes: Sequence[mx.Node], document: str) -> Transmission | None:
    """The same; raises DocumentError for an index that no solid has."""
    found = find_transmission(nodes)
    least, most = INDICES
    if found is not None and not least <= found.index <= most:
        raise DocumentError(
            f"{document}: light passes through the surface, and its index of refraction is "
            f"{found.index:g}: use {least:g} to {most:g}, such as {_USUAL_INDEX} for glass"
        )
    return found


def _transmits(node: mx.Node) -> bool:
    category = node.getCategory()
    if category in _MODELS:
        return any(is_on(node, feature) for feature in _MODELS[category].features)
    if category in _DIFFUSE or category in _REFRACTING:
        return True
    return category.endswith("_bsdf") and "T" in input_text(node, "scatter_mode")


def _is_thin(node: mx.Node) -> bool:
    model = _MODELS[node.getCategory()]
    if model.is_thin:
        return not (model.solid and _is_set(node, model.solid))
    return bool(model.thin) and _is_set(node, model.thin)


def _is_set(node: mx.Node, name: str) -> bool:
    return is_on(node, _feature(name))


def _index_of(node: mx.Node) -> float | None:
    """The index of a node that refracts, the usual one if a texture has it; None for a diffuse
    one."""
    category = node.getCategory()
    if category in _DIFFUSE or category == "subsurface_bsdf":
        return None
    name = _MODELS[category].index if category in _MODELS else _REFRACTING.get(category, "ior")
    if not name or is_fed(node, name):
        return _USUAL_INDEX
    index = _number(node, name, _USUAL_INDEX)
    weight = _MODELS[category].weight if category in _MODELS else ""
    share = _number(node, weight, 1.0) if weight and not is_fed(node, weight) else 1.0
    if share == 1 or index <= 0:
        return index
    # OpenPBR: the index that reflects this share along the normal
    root = math.sqrt(max(share, 0)) * (index - 1) / (index + 1)
    root = min(max(root, -_LARGEST_ROOT), _LARGEST_ROOT)
    return (1 + root) / (1 - root)


def _number(node: mx.Node, name: str, otherwise: float) -> float:
    try:
        return float(written_numbers(input_text(node, name))[0])
    except (ValueError, IndexError):
        return otherwise
