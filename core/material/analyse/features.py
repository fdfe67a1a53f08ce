"""The features of each surface model as data: the inputs that switch a feature on, and its fate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from verdigris.core.material.evaluator import DEFAULT_SLOPE_STEP

KEPT, APPROXIMATED, IGNORED, DROPPED = "kept", "approximated", "ignored", "dropped"
FATES = (KEPT, APPROXIMATED, IGNORED, DROPPED)
"""Dropped is what the material has and a bake lacks; ignored is what has no effect in MaterialX."""
DISPLACEMENT = "displacement"
TRANSMITTED = "as a second response, to light from below, which the renderer adds"
FROM_OUTSIDE = f"{TRANSMITTED}; a solid that is seen from inside is black"


@dataclass(frozen=True)
class Part:
    """A part of a material, and whether it is kept, approximated, ignored or dropped."""

    name: str
    fate: str
    how: str = ""


def has_heights(parts: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a bake makes a height map, from the parts of a report as JSON."""
    fates = [part["fate"] for part in parts if part["name"] == DISPLACEMENT]
    return any(fate in (KEPT, APPROXIMATED) for fate in fates)


def is_transmitted(how: str) -> bool:
    """Whether this is what a bake makes of a part that lets light pass."""
    return how in (TRANSMITTED, FROM_OUTSIDE)


def approximately_transmitted(parts: Iterable[Part], how: str) -> tuple[Part, ...]:
    """The parts where transmitted light is approximated in this way."""
    return tuple(
        replace(part, fate=APPROXIMATED, how=how) if is_transmitted(part.how) else part
        for part in parts
    )


@dataclass(frozen=True)
class Feature:
    """A part of a surface model, which is on if any of `inputs` differs from `off`."""

    name: str
    inputs: tuple[str, ...]
    fate: str = KEPT
    how: str = ""
    off: float = 0.0
    needs: str = ""
    """Another input that must also differ from zero."""
    unless: tuple[str, ...] = ()
    """Inputs of which any switches the feature off if it differs from zero."""


_DISPERSION = "all colours are refracted alike"
_UNLIT_TRANSMISSION = (
    "as part of the opacity map: it shows what is behind the surface, without colour"
)
_TRANSPARENT = (
    "with the mode 'transparent', opacity transmits light straight through, as a second response: "
    "for a surface with holes set opacityMode to 1, or opacityThreshold above 0"
)
_THIN = "subsurface of thin walls"
_SUBSURFACE = "as diffuse light of the same colour, which does not spread to unlit places"
_VOLUME = "absorption and scattering inside the body need ray tracing"
_SCATTERED = "scattering inside the body needs ray tracing"
_TINT = "as a tint: the colour at the depth that the surface names, in thin and thick bodies"
_ABSORPTION = "absorption"
_EMISSION = "as a map of its own, which comparisons and the panel do not show"
_OPACITY = "as a map of its own; the reflection is multiplied by it"
_COLOURED_OPACITY = f"{_OPACITY}; a colour counts with its luminance, as in MaterialX"
_OF_GLOW_ALONE = (
    "MaterialX ignores it on a surface that only emits: connect a BSDF with weight 0, or use "
    "surface_unlit"
)
_BACK = "the back of the surface is that of the front: bake its material by itself"
_OCCLUSION = "occlusion dims ambient light only"


def _kept(name: str, *inputs: str) -> Feature:
    return Feature(name, inputs)


_LAMA_INTERIOR = (
    Feature(_ABSORPTION, ("absorptionColor",), APPROXIMATED, _TINT, off=1.0),
    Feature("volume", ("scatterColor",), DROPPED, _SCATTERED),
)

