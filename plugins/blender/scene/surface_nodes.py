# SPDX-FileCopyrightText: 2026 Verdigris authors
# SPDX-License-Identifier: GPL-3.0-or-later

"""Surface shaders of MaterialX as a Principled BSDF, as far as it has their inputs."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import bpy

from verdigris.core.hosts.host import ShaderLook, ShaderTexture

from .node_graph import NodeGraph

# By socket: a factor, and inputs that are multiplied with it. In Blender, a level of specular of
# half is neutral, an anisotropy of 1 is .9 of MaterialX's, and tangents turn the other way.
_STANDARD_SURFACE = {
    "Base Color": (1.0, "base", "base_color"),
    "Diffuse Roughness": (1.0, "diffuse_roughness"),
    "Metallic": (1.0, "metalness"),
    "Roughness": (1.0, "specular_roughness"),
    "IOR": (1.0, "specular_IOR"),
    "Specular IOR Level": (0.5, "specular"),
    "Specular Tint": (1.0, "specular_color"),
    "Anisotropic": (1 / 0.9, "specular_anisotropy"),
    "Anisotropic Rotation": (-1.0, "specular_rotation"),
    "Coat Weight": (1.0, "coat"),
    "Coat Tint": (1.0, "coat_color"),
    "Coat Roughness": (1.0, "coat_roughness"),
    "Coat IOR": (1.0, "coat_IOR"),
    "Sheen Weight": (1.0, "sheen"),
    "Sheen Tint": (1.0, "sheen_color"),
    "Sheen Roughness": (1.0, "sheen_roughness"),
    "Thin Film Thickness": (1.0, "thin_film_thickness"),
    "Thin Film IOR": (1.0, "thin_film_IOR"),
    "Emission Color": (1.0, "emission", "emission_color"),
    "Alpha": (1.0, "opacity"),
    "Normal": (1.0, "normal"),
    "Coat Normal": (1.0, "coat_normal"),
}
_OPEN_PBR = {
    "Base Color": (1.0, "base_weight", "base_color"),
    "Diffuse Roughness": (1.0, "base_diffuse_roughness"),
    "Metallic": (1.0, "base_metalness"),
    "Roughness": (1.0, "specular_roughness"),
    "IOR": (1.0, "specular_ior"),
    "Specular IOR Level": (0.5, "specular_weight"),
    "Specular Tint": (1.0, "specular_color"),
    "Anisotropic": (1 / 0.9, "specular_roughness_anisotropy"),
    "Coat Weight": (1.0, "coat_weight"),
    "Coat Tint": (1.0, "coat_color"),
    "Coat Roughness": (1.0, "coat_roughness"),
    "Coat IOR": (1.0, "coat_ior"),
    "Sheen Weight": (1.0, "fuzz_weight"),
    "Sheen Tint": (1.0, "fuzz_color"),
    "Sheen Roughness": (1.0, "fuzz_roughness"),
    "Emission Color": (1.0, "emission_luminance", "emission_color"),
    "Alpha": (1.0, "geometry_opacity"),
    "Normal": (1.0, "geometry_normal"),
    "Coat Normal": (1.0, "geometry_coat_normal"),
}
_GLTF_PBR = {
    "Base Color": (1.0, "base_color"),
    "Metallic": (1.0, "metallic"),
    "Roughness": (1.0, "roughness"),
    "IOR": (1.0, "ior"),
    "Specular IOR Level": (0.5, "specular"),
    "Specular Tint": (1.0, "specular_color"),
    "Coat Weight": (1.0, "clearcoat"),
    "Coat Roughness": (1.0, "clearcoat_roughness"),
    "Sheen Weight": (1.0,),
    "Sheen Tint": (1.0, "sheen_color"),
    "Sheen Roughness": (1.0, "sheen_roughness"),
    "Emission Color": (1.0, "emissive_strength", "emissive"),
    "Alpha": (1.0, "alpha"),
    "Normal": (1.0, "normal"),
    "Coat Normal": (1.0, "clearcoat_normal"),
}
SHADERS: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "standard_surface": _STANDARD_SURFACE,
    "open_pbr_surface": _OPEN_PBR,
    "gltf_pbr": _GLTF_PBR,
}
_BASE, _IOR, _ALPHA = "Base Color", "IOR", "Alpha"
_SHEEN_TINT, _SHEEN_ROUGHNESS = "Sheen Tint", "Sheen Roughness"
# Its fuzz is the sheen of Blender: light that fibres scatter.
_OF_FIBRES = "open_pbr_surface"
# Below this roughness, the sheen of the other shaders reflects hardly anything.
_SHARPEST_SHEEN = 0.15
_ANISOTROPY, _ROTATION = "Anisotropic", "Anisotropic Rotation"
# Values of glTF's alpha_mode.
_OPAQUE, _MASK = 0, 1


def add_surface(
    graph: NodeGraph, look: ShaderLook, images: Mapping[str, bpy.types.Image], uv_map: str
) -> None:
    """Makes a Principled BSDF from a surface shader. Inputs without a socket are left out."""
    distribution = "MULTI_GGX" if look.has_bounces else "GGX"
    shader = graph.node(
        "ShaderNodeBsdfPrincipled", {"Emission Color": 0.0}, distribution=distribution
    )
    shader.inputs["Emission Strength"].default_value = 1.0
    uv = graph.uv(uv_map)
    textures = {
        name: _texture(graph, each, images[name], uv, uv_map)
        for name, each in look.textures.items()
        if any(name in inputs for _, *inputs in SHADERS[look.category].values())
    }
    for socket, (factor, *inputs) in SHADERS[look.category].items():
        found = _product(graph, factor, inputs, look, textures)
        if socket in (_BASE, _IOR):
            found = _under_coat(graph, socket, found, look, textures)
        if socket == _ALPHA and look.values.get("alpha_mode") == _OPAQUE:
            continue
        if socket == _ALPHA:
            found = _alpha(graph, found, look)
        elif socket in (_SHEEN_TINT, _SHEEN_ROUGHNESS) and look.category != _OF_FIBRES:
            found = _sheen(graph, socket, found, look, textures)
        elif socket == _ROTATION and isinstance(found, float):
            found %= 1.0
        elif socket == _ANISOTROPY and found:
            tangent = graph.node("ShaderNodeTangent", {}, direction_type="UV_MAP", uv_map=uv_map)
            graph.feed(tangent.outputs[0], shader.inputs["Tangent"])
        if found is not None:
            graph.feed(found, shader.inputs[socket])
    graph.node("ShaderNodeOutputMaterial", {"Surface": shader.outputs["BSDF"]})
    graph.arrange()


def _texture(
    graph: NodeGraph, look: ShaderTexture, image: bpy.types.Image, uv: bpy.types.NodeSocket,
    uv_map: str,
) -> bpy.types.NodeSocket:  # fmt: skip
    """The value that a texture stands for."""
    colour = graph.image(image, uv).outputs["Color"]
    if look.is_direction:
        return graph.node("ShaderNodeNormalMap", {"Color": colour}, uv_map=uv_map).outputs[0]
    if (look.low, look.high) == (0.0, 1.0):
        return colour
    return graph.vector("MULTIPLY_ADD", colour, look.high - look.low, look.low)


def _product(
    graph: NodeGraph, factor: float, inputs: list[str], look: ShaderLook,
    textures: Mapping[str, bpy.types.NodeSocket],
) -> Any:  # fmt: skip
    """A factor times inputs: a number, a colour or a socket. None if the shader has none of them,
    and there are some."""
    values = [look.values[name] for name in inputs if name in look.values]
    fed = [textures[name] for name in inputs if name in textures]
    if inputs and not values and not fed:
        return None
    colours = [each for each in values if isinstance(each, tuple)]
    number = factor * prod(float(each) for each in values if not isinstance(each, tuple))
    constant = tuple(number * prod(parts) for parts in zip(*colours, strict=True)) or number
    if not fed:
        return constant
    found = fed[0]
    for other in fed[1:] if constant == 1.0 else (*fed[1:], constant):
        found = graph.vector("MULTIPLY", found, other)
    return found


def _sheen(
    graph: NodeGraph, socket: str, found: Any, look: ShaderLook,
    textures: Mapping[str, bpy.types.NodeSocket],
) -> Any:  # fmt: skip
    """The tint and the roughness with which Blender's sheen has the albedo of Estevez and Kulla's
    distribution in each view direction. Both are fitted."""
    roughness = _product(graph, 1.0, ["sheen_roughness"], look, textures)
    weight = _product(graph, 1.0, ["sheen"], look, textures)
    if found is None or roughness is None or weight == 0.0:
        return found
    if isinstance(roughness, float):
        if socket == _SHEEN_ROUGHNESS:
            return min(roughness + 0.1, 0.33 + 0.52 * roughness)
        factor = 0.36 + 0.34 / max(roughness, _SHARPEST_SHEEN)
        if isinstance(found, tuple):
            return tuple(factor * each for each in found)
        return graph.vector("MULTIPLY", found, factor)
    if socket == _SHEEN_ROUGHNESS:
        less = graph.math("MULTIPLY_ADD", roughness, 0.52, 0.33)
        return graph.math("MINIMUM", graph.math("ADD", roughness, 0.1), less)
    sharp = graph.math("MAXIMUM", roughness, _SHARPEST_SHEEN)
    factor = graph.math("ADD", graph.math("DIVIDE", 0.34, sharp), 0.36)
    return graph.vector("MULTIPLY", found, factor)


def _alpha(graph: NodeGraph, found: Any, look: ShaderLook) -> Any:
    """Opacity as one number, which a mask makes 0 or 1."""
    if isinstance(found, tuple):
        found = sum(found) / len(found)
    if look.values.get("alpha_mode") != _MASK or found is None:
        return found
    return graph.math("SUBTRACT", 1.0, graph.math("LESS_THAN", found, look.values["alpha_cutoff"]))


def _under_coat(
    graph: NodeGraph, socket: str, found: Any, look: ShaderLook,
    textures: Mapping[str, bpy.types.NodeSocket],
) -> Any:  # fmt: skip
    """The colour of the base as the coat of OpenPBR darkens it, and its IOR in the coat, by
    MaterialX's graph. Blender's coat does neither."""
    weight = _product(graph, 1.0, ["coat_weight"], look, textures)
    ior = look.values.get("coat_ior")
    if not weight or found is None or not isinstance(ior, float):
        return found
    if socket == _IOR:
        if not isinstance(found, float):
            return found
        ratio = max(found / ior, ior / found)
        return graph.math("MULTIPLY_ADD", weight, ratio - found, found)
    weight = _product(graph, 1.0, ["coat_weight", "coat_darkening"], look, textures)
    # the part of diffuse light that the coat reflects back
    inside = 1 - 4 / (ior * (ior + 1) ** 2)
    left = graph.vector("MULTIPLY_ADD", found, -inside, 1.0)
    change = graph.vector("SUBTRACT", graph.vector("DIVIDE", 1 - inside, left), 1.0)
    return graph.vector("MULTIPLY", found, graph.vector("MULTIPLY_ADD", change, weight, 1.0))
