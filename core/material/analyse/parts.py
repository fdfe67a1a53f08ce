"""The parts of a material that a bake keeps, approximates or drops, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.adjusted_lobes import (
    adjusted_lobes,
    input_text,
    written_numbers,
)
from verdigris.core.material.analyse.features import (
    APPROXIMATED,
    EMISSION_BY_VIEW,
    FACING,
    FATES,
    GLOW_BELOW_COATS,
    IGNORED,
    KEPT,
    NODE_FEATURES,
    OPACITY_BY_VIEW,
    SURFACE_FEATURES,
    TRANSMITTED,
    Feature,
    Part,
)
from verdigris.core.material.analyse.on_mesh import (
    default_places,
    directions_used_as_masks,
    further_coordinates,
    property_parts,
)
from verdigris.core.material.graph.colour_spaces import known_colour_spaces
from verdigris.core.material.graph.traversal import (
    defined_input,
    defined_inputs,
    is_connected,
    is_defined_here,
    is_fed,
    own_definitions,
    own_graph,
    own_graphs,
    upstream_nodes,
)
from verdigris.core.material.normalise.geometry_properties import UNIFORM_VALUE, VALUE

if TYPE_CHECKING:
    import MaterialX as mx

_READS_COORDINATES = ("texcoord", "tangent", "bitangent")
_LAYERS = ("layer", "layerx", "layery", "layerz")
_IN_COLOUR_SPACES = ("filename", "color3", "color4")
# The normal and the tangent of a flat surface.
_FLAT = ((0, 0, 1), (1, 0, 0))
# The lowest temperature of MaterialX's fit for black body colours, in kelvin.
_COLDEST = 1667
_READS_VIEW = ("facingratio", "viewdirection")
# The parts for maps that depend on the view, by a word in the name of a surface input.
_MAPS = {
    **dict.fromkeys(("emiss", "edf"), EMISSION_BY_VIEW),
    **dict.fromkeys(("opacity", "alpha"), OPACITY_BY_VIEW),
}
# Surfaces whose features in the table contain everything that emits light or makes holes.
# Transmission has a response of its own.
_KNOWN = ("standard_surface", "open_pbr_surface", "gltf_pbr", "UsdPreviewSurface", "surface")
_UNLIT_FEATURES = ("emission", "opacity")


def parts_of(nodes: Sequence[mx.Node]) -> list[Part]:
    """The parts of a material with these nodes: kept parts first, dropped parts last."""
    masks = {node.getNamePath() for node in directions_used_as_masks(nodes)}
    parts: dict[str, Part] = {}
    for part in (
        *(part for node in nodes for part in _features_of(node)),
        *(part for node in nodes for part in _parts_of_node(node, node.getNamePath() in masks)),
        *(_overruled(nodes) if nodes else ()),
    ):
        parts.setdefault(part.name, part)
    return sorted(parts.values(), key=lambda part: FATES.index(part.fate))


def _features_of(node: mx.Node) -> Iterator[Part]:
    """The features that a surface uses."""
    for feature in SURFACE_FEATURES.get(node.getCategory(), ()):
        if is_on(node, feature):
            yield Part(feature.name, feature.fate, feature.how)


def _parts_of_node(node: mx.Node, is_mask: bool) -> Iterator[Part]:
    """The parts of one node. `is_mask`: it reads a direction that is used as a mask."""
    category = node.getCategory()
    if category in (VALUE, UNIFORM_VALUE):
        yield from property_parts(node)
    elif category in NODE_FEATURES:
        yield NODE_FEATURES[category]
    elif is_mask:
        yield FACING
    elif category.endswith(("_bsdf", "_edf")) or _is_lama_closure(node):
        yield Part(category, KEPT)
    for place in default_places(node):
        if place.getGeomProp() == "position":
            yield NODE_FEATURES["position"]
        elif place.getIndex() not in ("", "0"):
            yield further_coordinates(place.getIndex())
    yield from adjusted_lobes(node)
    yield from _odd_inputs(node)
    yield from _by_view(node)


def is_dark_and_opaque(nodes: Iterable[mx.Node]) -> bool:
    """Whether a material with these nodes certainly emits nothing and is opaque, for all inputs. It
    then needs no maps of emission and opacity. False if that is unknown."""
    found = list(nodes)
    materials = (node for node in found if node.getType() == "material")
    surfaces = [node for node in found if node.getType() == "surfaceshader"]
    return (
        bool(surfaces)
        and all(node.getCategory() == "surfacematerial" for node in materials)
        and all(map(_is_dark_and_opaque_surface, surfaces))
    )


def _is_dark_and_opaque_surface(surface: mx.Node) -> bool:
    if surface.getNodeDef() is None or is_defined_here(surface) or own_graph(surface):
        return False
    if surface.getCategory() == "mix":
        return True
    if surface.getCategory() not in _KNOWN or is_fed(surface, "edf"):
        return False
    features = SURFACE_FEATURES[surface.getCategory()]
    return not any(is_on(surface, each) for each in features if each.name in _UNLIT_FEATURES)


def is_on(shader: mx.Node, feature: Feature) -> bool:
    """Whether a surface uses a feature, or may use it because an input is connected."""
    if feature.needs and not _differs(shader, feature.needs, 0.0):
        return False
    if any(_differs(shader, name, 0.0) for name in feature.unless):
        return False
    return any(_differs(shader, name, feature.off) for name in feature.inputs)


def _differs(node: mx.Node, name: str, value: float) -> bool:
    """Whether a component of an input may differ from `value`."""
    if is_fed(node, name):
        return True
    text = input_text(node, name)
    try:
        return any(number != value for number in written_numbers(text))
    except ValueError:
        return text.lower() == "true"


def _by_view(node: mx.Node) -> Iterator[Part]:
    """Emission and opacity of a surface that depend on the view."""
    if node.getType() != "surfaceshader":
        return
    if node.getCategory() in GLOW_BELOW_COATS:
        features = SURFACE_FEATURES[node.getCategory()]
        if {"coat", "emission"} <= {each.name for each in features if is_on(node, each)}:
            yield EMISSION_BY_VIEW
    for port in node.getInputs():
        part = next((part for word, part in _MAPS.items() if word in port.getName()), None)
        behind = upstream_nodes(port, node.getDocument().getSourceUri()) if part else ()
        if part and any(each.getCategory() in _READS_VIEW for each in behind):
            yield part


def _overruled(nodes: Sequence[mx.Node]) -> list[Part]:
    """Definitions of the document that are overruled by a definition of the library."""
    root = nodes[0].getDocument()
    definitions = own_definitions(root)
    definitions += filter(None, (graph.getNodeDef() for graph in own_graphs(root)))
    defined = {(each.getNodeString(), each.getType()) for each in definitions}
    used = {
        node.getCategory()
        for node in nodes
        if (node.getCategory(), node.getType()) in defined
        and not is_defined_here(node)
        and not own_graph(node)
    }
    how = "MaterialX has a node of this name and uses its own definition: rename the document's"
    return [Part(f"own definition of {kind!r}", IGNORED, how) for kind in sorted(used)]


def _is_lama_closure(node: mx.Node) -> bool:
    return str(node.getCategory()).startswith("Lama") and str(node.getType()) != "material"


def _odd_inputs(node: mx.Node) -> Iterator[Part]:
    """Inputs of single nodes that a bake approximates or ignores."""
    for port in node.getActiveInputs():
        name, text = port.getName(), (port.getInterfaceInput() or port).getValueString()
        if name == "filtertype" and text == "cubic" and _reads_files(node):
            yield Part("cubic filtering", APPROXIMATED, "images are filtered linearly")
        elif name == "scatter_mode" and "T" in text:
            yield Part("transmission", KEPT, TRANSMITTED)
        elif name == "temperature" and _is_cold(node, text):
            how = f"MaterialX's colours start at {_COLDEST} K: colder ones are too pale"
            yield Part("blackbody", APPROXIMATED, how)
        elif name == "framerange" and text:
            how = "the first image is used for all frames"
            yield Part("image sequence", APPROXIMATED, how)
        elif name in _LAYERS and text:
            how = "the first channels of the file are read: save the layer as a file of its own"
            yield Part(f"layer {text!r} of an image", APPROXIMATED, how)
        elif name == "index" and node.getCategory() in _READS_COORDINATES and text not in ("", "0"):
            yield further_coordinates(text)
        elif _is_other_than_the_surface(node, port, text):
            how = "MaterialX uses the surface's own: connect a constant to use this value"
            yield Part(f"value of {name!r}", IGNORED, how)
        space = port.getActiveColorSpace() if port.getType() in _IN_COLOUR_SPACES else ""
        if space not in known_colour_spaces():
            how = f"{space!r} is unknown to MaterialX's colour management: read as linear"
            yield Part(f"colour space {space}", APPROXIMATED, how)


def _is_cold(node: mx.Node, text: str) -> bool:
    return node.getCategory() == "blackbody" and any(k < _COLDEST for k in written_numbers(text))


def _reads_files(node: mx.Node) -> bool:
    return any(port.getType() == "filename" for port in defined_inputs(node))


def _is_other_than_the_surface(node: mx.Node, port: mx.Input, text: str) -> bool:
    """Whether an input's value is ignored, because the input reads the surface by default. Programs
    write zeros, or the values of a flat surface, which are not reported."""
    defined = defined_input(node, port.getName()) if text and not is_connected(port) else None
    if defined is None or not defined.getDefaultGeomPropString():
        return False
    numbers = written_numbers(text)
    return any(numbers) and numbers not in _FLAT
