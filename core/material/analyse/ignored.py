"""What a document says and MaterialX passes over without a word: told in the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import APPROXIMATED, DROPPED, Part
from verdigris.core.material.load.node_checks import CHANNELS
from verdigris.core.material.normalise.disabled_nodes import DISABLE

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document, Material
    from verdigris.core.material.load.mtlx_text import Override, Twin

# Of each kind, so that a document of thousands does not hide the rest of its report.
_MOST_OF_A_KIND = 8


def ignored_parts(document: Document, material: Material, nodes: Sequence[mx.Node]) -> list[Part]:
    """What is said of a material that consists of these nodes, and counts for nothing."""
    return [
        *_first(_attributes(nodes)),
        *_first(_unknown_inputs(nodes)),
        *_first(_inheritance(nodes)),
        *_first(_outputs_left_open(nodes)),
        *_first(_units_of_files(nodes)),
        *_first(_tokens_of_nodes(nodes)),
        *_variants(document, material),
        *_first(_overrides(document, material)),
        *_first(_twin(twin) for twin in document.twins),
    ]


def _first(parts: Iterator[Part]) -> list[Part]:
    """Without those that say the same again."""
    return list(dict.fromkeys(parts))[:_MOST_OF_A_KIND]


def _attributes(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    for node in nodes:
        if node.getAttribute(DISABLE) == "true":
            yield Part(
                f"attribute {DISABLE!r} of {node.getNamePath()!r}",
                DROPPED,
                "nodes are disabled by an input of that name, of the type boolean: this one is "
                "baked as it is, so give it that, or take it out",
            )
        for port in node.getInputs():
            for each in (port, port.getInterfaceInput(), port.getConnectedOutput()):
                channels = each.getAttribute(CHANNELS) if each is not None else ""
                if channels:
                    yield Part(
                        f"channels {channels!r} of {each.getNamePath()!r}",
                        DROPPED,
                        "channels are chosen by attributes up to version 1.38, and the document "
                        "says a later one: correct that, or put separate and combine nodes between",
                    )


def _unknown_inputs(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """Where a node names its definition, MaterialX asks no further."""
    for node in nodes:
        definition = node.getNodeDef() if node.hasNodeDefString() else None
        if definition is None:
            continue
        for port in node.getInputs():
            if definition.getActiveInput(port.getName()) is None:
                yield Part(
                    f"input {port.getName()!r} of {node.getNamePath()!r}",
                    DROPPED,
                    f"its definition {definition.getName()!r} has none of that name: correct the "
                    "name, or take the input out",
                )


def _inheritance(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """Nodes inherit from those outside graphs alone, of which those in graphs get the values."""
    for node in nodes:
        if not node.hasInheritString():
            continue
        name, path = node.getInheritString(), node.getNamePath()
        if node.getInheritsFrom() is None:
            yield Part(
                f"inheritance of {path!r}",
                DROPPED,
                f"there is no {name!r} outside graphs, where nodes may inherit from: give the node "
                "inputs of its own",
            )
        for port in node.getActiveInputs():
            is_own = node.getInput(port.getName()) is not None
            if not is_own and (port.getNodeName() or port.getNodeGraphString()):
                yield Part(
                    f"input {port.getName()!r} of {path!r}",
                    DROPPED,
                    f"it is connected in {name!r}, from which a node in a graph inherits values "
                    "alone: give the node this input, connected in its graph",
                )


def _outputs_left_open(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    for node in nodes:
        for port in node.getActiveInputs():
            graph = port.getDocument().getNodeGraph(port.getNodeGraphString())
            outputs = [each.getName() for each in graph.getOutputs()] if graph else []
            if len(outputs) > 1 and not port.getOutputString():
                yield Part(
                    f"input {port.getName()!r} of {node.getNamePath()!r}",
                    APPROXIMATED,
                    f"it is connected to {graph.getName()!r} and names none of its outputs, "
                    f"{', '.join(outputs)}: the first of them is baked, so name the one that is "
                    "meant",
                )


def _units_of_files(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    for node in nodes:
        for port in node.getActiveInputs():
            source = port.getInterfaceInput() or port
            if port.getType() == "filename" and source.getUnit():
                yield Part(
                    f"unit {source.getUnit()!r} of {source.getNamePath()!r}",
                    DROPPED,
                    "numbers are taken from a file as they are: multiply them where they are read",
                )


def _tokens_of_nodes(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """Names of files are made of what the graph of a definition says of its tokens."""
    for node in nodes:
        definition = node.getNodeDef() if node.getTokens() else None
        for token in node.getTokens():
            said = definition.getToken(token.getName()) if definition else None
            if said is not None and said.getValueString() == token.getValueString():
                continue
            yield Part(
                f"token {token.getName()!r} of {node.getNamePath()!r}",
                DROPPED,
                f"{token.getValueString()!r} counts for nothing: names of files are made of what "
                "the definition says, so give it an input of the type filename",
            )


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


def _overrides(document: Document, material: Material) -> Iterator[Part]:
    for each in document.overrides:
        plain_name = material.name.rpartition(":")[2]
        names = [plain_name] if each.holder == "material" else material.looks
        if each.holder_name in names:
            yield _override(each)


def _override(said: Override) -> Part:
    return Part(
        f"override of {said.name!r}",
        DROPPED,
        f"line {said.line} of {Path(said.file).name}: {said.holder} {said.holder_name!r} gives it "
        f"{said.value!r}, which counts up to version 1.35 of MaterialX: give that value to the "
        "node itself",
    )


def _twin(twin: Twin) -> Part:
    """What MaterialX leaves out because something else has its name."""
    elsewhere = f" of {Path(twin.first_file).name}" if twin.first_file != twin.file else ""
    return Part(
        f"second {twin.name!r}",
        DROPPED,
        f"line {twin.line} of {Path(twin.file).name}: line {twin.first_line}{elsewhere} has named "
        "something so before, which is what counts: rename one of them",
    )
