"""Which lobes of a material would return more light than they receive.

The shaders take off what is above one (docs/TEACHER.md); this finds where that matters, for the
report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.albedo_integrals import burley_albedo, sheen_albedo
from verdigris.core.material.graph.traversal import is_fed

if TYPE_CHECKING:
    import MaterialX as mx

_COSINES = (0.02, 0.1, 0.35)
_ANY = (0.0, 0.5, 1.0)
_WORTH_SAYING = 1.01


def _as_it_is(roughness: float) -> float:
    return roughness


@dataclass(frozen=True)
class Lobe:
    """A lobe that can gain energy, and the inputs that decide whether it does."""

    name: str
    albedo: Callable[[float, float], float]
    colour: str
    roughness: str
    remap: Callable[[float], float] = _as_it_is
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
    """The lobe of this node that gains energy, and how much it would return of white light. Of an
    input that is connected, all values from zero to one are possible."""
    lobe = _LOBES.get(node.getCategory())
    if lobe is None or "zeltner" in input_text(node, "mode"):
        return None
    brightest = max(input_values(node, lobe.colour) or _ANY)
    if brightest <= 0 or (lobe.weight and max(input_values(node, lobe.weight) or _ANY) <= 0):
        return None
    brightest = 1.0 if lobe.is_normalised else min(brightest, 1.0)
    roughnesses = {lobe.remap(value) for value in input_values(node, lobe.roughness) or _ANY}
    gain = brightest * max(lobe.albedo(x, y) for x in _COSINES for y in roughnesses)
    return (lobe.name, gain) if gain > _WORTH_SAYING else None


def input_values(node: mx.Node, name: str) -> tuple[float, ...]:
    """The components of an input that is the same everywhere; none where it is connected."""
    if is_fed(node, name):
        return ()
    try:
        return written_numbers(input_text(node, name))
    except ValueError:
        return ()


def written_numbers(text: str) -> tuple[float, ...]:
    """Those of a value; programs write an f behind them."""
    return tuple(float(word.removesuffix("f")) for word in text.replace(",", " ").split())


def input_text(node: mx.Node, name: str) -> str:
    """The value of an input as it is written, at the node or in its definition."""
    port = node.getActiveInput(name)
    if port is not None and port.getInterfaceInput() is not None:
        port = port.getInterfaceInput()
    text = str(port.getValueString()) if port is not None else ""
    if text:
        return text
    definition = node.getNodeDef()
    default = definition.getActiveInput(name) if definition else None
    return str(default.getValueString()) if default else ""
