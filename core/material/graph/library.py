"""MaterialX's standard library, loaded once, with our node implementations and repaired graphs.

`_OVERRIDES` replaces implementations, and `_GRAPH_REPAIRS` changes graphs of MaterialX 1.39.5 that
contradict its specification. Each has a test that fails once MaterialX no longer needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    import MaterialX as mx

TARGET = "genslang"
OVERRIDE_FOLDER = SHADER_FOLDER / "material" / "codegen" / "overrides"
# The number of components of types of numbers.
COMPONENTS = {"float": 1, "vector2": 2, "vector3": 3, "color3": 3, "vector4": 4, "color4": 4}
# implementation of the library -> our file in overrides/nodes (CONTRIBUTING.md, "Add a node
# override")
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
    **{f"IM_image_{kind}_genslang": f"mx_image_{kind}" for kind in COMPONENTS},
}
_MOST_OF_SWITCH = 10


@lru_cache(maxsize=1)
def standard_library() -> mx.Document:
    """All node definitions of MaterialX. Documents share it: do not change it."""
    import MaterialX as mx

    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    for name, stem in _OVERRIDES.items():
        implementation = library.getImplementation(name)
        if implementation is None:
            raise RuntimeError(f"MaterialX {mx.getVersionString()} has no implementation {name}")
        implementation.setFile((OVERRIDE_FOLDER / "nodes" / f"{stem}.slang").as_posix())
    # in another group, MaterialX 1.39.5 writes the file name instead of the image
    library.getNodeDef("ND_hextilednormalmap_vector3").setNodeGroup("texture2d")
    repair_library_graphs(library)
    _place_by_default(library)
    for graph in library.getNodeGraphs():
        mark_lobes_below_reflection(graph)
    return library


def copy_document(root: mx.Document) -> mx.Document:
    """A copy of a document, with the library attached."""
    copied = root.copy()
    copied.setDataLibrary(standard_library())
    return copied


@lru_cache(maxsize=1)
def known_units() -> dict[str, tuple[str, ...]]:
    """Units by unit type."""
    return {
        definition.getUnitType(): tuple(unit.getName() for unit in definition.getUnits())
        for definition in standard_library().getUnitDefs()
    }


def _place_by_default(library: mx.Document) -> None:
    """The input of `place2d` defaults to the texture coordinates of the surface, as specified; the
    library's default is the origin."""
    port = library.getNodeDef("ND_place2d_vector2").getInput("texcoord")
    port.removeAttribute("value")
    port.setDefaultGeomPropString("UV0")


def mark_lobes_below_reflection(graph: mx.NodeGraph) -> None:
    """Marks transmitting lobes below a reflecting one, as all in the library's graphs are.

    The lobe above takes the light that their interface reflects, and layering dims them by it: an
    own Fresnel factor would take it twice. The input `retroreflective`, which has no meaning for
    transmission, tells it to the shader.
    """
    for node in graph.getNodes():
        mode = node.getInput("scatter_mode")
        is_marked = node.getInput("retroreflective") is not None
        if mode is not None and mode.getValueString() == "T" and not is_marked:
            node.addInput("retroreflective", "boolean").setValueString("true")


def repair_library_graphs(library: mx.Document) -> None:
    """Repairs the graphs of the nodes in _GRAPH_REPAIRS, for each type."""
    # first finds all graphs: after each change MaterialX indexes the library again
    found = [
        (repair, definition.getImplementation())
        for category, repair in _GRAPH_REPAIRS.items()
        for definition in library.getMatchingNodeDefs(category)
    ]
    for repair, graph in found:
        repair(graph)


def _order_clamp_limits(graph: mx.NodeGraph) -> None:
    """A range is clamped between `outlow` and `outhigh`, whichever is larger.

    The graph uses the first as minimum and the second as maximum: falling limits give a constant
    that depends on the compiler. Random numbers and noises end in a range node too.
    """
    clamp = next(node for node in graph.getNodes() if node.getCategory() == "clamp")
    for name, category in (("low", "min"), ("high", "max")):
        port = clamp.getInput(name)
        end = graph.addNode(category, f"{category}_of_ends", port.getType())
        for at, given in (("in1", "outlow"), ("in2", "outhigh")):
            end.addInput(at, port.getType()).setInterfaceName(given)
        port.removeAttribute("interfacename")
        port.setNodeName(end.getName())


def _double_triangle_wave(graph: mx.NodeGraph) -> None:
    """A triangle wave is 2 |x - floor(x + 1/2)|. The graph returns half of that."""
    output = graph.getOutputs()[0]
    twice = graph.addNode("multiply", "from_zero_to_one", output.getType())
    twice.addInput("in1", output.getType()).setNodeName(output.getNodeName())
    twice.addInput("in2", output.getType()).setValueString("2")
    output.setNodeName(twice.getName())


