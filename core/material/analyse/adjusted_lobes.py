"""Lobes that the teacher's shaders change: those that gain energy, and those too narrow to learn.

The shaders limit albedo to one, and widen GGX lobes to an alpha of `LEAST_ALPHA` (docs/TEACHER.md).
This finds the nodes concerned, for the report. A connected roughness is not reported as too narrow:
it may be large enough nearly everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.albedo_integrals import burley_albedo, sheen_albedo
from verdigris.core.material.graph.traversal import is_fed

if TYPE_CHECKING:
    import MaterialX as mx

_COSINES = (0.02, 0.1, 0.35)
_ANY = (0.0, 0.5, 1.0)
_LEAST_GAIN = 1.01
LEAST_ALPHA = 0.005
_LEAST_ROUGHNESS = math.sqrt(LEAST_ALPHA)


def _unchanged(roughness: float) -> float:
    return roughness


@dataclass(frozen=True)
class Lobe:
    """A lobe that can gain energy, and the inputs that decide on it."""

    name: str
    albedo: Callable[[float, float], float]
    colour: str
    roughness: str
    remap: Callable[[float], float] = _unchanged
    weight: str = ""
    """An input that switches the lobe off where it is zero."""
    is_normalised: bool = False
    """Whether the colour is divided by its brightest channel, which becomes the weight."""


_BURLEY, _SHEEN = "Burley's diffuse", "smooth sheen"
_LOBES: dict[str, Lobe] = {
    "burley_diffuse_bsdf": Lobe(_BURLEY, burley_albedo, "color", "roughness", weight="weight"),
    "disney_principled": Lobe(_BURLEY, burley_albedo, "baseColor", "roughness"),
    "sheen_bsdf": Lobe(_SHEEN, sheen_albedo, "color", "roughness", weight="weight"),
    "standard_surface": Lobe(
        _SHEEN, sheen_albedo, "sheen_color", "sheen_roughness", weight="sheen"
    ),
    "gltf_pbr": Lobe(
        _SHEEN,
        sheen_albedo,
        "sheen_color",
        "sheen_roughness",
        remap=lambda roughness: roughness**2,
        is_normalised=True,
    ),
    "LamaSheen": Lobe(
        _SHEEN,
        sheen_albedo,
        "color",
        "roughness",
        remap=lambda roughness: (0.1 + 0.9 * roughness) ** 2,
    ),
}


def largest_energy_gain(node: mx.Node) -> tuple[str, float] | None:
    """The lobe of this node that gains energy, and its albedo without correction. A connected input
    may have any value from zero to one."""
    lobe = _LOBES.get(node.getCategory())
    if lobe is None or "zeltner" in input_text(node, "mode"):
        return None
    brightest = max(input_values(node, lobe.colour) or _ANY)
    if brightest <= 0 or (lobe.weight and max(input_values(node, lobe.weight) or _ANY) <= 0):
        return None
    brightest = 1.0 if lobe.is_normalised else min(brightest, 1.0)
    roughnesses = {lobe.remap(value) for value in input_values(node, lobe.roughness) or _ANY}
    gain = brightest * max(lobe.albedo(x, y) for x in _COSINES for y in roughnesses)
    return (lobe.name, gain) if gain > _LEAST_GAIN else None


def input_values(node: mx.Node, name: str) -> tuple[float, ...]:
    """The components of a constant input; empty if it is connected."""
    if is_fed(node, name):
        return ()
    try:
        return written_numbers(input_text(node, name))
    except ValueError:
        return ()


def written_numbers(text: str) -> tuple[float, ...]:
    """The numbers of a value; programs may append an f."""
    return tuple(float(word.removesuffix("f")) for word in text.replace(",", " ").split())


def input_text(node: mx.Node, name: str) -> str:
    """The text of an input's value, at the node or in its definition."""
    port = node.getActiveInput(name)
    if port is not None and port.getInterfaceInput() is not None:
        port = port.getInterfaceInput()
    text = str(port.getValueString()) if port is not None else ""
    if text:
        return text
    definition = node.getNodeDef()
    default = definition.getActiveInput(name) if definition else None
    return str(default.getValueString()) if default else ""


@dataclass(frozen=True)
class Highlight:
    """A GGX lobe, its roughness input, and inputs any of which switches it on."""

    name: str
    roughness: str
    weights: tuple[str, ...] = ()
    least: float = _LEAST_ROUGHNESS


# The lobe of a BSDF node, whose roughness input is alpha itself.
_OF_CLOSURE = (Highlight("highlight", "roughness", ("weight",), LEAST_ALPHA),)
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
    "conductor_bsdf": _OF_CLOSURE,
    "dielectric_bsdf": _OF_CLOSURE,
    "generalized_schlick_bsdf": _OF_CLOSURE,
}


def widened_highlights(node: mx.Node) -> Iterator[tuple[str, str]]:
    """The highlights of this node that are widened, each with a description."""
    for highlight in _HIGHLIGHTS.get(node.getCategory(), ()):
        roughness = input_values(node, highlight.roughness)
        if roughness and min(roughness) < highlight.least and _is_on(node, highlight):
            yield (
                highlight.name,
                f"{highlight.roughness} {min(roughness):.3g} is raised to {highlight.least:.2g}, "
                "the narrowest highlight that is learnt, with the same energy",
            )


def _is_on(node: mx.Node, highlight: Highlight) -> bool:
    weights = [input_values(node, name) for name in highlight.weights]
    return not weights or any(not values or any(values) for values in weights)
