"""Random networks of all nodes that are translated, and some that are not: each is a valid
document."""

import importlib
import random

from fake_maya.node_types import node_types

from verdigris.core.hosts.nodes.library import find_type
from verdigris.core.hosts.nodes.network import read_network
from verdigris.core.hosts.nodes.rendering_space import RenderingSpace
from verdigris.core.material.load.mtlx_document import parse_document

from .scenes import DATA

NETWORKS = 60
FILE = (DATA / "plain.png").as_posix()
NUMBERS = (0.0, 1.0, -0.5, 0.25, 2.0, 100.0)
KINDS = [kind for kind in node_types() if find_type(kind)]
SURFACES = [
    kind
    for kind in KINDS
    if "outColor" in find_type(kind).outputs
    and find_type(kind).outputs["outColor"].type == "surfaceshader"
]
TEXTURES = [*(kind for kind in KINDS if kind not in SURFACES), "marble", "brownian"]


def random_value(attribute, choose):
    if attribute.kind in ("float", "double", "doubleAngle"):
        return choose.choice(NUMBERS)
    if attribute.kind == "enum":
        return choose.randint(0, max(1, attribute.names.count(":")))
    if attribute.kind == "bool":
        return choose.random() < 0.5
    if attribute.kind in ("float3", "double3"):
        return tuple(choose.choices(NUMBERS, k=3))
    return FILE if attribute.long in ("fileTextureName", "filename") else None


def set_values(scene, node, kind, choose):
    for top in node_types()[kind].attributes:
        if top.is_output or choose.random() < 0.5:
            continue
        count = choose.randint(0, 3) if top.is_multi else 0
        elements = [f"[{index}]" for index in choose.sample(range(6), count)]
        for element in elements if top.is_multi else [""]:
            for leaf in top.leaves() if top.kind == "compound" else [top]:
                path = f"{top.long}{element}" + ("" if leaf is top else f".{leaf.long}")
                value = random_value(leaf, choose)
                if value is not None:
                    scene.store(f"{node}.{path}", value)


def connect(scene, node, kind, above, choose):
    inputs = [each for top in node_types()[kind].attributes for each in top.all()]
    inputs = [each for each in inputs if not each.is_output and each.kind.startswith("float")]
    for own in choose.sample(inputs, min(len(inputs), choose.randint(0, 5))):
        other, other_kind = choose.choice(above)
        outputs = [each for top in node_types()[other_kind].attributes for each in top.all()]
        outputs = [
            each
            for each in outputs
            if each.is_output
            and each.kind.startswith("float")
            and len(each.children) == len(own.children)
        ]
        if outputs:
            steps = [each for each in own.ancestors() if each.is_multi or each is own]
            path = ".".join(
                each.long + (f"[{choose.choice((0, 3))}]" if each.is_multi else "")
                for each in steps
            )
            target = scene.plug(f"{node}.{path}")
            scene.connections[target] = f"{other}.{choose.choice(outputs).long}"


def test_random_networks_are_valid_documents(maya):
    networks = importlib.import_module("verdigris.plugins.maya.scene.networks")
    translated = 0
    for seed in range(NETWORKS):
        choose = random.Random(seed)
        maya.nodes.clear()
        maya.connections.clear()
        made = []
        for place in range(choose.randint(2, 9)):
            kind = choose.choice(TEXTURES)
            made.append((maya.add(f"{kind}{place}", kind), kind))
        made.append((maya.add("wall:gold", kind := choose.choice(SURFACES)), kind))
        for place, (node, kind) in enumerate(made):
            set_values(maya, node, kind, choose)
            if place:
                connect(maya, node, kind, made[:place], choose)
        if kind in ("layeredShader", "aiMixShader"):
            port = "inputs[0].color" if kind == "layeredShader" else "shader1"
            maya.connections[maya.plug(f"wall:gold.{port}")] = (
                f"{maya.add('rim', 'blinn')}.outColor"
            )
        space = RenderingSpace.of(choose.choice(("ACEScg", "scene-linear Rec.2020")))
        found = read_network(networks.SceneNodes(), "wall:gold", "wall_gold", space)
        document = parse_document(found.text, DATA)
        document.check(document.require_material("wall_gold"))
        assert document.root.validate() == (True, ""), seed
        translated += len(document.root.getNodes())
    assert translated > 4 * NETWORKS