def _extend_switch(graph: mx.NodeGraph) -> None:
    """A switch returns its input number floor(`which`) + 1, from 1 to 10. The graph returns zero
    from 10 on."""
    beyond = graph.getNode(f"ifgreater_{_MOST_OF_SWITCH}").getInput("in2")
    beyond.removeAttribute("value")
    beyond.setInterfaceName(f"in{_MOST_OF_SWITCH}")


def _end_ramp_intervals(graph: mx.NodeGraph) -> None:
    """Behind an interval of a ramp, its end colour continues.

    The graph divides by the width of the interval, which is 0 at an edge: behind the last colour
    the result is NaN.
    """
    share = graph.getNode("interpolation_selector").getInput("in1")
    beyond = graph.addNode("ifgreatereq", "beyond_interval", share.getType())
    for name, given in (("value1", "x"), ("value2", "interval2")):
        beyond.addInput(name, "float").setInterfaceName(given)
    beyond.addInput("in1", share.getType()).setValueString("1")
    beyond.addInput("in2", share.getType()).setNodeName(share.getNodeName())
    share.setNodeName(beyond.getName())


def _swap_film_limits(graph: mx.NodeGraph) -> None:
    """A glTF film has its minimum thickness where the texture is 0, and its maximum where it is 1
    or missing. The graph swaps the two."""
    mix = graph.getNode("mixThickness")
    for name, given in (("bg", "thicknessMin"), ("fg", "thicknessMax")):
        mix.getInput(name).setInterfaceName(given)
    graph.getNodeDef().getInput("default").setValueString("1, 1, 1")


def _absorb_along_depth(graph: mx.NodeGraph) -> None:
    """OpenPBR's transmission has its colour at the depth of the surface. MaterialX's code takes all
    bodies for one unit thick, where a colour at a depth of .1 is nearly black."""
    _absorb_along(graph, "transmission_depth", ("transmission_depth",))


def _absorb_along_thickness(graph: mx.NodeGraph) -> None:
    """glTF's bodies absorb light along their thickness. MaterialX's graph has a volume, which
    nothing reads. Without a distance of attenuation, nothing is absorbed."""
    _absorb_along(graph, "thickness", ("thickness", "attenuation_distance"))
    port = graph.getNode("transmission_mix").getInput("fg")
    body = graph.addNode("layer", "body", "BSDF")
    body.addInput("top", "BSDF").setNodeName(port.getNodeName())
    body.addInput("base", "VDF").setNodeName(_volume_of(graph).getName())
    port.setNodeName(body.getName())


def _absorb_along(graph: mx.NodeGraph, length: str, needed: tuple[str, ...]) -> None:
    """Multiplies absorption by a length; none if an input in `needed` is 0, which may divide."""
    port = _volume_of(graph).getInput("absorption")
    absorbed = graph.addNode("multiply", "absorbed", "vector3")
    absorbed.addInput("in1", "vector3").copyContentFrom(port)
    absorbed.addInput("in2", "float").setInterfaceName(length)
    last = absorbed
    for name in needed:
        inside = graph.addNode("ifgreater", f"with_{name}", "vector3")
        inside.addInput("value1", "float").setInterfaceName(name)
        inside.addInput("value2", "float").setValueString("0")
        inside.addInput("in1", "vector3").setNodeName(last.getName())
        inside.addInput("in2", "vector3").setValueString("0, 0, 0")
        last = inside
    port.setNodeName(last.getName())


def _volume_of(graph: mx.NodeGraph) -> mx.Node:
    return next(node for node in graph.getNodes() if node.getCategory() == "anisotropic_vdf")


def _absorb_to_colour(graph: mx.NodeGraph) -> None:
    """Lama's colour of absorption is what is left of light, as documented. The graph takes it for
    the coefficient: white absorbs two thirds."""
    colour = graph.getNode("absorption_vector").getInput("in")
    colour.removeAttribute("nodename")
    colour.setInterfaceName("absorptionColor")
    logarithm = graph.addNode("ln", "ln_absorption", "vector3")
    logarithm.addInput("in", "vector3").setNodeName("absorption_vector")
    absorbed = graph.addNode("multiply", "absorbed", "vector3")
    absorbed.addInput("in1", "vector3").setNodeName(logarithm.getName())
    absorbed.addInput("in2", "float").setValueString("-1")
    _volume_of(graph).getInput("absorption").setNodeName(absorbed.getName())


_GRAPH_REPAIRS: dict[str, Callable[[mx.NodeGraph], None]] = {
    "range": _order_clamp_limits,
    "trianglewave": _double_triangle_wave,
    "switch": _extend_switch,
    "ramp_gradient": _end_ramp_intervals,
    "gltf_iridescence_thickness": _swap_film_limits,
    "open_pbr_surface": _absorb_along_depth,
    "gltf_pbr": _absorb_along_thickness,
    "LamaDielectric": _absorb_to_colour,
    "LamaGeneralizedSchlick": _absorb_to_colour,
}
