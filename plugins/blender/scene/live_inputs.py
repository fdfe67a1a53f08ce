# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Live inputs: sockets of node groups, and labelled Value and RGB nodes, that a bake keeps open.

Blender's MaterialX export computes what is constant, and drops the names of sockets. Chosen inputs
are therefore exported as images, which it keeps as they are, in a copy of the material; in the
document, values take the places of these images again. Choices are custom properties of the
material.
"""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as xml
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import bpy

from verdigris.core.base.errors import HostError
from verdigris.core.base.files import remove_file
from verdigris.core.material.live_inputs.find_inputs import contrast, range_around
from verdigris.core.material.normalise.inputs import PUBLISHED, PUBLISHED_LABEL
from verdigris.core.material.usd.write_mtlx import valid_name

from .undo import push_undo, require_local

_LOW, _HIGH = "verdigris_low ", "verdigris_high "
_CARRIER = "verdigris_live_input_"
_NUMBER, _COLOUR = "VALUE", "RGBA"
# The names of custom properties have at most 63 bytes.
_LONGEST_NAME = 40


@dataclass(frozen=True)
class Offer:
    """A value of the node tree that a bake can keep open."""

    name: str
    """Its name in the document."""
    label: str
    node: str
    socket: str
    """The identifier of an input of a group; empty for the output of a Value or RGB node."""
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def is_colour(self) -> bool:
        return len(self.value) > 1

    @property
    def properties(self) -> tuple[str, str]:
        """The custom properties that hold the ends of a chosen range."""
        return _LOW + self.name, _HIGH + self.name


def offers(nodes: Iterable[bpy.types.Node], tree: bpy.types.NodeTree) -> tuple[Offer, ...]:
    """The live inputs that the nodes of a material's own tree offer."""
    found: list[tuple[bpy.types.Node, bpy.types.NodeSocket, str]] = []
    for node in sorted((each for each in nodes if each.id_data == tree), key=lambda e: e.name):
        if node.type == "GROUP" and node.node_tree is not None:
            found += [
                (node, port, port.name)
                for port in node.inputs
                if port.type in (_NUMBER, _COLOUR) and port.enabled and not port.is_linked
            ]
        elif node.type in ("VALUE", "RGB") and node.label:
            found.append((node, node.outputs[0], node.label))
    counts = Counter(valid_name(label) for _, _, label in found)
    taken: set[str] = set()
    result = []
    for node, port, label in found:
        if counts[valid_name(label)] > 1:
            label = f"{node.label or node.name} {label}" if node.type == "GROUP" else node.name
        name = wished = valid_name(label)[:_LONGEST_NAME]
        number = len(taken)
        while name in taken:
            name, number = f"{wished}_{number}", number + 1
        taken.add(name)
        result.append(_offer(node, port, name, label))
    return tuple(result)


def _offer(node: bpy.types.Node, port: bpy.types.NodeSocket, name: str, label: str) -> Offer:
    socket = "" if port.is_output else port.identifier
    if port.type == _COLOUR:
        colour = tuple(float(each) for each in port.default_value[:3])
        return Offer(name, label, node.name, socket, colour, colour, contrast(colour))
    number = float(port.default_value)
    lows, highs = [], []
    if socket:
        for item in node.node_tree.interface.items_tree:
            if getattr(item, "identifier", "") == socket:
                lows, highs = [item.min_value], [item.max_value]
    low, high = range_around(number, lows, highs)
    return Offer(name, label, node.name, socket, (number,), (low,), (high,))


def is_chosen(material: bpy.types.Material, offer: Offer) -> bool:
    return offer.properties[0] in material


def toggle(material: bpy.types.Material, offer: Offer) -> None:
    """Keeps an input open from the next bake on, or closes it again."""
    require_local(material)
    if is_chosen(material, offer):
        for name in offer.properties:
            material.pop(name, None)
    else:
        for name, end in zip(offer.properties, (offer.low, offer.high), strict=True):
            material[name] = list(end) if offer.is_colour else end[0]
            if offer.is_colour:
                material.id_properties_ui(name).update(subtype="COLOR", min=0.0, soft_max=1.0)
    push_undo("Verdigris live input")


def chosen_texts(material: bpy.types.Material, chosen: Sequence[Offer]) -> tuple[str, ...]:
    """The requests for a bake."""
    return tuple(
        f"{each.name}=" + "..".join(_text(material, name) for name in each.properties)
        for each in chosen
    )


