"""Which highlights of a material are narrower than a student learns.

The shader ggx_lobe.slang widens them (docs/TEACHER.md); this finds them for the report. Of a
roughness that is connected nothing is said: it may be above the least nearly everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.adjusted_lobes import input_values

if TYPE_CHECKING:
    import MaterialX as mx

LEAST_ALPHA = 0.005
_LEAST_ROUGHNESS = math.sqrt(LEAST_ALPHA)


@dataclass(frozen=True)
class Highlight:
    """A lobe of GGX, the input that says how rough it is, and those of which one switches it on."""

    name: str
    roughness: str
    weights: tuple[str, ...] = ()
    least: float = _LEAST_ROUGHNESS


def _of_closure(weight: str = "weight") -> tuple[Highlight, ...]:
    """Of a node whose roughness is the lobe's own width."""
    return (Highlight("highlight", "roughness", (weight,), LEAST_ALPHA),)


_HIGHLIGHTS: dict[str, tuple[Highlight, ...]] = {
    "standard_surface": (
        Highlight("highlight", "specular_roughness", ("specular", "metalness")),
        Highlight("coat's highlight", "coat_roughness", ("coat",)),
    ),
    "open_pbr_surface": (
        Highlight("highlight", "specular_roughness", ("specular_weight", "base_metalness")),
        Highlight("coat's highlight", "coat_roughness", ("coat_weight",)),
    ),
    "gltf_pbr": (
        Highlight("highlight", "roughness", ("specular", "metallic")),
        Highlight("clearcoat's highlight", "clearcoat_roughness", ("clearcoat",)),
    ),
    "UsdPreviewSurface": (
        Highlight("highlight", "roughness"),
        Highlight("clearcoat's highlight", "clearcoatRoughness", ("clearcoat",)),
    ),
    "disney_principled": (Highlight("highlight", "roughness", ("specular", "metallic")),),
    "conductor_bsdf": _of_closure(),
    "dielectric_bsdf": _of_closure(),
    "generalized_schlick_bsdf": _of_closure(),
}


def widened_highlights(node: mx.Node) -> Iterator[tuple[str, str]]:
    """The highlights of this node that are widened, and how."""
    for highlight in _HIGHLIGHTS.get(node.getCategory(), ()):
        roughness = input_values(node, highlight.roughness)
        if roughness and min(roughness) < highlight.least and _is_on(node, highlight):
            yield (
                highlight.name,
                f"{highlight.roughness} {min(roughness):.3g} is taken for {highlight.least:.2g}: "
                "as narrow as is learnt, with as much light",
            )


def _is_on(node: mx.Node, highlight: Highlight) -> bool:
    weights = [input_values(node, name) for name in highlight.weights]
    return not weights or any(not values or any(values) for values in weights)
