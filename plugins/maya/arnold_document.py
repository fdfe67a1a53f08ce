"""MaterialX documents from Arnold's shaders, with nodes of the standard library.

Arnold's and MaterialX's standard surfaces have the same parameters. Maya writes them as
`specularIOR`, MaterialX and Arnold's own export as `specular_IOR`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.documents import parse_text

_COLOR, _FLOAT, _BOOLEAN = "color3", "float", "boolean"
_GROUPS = {
    _FLOAT: (
        *("base", "diffuseRoughness", "metalness", "specular", "specularRoughness"),
        *("specularIOR", "specularAnisotropy", "specularRotation", "transmission"),
        *("transmissionDepth", "transmissionScatterAnisotropy", "transmissionDispersion"),
        *("transmissionExtraRoughness", "subsurface", "subsurfaceScale", "subsurfaceAnisotropy"),
        *("sheen", "sheenRoughness", "coat", "coatRoughness", "coatAnisotropy", "coatRotation"),
        *("coatIOR", "coatAffectColor", "coatAffectRoughness", "thinFilmThickness"),
        *("thinFilmIOR", "emission"),
    ),
    _COLOR: (
        *("baseColor", "specularColor", "transmissionColor", "transmissionScatter"),
        *("subsurfaceColor", "subsurfaceRadius", "sheenColor", "coatColor", "emissionColor"),
        "opacity",
    ),
    _BOOLEAN: ("thinWalled",),
}
PARAMETERS = {name: kind for kind, names in _GROUPS.items() for name in names}
"""Maya's name of each parameter of aiStandardSurface, and its type in MaterialX."""

NORMALS = {"normalCamera": "normal", "coatNormal": "coat_normal"}


def mtlx_name(name: str) -> str:
    """MaterialX's name of a parameter: `specularIOR` is `specular_IOR`."""
    return re.sub(r"(?<=[a-z])([A-Z]+)", _lower_unless_ior, name)


def _lower_unless_ior(found: re.Match[str]) -> str:
    return f"_{found[1] if found[1] == 'IOR' else found[1].lower()}"


class Document:
    """A document with one material, which is written node by node."""

    def __init__(self, material: str, colour_space: str) -> None:
        self.material = safe_name(material)
        self.root = xml.Element("materialx", version="1.39", colorspace=colour_space)
        self._made: dict[str, str] = {}
        self._names = {self.material}

    def add(self, category: str, kind: str, name: str, **inputs: tuple[str, str]) -> str:
        """Adds a node, with the type and the value or `=node` of each input. Returns its name."""
        key = f"{category} {kind} {name} {sorted(inputs.items())}"
        if key not in self._made:
            free = safe_name(name)
            while free in self._names:
                free += "_"
            self._names.add(free)
            self._made[key] = free
            node = xml.SubElement(self.root, category, name=free, type=kind)
            for port, (port_kind, value) in inputs.items():
                set_input(node, port, port_kind, value)
        return self._made[key]

    def set_colour_space(self, name: str, port: str, colour_space: str) -> None:
        """Sets the colour space of a file."""
        for node in self.root:
            if node.get("name") == name:
                for element in node.findall(f"input[@name='{port}']"):
                    element.set("colorspace", colour_space)

    def text(self, surface: str) -> str:
        """The text, with a material of this surface."""
        material = xml.SubElement(self.root, "surfacematerial", name=self.material, type="material")
        set_input(material, "surfaceshader", "surfaceshader", f"={surface}")
        xml.indent(self.root)
        return '<?xml version="1.0"?>\n' + xml.tostring(self.root, encoding="unicode") + "\n"


def set_input(node: xml.Element, port: str, kind: str, value: str) -> None:
    """Adds an input with a value, or with the name of a node after `=`."""
    way = {"nodename": value[1:]} if value.startswith("=") else {"value": value}
    xml.SubElement(node, "input", name=port, type=kind, **way)


def safe_name(name: str) -> str:
    """A name that MaterialX allows."""
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"_{plain}"


