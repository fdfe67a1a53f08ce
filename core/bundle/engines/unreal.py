"""What a bundle adds to the plug-in for Unreal Engine 5: the shader of the material with its
numbers, and images for the importer.

Unreal imports no texture with mip levels of its own from a plain image, so the latents are an
image with all levels, as in the effects for Maya.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.array_types import Floats
from verdigris.core.base.errors import BundleError
from verdigris.core.base.text import version
from verdigris.core.bundle.effect_images import encode_rgb, latent_atlas
from verdigris.core.bundle.engines.container import VERSION, base_textures
from verdigris.core.bundle.engines.decoder_text import (
    PackedNumbers,
    as_hlsl,
    decoder_text,
    pack_numbers,
    sides_text,
)
from verdigris.core.bundle.engines.passing import Passing, conditions
from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.proxies.proxy_texture import encode_srgb
from verdigris.core.bundle.shader_templates import PLAIN, fill, relief_text
from verdigris.core.material.sides import THIN
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.files.stored_textures import LatentTexture
    from verdigris.core.geometry.height_map import HeightMap

_SHADER, _BEHIND = (
    SHADER_FOLDER / "bundle" / "engines" / each for each in ("unreal_material.ush", "behind.hlsl")
)
_PLUGIN = "Plugins/Verdigris"
# Direct3D 12 and Vulkan promise textures with this side.
_LARGEST_SIDE = 16384
# Functions of the relief that read heights: the texture is an argument of custom nodes.
_OF_HEIGHTS = re.compile(
    r"\b(neuralHeight|neuralRelief(?:Texel|Mean|Stored|MeetCell|Meet|Shadow|Normal)?)"
    r"\((?=(?:(int2|float[23]?|NeuralRelief) )?)"
)
# Units of Unreal in a metre.
_CENTIMETRES = 100
# The body of the custom node; DDX and DDY are Unreal's.
_CODE = (
    "return neuralLight(Latents, UV.xy, DDX(UV.xy), DDY(UV.xy), DDX(Position), DDY(Position), "
    "Normal, View, ToLight.xyz, LightColor.xyz, Live.xyz);"
)


def unreal_files(bundle: Bundle, name: str) -> dict[str, bytes]:
    """NAME.ush, and the folder of the importer."""
    latents = bundle.latents().decoded()
    if latents.format != RGBA8:
        raise BundleError(
            f"{bundle.folder}: its latents are half floats, which images cannot hold: bake it with "
            "latent_format=bc7 or rgba8"
        )
    atlas, tops = latent_atlas(latents.levels)
    if max(atlas.shape[:2]) > _LARGEST_SIDE:
        raise BundleError(
            f"{bundle.folder}: its latents need an image with a side of {max(atlas.shape[:2])}, "
            f"and Unreal takes {_LARGEST_SIDE}: bake it with a smaller texture"
        )
    numbers = pack_numbers(bundle.parameters())
    passing, heights = Passing.of(bundle), bundle.relief()
    having = conditions(bundle, passing)
    constants = [_constants(latents, tops, numbers)]
    images, scale = _images(bundle)
    images["latents"] = ("numbers", atlas)
    if heights is not None:
        images["heights"], text = _heights(heights)
        constants.append(text)
    if passing is not None:
        images["transmitted"] = ("color", passing.albedo.levels[0][::-1, :, :3])
        constants.append(f"static const float kNeuralIndex = {passing.index!r};")
    words = {
        "NAME": name,
        "VERSION": version(),
        "CONSTANTS": "\n".join(constants),
        "DECODER": decoder_text(bundle.spec, numbers.places, is_hlsl=True),
        "SIDES": sides_text(numbers.places, is_hlsl=True),
        "RELIEF": _OF_HEIGHTS.sub(_with_heights, as_hlsl(relief_text())),
        "BEHIND": _BEHIND.read_text("utf-8"),
        "HEIGHTS": "Texture2D heights, " if heights is not None else "",
    }
    text = fill(_SHADER.read_text("utf-8"), words, having or [PLAIN])
    files = {f"T_{name}_{kind}.png": encode_rgb(pixels) for kind, (_, pixels) in images.items()}
    live = bundle.manifest.live[: bundle.spec.live_inputs]
    facts: dict[str, Any] = {
        "version": VERSION,
        "name": bundle.manifest.name,
        "include": f"/Plugin/Verdigris/{name}.ush",
        "code": _CODE.replace("UV.xy", "Heights, UV.xy", 1) if heights is not None else _CODE,
        "textures": {
            kind: {"file": f"T_{name}_{kind}.png", "use": use} for kind, (use, _) in images.items()
        },
        "emission_scale": scale,
        "live": [{"name": each.name, "default": each.default} for each in live],
        **({"passing": _passing(passing, name)} if passing is not None else {}),
        "live_label": ", ".join(each.name for each in live) or "Live inputs (none)",
    }
    folder = f"{_PLUGIN}/Resources/{name}"
    return {
        f"{_PLUGIN}/Shaders/{name}.ush": text.encode(),
        f"{folder}/material.json": (
            json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        ).encode(),
        **{f"{folder}/{file}": data for file, data in files.items()},
    }


def _images(bundle: Bundle) -> tuple[dict[str, tuple[str, NDArray[np.uint8]]], float]:
    """By kind: how the engine reads it, and its pixels [rows, columns, 3], v = 0 at the bottom. The
    second is the factor of emission."""
    base, normal = (texels[::-1] for texels in base_textures(bundle))
    # normal maps of Unreal have y along its v, which points down
    flipped = normal[..., :3].copy()
    flipped[..., 1] = 255 - flipped[..., 1]
    images: dict[str, tuple[str, NDArray[np.uint8]]] = {
        "base": ("color", base[..., :3]),
        "roughness": ("mask", np.repeat(base[..., 3:], 3, axis=2)),
        "normal": ("normal", flipped),
    }
    emission, opacity = bundle.emission(), bundle.opacity()
    scale = 0.0
    if emission is not None:
        colors = np.maximum(np.asarray(emission[0], np.float32)[::-1, :, :3], 0)
        scale = float(colors.max()) or 1.0
        images["emission"] = ("color", encode_srgb(colors / scale))
    if opacity is not None:
        coverage = np.asarray(opacity[0], np.uint8)[::-1, :, :1]
        images["opacity"] = ("mask", np.repeat(coverage, 3, axis=2))
    return images, scale


def _with_heights(found: re.Match[str]) -> str:
    return f"{found[1]}({'Texture2D ' if found[2] else ''}heights, "


def _heights(heights: HeightMap) -> tuple[tuple[str, NDArray[np.uint8]], str]:
    """The image with all levels, as that of the latents, and constants."""
    atlas, tops = latent_atlas([level[None] for level in heights.levels])
    width, height = heights.size
    numbers = (width, height, _CENTIMETRES * heights.scale, heights.midlevel)
    return ("numbers", atlas), "\n".join(
        (
            f"static const float4 kNeuralHeights = float4({', '.join(map(repr, numbers))});",
            f"static const int kNeuralHeightTops[{len(tops)}] = {{ {', '.join(map(str, tops))} }};",
        )
    )


def _passing(passing: Passing, name: str) -> dict[str, str | bool]:
    """How the importer shows what passes, and the code of the node for what is seen through."""
    is_thin = passing.index == THIN
    if passing.is_diffuse:
        return {"kind": "leaf", "thin": is_thin}
    code = "return neuralSeen(Position, Normal, View, Depth, ResolvedView.TranslatedWorldToClip);"
    return {
        "kind": "clear",
        "thin": is_thin,
        "code": code,
        "include": f"/Plugin/Verdigris/{name}.ush",
    }


def _constants(latents: LatentTexture, tops: list[int], numbers: PackedNumbers) -> str:
    height, width = latents.size
    layers = len(latents.levels[0])
    ranges = {
        "kNeuralScale": np.float32(latents.scale).reshape(layers, 4),
        "kNeuralOffset": np.float32(latents.offset).reshape(layers, 4),
        "kNeuralNumbers": numbers.quads,
    }
    lines = [
        f"static const int kNeuralWidth = {width};",
        f"static const int kNeuralHeight = {height};",
        f"static const int kNeuralLevels = {len(tops)};",
        f"static const int kNeuralTops[{len(tops)}] = {{ {', '.join(map(str, tops))} }};",
    ]
    return "\n".join([*lines, *(_array(each, quads) for each, quads in ranges.items())])


def _array(name: str, quads: Floats) -> str:
    rows = [f"float4({', '.join(f'{float(each):.9g}' for each in row)})" for row in quads]
    return f"static const float4 {name}[{len(rows)}] = {{\n" + ",\n".join(rows) + "};"
