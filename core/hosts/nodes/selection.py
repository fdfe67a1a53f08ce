"""Which graph of a definition serves a node: by the values of its attributes."""

from __future__ import annotations

from collections.abc import Mapping

from verdigris.core.hosts.nodes.host_nodes import HostNodes, is_same
from verdigris.core.hosts.nodes.library import Conditions, Graph, NodeType, Port
from verdigris.core.hosts.nodes.operands import Operand

_CONNECTED, _NOT_CONNECTED = "*", "!"


def choose_graph(
    host: HostNodes, kind: NodeType, node: str, output: str, given: Mapping[str, Operand]
) -> Graph | None:
    """The first graph for an output. `given` replaces attributes of the node."""
    return next(
        (
            graph
            for graph in kind.graphs
            if output in graph.outputs and serves(host, kind, node, graph.conditions, given)
        ),
        None,
    )


def serves(
    host: HostNodes, kind: NodeType, node: str, conditions: Conditions, given: Mapping[str, Operand]
) -> bool:
    """Whether the attributes of a node have the values of all conditions."""
    return all(_holds(host, kind, node, key, wanted, given) for key, wanted in conditions)


def _holds(
    host: HostNodes,
    kind: NodeType,
    node: str,
    key: str,
    wanted: tuple[str, ...],
    given: Mapping[str, Operand],
) -> bool:
    path, _, attribute = key.rpartition(".")
    if path:
        source = host.source(node, path)
        # without the node, its attributes have their defaults
        return source is None or _equals(host, source[0], attribute, wanted)
    if attribute in given:
        return any(is_same(given[attribute].value, each) for each in wanted)
    return _equals(host, node, attribute, wanted, kind.inputs.get(attribute))


def _equals(
    host: HostNodes, node: str, attribute: str, wanted: tuple[str, ...], port: Port | None = None
) -> bool:
    attribute = port.reads if port else attribute
    names = attribute, *host.children(node, attribute)
    if any(host.source(node, each) is not None for each in names):
        return _CONNECTED in wanted
    if _NOT_CONNECTED in wanted:
        return True
    value = host.value(node, attribute)
    if value is None:
        value = port.value if port else wanted[0]
    return any(is_same(value, each) for each in wanted if each != _CONNECTED)
