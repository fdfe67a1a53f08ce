"""What is in a material, and what of it a bake keeps, approximates or drops: said before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.errors import DocumentError, VerdigrisError
from verdigris.core.material.coordinates import (
    property_of,
    reads_texture_coordinates,
    stands_for_texture_coordinates,
)
from verdigris.core.material.energy import input_text, largest_gain
from verdigris.core.material.features import (
    APPROXIMATED,
    DROPPED,
    KEPT,
    NODE_FEATURES,
    SURFACE_FEATURES,
    Feature,
    Part,
)
from verdigris.core.material.image_facts import (
    TextureFacts,
    facts_of_images,
    no_numbers,
    tiles_left_out,
)
from verdigris.core.material.library import known_colour_spaces
from verdigris.core.material.readers import VALUE
from verdigris.core.material.upstream import is_connected, nodes_behind

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.document import Document, Material
    from verdigris.core.material.probe import Probe
    from verdigris.core.material.teacher import Teacher

_READS_COORDINATES = ("texcoord", "tangent", "bitangent")
_NORMAL, _ANGLE = "normal", "dotproduct"
# What makes a mask of a direction.
_TAKES_APART = ("extract", "separate3", "convert", _ANGLE)
_LAYERS = ("layer", "layerx", "layery", "layerz")
_MOST_TWINS = 8
_IN_COLOUR_SPACES = ("filename", "color3", "color4")
_PLACES = ("texcoord", "position")
_PLACE_NODES = ("texcoord", "position", "geompropvalue")


@dataclass(frozen=True)
class MaterialReport:
    """Everything that `inspect` says of one material."""

    name: str
    looks: tuple[str, ...]
    surface_model: str
    nodes: int
    textures: tuple[TextureFacts, ...] = ()
    varying_inputs: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    problem: str = ""
    probe: Probe | None = None

    @property
    def verdict(self) -> str:
        """One line on whether there is something to bake."""
        if self.problem:
            return f"cannot be baked: {self.problem}"
        if self.probe is None:
            return "not evaluated"
        if self.probe.reflects_nearly_nothing:
            glow = " Its emission is kept." if max(self.probe.emission) > 0 else ""
            return (
                f"reflects almost nothing ({100 * max(self.probe.albedo):.2g}% of the light): "
                f"there is nothing to learn, and a bake would be black.{glow}"
            )
        brightest = max(self.probe.albedo)
        return f"can be baked: reflects {100 * brightest:.0f}% of the light{self.probe.excess}"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def describe(
    document: Document,
    name: str | None = None,
    probe: bool = True,
    device_choice: str | None = None,
) -> list[MaterialReport]:
    """A report for each material of a document, or for the one that is named."""
    chosen = [document.require_material(name)] if name else list(document.materials)
    if not chosen:
        document.require_material()
    return [describe_material(document, material, probe, device_choice) for material in chosen]


def describe_material(
    document: Document, material: Material, probe: bool = True, device_choice: str | None = None
) -> MaterialReport:
    """The report of one material. What is wrong with it becomes part of the report."""
    try:
        nodes = list(document.nodes_of(material))
        document.check(material)
    except DocumentError as failure:
        return MaterialReport(material.name, material.looks, "", 0, problem=str(failure))
    # a node may be surface and material in one
    shaders = [node for node in nodes if node.getType() == "surfaceshader"] or nodes[:1]
    textures = facts_of_images(document, nodes)
    report = MaterialReport(
        name=material.name,
        looks=material.looks,
        surface_model=" + ".join(dict.fromkeys(node.getCategory() for node in shaders)),
        nodes=len(nodes),
        textures=tuple(textures),
        varying_inputs=tuple(_varying(document, shaders)),
        parts=(
            *_parts(nodes),
            *tiles_left_out(textures),
            *_variants(document, material),
            *_twins(document),
        ),
    )
    missing = next((facts.problem for facts in report.textures if facts.problem), "")
    if missing:
        return replace(report, problem=missing)
    return _probed(document, material, report, device_choice) if probe else report


def describe_teacher(teacher: Teacher) -> MaterialReport:
    """The report of a material that is loaded already, without a probe."""
    report = describe_material(teacher.document, teacher.material, probe=False)
    return _with_images(report, teacher)


def _with_images(report: MaterialReport, teacher: Teacher) -> MaterialReport:
    """What the headers of images do not say."""
    return replace(report, parts=(*report.parts, *no_numbers(teacher.texels_that_are_no_numbers)))


def _probed(
    document: Document, material: Material, report: MaterialReport, device_choice: str | None
) -> MaterialReport:
    from verdigris.core.device import open_device
    from verdigris.core.material.probe import probe
    from verdigris.core.material.teacher import Teacher

    device = open_device(device_choice)
    try:
        teacher = Teacher(document, material, device)
        return replace(_with_images(report, teacher), probe=probe(teacher))
    except VerdigrisError as failure:
        return replace(report, problem=str(failure))


def _variants(document: Document, material: Material) -> list[Part]:
    """Other values that looks would give the material."""
    return [
        Part(
            f"variant {assigned.getVariantString()!r}",
            DROPPED,
            f"look {look.getName()!r} assigns it from the set {assigned.getVariantSetString()!r}: "
            "the values of the material itself are baked, so set them there",
        )
        for look in document.root.getLooks()
        if look.getName() in material.looks
        for assigned in look.getActiveVariantAssigns()
    ]


def _twins(document: Document) -> list[Part]:
    """What MaterialX leaves out because something else has its name."""
    return [
        Part(
            f"second {twin.name!r}",
            DROPPED,
            f"line {twin.line} of {Path(twin.file).name}: line {twin.first_line} has named "
            "something so before, which is what counts: rename one of them",
        )
        for twin in document.twins[:_MOST_TWINS]
    ]


def _varying(document: Document, shaders: Sequence[mx.Node]) -> list[str]:
    """Inputs of the surface shaders behind which something reads a place on the surface."""
    names = []
    for shader in shaders:
        for port in shader.getInputs():
            if any(_reads_a_place(node) for node in nodes_behind(port, document.name)):
                names.append(port.getName())
    return list(dict.fromkeys(names))


def _reads_a_place(node: mx.Node) -> bool:
    return node.getCategory() in _PLACE_NODES or bool(_default_places(node))


def _default_places(node: mx.Node) -> list[mx.GeomPropDef]:
    """The places that a node reads where nothing is connected."""
    definition = node.getNodeDef()
    ports = definition.getActiveInputs() if definition is not None else ()
    names = [
        port.getDefaultGeomPropString() for port in ports if node.getInput(port.getName()) is None
    ]
    read = [node.getDocument().getGeomPropDef(name) for name in names if name]
    return [each for each in read if each is not None and each.getGeomProp() in _PLACES]


def _parts(nodes: Sequence[mx.Node]) -> list[Part]:
    parts: dict[str, Part] = {}
    for node in nodes:
        for feature in SURFACE_FEATURES.get(node.getCategory(), ()):
            if _is_on(node, feature):
                parts.setdefault(feature.name, Part(feature.name, feature.fate, feature.how))
    for node in nodes:
        category = node.getCategory()
        if category == VALUE and stands_for_texture_coordinates(node):
            part = _further_coordinates(repr(property_of(node)))
            parts.setdefault(part.name, part)
        elif category in NODE_FEATURES and not _is_harmless(node, nodes):
            part = Part(*NODE_FEATURES[category])
            parts.setdefault(part.name, part)
        elif category.endswith(("_bsdf", "_edf")) or _is_lama_closure(node):
            parts.setdefault(category, Part(category, KEPT))
        for place in _default_places(node):
            if place.getGeomProp() == "position":
                part = Part(*NODE_FEATURES["position"])
                parts.setdefault(part.name, part)
            elif place.getIndex() not in ("", "0"):
                part = _further_coordinates(place.getIndex())
                parts.setdefault(part.name, part)
        for part in (*_gains(node), *_odd_inputs(node)):
            parts.setdefault(part.name, part)
    order = {KEPT: 0, APPROXIMATED: 1, DROPPED: 2}
    return sorted(parts.values(), key=lambda part: order[part.fate])


def _is_harmless(node: mx.Node, nodes: Sequence[mx.Node]) -> bool:
    """Whether a flat sample has what a node reads: its texture coordinates, or a normal that is
    only used as one."""
    if node.getCategory() != _NORMAL:
        return reads_texture_coordinates(node)
    readers = [
        reader
        for reader in nodes
        for port in reader.getInputs()
        if reader.getCategory() in _TAKES_APART and port.getConnectedNode() == node
    ]
    # with the view it makes an angle, which a flat sample has
    return all(
        reader.getCategory() == _ANGLE and all(map(is_connected, reader.getInputs()))
        for reader in readers
    )


def _is_lama_closure(node: mx.Node) -> bool:
    return str(node.getCategory()).startswith("Lama") and str(node.getType()) != "material"


def _is_on(shader: mx.Node, feature: Feature) -> bool:
    if feature.needs and not _differs(shader, feature.needs, 0.0):
        return False
    if any(_differs(shader, name, 0.0) for name in feature.unless):
        return False
    return any(_differs(shader, name, feature.off) for name in feature.inputs)


def _differs(node: mx.Node, name: str, value: float) -> bool:
    """Whether an input may be something else than `value` in all of its components."""
    port = node.getActiveInput(name)
    if port is not None and is_connected(port):
        return True
    text = input_text(node, name)
    try:
        return any(float(word) != value for word in text.replace(",", " ").split())
    except ValueError:
        return text.lower() == "true"


def _gains(node: mx.Node) -> list[Part]:
    """Lobes whose published form returns more light than it receives."""
    found = largest_gain(node)
    if found is None:
        return []
    name, gain = found
    how = f"energy above one removed: it would return up to {gain:.2g} times what it receives"
    return [Part(name, APPROXIMATED, how)]


def _odd_inputs(node: mx.Node) -> list[Part]:
    """Settings of single nodes that are read differently, or not at all."""
    found = []
    for port in node.getActiveInputs():
        name, text = port.getName(), port.getValueString()
        if name == "filtertype" and text == "cubic":
            found.append(Part("cubic filtering", APPROXIMATED, "images are filtered linearly"))
        elif name == "scatter_mode" and "T" in text:
            found.append(Part("transmission", DROPPED, "light that passes through is left out"))
        elif name == "framerange" and text:
            found.append(Part("image sequence", APPROXIMATED, "the first image stands for all"))
        elif name in _LAYERS and text:
            how = "the first channels of the file are read: write the layer to a file of its own"
            found.append(Part(f"layer {text!r} of an image", DROPPED, how))
        elif name == "index" and node.getCategory() in _READS_COORDINATES and text not in ("", "0"):
            found.append(_further_coordinates(text))
        space = port.getActiveColorSpace() if port.getType() in _IN_COLOUR_SPACES else ""
        if space not in known_colour_spaces():
            how = f"{space!r} is not known to MaterialX's colour management: read as linear"
            found.append(Part(f"colour space {space}", APPROXIMATED, how))
    return found


def _further_coordinates(index: str) -> Part:
    how = "there is one set of texture coordinates: it stands for all"
    return Part(f"texture coordinates {index}", APPROXIMATED, how)


def print_reports(file: str, reports: Sequence[MaterialReport]) -> None:
    """The reports as a technical artist reads them."""
    count = len(reports)
    print(f"{file}: {count} material{'s' if count != 1 else ''}")
    for report in reports:
        print(f"\n{report.name}")
        if report.looks:
            print(f"  looks     {', '.join(report.looks)}")
        if report.surface_model:
            print(f"  surface   {report.surface_model}, {report.nodes} nodes")
        for facts in report.textures:
            tiles = f", {facts.tiles} tiles" if facts.tiles > 1 else ""
            size = f"{facts.width} x {facts.height} x {facts.channels} {facts.kind}{tiles}"
            print(f"  texture   {facts.node}: {facts.file}")
            print(f"            {facts.problem or f'{size}, {facts.colour_space}'}")
        if report.varying_inputs:
            print(f"  varies    {', '.join(report.varying_inputs)}")
        elif report.surface_model:
            print("  varies    nothing: the material is the same everywhere")
        for part in report.parts:
            print(f"  {part.fate:<12}  {part.name}{': ' + part.how if part.how else ''}")
        if report.probe and max(report.probe.emission) > 0:
            print(f"  glows     mean {', '.join(f'{x:.3g}' for x in report.probe.emission)}")
        if report.probe and report.probe.opacity[0] < 0.999:
            low, high = report.probe.opacity
            print(f"  coverage  {low:.2f} to {high:.2f}")
        print(f"  verdict   {report.verdict}")