# Nodes of Arnold's MaterialX export, and their inputs by their names in the standard library. Nodes
# and inputs without an entry keep their names if the library has them.
_TWO = {"input1": "in1", "input2": "in2"}
_ONE = {"input": "in"}
_NODES: dict[str, tuple[str, dict[str, str]]] = {
    "standard_surface": ("standard_surface", {}),
    "image": ("image", {"filename": "file", "uvcoords": "texcoord"}),
    "normal_map": ("normalmap", {"input": "in", "strength": "scale"}),
    **{name: (name, _TWO) for name in ("add", "subtract", "multiply", "divide", "min", "max")},
    **{name: (name, _ONE) for name in ("sqrt", "floor", "ceil", "round", "normalize", "sign")},
    "abs": ("absval", _ONE),
    "length": ("magnitude", _ONE),
    "pow": ("power", {"base": "in1", "exponent": "in2"}),
    "clamp": ("clamp", {"input": "in", "min": "low", "max": "high"}),
    "mix_rgba": ("mix", {"input1": "bg", "input2": "fg", "mix": "mix"}),
    "surfacematerial": ("surfacematerial", {}),
}
# Settings of Arnold's renderer, which bakes do not need.
_DROPPED = frozenset(
    {
        *("ignore_missing_textures", "missing_texture_color", "alpha_is_luminance", "filter"),
        *("mipmap_bias", "single_channel", "start_channel", "swap_st", "uvset", "tangent_space"),
        *("caustics", "internal_reflections", "exit_to_background", "indirect_diffuse"),
        *("indirect_specular", "dielectric_priority", "transmit_aovs", "subsurface_type", "mode"),
        *("aov_id1", "aov_id2", "aov_id3", "aov_id4", "aov_id5", "aov_id6", "aov_id7", "aov_id8"),
        *("id1", "id2", "id3", "id4", "id5", "id6", "id7", "id8", "autotx", "autoTx"),
        *("order", "color_to_signed", "tangent", "vflip", "sflip", "tflip"),
    }
)


def translate_export(text: str, name: str) -> str:
    """Arnold's MaterialX export with nodes of the standard library."""
    root = parse_text(text, name)
    for element in list(root):
        # definitions of Arnold, and assignments
        if "include" in element.tag or element.tag in ("look", "lookgroup", "propertyset"):
            root.remove(element)
    for element in root.iter():
        if element.get("name") and element.tag not in ("input", "materialx"):
            element.set("name", safe_name(element.get("name", "")))
        for reference in ("nodename", "nodegraph", "output"):
            if element.get(reference):
                element.set(reference, safe_name(element.get(reference, "")))
        if element.get("interfacename") is None and element.find("input") is not None:
            _translate_node(element, name)
    return '<?xml version="1.0"?>\n' + xml.tostring(root, encoding="unicode") + "\n"


def _translate_node(node: xml.Element, name: str) -> None:
    if node.tag in ("nodegraph", "materialx"):
        return
    if node.tag not in _NODES:
        raise HostError(
            f"{name}: {node.tag!r} is a node of Arnold that MaterialX lacks: replace it by image, "
            "mathematical or normal map nodes, or bake it to a texture"
        )
    node.tag, names = _NODES[node.tag]
    node.attrib.pop("nodedef", None)
    space = ""
    for element in list(node.findall("input")):
        port = element.get("name", "")
        if port == "color_space":
            space = element.get("value", "")
        if port == "color_space" or port in _DROPPED:
            node.remove(element)
        else:
            element.set("name", names.get(port, port))
    if node.tag == "standard_surface":
        node.set("type", "surfaceshader")
    for element in node.findall("input[@name='file']"):
        element.set("type", "filename")
        if space and space != "auto":
            element.set("colorspace", space)
    if node.tag in ("image", "normalmap") and node.get("type") in ("color4", "closure", ""):
        node.set("type", "color3" if node.tag == "image" else "vector3")


def vector_text(values: Sequence[float]) -> str:
    """A vector as MaterialX writes it."""
    return ", ".join(f"{value:.9g}" for value in values)
