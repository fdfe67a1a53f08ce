"""MaterialX's standard library, loaded once, with our node implementations and repaired graphs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from verdigris.core.material.graph.library_graphs import repair_library_graphs
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    import MaterialX as mx

TARGET = "genslang"
OVERRIDE_FOLDER = SHADER_FOLDER / "material" / "codegen" / "overrides"
_IMAGE_TYPES = ("float", "color3", "color4", "vector2", "vector3", "vector4")
# implementation of the library -> our file in overrides/nodes
_OVERRIDES = {
    "IM_directional_light_genslang": "mx_directional_light",
    "IM_uniform_edf_genglsl": "mx_uniform_edf",
    "IM_surface_unlit_genglsl": "mx_surface_unlit",
    "IM_blackbody_genglsl": "mx_blackbody",
    "IM_burn_float_genglsl": "mx_burn_float",
    "IM_dodge_float_genglsl": "mx_dodge_float",
    "IM_unpremult_color4_genglsl": "mx_unpremult_color4",
    "IM_burley_diffuse_bsdf_genglsl": "mx_burley_diffuse_bsdf",
    "IM_conductor_bsdf_genglsl": "mx_conductor_bsdf",
    "IM_dielectric_bsdf_genglsl": "mx_dielectric_bsdf",
    "IM_generalized_schlick_bsdf_genglsl": "mx_generalized_schlick_bsdf",
    "IM_oren_nayar_diffuse_bsdf_genglsl": "mx_oren_nayar_diffuse_bsdf",
    "IM_sheen_bsdf_genglsl": "mx_sheen_bsdf",
    "IM_subsurface_bsdf_genglsl": "mx_subsurface_bsdf",
    "IM_translucent_bsdf_genglsl": "mx_translucent_bsdf",
    **{f"IM_image_{kind}_genslang": f"mx_image_{kind}" for kind in _IMAGE_TYPES},
}

# Further names of colour spaces in MaterialX 1.39.5, which has no function that lists them.
COLOUR_SPACE_ALIASES = {
    "gamma18": "g18_rec709",
    "gamma22": "g22_rec709",
    "gamma24": "rec709_display",
    "g18_rec709_scene": "g18_rec709",
    "g22_adobergb_scene": "adobergb",
    "g22_ap1_scene": "g22_ap1",
    "g22_rec709_scene": "g22_rec709",
    "lin_adobergb_scene": "lin_adobergb",
    "lin_ap1": "acescg",
    "lin_ap1_scene": "acescg",
    "lin_p3d65_scene": "lin_displayp3",
    "lin_rec709_scene": "lin_rec709",
    "srgb_p3d65_scene": "srgb_displayp3",
    "srgb_rec709_scene": "srgb_texture",
}


@lru_cache(maxsize=1)
def standard_library() -> mx.Document:
    """All node definitions of MaterialX, shared by all documents: do not change it."""
    import MaterialX as mx

    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    for name, stem in _OVERRIDES.items():
        implementation = library.getImplementation(name)
        if implementation is None:
            raise RuntimeError(f"MaterialX {mx.getVersionString()} has no implementation {name}")
        implementation.setFile((OVERRIDE_FOLDER / "nodes" / f"{stem}.slang").as_posix())
    # In another group, MaterialX 1.39.5 writes the file name instead of the image.
    library.getNodeDef("ND_hextilednormalmap_vector3").setNodeGroup("texture2d")
    repair_library_graphs(library)
    _place_by_default(library)
    return library


def _place_by_default(library: mx.Document) -> None:
    """The input of `place2d` defaults to the texture coordinates of the surface, as specified; the
    library's default is the origin."""
    port = library.getNodeDef("ND_place2d_vector2").getInput("texcoord")
    port.removeAttribute("value")
    port.setDefaultGeomPropString("UV0")


@lru_cache(maxsize=1)
def known_units() -> dict[str, tuple[str, ...]]:
    """Units by unit type."""
    return {
        definition.getUnitType(): tuple(unit.getName() for unit in definition.getUnits())
        for definition in standard_library().getUnitDefs()
    }


@lru_cache(maxsize=1)
def known_colour_spaces() -> frozenset[str]:
    """Colour spaces that generated code can convert to linear Rec.709."""
    transforms = standard_library().getNodeDefs()
    suffix = "_to_lin_rec709"
    names = {node.getNodeString() for node in transforms}
    found = {name.removesuffix(suffix) for name in names if name.endswith(suffix)}
    return frozenset(found | {"lin_rec709", "none", ""} | COLOUR_SPACE_ALIASES.keys())
