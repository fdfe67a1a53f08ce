"""The report on a material before a bake: its contents, and what a bake keeps, approximates or
drops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError, MissingTextureError, VerdigrisError
from verdigris.core.base.process.profile import profiled
from verdigris.core.base.text import why_not_unicode
from verdigris.core.material.analyse.displacement import (
    displacement_parts,
    height_images,
    without_effect,
)
from verdigris.core.material.analyse.document_parts import converted_types, ignored_parts
from verdigris.core.material.analyse.features import (
    APPROXIMATED,
    DISPLACEMENT,
    DROPPED,
    FROM_OUTSIDE,
    IN_DEPTH,
    KEPT,
    THROUGH_WALLS,
    TRANSMITTED,
    Part,
)
from verdigris.core.material.analyse.image_facts import (
    TextureFacts,
    facts_of_images,
    non_finite,
    parts_of_images,
)
from verdigris.core.material.analyse.on_mesh import default_places, parts_on_mesh
from verdigris.core.material.analyse.parts import parts_of
from verdigris.core.material.analyse.transmission import find_transmission, varying_walls
from verdigris.core.material.codegen.shader_teacher import shader_implementation
from verdigris.core.material.files.missing_files import describe_missing, repairing_folders
from verdigris.core.material.graph.traversal import own_implementations, upstream_nodes
from verdigris.core.material.live_inputs.open_inputs import Reach, reach_of_published
from verdigris.core.material.shader.document_text import LEFT_OUT, ZERO
from verdigris.core.material.shader.expand import is_node_source

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document, Material
    from verdigris.core.material.teacher.probe import Probe
    from verdigris.core.material.teacher.teacher import Teacher

# Texels a side at which heights are tried.
_HEIGHT_TEXELS = 64
# Variables of an engine that a report names.
_MOST_LISTED = 8
_PLACE_NODES = ("texcoord", "position", "geompropvalue")


@dataclass(frozen=True)
class MaterialReport:
    """The report on one material, as `inspect` prints it."""

    name: str
    looks: tuple[str, ...]
    surface_model: str
    nodes: int
    textures: tuple[TextureFacts, ...] = ()
    varying_inputs: tuple[str, ...] = ()
    live: tuple[Reach, ...] = ()
    """The inputs that a bake can keep open."""
    fixed: tuple[str, ...] = ()
    """Other parameters of a shader file, each with its type and value."""
    parts: tuple[Part, ...] = ()
    problem: str = ""
    search_in: tuple[str, ...] = ()
    """Folders to add to the search path, so that missing textures are found."""
    probe: Probe | None = None

    @property
    def verdict(self) -> str:
        """One line: whether the material can be baked."""
        if self.problem:
            return f"cannot be baked: {self.problem}"
        if self.probe is None:
            return "not evaluated"
        if self.probe.shows_nearly_nothing:
            return (
                f"reflects almost nothing ({100 * self.probe.seen:.2g}% of the light): "
                f"a bake would be black.{self.probe.black_hint}"
            )
        light = f"reflects {100 * max(self.probe.albedo):.0f}% of the light"
        if max(passing := self.probe.transmitted) > 0:
            light += f", transmits {100 * max(passing):.0f}%"
        return f"can be baked: {light}{self.probe.excess}"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def describe(
    document: Document,
    name: str | None = None,
    probe: bool = True,
    device_choice: str | None = None,
) -> list[MaterialReport]:
    """Reports on all materials of a document, or on the named one."""
    chosen = [document.require_material(name)] if name else list(document.materials)
    if not chosen:
        document.require_material()
    return [describe_material(document, material, probe, device_choice) for material in chosen]


def describe_material(
    document: Document, material: Material, probe: bool = True, device_choice: str | None = None
) -> MaterialReport:
    """The report on one material. An error becomes its `problem`."""
    try:
        nodes = list(document.nodes_of(material))
        document.check(material)
    except DocumentError as failure:
        return MaterialReport(material.name, material.looks, "", 0, problem=str(failure))
    # some nodes are surface and material in one
    shaders = [node for node in nodes if node.getType() == "surfaceshader"] or nodes[:1]
    textures = facts_of_images(document, nodes)
    report = MaterialReport(
        name=material.name,
        looks=material.looks,
        surface_model=" + ".join(dict.fromkeys(node.getCategory() for node in shaders)),
        nodes=len(nodes),
        textures=(*textures, *height_images(document, material, textures)),
        varying_inputs=tuple(_varying(document, shaders)) or _places_of_shader(shaders),
        live=reach_of_published(document, material),
        fixed=tuple(_fixed_parameters(shaders)),
        parts=(
            *_as_solid(parts_of(nodes), nodes),
            *varying_walls(nodes),
            *converted_types(document, nodes),
            *parts_of_images(nodes, textures, document.search),
            *ignored_parts(document, material, nodes),
            *_left_out(shaders),
            *displacement_parts(document, material, nodes),
            *_with_code(document, nodes),
        ),
    )
    report = replace(report, parts=tuple(dict.fromkeys(report.parts)))
    missing = next((facts.problem for facts in report.textures if facts.problem), "")
    problem = why_not_unicode(document.name) or missing
    if problem:
        return _with_missing(replace(report, problem=problem), document)
    return _probed(document, material, report, device_choice) if probe else report


def _as_solid(parts: Iterable[Part], nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """The parts, with what depends on whether the surface is a solid or a thin wall."""
    found = find_transmission(nodes)
    for part in parts:
        is_solid = part.how == TRANSMITTED and found is not None and not found.is_thin
        is_wall = part.name == IN_DEPTH.name and found is not None and found.is_thin
        yield THROUGH_WALLS if is_wall else replace(part, how=FROM_OUTSIDE) if is_solid else part
    if found is not None and found.has_other_indices:
        how = (
            f"light is bent by {found.index:.3g} everywhere: other indices only change reflections"
        )
        yield Part("index", APPROXIMATED, how)


def _with_missing(report: MaterialReport, document: Document) -> MaterialReport:
    """The report with one problem for all missing textures, and the folders in which they are."""
    missing = [
        MissingTextureError(each.problem, each.file, tuple(map(Path, each.folders)))
        for each in report.textures
        if each.is_missing
    ]
    found = repairing_folders(missing)
    if report.problem in [str(each) for each in missing]:
        one = describe_missing(missing, document.name, document.search.has_options)
        report = replace(report, problem=str(one))
    return replace(report, search_in=tuple(str(folder) for folder in found))


@profiled("describe material")
def describe_teacher(teacher: Teacher) -> MaterialReport:
    """The report on a loaded material, without a probe."""
    report = describe_material(teacher.document, teacher.material, probe=False)
    if teacher.mesh is not None:
        on = teacher.mesh
        parts = parts_on_mesh(report.parts, on.properties, on.sets, on.has_colours)
        report = replace(report, parts=parts)
    return _with_images(report, teacher)


def _with_images(report: MaterialReport, teacher: Teacher) -> MaterialReport:
    """The report with facts that only decoded images and evaluations tell."""
    found = non_finite(teacher.non_finite_texels)
    if teacher.trial.fault:
        found = [
            *found,
            Part("some responses", APPROXIMATED, f"{teacher.trial.fault}: they count as 0"),
        ]
    return replace(report, parts=(*report.parts, *found))


def _probed(
    document: Document, material: Material, report: MaterialReport, device_choice: str | None
) -> MaterialReport:
    from verdigris.core.base.device import open_device
    from verdigris.core.material.domain import height_range
    from verdigris.core.material.teacher.heights import find_heights
    from verdigris.core.material.teacher.probe import probe
    from verdigris.core.material.teacher.teacher import Teacher

    def evaluated(part: Part) -> Part:
        """What only evaluated heights tell of a displacement."""
        if part.name != DISPLACEMENT or part.fate == DROPPED:
            return part
        try:
            heights = find_heights(teacher, _HEIGHT_TEXELS)
        except VerdigrisError as failure:
            return replace(part, fate=DROPPED, how=str(failure))
        if heights is None:
            return part
        if not height_range(heights.values)[1]:
            return without_effect(part, heights.notes)
        if not heights.notes:
            return part
        return replace(part, fate=APPROXIMATED, how="; ".join(heights.notes))

    device = open_device(device_choice)
    try:
        teacher = Teacher(document, material, device)
        parts = tuple(map(evaluated, report.parts))
        return replace(_with_images(replace(report, parts=parts), teacher), probe=probe(teacher))
    except VerdigrisError as failure:
        return replace(report, problem=str(failure))


def _varying(document: Document, shaders: Sequence[mx.Node]) -> list[str]:
    """The inputs of surface shaders that depend on the place on the surface."""
    names = []
    for shader in shaders:
        for port in shader.getInputs():
            if any(_reads_a_place(node) for node in upstream_nodes(port, document.name)):
                names.append(port.getName())
    return list(dict.fromkeys(names))


def _fixed_parameters(shaders: Sequence[mx.Node]) -> Iterator[str]:
    """The parameters of shader files that no bake can keep open, as `--set-input` sets them."""
    for shader in shaders:
        if shader_implementation(shader) is not None:
            for port in shader.getInputs():
                if port.getType() not in ("float", "color3"):
                    yield f"{port.getName()}={port.getValueString()}: {port.getType()}"


def _left_out(shaders: Sequence[mx.Node]) -> Iterator[Part]:
    """Variables of shader files that their functions do not use, and images without a file."""
    for shader in shaders:
        implementation = shader_implementation(shader)
        listed = implementation.getAttribute(LEFT_OUT) if implementation is not None else ""
        if listed:
            shown = _some(listed)
            # nothing is lost
            yield Part("unused variables", KEPT, f"{shown}: the response does not read them")
        zero = implementation.getAttribute(ZERO) if implementation is not None else ""
        if zero:
            yield Part("other constants", APPROXIMATED, f"{_some(zero)}: they read as 0")
        for port in shader.getInputs() if implementation is not None else ():
            if port.getType() == "filename" and not port.getResolvedValueString():
                how = "it has no file and is white: set this input to a file"
                yield Part(f"image {port.getName()!r}", APPROXIMATED, how)


def _with_code(document: Document, nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """The nodes that files of code implement."""
    used = {node.getCategory() for node in nodes}
    for each in own_implementations(document.root):
        definition = each.getNodeDef()
        category = definition.getNodeString() if definition is not None else ""
        if is_node_source(each) and category in used:
            language = "GLSL, read as Slang" if each.getTarget() == "genglsl" else "Slang"
            code = f"{each.getAttribute('function')} in {each.getFile()} ({language})"
            yield Part(f"code of {category!r}", KEPT, code)


def _some(listed: str) -> str:
    """The first entries of a list."""
    found = listed.split("; ")
    more = len(found) - _MOST_LISTED
    return "; ".join(found[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


def _places_of_shader(shaders: Sequence[mx.Node]) -> tuple[str, ...]:
    """The place that a shader file gets: what depends on it is in its code."""
    return ("uv",) if any(map(shader_implementation, shaders)) else ()


def _reads_a_place(node: mx.Node) -> bool:
    return node.getCategory() in _PLACE_NODES or bool(default_places(node))


def print_reports(
    file: str, reports: Sequence[MaterialReport], left_out: Mapping[str, str]
) -> None:
    """Prints reports for a technical artist."""
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
            print("  varies    nothing: the material is constant")
        for reach in report.live:
            print(f"  input     {reach}")
        for text in report.fixed:
            print(f"  set       {text}")
        for part in report.parts:
            print(f"  {part.fate:<12}  {part.name}{': ' + part.how if part.how else ''}")
        if report.probe and max(report.probe.emission) > 0:
            print(f"  glows     mean {', '.join(f'{x:.3g}' for x in report.probe.emission)}")
        if report.probe and report.probe.opacity[0] < 0.999:
            low, high = report.probe.opacity
            print(f"  coverage  {low:.2f} to {high:.2f}")
        print(f"  verdict   {report.verdict}")
    for name, reason in left_out.items():
        print(f"\n{name}\n  not baked {reason}")