SURFACE_FEATURES: dict[str, tuple[Feature, ...]] = {
    "standard_surface": (
        _kept("base", "base"),
        _kept("metal", "metalness"),
        _kept("specular", "specular", "metalness"),
        _kept("anisotropy", "specular_anisotropy"),
        _kept("coat", "coat"),
        _kept("sheen", "sheen"),
        _kept("thin film", "thin_film_thickness"),
        Feature("transmission", ("transmission",), KEPT, TRANSMITTED),
        Feature(_ABSORPTION, ("transmission_depth",), APPROXIMATED, _TINT, needs="transmission"),
        Feature("volume", ("transmission_scatter",), DROPPED, _SCATTERED, needs="transmission"),
        Feature(
            "dispersion", ("transmission_dispersion",), DROPPED, _DISPERSION, needs="transmission"
        ),
        Feature(_THIN, ("subsurface",), KEPT, TRANSMITTED, needs="thin_walled"),
        Feature("subsurface", ("subsurface",), APPROXIMATED, _SUBSURFACE, unless=("thin_walled",)),
        Feature("emission", ("emission",), KEPT, _EMISSION, needs="emission_color"),
        Feature("opacity", ("opacity",), KEPT, _COLOURED_OPACITY, off=1.0),
    ),
    "open_pbr_surface": (
        _kept("base", "base_weight"),
        _kept("metal", "base_metalness"),
        _kept("specular", "specular_weight"),
        _kept("anisotropy", "specular_roughness_anisotropy"),
        _kept("coat", "coat_weight"),
        _kept("fuzz", "fuzz_weight"),
        _kept("thin film", "thin_film_weight"),
        Feature("transmission", ("transmission_weight",), KEPT, TRANSMITTED),
        Feature(
            _ABSORPTION, ("transmission_depth",), APPROXIMATED, _TINT, needs="transmission_weight"
        ),
        Feature(
            "volume", ("transmission_scatter",), DROPPED, _SCATTERED, needs="transmission_weight"
        ),
        Feature(
            "dispersion",
            ("transmission_dispersion_scale",),
            DROPPED,
            _DISPERSION,
            needs="transmission_weight",
        ),
        Feature(_THIN, ("subsurface_weight",), KEPT, TRANSMITTED, needs="geometry_thin_walled"),
        Feature(
            "subsurface",
            ("subsurface_weight",),
            APPROXIMATED,
            _SUBSURFACE,
            unless=("geometry_thin_walled",),
        ),
        Feature("emission", ("emission_luminance",), KEPT, _EMISSION, needs="emission_color"),
        Feature("opacity", ("geometry_opacity",), KEPT, _OPACITY, off=1.0),
    ),
    "gltf_pbr": (
        _kept("base", "base_color"),
        _kept("metal", "metallic"),
        _kept("specular", "specular"),
        _kept("anisotropy", "anisotropy_strength"),
        _kept("clearcoat", "clearcoat"),
        _kept("sheen", "sheen_color"),
        _kept("iridescence", "iridescence"),
        Feature("transmission", ("transmission",), KEPT, TRANSMITTED),
        Feature(_ABSORPTION, ("thickness",), APPROXIMATED, _TINT, needs="transmission"),
        Feature("dispersion", ("dispersion",), DROPPED, _DISPERSION, needs="transmission"),
        Feature("occlusion", ("occlusion",), DROPPED, _OCCLUSION, off=1.0),
        Feature("emission", ("emissive",), KEPT, _EMISSION, needs="emissive_strength"),
        Feature("opacity", ("alpha",), KEPT, _OPACITY, off=1.0, needs="alpha_mode"),
    ),
    "UsdPreviewSurface": (
        _kept("diffuse", "diffuseColor"),
        _kept("metal", "metallic"),
        _kept("clearcoat", "clearcoat"),
        Feature("emission", ("emissiveColor",), KEPT, _EMISSION),
        Feature("opacity", ("opacity",), KEPT, _OPACITY, off=1.0, needs="opacityMode"),
        Feature("opacity", ("opacity",), KEPT, _OPACITY, off=1.0, needs="opacityThreshold"),
        Feature(
            "transmission",
            ("opacity",),
            KEPT,
            _TRANSPARENT,
            off=1.0,
            unless=("opacityMode", "opacityThreshold"),
        ),
        Feature("occlusion", ("occlusion",), DROPPED, _OCCLUSION, off=1.0),
    ),
    "disney_principled": (
        _kept("base", "baseColor"),
        _kept("metal", "metallic"),
        _kept("specular", "specular"),
        _kept("anisotropy", "anisotropic"),
        _kept("sheen", "sheen"),
        _kept("clearcoat", "clearcoat"),
        Feature("transmission", ("specTrans",), KEPT, TRANSMITTED),
        Feature("subsurface", ("subsurface",), APPROXIMATED, _SUBSURFACE),
    ),
    "surface": (
        Feature("opacity", ("opacity",), KEPT, _OPACITY, off=1.0, needs="bsdf"),
        Feature("opacity", ("opacity",), IGNORED, _OF_GLOW_ALONE, off=1.0, unless=("bsdf",)),
    ),
    "LamaDielectric": _LAMA_INTERIOR,
    "LamaGeneralizedSchlick": _LAMA_INTERIOR,
    "LamaSurface": (
        Feature("opacity", ("presence",), KEPT, _OPACITY, off=1.0),
        Feature("back", ("materialBack",), APPROXIMATED, _BACK),
    ),
    "surfacematerial": (Feature("back", ("backsurfaceshader",), APPROXIMATED, _BACK),),
    "surface_unlit": (
        Feature("emission", ("emission",), KEPT, _EMISSION, needs="emission_color"),
        Feature("transmission", ("transmission",), APPROXIMATED, _UNLIT_TRANSMISSION),
        Feature("opacity", ("opacity",), KEPT, _OPACITY, off=1.0),
    ),
}

