# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""What Blender's MaterialX export leaves out or changes: nodes, outputs, settings and inputs.

Measured in Blender 4.5 and 5.0, by tests that change each in turn and export again. A node with a
type that is not listed here was never seen to arrive, and is named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import bpy

# Nodes that arrive in the document, or that others carry.
READ = frozenset(
    {
        *("NodeFrame", "NodeGroupInput", "NodeGroupOutput", "NodeReroute", "ShaderNodeGroup"),
        *("ShaderNodeAddShader", "ShaderNodeMixShader"),
        *("ShaderNodeBsdfAnisotropic", "ShaderNodeBsdfDiffuse", "ShaderNodeBsdfGlass"),
        *("ShaderNodeBsdfMetallic", "ShaderNodeBsdfPrincipled", "ShaderNodeBsdfRefraction"),
        *("ShaderNodeBsdfSheen", "ShaderNodeBsdfTranslucent", "ShaderNodeBsdfTransparent"),
        *("ShaderNodeEmission", "ShaderNodeSubsurfaceScattering"),
        *("ShaderNodeBlackbody", "ShaderNodeBrightContrast", "ShaderNodeBump", "ShaderNodeClamp"),
        *("ShaderNodeCombineColor", "ShaderNodeCombineXYZ", "ShaderNodeGamma"),
        *("ShaderNodeHueSaturation", "ShaderNodeInvert", "ShaderNodeLightFalloff"),
        *("ShaderNodeMapRange", "ShaderNodeMapping", "ShaderNodeMath", "ShaderNodeMix"),
        *("ShaderNodeNewGeometry", "ShaderNodeNormal", "ShaderNodeNormalMap"),
        *("ShaderNodeObjectInfo", "ShaderNodeRGB", "ShaderNodeRGBToBW"),
        *("ShaderNodeSeparateColor", "ShaderNodeSeparateXYZ", "ShaderNodeTangent"),
        *("ShaderNodeTexChecker", "ShaderNodeTexCoord", "ShaderNodeTexGradient"),
        *("ShaderNodeTexImage", "ShaderNodeTexNoise", "ShaderNodeTexWave"),
        *("ShaderNodeTexWhiteNoise", "ShaderNodeUVMap", "ShaderNodeValue"),
        *("ShaderNodeVectorMath", "ShaderNodeVectorRotate", "ShaderNodeVectorTransform"),
        # plain nodes stand for these
        *("ShaderNodeDisplacement", "ShaderNodeFloatCurve", "ShaderNodeMixRGB"),
        *("ShaderNodeRGBCurve", "ShaderNodeValToRGB", "ShaderNodeVectorCurve"),
        "ShaderNodeVectorDisplacement",
    }
)
# Outputs and operations of nodes that it knows, for which it uses a constant.
DROPPED_PARTS = {
    "ShaderNodeNewGeometry": {
        *("Incoming", "Parametric", "Backfacing", "Pointiness", "Random Per Island")
    },
    "ShaderNodeObjectInfo": {"Color", "Alpha", "Object Index", "Material Index"},
    "ShaderNodeTexCoord": {"Camera", "Window", "Reflection"},
    "ShaderNodeVectorMath": {"POWER", "SIGN"},
}
_LOBES = {"distribution": {"GGX", "MULTI_GGX"}}


@dataclass(frozen=True)
class Change:
    """What the export changes in a node that it knows, and what the document has instead."""

    instead: str
    # Properties, and those of their values that arrive.
    settings: Mapping[str, Collection[str]] = field(default_factory=dict)
    # Inputs that count only when nothing feeds them, if they have their first value.
    inputs: Collection[str] = ()
    # Inputs that are ignored if nothing feeds them.
    constants: Collection[str] = ()
    # Outputs that have another value; all if the node always has.
    outputs: Collection[str] = ()
    always: bool = False
    # Whether the place that nothing names is read as the uv.
    needs_place: bool = False


