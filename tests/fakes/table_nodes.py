"""Nodes of a scene as plain tables: `{"mul": ("multiplyDivide", {"operation": 2})}` and
`{"mul.input1": "tex.outColor"}`. Components of attributes end in R, G, B or in U, V."""

from verdigris.core.hosts.nodes.host_nodes import HostImage

_PAIRS = (
    "outUV",
    "outUv",
    "coverage",
    "translateFrame",
    "repeatUV",
    "offset",
    "noiseUV",
    "uvCoord",
)
_NUMBERS = ("position", "alpha", "blendMode", "isVisible")


class TableNodes:
    def __init__(self, nodes, connections=None, images=None):
        self.nodes = nodes
        self.connections = {} if connections is None else connections
        self.images = images or {}

    def kind(self, node):
        return self.nodes[node][0]

    def value(self, node, attribute):
        return self.nodes[node][1].get(attribute)

    def source(self, node, attribute):
        found = self.connections.get(f"{node}.{attribute}")
        return tuple(found.split(".")) if found else None

    def children(self, node, attribute):
        leaf = attribute.rpartition(".")[2].partition("[")[0]
        if leaf in _NUMBERS or "_" in leaf:
            return []
        return [f"{attribute}{end}" for end in ("UV" if leaf in _PAIRS else "RGB")]

    def parent(self, node, attribute):
        return attribute[:-1]

    def indices(self, node, array):
        starts = f"{array}["
        fed = [name.partition(".")[2] for name in self.connections if name.startswith(f"{node}.")]
        names = [name for name in (*self.nodes[node][1], *fed) if name.startswith(starts)]
        return sorted({int(name.removeprefix(starts).partition("]")[0]) for name in names})

    def image(self, node):
        return HostImage(*self.images[node])

    def is_animation(self, kind):
        return kind.startswith("animCurve")
