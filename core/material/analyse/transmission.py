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
from verdigris.core.material.graph.traversal import is_fed, source_of
from verdigris.core.material.sides import INDICES

if TYPE_CHECKING:
    import MaterialX as mx

_USUAL_INDEX = 1.5
_SAME_INDEX = 1e-3
# Nearer to 1 the half vector of refraction has no direction: light goes on straight.
_LEAST_INDEX_STEP = 0.1


@dataclass(frozen=True)
class Transmission:
    """How light passes through a surface."""

    is_thin: bool
    """Whether the surface is a thin wall, behind which light goes on straight."""

    index: float
    """The index of the solid below; 1 for a thin wall."""

    has_other_indices: bool = False
    """Whether closures have another index, or one that is not a number of the document. A solid
    bends light by one index; what each closure reflects follows its own."""


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
_REFRACTING = {"LamaDielectric": "IOR", "LamaIridescence": "", "LamaGeneralizedSchlick": "IOR"}
# Those with a mode in which the reflection along the normal gives the index.
_BY_REFLECTIVITY = ("LamaDielectric", "LamaGeneralizedSchlick")
_OFF = ("", "0", "0.0", "false")


def find_transmission(nodes: Sequence[mx.Node]) -> Transmission | None:
    """How light passes through a material with these nodes; None if it is opaque."""
    surfaces = [node for node in nodes if node.getCategory() in _MODELS]
    found = [node for node in nodes if _transmits(node)]
    is_thin = any(_is_thin(node) for node in surfaces)
    if is_thin and not found:
        found = [node for node in nodes if node.getCategory() == "subsurface_bsdf"]
    if not found:
        return None
    indices = [_index_of(node) for node in found if not _is_diffuse(node)]
    solid = next((index for index in indices if index is not None), _USUAL_INDEX)
    # light that passes only by diffuse closures has no direction to bend
    if is_thin or not indices or abs(solid - 1) < _LEAST_INDEX_STEP:
        return Transmission(True, 1.0)
    others = [index for index in indices if index is None or abs(index - solid) > _SAME_INDEX]
    return Transmission(False, solid, bool(others))


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
    fixed = _constant_behind(node, name)
    return is_on(node, _feature(name)) if fixed is None else fixed.lower() not in _OFF


def _is_diffuse(node: mx.Node) -> bool:
    return node.getCategory() in (*_DIFFUSE, "subsurface_bsdf")


def _index_of(node: mx.Node) -> float | None:
    """The index of a node that refracts; None if a texture or a colour has it."""
    category = node.getCategory()
    if category in _BY_REFLECTIVITY and _number(node, "fresnelMode", 0.0) == 0:
        return _index_reflecting(_number(node, "reflectivity", None))
    if category == "generalized_schlick_bsdf":
        return _index_reflecting(_number(node, "color0", None))
    name = _MODELS[category].index if category in _MODELS else _REFRACTING.get(category, "ior")
    index = _number(node, name, _USUAL_INDEX) if name else _USUAL_INDEX
    weight = _MODELS[category].weight if category in _MODELS else ""
    share = _number(node, weight, 1.0) if weight else 1.0
    if index is None or share in (1, None) or index <= 0:
        return index
    return _index_reflecting(share * ((index - 1) / (index + 1)) ** 2, index < 1)


def _index_reflecting(share: float | None, is_below_one: bool = False) -> float | None:
    """The index that reflects this share along the normal."""
    if share is None or not math.isfinite(share):
        return None
    root = min(math.sqrt(max(share, 0)), _LARGEST_ROOT)
    index = min((1 + root) / (1 - root), INDICES[1])
    return 1 / index if is_below_one else index


def _number(node: mx.Node, name: str, otherwise: float | None) -> float | None:
    """The mean of the numbers of an input; None if anything but a constant feeds it."""
    fixed = _constant_behind(node, name)
    if fixed is None and is_fed(node, name):
        return None
    try:
        numbers = written_numbers(input_text(node, name) if fixed is None else fixed)
        return sum(numbers) / len(numbers)
    except (ValueError, ZeroDivisionError):
        return otherwise


def _constant_behind(node: mx.Node, name: str) -> str | None:
    """The value of the constant that feeds an input."""
    port = node.getActiveInput(name)
    source = source_of(port) if port is not None else None
    if source is None or source.getCategory() != "constant" or is_fed(source, "value"):
        return None
    return input_text(source, "value")