CHANGES: Mapping[str, Change] = {
    "ShaderNodeBsdfAnisotropic": Change(
        "an isotropic GGX lobe", _LOBES, inputs=("Rotation",), constants=("Anisotropy",)
    ),
    "ShaderNodeBsdfGlass": Change("a GGX lobe", _LOBES),
    "ShaderNodeBsdfMetallic": Change(
        "an isotropic GGX lobe", _LOBES, inputs=("Rotation",), constants=("Anisotropy",)
    ),
    "ShaderNodeBsdfRefraction": Change("a GGX lobe", _LOBES),
    "ShaderNodeNormalMap": Change(
        "object space without Blender's flipped axes", {"space": {"TANGENT", "OBJECT", "WORLD"}}
    ),
    "ShaderNodeSubsurfaceScattering": Change(
        "a diffusion without a skin", {"falloff": {"BURLEY", "RANDOM_WALK"}}
    ),
    "ShaderNodeTangent": Change("the tangent of the uv map", {"direction_type": {"UV_MAP"}}),
    "ShaderNodeTexChecker": Change("the pattern over the uv map", needs_place=True),
    "ShaderNodeTexCoord": Change("the uv map", outputs=("Generated",)),
    "ShaderNodeTexGradient": Change("the pattern over the uv map", needs_place=True),
    "ShaderNodeTexImage": Change("a flat projection", {"projection": {"FLAT"}}),
    "ShaderNodeTexNoise": Change("MaterialX' own noise at the position", always=True),
    "ShaderNodeTexWave": Change(
        "waves over the uv map, along X, distorted by MaterialX' own noise",
        {"rings_direction": {"X"}},
        inputs=("Distortion",),
        needs_place=True,
    ),
    "ShaderNodeTexWhiteNoise": Change("other random numbers", always=True),
}
_REMEDY = "press Left-Out Nodes to Images to keep it"


def dropped_outputs(node: bpy.types.Node) -> list[bpy.types.NodeSocket]:
    """The connected outputs of a node that the export leaves out or changes."""
    if node.mute:
        return []
    used = [each for each in node.outputs if each.is_linked]
    parts = DROPPED_PARTS.get(node.bl_idname, set())
    if node.bl_idname not in READ or getattr(node, "operation", "") in parts:
        return used
    return [each for each in used if each.name in parts] or _changed_outputs(node, used)


def can_become_image(node: bpy.types.Node) -> bool:
    """Whether the export loses something of a node that an image can hold."""
    return any(each.type != "SHADER" for each in dropped_outputs(node))


def loss_notes(node: bpy.types.Node) -> Iterator[str]:
    """What the export leaves out of a node or changes in it, and the remedy."""
    lost = dropped_outputs(node)
    if not lost:
        return
    is_shader = all(each.type == "SHADER" for each in lost)
    name, parts = f"{node.name!r} ({node.bl_label})", DROPPED_PARTS.get(node.bl_idname, set())
    remedy = "use a Principled BSDF" if is_shader else _REMEDY
    if node.bl_idname not in READ:
        yield f"{name} is left out by Blender's MaterialX export: {remedy}"
        return
    dropped = [each.name for each in lost if each.name in parts]
    operation = getattr(node, "operation", "")
    if dropped or operation in parts:
        what = operation if operation in parts else ", ".join(sorted(dropped))
        yield (
            f"{what!r} of {name} is left out by Blender's MaterialX export, which uses a "
            f"constant: {remedy}"
        )
        return
    change = CHANGES[node.bl_idname]
    words = ", ".join(_reasons(node, change, lost))
    what = f"{words} of {name}" if words else name
    yield f"{what} is changed by Blender's MaterialX export, which writes {change.instead}" + (
        # a lobe cannot be an image
        "" if is_shader else f": {remedy}"
    )


def _changed_outputs(
    node: bpy.types.Node, used: list[bpy.types.NodeSocket]
) -> list[bpy.types.NodeSocket]:
    change = CHANGES.get(node.bl_idname)
    if change is None:
        return []
    if change.outputs:
        return [each for each in used if each.name in change.outputs]
    return used if change.always or any(_reasons(node, change, used)) else []


def _reasons(
    node: bpy.types.Node, change: Change, used: list[bpy.types.NodeSocket]
) -> Iterator[str]:
    """What is lost, in Blender's own words."""
    for name, values in change.settings.items():
        value = getattr(node, name)
        if value not in values and _counts(node, name):
            items = node.bl_rna.properties[name].enum_items
            yield repr(items[value].name)
    for name in (*change.inputs, *change.constants):
        port = node.inputs[name]
        is_fed = port.is_linked and name in change.inputs
        if is_fed or (not port.is_linked and port.default_value != 0):
            yield repr(name)
    if change.needs_place and not node.inputs["Vector"].is_linked:
        yield "the generated place"
    for each in used:
        if each.name in change.outputs:
            yield repr(each.name)


def _counts(node: bpy.types.Node, name: str) -> bool:
    """Whether a setting is in use: rings have a direction, bands have none."""
    return name != "rings_direction" or node.wave_type == "RINGS"
