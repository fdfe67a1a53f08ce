"""The parts of a material that a bake keeps, approximates or drops, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.adjusted_lobes import (
    input_text,
    largest_energy_gain,
    widened_highlights,
    written_numbers,
)
from verdigris.core.material.analyse.features import (
    APPROXIMATED,
    DROPPED,
    EMISSION_BY_VIEW,
    FACING,
    GLOW_BELOW_COATS,
    KEPT,
    NODE_FEATURES,
    NOT_ON_A_SAMPLE,
    OPACITY_BY_VIEW,
    SURFACE_FEATURES,
    Feature,
    Part,
)
from verdigris.core.material.graph.colour_spaces import known_colour_spaces
from verdigris.core.material.graph.traversal import (
    is_connected,
    is_fed,
    is_of_document,
    nodes_behind,
    own_graph,
    source_of,
)
from verdigris.core.material.normalise.geometry_properties import (
    UNIFORM_VALUE,
    VALUE,
    is_unnamed_coordinate_set,
    property_name,
    reads_texture_coordinates,
)

if TYPE_CHECKING:
    import MaterialX as mx

_READS_COORDINATES = ("texcoord", "tangent", "bitangent")
_LAYERS = ("layer", "layerx", "layery", "layerz")
_IN_COLOUR_SPACES = ("filename", "color3", "color4")
# The normal and the tangent of a flat surface.
_FLAT = ((0, 0, 1), (1, 0, 0))
_PLACES = ("texcoord", "position")
# The lowest temperature of MaterialX's fit of black body colours, in kelvin.
_COLDEST = 1667
_READS_VIEW = ("facingratio", "viewdirection")
# By a part of the name of a surface input.
_MAPS = {
    **dict.fromkeys(("emiss", "edf"), EMISSION_BY_VIEW),
    **dict.fromkeys(("opacity", "alpha"), OPACITY_BY_VIEW),
}
_DIRECTION_NODES = ("normal", "tangent", "bitangent", "viewdirection")
_DOT_PRODUCT = "dotproduct"
_TAKE_APART = ("extract", "separate3", "convert")
_DIRECTION_INPUTS = ("normal", "tangent", "bitangent")
_CLOSURES = ("BSDF", "EDF", "surfaceshader")


def default_places(node: mx.Node) -> list[mx.GeomPropDef]:
    """The places that a node reads by default: unconnected inputs ignore their value there."""
    definition = node.getNodeDef()
    ports = definition.getActiveInputs() if definition is not None else ()
    names = [
        port.getDefaultGeomPropString()
        for port in ports
        if (given := node.getInput(port.getName())) is None or not is_connected(given)
    ]
    read = [node.getDocument().getGeomPropDef(name) for name in names if name]
    return [each for each in read if each is not None and each.getGeomProp() in _PLACES]


def parts_of(nodes: Sequence[mx.Node]) -> list[Part]:
    """The parts of a material with these nodes: kept parts first, dropped parts last."""
    parts: dict[str, Part] = {}
    masks = {node.getNamePath() for node in directions_used_as_masks(nodes)}
    for node in nodes:
        for feature in SURFACE_FEATURES.get(node.getCategory(), ()):
            if is_on(node, feature):
                parts.setdefault(feature.name, Part(feature.name, feature.fate, feature.how))
    for node in nodes:
        category = node.getCategory()
        if category in (VALUE, UNIFORM_VALUE):
            for part in _property(node):
                parts.setdefault(part.name, part)
        elif category in NODE_FEATURES:
            part = NODE_FEATURES[category]
            parts.setdefault(part.name, part)
        elif node.getNamePath() in masks:
            parts.setdefault(FACING.name, FACING)
        elif category.endswith(("_bsdf", "_edf")) or _is_lama_closure(node):
            parts.setdefault(category, Part(category, KEPT))
        for place in default_places(node):
            if place.getGeomProp() == "position":
                part = NODE_FEATURES["position"]
                parts.setdefault(part.name, part)
            elif place.getIndex() not in ("", "0"):
                part = _further_coordinates(place.getIndex())
                parts.setdefault(part.name, part)
        for part in (*_gains(node), *_widened(node), *_odd_inputs(node), *_by_view(node)):
            parts.setdefault(part.name, part)
    for part in _overruled(nodes):
        parts.setdefault(part.name, part)
    order = {KEPT: 0, APPROXIMATED: 1, DROPPED: 2}
    return sorted(parts.values(), key=lambda part: order[part.fate])


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
        behind = nodes_behind(port, node.getDocument().getSourceUri()) if part else ()
        if part and any(each.getCategory() in _READS_VIEW for each in behind):
            yield part


def _property(reader: mx.Node) -> list[Part]:
    """The geometry property that a node reads."""
    name = property_name(reader)
    if is_unnamed_coordinate_set(reader):
        return [_further_coordinates(repr(name))]
    if reads_texture_coordinates(reader):
        return []
    return [Part(name_of_property(name), DROPPED, NOT_ON_A_SAMPLE)]


def name_of_property(name: str) -> str:
    """The name of the part of a property of the geometry."""
    return f"property {name!r} of the geometry" if name else "property of the geometry"


def name_of_coordinates(index: str) -> str:
    """The name of the part of a further uv set."""
    return f"texture coordinates {index}"


def _overruled(nodes: Sequence[mx.Node]) -> list[Part]:
    """Definitions of the document that a definition of the library overrules."""
    own = nodes[0].getDocument().getChildren() if nodes else []
    definitions = [each for each in own if each.getCategory() == "nodedef"]
    graphs = [each for each in own if each.getCategory() == "nodegraph"]
    definitions += filter(None, (graph.getNodeDef() for graph in graphs))
    defined = {(each.getNodeString(), each.getType()) for each in definitions}
    used = {
        node.getCategory()
        for node in nodes
        if (node.getCategory(), node.getType()) in defined
        and not is_of_document(node.getNodeDef(), node)
        and not own_graph(node)
    }
    how = "MaterialX has a node of this name and uses its own definition: rename the document's"
    return [Part(f"own definition of {kind!r}", DROPPED, how) for kind in sorted(used)]


def _is_lama_closure(node: mx.Node) -> bool:
    return str(node.getCategory()).startswith("Lama") and str(node.getType()) != "material"


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


def _gains(node: mx.Node) -> list[Part]:
    """Lobes whose published form returns more light than it receives."""
    found = largest_energy_gain(node)
    if found is None:
        return []
    name, gain = found
    how = f"energy above one removed: it would return up to {gain:.2g} times what it receives"
    return [Part(name, APPROXIMATED, how)]


def _widened(node: mx.Node) -> list[Part]:
    return [Part(name, APPROXIMATED, how) for name, how in widened_highlights(node)]


def _odd_inputs(node: mx.Node) -> list[Part]:
    """Inputs of single nodes that a bake approximates or ignores."""
    found = []
    for port in node.getActiveInputs():
        name, text = port.getName(), (port.getInterfaceInput() or port).getValueString()
        if name == "filtertype" and text == "cubic" and _reads_files(node):
            found.append(Part("cubic filtering", APPROXIMATED, "images are filtered linearly"))
        elif name == "scatter_mode" and "T" in text:
            found.append(Part("transmission", DROPPED, "a neural material only reflects"))
        elif name == "temperature" and _is_cold(node, text):
            how = f"MaterialX's colours start at {_COLDEST} K: colder ones are too pale"
            found.append(Part("blackbody", APPROXIMATED, how))
        elif name == "framerange" and text:
            found.append(
                Part("image sequence", APPROXIMATED, "the first image is used for all frames")
            )
        elif name in _LAYERS and text:
            how = "the first channels of the file are read: save the layer as a file of its own"
            found.append(Part(f"layer {text!r} of an image", DROPPED, how))
        elif name == "index" and node.getCategory() in _READS_COORDINATES and text not in ("", "0"):
            found.append(_further_coordinates(text))
        elif _is_other_than_the_surface(node, port, text):
            how = "MaterialX uses that of the surface: connect a constant to use this value"
            found.append(Part(f"value of {name!r}", DROPPED, how))
        space = port.getActiveColorSpace() if port.getType() in _IN_COLOUR_SPACES else ""
        if space not in known_colour_spaces():
            how = f"{space!r} is unknown to MaterialX's colour management: read as linear"
            found.append(Part(f"colour space {space}", APPROXIMATED, how))
    return found


def _is_cold(node: mx.Node, text: str) -> bool:
    return node.getCategory() == "blackbody" and any(k < _COLDEST for k in written_numbers(text))


def _reads_files(node: mx.Node) -> bool:
    definition = node.getNodeDef()
    ports = definition.getActiveInputs() if definition is not None else ()
    return any(port.getType() == "filename" for port in ports)


def _is_other_than_the_surface(node: mx.Node, port: mx.Input, text: str) -> bool:
    """Whether an input has a value that is ignored, because it reads the surface by default.
    Programs write zeros, or the values of a flat surface: those are not reported."""
    definition = node.getNodeDef() if text and not is_connected(port) else None
    defined = definition.getActiveInput(port.getName()) if definition is not None else None
    if defined is None or not defined.getDefaultGeomPropString():
        return False
    numbers = written_numbers(text)
    return any(numbers) and numbers not in _FLAT


def _further_coordinates(index: str) -> Part:
    how = "there is one set of texture coordinates, which is used for all"
    return Part(name_of_coordinates(index), APPROXIMATED, how)


def directions_used_as_masks(nodes: Sequence[mx.Node]) -> list[mx.Node]:
    """Nodes that read a direction in space which is used as something else, such as a mask of where
    a surface faces. The baked surface is flat."""
    found = [node for node in nodes if node.getCategory() in _DIRECTION_NODES]
    if not found:
        return []
    readers: dict[str, list[tuple[mx.Node, mx.Input]]] = defaultdict(list)
    for reader in nodes:
        for port in reader.getInputs():
            source = source_of(port)
            if source is not None:
                readers[source.getNamePath()].append((reader, port))

    def is_mask(node: mx.Node) -> bool:
        pending, seen = [node.getNamePath()], {node.getNamePath()}
        while pending:
            for reader, port in readers[pending.pop()]:
                if _makes_mask(reader, port):
                    return True
                path = reader.getNamePath()
                if _passes_on(reader, port) and path not in seen:
                    seen.add(path)
                    pending.append(path)
        return False

    return [node for node in found if is_mask(node)]


def _makes_mask(reader: mx.Node, port: mx.Input) -> bool:
    if reader.getCategory() == _DOT_PRODUCT:
        # its angle to the view exists on a flat sample
        return not all(map(is_connected, reader.getInputs()))
    if reader.getCategory() in _TAKE_APART:
        return True
    is_used_as_one = reader.getType() in _CLOSURES or port.getName() in _DIRECTION_INPUTS
    return not is_used_as_one and reader.getType() != "vector3"


def _passes_on(reader: mx.Node, port: mx.Input) -> bool:
    return reader.getType() == "vector3" and port.getName() not in _DIRECTION_INPUTS
