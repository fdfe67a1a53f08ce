"""Parts of a report about the document itself: what MaterialX ignores silently, and types that were
converted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import APPROXIMATED, IGNORED, KEPT, Part
from verdigris.core.material.normalise.dropped_nodes import DISABLE
from verdigris.core.material.normalise.type_conversions import CHANNELS

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document, Material
    from verdigris.core.material.load.mtlx_text import Override, Twin

# Limits, so that thousands of ignored parts of one kind, or of conversions, do not hide the rest of
# a report.
_MOST_OF_A_KIND = 8
_MOST_LISTED = 12


def ignored_parts(document: Document, material: Material, nodes: Sequence[mx.Node]) -> list[Part]:
    """Ignored parts of a material with these nodes."""
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
    """The first few, without duplicates."""
    return list(dict.fromkeys(parts))[:_MOST_OF_A_KIND]


def _attributes(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    for node in nodes:
        if node.getAttribute(DISABLE) == "true":
            yield Part(
                f"attribute {DISABLE!r} of {node.getNamePath()!r}",
                IGNORED,
                "only an input with this name and the type boolean disables a node: replace the "
                "attribute with such an input, or remove it",
            )
        for port in node.getInputs():
            for each in (port, port.getInterfaceInput(), port.getConnectedOutput()):
                channels = each.getAttribute(CHANNELS) if each is not None else ""
                if channels:
                    yield Part(
                        f"channels {channels!r} of {each.getNamePath()!r}",
                        IGNORED,
                        "the attribute is supported up to version 1.38, and the document is newer: "
                        "correct its version, or insert separate and combine nodes",
                    )


def _unknown_inputs(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """Inputs that a definition lacks: MaterialX does not check nodes that name their definition."""
    for node in nodes:
        definition = node.getNodeDef() if node.hasNodeDefString() else None
        if definition is None:
            continue
        for port in node.getInputs():
            if definition.getActiveInput(port.getName()) is None:
                yield Part(
                    f"input {port.getName()!r} of {node.getNamePath()!r}",
                    IGNORED,
                    f"its definition {definition.getName()!r} has no such input: correct the "
                    "name, or remove the input",
                )


def _inheritance(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """Inheritance that fails: nodes inherit only from nodes outside of graphs, and nodes inside
    graphs inherit only values."""
    for node in nodes:
        if not node.hasInheritString():
            continue
        name, path = node.getInheritString(), node.getNamePath()
        if node.getInheritsFrom() is None:
            yield Part(
                f"inheritance of {path!r}",
                IGNORED,
                f"nodes inherit only from nodes outside of graphs, and none of those is named "
                f"{name!r}: write the inputs into the node",
            )
        for port in node.getActiveInputs():
            is_own = node.getInput(port.getName()) is not None
            if not is_own and (port.getNodeName() or port.getNodeGraphString()):
                yield Part(
                    f"input {port.getName()!r} of {path!r}",
                    IGNORED,
                    f"it is connected in {name!r}, and a node in a graph inherits only values: "
                    "write the input into the node, and connect it in its graph",
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
                    f"it is connected to {graph.getName()!r} and names none of its outputs "
                    f"({', '.join(outputs)}): the first is baked, so name the intended output",
                )


def _units_of_files(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    for node in nodes:
        for port in node.getActiveInputs():
            source = port.getInterfaceInput() or port
            if port.getType() == "filename" and source.getUnit():
                yield Part(
                    f"unit {source.getUnit()!r} of {source.getNamePath()!r}",
                    IGNORED,
                    "numbers in files are not converted: multiply them where they are read",
                )


def _tokens_of_nodes(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """Tokens of nodes: file names are built from the token values of the definition."""
    for node in nodes:
        definition = node.getNodeDef() if node.getTokens() else None
        for token in node.getTokens():
            defined = definition.getToken(token.getName()) if definition else None
            if defined is not None and defined.getValueString() == token.getValueString():
                continue
            yield Part(
                f"token {token.getName()!r} of {node.getNamePath()!r}",
                IGNORED,
                f"{token.getValueString()!r} is ignored: file names use the value of the "
                "definition, so add an input with the type filename to the definition",
            )


def _variants(document: Document, material: Material) -> list[Part]:
    """Variants that looks assign to the material."""
    return [
        Part(
            f"variant {assigned.getVariantString()!r}",
            IGNORED,
            f"look {look.getName()!r} assigns it from the set {assigned.getVariantSetString()!r}, "
            "but the values of the material itself are baked: set them there",
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


def _override(override: Override) -> Part:
    return Part(
        f"override of {override.name!r}",
        IGNORED,
        f"line {override.line} of {Path(override.file).name}: {override.holder} "
        f"{override.holder_name!r} sets it to {override.value!r}, and overrides are supported up "
        "to version 1.35: write that value into the node",
    )


def _twin(twin: Twin) -> Part:
    """An element that is ignored because another has the same name."""
    elsewhere = f" of {Path(twin.first_file).name}" if twin.first_file != twin.file else ""
    return Part(
        f"second {twin.name!r}",
        IGNORED,
        f"line {twin.line} of {Path(twin.file).name} is ignored, because line "
        f"{twin.first_line}{elsewhere} has the same name: rename one of them",
    )


def converted_types(document: Document, nodes: Sequence[mx.Node]) -> list[Part]:
    """One notice about all conversions in the nodes of a material."""
    places = {each.getNamePath() for node in nodes for each in (node, node.getParent())}
    places |= {node.getNodeDef().getName() for node in nodes if node.getNodeDef() is not None}
    found = [each.what for each in document.conversions if each.place in places]
    if not found:
        return []
    more = len(found) - _MOST_LISTED
    listed = "; ".join(found[:_MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")
    return [
        Part("types", KEPT, f"{len(found)} converted, because the document mixes types: {listed}")
    ]
