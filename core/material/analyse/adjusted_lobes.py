"""Finds lobes that the teacher's shaders change: they gain energy, or are too narrow to learn.

The shaders limit albedo to one, and widen GGX lobes to the alpha `LEAST_ALPHA` (docs/TEACHER.md). A
connected roughness is not reported as too narrow: it may be large enough nearly everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.material.analyse.features import APPROXIMATED, Part
from verdigris.core.material.graph.traversal import defined_input, is_fed

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.base.array_types import Doubles


LEAST_ALPHA = 0.005
_LEAST_ROUGHNESS = math.sqrt(LEAST_ALPHA)
LEAST_SHEEN_ROUGHNESS = 0.005
"""MaterialX raises a smaller roughness of sheen to this value."""
_COSINES = (0.02, 0.1, 0.35)
_ANY = (0.0, 0.5, 1.0)
_LEAST_GAIN = 1.01


def adjusted_lobes(node: mx.Node) -> Iterator[Part]:
    """The lobes of a node that the shaders change."""
    yield from _gains(node)
    yield from _widened(node)


def sheen_albedo(cosine: float, roughness: float, steps: int = 200) -> float:
    """The albedo of Estevez and Kulla's white sheen, as MaterialX evaluates it."""
    root, weight = unit_nodes(steps)
    light, weight = root**3, weight * 3 * root**2
    turn, turn_weight = unit_nodes(steps)
    both = np.outer(np.sqrt((1 - light**2) * (1 - cosine**2)), np.cos(np.pi * turn))
    between = cosine * light[:, None] + both
    sine2 = np.clip(1 - (cosine + light)[:, None] ** 2 / (2 + 2 * between), 0, 1)
    power = 1 / max(roughness, LEAST_SHEEN_ROUGHNESS)
    density = (2 + power) * sine2 ** (power / 2) / (2 * np.pi)
    lobe = density * (light / (4 * (light + cosine - light * cosine)))[:, None]
    return float(2 * np.pi * (weight @ lobe @ turn_weight))


def burley_albedo(cosine: float, roughness: float) -> float:
    """The albedo of Burley's white diffuse lobe, in closed form."""
    along, base, edge = roughness * cosine, roughness - 0.5, (1 - cosine) ** 5
    # means of (1 - x)^5, x (1 - x)^5 and x^2 (1 - x)^5, x being the cosine at the light
    plain, once, twice = 1 / 21, 1 / 84, 1 / 252
    across = (roughness**2 - along**2) / 2
    both = base**2 * plain + 2 * base * along * once + along**2 * twice + across * (plain - twice)
    return 1 + base * plain + along * once + edge * (base + along * 2 / 3 + both)


@lru_cache(maxsize=8)
def unit_nodes(count: int) -> tuple[Doubles, Doubles]:
    """Gauss-Legendre nodes and weights on the unit interval."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return np.asarray((nodes + 1) / 2), np.asarray(weights / 2)


def _unchanged(roughness: float) -> float:
    return roughness


@dataclass(frozen=True)
class Lobe:
    """A lobe that can gain energy, and the inputs on which that depends."""

    name: str
    albedo: Callable[[float, float], float]
    colour: str
    roughness: str
    remap: Callable[[float], float] = _unchanged
    weight: str = ""
    """An input that switches the lobe off if it is zero."""
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


def _gains(node: mx.Node) -> Iterator[Part]:
    """A lobe whose published form returns more light than it receives. A connected input may have
    any value from zero to one."""
    lobe = _LOBES.get(node.getCategory())
    if lobe is None or "zeltner" in input_text(node, "mode"):
        return
    brightest = max(_input_values(node, lobe.colour) or _ANY)
    if brightest <= 0 or (lobe.weight and max(_input_values(node, lobe.weight) or _ANY) <= 0):
        return
    brightest = 1.0 if lobe.is_normalised else min(brightest, 1.0)
    roughnesses = {lobe.remap(value) for value in _input_values(node, lobe.roughness) or _ANY}
    gain = brightest * max(lobe.albedo(x, y) for x in _COSINES for y in roughnesses)
    if gain > _LEAST_GAIN:
        how = f"energy above one removed: it would return up to {gain:.2g} times what it receives"
        yield Part(lobe.name, APPROXIMATED, how)


@dataclass(frozen=True)
class Highlight:
    """A GGX lobe, its roughness input, and the inputs of which any switches it on."""

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


def _widened(node: mx.Node) -> Iterator[Part]:
    """The highlights that are too narrow to learn."""
    for highlight in _HIGHLIGHTS.get(node.getCategory(), ()):
        roughness = _input_values(node, highlight.roughness)
        if roughness and min(roughness) < highlight.least and _is_on(node, highlight):
            how = (
                f"{highlight.roughness} {min(roughness):.3g} is raised to {highlight.least:.2g}, "
                "the narrowest highlight that can be learnt, with the same energy"
            )
            yield Part(highlight.name, APPROXIMATED, how)


def _is_on(node: mx.Node, highlight: Highlight) -> bool:
    weights = [_input_values(node, name) for name in highlight.weights]
    return not weights or any(not values or any(values) for values in weights)


def _input_values(node: mx.Node, name: str) -> tuple[float, ...]:
    """The components of a constant input; empty if it is connected."""
    if is_fed(node, name):
        return ()
    try:
        return written_numbers(input_text(node, name))
    except ValueError:
        return ()


def input_text(node: mx.Node, name: str) -> str:
    """The text of an input's value, from the node or from its definition."""
    port = node.getActiveInput(name)
    if port is not None and port.getInterfaceInput() is not None:
        port = port.getInterfaceInput()
    text = str(port.getValueString()) if port is not None else ""
    if text:
        return text
    default = defined_input(node, name)
    return str(default.getValueString()) if default else ""


def written_numbers(text: str) -> tuple[float, ...]:
    """The numbers of a value; programs may append an f."""
    return tuple(float(word.removesuffix("f")) for word in text.replace(",", " ").split())