NOT_ON_A_SAMPLE = "a flat sample has no properties: the node returns its default, or zero"
_PAINT = "a flat sample has no painted colour: the node returns white"
_TIME = "fixed at frame 1"
_PLACE = "without a mesh the position is that on a flat unit square: patterns follow uv"
_SLOPES = f"slopes are differences over 1/{1 / DEFAULT_SLOPE_STEP:.0f} of the width of uv"
EMISSION_BY_VIEW = Part(
    "emission by view",
    APPROXIMATED,
    "as a map of its value seen from straight above: it does not change with the view",
)
# Surfaces with a coat above the emission, which dims it at grazing views.
GLOW_BELOW_COATS = ("standard_surface", "open_pbr_surface")
OPACITY_BY_VIEW = replace(EMISSION_BY_VIEW, name="opacity by view")
FACING = Part(
    "direction in space",
    APPROXIMATED,
    "the baked surface is flat and faces along z: values that depend on the direction of a surface "
    "are constant",
)
IN_DEPTH = Part("subsurface", APPROXIMATED, _SUBSURFACE)
THROUGH_WALLS = Part(_THIN, KEPT, TRANSMITTED)
# The parts that nodes anywhere in the graph are, by their category.
NODE_FEATURES: dict[str, Part] = {
    "volume": Part("volume", DROPPED, _VOLUME),
    "absorption_vdf": Part("volume", DROPPED, _VOLUME),
    "anisotropic_vdf": Part("volume", DROPPED, _VOLUME),
    "translucent_bsdf": Part("translucency", KEPT, TRANSMITTED),
    "subsurface_bsdf": IN_DEPTH,
    "uniform_edf": Part("emission", KEPT, _EMISSION),
    "generalized_schlick_edf": EMISSION_BY_VIEW,
    "LamaTranslucent": Part("translucency", KEPT, TRANSMITTED),
    "LamaSSS": IN_DEPTH,
    "LamaEmission": Part("emission", KEPT, _EMISSION),
    "heighttonormal": Part("height to normal", APPROXIMATED, _SLOPES),
    "bump": Part("bump", APPROXIMATED, _SLOPES),
    "geomcolor": Part("painted colour of the geometry", APPROXIMATED, _PAINT),
    "time": Part("time", APPROXIMATED, _TIME),
    "frame": Part("frame", APPROXIMATED, _TIME),
    "position": Part("place in space", APPROXIMATED, _PLACE),
    "blur": Part(
        "blur",
        APPROXIMATED,
        "a sample has no neighbours: the input stays sharp, so blur the image itself",
    ),
    "latlongimage": Part("environment image", KEPT, ""),
}
