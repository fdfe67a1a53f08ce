"""Evaluates nodes of an application: many in one document."""

from xml.etree import ElementTree as xml

import numpy as np
from table_nodes import TableNodes

from verdigris.core.hosts.nodes.graphs import write_definition
from verdigris.core.hosts.nodes.network import NetworkReader
from verdigris.core.hosts.nodes.rendering_space import RenderingSpace

from ..material.many_nodes import glow_by_turn, shown, turns

LIFT = 64.0  # a surface emits nothing below 0
AXES = {"u": "samp.uvCoordU", "v": "samp.uvCoordV"}


def scene(cases):
    """A table of nodes, one for each case. The values "u" and "v" are connections, also as
    components."""
    nodes, connections = {"samp": ("samplerInfo", {})}, {}
    host = TableNodes(nodes, connections)
    for name, (kind, attributes, *_) in cases.items():
        values = {}
        nodes[name] = kind, values
        for attribute, value in attributes.items():
            if isinstance(value, str) and (value in AXES or "." in value):
                connections[f"{name}.{attribute}"] = AXES.get(value, value)
                continue
            values[attribute] = value
            if isinstance(value, tuple) and set(value) & set(AXES):
                values[attribute] = tuple(0 if each in AXES else each for each in value)
                leaves = host.children(name, attribute)
                for leaf, each in zip(leaves, value, strict=True):
                    values[leaf] = 0 if each in AXES else each
                    if each in AXES:
                        connections[f"{name}.{leaf}"] = AXES[each]
    return host


def evaluate(cases):
    """Where each case is evaluated (uv, positions), and what it gives. A case is (kind, attributes,
    output, formula)."""
    reader = NetworkReader(scene(cases), RenderingSpace(""))
    parts = []
    for at, (name, (_, _, output, _)) in enumerate(cases.items()):
        operand = reader.output(name, output, None)
        assert operand is not None, f"{name} is not translated"
        if operand.value:
            operand = reader.writer.add("constant", operand.type, {"value": operand}, name)
        parts.append(shown(operand.node, operand.output, operand.type, f"shown_{at}"))
    for kind, graph in reader.used.values():
        write_definition(reader.root, kind, graph)
    body = "".join(xml.tostring(each, encoding="unicode") for each in reader.root)
    parts[0] = body + parts[0]
    uv, values = glow_by_turn(parts, 0, offset=LIFT)
    position = turns(len(cases), 0)[2].position.reshape(*uv.shape[:2], 3)
    return uv, position, values


LUMA = np.array([0.3, 0.59, 0.11])
RED, GREEN = np.array([0.9, 0.1, 0.2]), np.array([0.2, 0.7, 0.1])


def rgb(u, v, blue=0.25):
    return np.stack([u, v, np.full_like(u, blue)], -1)


def luma(colour):
    return colour @ LUMA


def mixed(one, other, share):
    return one + (other - one) * np.asarray(share)[..., None]


def points(name, *values):
    """Entries of a curve: (position, value, interpolation)."""
    return {
        f"{name}[{at}].{name}_{what}": value
        for at, entry in enumerate(values)
        for what, value in zip(("Position", "FloatValue", "Interp"), entry, strict=True)
    }