def _text(material: bpy.types.Material, name: str) -> str:
    value = material.get(name)
    try:
        numbers = [float(value)] if isinstance(value, (int, float)) else [*map(float, value)]
    except (TypeError, ValueError):
        raise HostError(
            f"{material.name_full}: the property {name!r} is {value!r}: switch the live input off "
            "and on again"
        ) from None
    return ",".join(f"{each:.7g}" for each in numbers)


def unknown_choices(material: bpy.types.Material, known: Sequence[Offer]) -> Iterator[str]:
    """Notes on choices that the node tree no longer offers."""
    names = {each.properties[0] for each in known}
    for key in material.keys():  # noqa: SIM118 - no dictionary
        if key.startswith(_LOW) and key not in names:
            yield (
                f"live input {key.removeprefix(_LOW)!r} is no longer in the nodes, so it is left "
                "out: delete the property, or give the socket or node its name again"
            )


@contextmanager
def with_carriers(
    material: bpy.types.Material, chosen: Sequence[Offer], folder: Path
) -> Iterator[bpy.types.Material]:
    """A copy of the material in which images take the place of the chosen inputs. The export may
    copy the images into its folder, from where they are removed."""
    copied = material.copy()
    images = []
    try:
        with tempfile.TemporaryDirectory(prefix="verdigris_") as made:
            for number, each in enumerate(chosen):
                image = bpy.data.images.new(f"{_CARRIER}{number}", 1, 1)
                images.append(image)
                image.filepath_raw = str(Path(made, f"{_CARRIER}{number}.png"))
                image.file_format = "PNG"
                # the export warns of images without a file
                image.save()
                _feed(copied.node_tree, each, image)
            yield copied
    finally:
        bpy.data.materials.remove(copied)
        for image in images:
            bpy.data.images.remove(image)
        for file in folder.rglob(f"{_CARRIER}*.png"):
            remove_file(file)


def _feed(tree: bpy.types.NodeTree, offer: Offer, image: bpy.types.Image) -> None:
    reader = tree.nodes.new("ShaderNodeTexImage")
    reader.image = image
    source = reader.outputs["Color"]
    if not offer.is_colour:
        parts = tree.nodes.new("ShaderNodeSeparateColor")
        tree.links.new(source, parts.inputs[0])
        source = parts.outputs[0]
    node = tree.nodes[offer.node]
    if offer.socket:
        fed = [port for port in node.inputs if port.identifier == offer.socket]
    else:
        fed = [link.to_socket for link in node.outputs[0].links]
    for port in fed:
        tree.links.new(source, port)


def publish(text: str, chosen: Sequence[Offer], material: str, name: str) -> str:
    """The document with values in place of images, and the material under this name."""
    root = xml.fromstring(text)
    for scope in (root, *root.findall("nodegraph")):
        for image in scope.findall("image"):
            file = image.find("input[@name='file']")
            path = file.get("value", "") if file is not None else ""
            stem = PurePosixPath(path.replace("\\", "/")).stem
            if not stem.startswith(_CARRIER):
                continue
            offer = chosen[int(stem.removeprefix(_CARRIER))]
            made = [image, *_readers(scope, image, "convert")]
            if not offer.is_colour:
                made += [each for one in made[1:] for each in _readers(scope, one, "extract")]
            for port in _ports_of(root, scope, made[-1]):
                _set_value(port, offer)
            for each in made:
                scope.remove(each)
    for each in root.findall("surfacematerial"):
        if each.get("name") == material:
            each.set("name", name)
    xml.indent(root)
    return f'<?xml version="1.0"?>\n{xml.tostring(root, encoding="unicode")}\n'


def _readers(scope: xml.Element, node: xml.Element, kind: str) -> list[xml.Element]:
    ports = f"input[@nodename='{node.get('name')}']"
    return [each for each in scope.findall(kind) if each.find(ports) is not None]


def _ports_of(root: xml.Element, scope: xml.Element, node: xml.Element) -> list[xml.Element]:
    """The inputs that read a node, also through outputs of its graph."""
    name = node.get("name")
    found = scope.findall(f"*/input[@nodename='{name}']")
    for output in scope.findall(f"output[@nodename='{name}']"):
        graph = f"[@nodegraph='{scope.get('name')}']"
        found += root.findall(f"*/input{graph}[@output='{output.get('name')}']")
        scope.remove(output)
    return found


def _set_value(port: xml.Element, offer: Offer) -> None:
    for name in ("nodename", "nodegraph", "output"):
        port.attrib.pop(name, None)
    port.set("value", ", ".join(f"{each:.7g}" for each in offer.value))
    port.set(PUBLISHED, offer.name)
    port.set(PUBLISHED_LABEL, offer.label)
