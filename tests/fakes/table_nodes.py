"""Nodes of a scene as plain tables: `{"mul": ("multiplyDivide", {"operation": 2})}` and
`{"mul.input1": "tex.outColor"}`."""

from verdigris.core.hosts.nodes.host_nodes import HostImage

# Components of compound attributes, as Maya's node reference names them. Others end in R, G, B.
_COMPONENTS = {
    "XYZ": ("input1", "input2", "input", "output", "min", "max", "oldMin", "oldMax", "value"),
    "UV": ("outUV", "coverage", "translateFrame", "offset"),
}
_OWN = {
    "repeatUV": ("repeatU", "repeatV"),
    "noiseUV": ("noiseU", "noiseV"),
    "uvCoord": ("uCoord", "vCoord"),
    "outUV": ("outU", "outV"),
}
_COLOURS = ("olor", "outTransparency", "Gain", "Offset", "transparency", "incandescence")
_BY_KIND = {
    ("blendColors", "output"): "RGB",
    ("clamp", "input"): "RGB",
    ("clamp", "output"): "RGB",
    ("clamp", "min"): "RGB",
    ("clamp", "max"): "RGB",
}


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
        if leaf in _OWN:
            return _OWN[leaf]
        if leaf.startswith("input3D"):
            return [f"{attribute}.input3D{each}" for each in "xyz"]
        ends = _BY_KIND.get((self.kind(node), leaf))
        ends = ends or next((ends for ends, names in _COMPONENTS.items() if leaf in names), "")
        is_colour = leaf.rstrip("0123456789").endswith(_COLOURS) and not leaf.startswith("alpha")
        if not ends and is_colour:
            ends = "RGB"
        return [f"{attribute}{end}" for end in ends]

    def parent(self, node, attribute):
        for parent, names in _OWN.items():
            if attribute in names:
                return parent
        whole = attribute[:-1]
        return whole if attribute in self.children(node, whole) else ""

    def indices(self, node, array):
        starts = f"{array}["
        names = list(self.nodes[node][1])
        names += [
            each.partition(".")[2] for each in self.connections if each.startswith(f"{node}.")
        ]
        found = {
            int(name[len(starts) :].partition("]")[0]) for name in names if name.startswith(starts)
        }
        return sorted(found)

    def image(self, node):
        return HostImage(*self.images[node])

    def is_animation(self, kind):
        return kind.startswith("animCurve")
