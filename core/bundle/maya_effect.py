"""Writes a bundle as effects that Maya's viewport draws with the lights of the scene: NAME.ogsfx
for the plug-in glslShader and NAME.fx for dx11Shader, and images that both load.

Maya's texture manager loads no KTX, and its mip levels are averages, which levels of latents are
not. So one image contains all levels, which the effect fetches texel by texel. It has no alpha,
because applications differ in whether they multiply by it. Weights are constants in the text.

Semantics, annotations and blocks: Maya Developer Help, "Semantics and annotations supported by the
dx11Shader and glslShader plug-ins in Viewport 2.0" and "Convert existing GLSL shaders to OGSFX
format"; GLSLShaderSemantics.cpp of the developer kit. Lights (kinds, radians, decay, the sign of
directions): MayaUberShader.fx, which Maya installs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.base.errors import BundleError
from verdigris.core.base.files import make_folders
from verdigris.core.base.outputs import write_file
from verdigris.core.bundle.effect_images import FIRST, LAST, encode_rgb, latent_atlas
from verdigris.core.bundle.effect_text import (
    GLSL,
    TARGETS,
    array_text,
    as_hlsl,
    decoder_text,
    fetch_text,
    note_text,
    texture_text,
    translate,
    vector_text,
)
from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.files.replace_folder import bundle_name
from verdigris.core.bundle.files.weights import constant_floats
from verdigris.core.bundle.runtime.network_module import fits_in_constants
from verdigris.core.bundle.shader_templates import BOTH, RELIEF, fill, relief_text
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    from verdigris.core.bundle.files.read import Bundle
    from verdigris.core.bundle.files.stored_textures import LatentTexture
    from verdigris.core.geometry.height_map import HeightMap

EFFECTS = SHADER_FOLDER / "bundle" / "effect"
LIGHTS = 4
# Heights are in metres, and places in Maya in centimetres.
_UNITS_A_METRE = 100.0
# Direct3D 11 and OpenGL 4.1 promise textures with this side.
_LARGEST_SIDE = 16384


@dataclass(frozen=True)
class _Parameter:
    """A value of the effect, which Maya shows as an attribute or sets itself."""

    kind: str
    name: str
    default: str
    semantic: str = ""
    notes: tuple[tuple[str, str | int | float], ...] = ()

    def text(self, suffix: str) -> str:
        head = f"uniform {self.kind}" if suffix == GLSL else as_hlsl(self.kind)
        semantic = f" : {self.semantic}" if self.semantic else ""
        notes = "".join(f" {note_text(name, value)}" for name, value in self.notes)
        return f"{head} {self.name}{semantic}{f' <{notes} >' if notes else ''} = {self.default};"


# What a light has: member of EffectLight, kind, name, default, semantic.
_OF_LIGHT = (
    ("isOn", "bool", "Enable", "false", "LIGHTENABLE"),
    ("kind", "int", "Type", "4", "LIGHTTYPE"),
    ("position", "vec3", "Pos", "{0.0, 0.0, 0.0}", "POSITION"),
    ("direction", "vec3", "Dir", "{0.0, -1.0, 0.0}", "DIRECTION"),
    ("color", "vec3", "Color", "{1.0, 1.0, 1.0}", "LIGHTCOLOR"),
    ("intensity", "float", "Intensity", "1.0", "LIGHTINTENSITY"),
    ("cone", "float", "ConeAngle", "0.46", "HOTSPOT"),
    ("falloff", "float", "FallOff", "0.7", "FALLOFF"),
    ("decay", "float", "AttenScale", "0.0", "DECAYRATE"),
)


def write_maya_effect(bundle: Bundle, folder: Path) -> list[Path]:
    """Writes both effects and their images. Returns what it wrote, the effects first."""
    name = re.sub(r"\W", "_", bundle_name(bundle.folder), flags=re.ASCII)
    latents = bundle.latents().decoded()
    if latents.format != RGBA8:
        raise BundleError(
            f"{bundle.folder}: its latents are half floats, which Maya's effect cannot hold: bake "
            "it with latent_format=bc7 or rgba8"
        )
    if not fits_in_constants(bundle.spec, 1 + (bundle.transmitted is not None)):
        raise BundleError(
            f"{bundle.folder}: its decoder {bundle.spec.name} is too large for Maya's effect: bake "
            "it with a smaller one, such as 2x32"
        )
    atlas, tops = latent_atlas(latents.levels)
    if max(atlas.shape[:2]) > _LARGEST_SIDE:
        height, width = latents.levels[0].shape[1:3]
        raise BundleError(
            f"{bundle.folder}: its latents with {width} x {height} texels are too large for Maya's "
            f"effect, whose image would have a side of {max(atlas.shape[:2])}: bake it with a "
            "smaller texture"
        )
    images = {"latents": encode_rgb(atlas)}
    scale = 0.0
    emission, opacity = bundle.emission(), bundle.opacity()
    if emission is not None:
        colors = np.maximum(np.asarray(emission[0], np.float32)[..., :3], 0)
        scale = float(colors.max()) or 1.0
        # the square root spares dark places the steps of bytes
        images["emission"] = encode_rgb(np.rint(255 * np.sqrt(colors / scale)).astype(np.uint8))
    if opacity is not None:
        images["opacity"] = encode_rgb(np.repeat(np.asarray(opacity[0], np.uint8)[..., :1], 3, 2))
    if (heights := bundle.relief()) is not None:
        images["heights"] = encode_rgb(latent_atlas([level[None] for level in heights.levels])[0])
    maps = tuple(images)
    written = {
        **{
            name + suffix: effect_text(bundle, latents, tops, suffix, name, maps, scale).encode()
            for suffix in TARGETS
        },
        **{f"{name}_{kind}.png": data for kind, data in images.items()},
    }
    make_folders(folder)
    for file, data in written.items():
        write_file(folder / file, data)
    return [folder / file for file in written]


def effect_text(
    bundle: Bundle,
    latents: LatentTexture,
    tops: Sequence[int],
    suffix: str,
    name: str,
    maps: Sequence[str],
    scale: float,
) -> str:
    """The effect in one language. `maps` are the kinds of images beside it."""
    live = bundle.manifest.live[: bundle.spec.live_inputs]
    defaults = bundle.manifest.live_defaults
    parameters = [
        *_light_parameters(),
        _Parameter(
            "vec3",
            "ambientColor",
            "{0.1, 0.1, 0.1}",
            "",
            (("UIName", "Ambient"), ("UIWidget", "ColorPicker")),
        ),
        _Parameter(
            "bool", "isDisplayedLater", "false", "MayaGammaCorrection", (("UIWidget", "None"),)
        ),
        *(
            _Parameter(
                "float",
                f"live{number}",
                repr(float(value)),
                "",
                (("UIName", each.name), ("UIMin", 0.0), ("UIMax", 1.0)),
            )
            for number, (each, value) in enumerate(zip(live, defaults, strict=True))
        ),
    ]
    below, heights = bundle.transmitted, bundle.relief()
    having = [*([BOTH] if below else []), *([RELIEF] if heights else [])]
    values = [f"live{number}" for number in range(len(live))] + ["0.0"] * (3 - len(live))
    replaced = {
        "TITLE": f"The neural material {name}, written by Verdigris.",
        "PARAMETERS": "\n".join(each.text(suffix) for each in parameters),
        "TEXTURES": "\n".join(texture_text(suffix, kind, f"{name}_{kind}.png") for kind in maps),
        "CODE": "\n".join(
            (
                _constants(bundle, latents, tops, suffix),
                _translated("atlas.glsl", suffix),
                *([_heights_text(heights, suffix)] if heights else []),
                decoder_text(bundle.spec, suffix, below is not None),
                fill(_translated("shading.glsl", suffix), {}, having),
            )
        ),
        "SURFACE": "NeuralSidesSurface" if below else "NeuralSurface",
        "LIVE": translate(f", vec3({', '.join(values)})", suffix) if live else "",
        "LIGHTS": "\n".join(_light_function()),
        "LIGHT_COUNT": str(LIGHTS),
        "MAPS": "\n".join(_map_lines(suffix, maps, scale)),
        "TRANSPARENT_WORD": "Transparent" if "opacity" in maps else "Opaque",
        "TRANSPARENT_NUMBER": str(int("opacity" in maps)),
    }
    return fill((EFFECTS / f"effect{suffix}").read_text("utf-8"), replaced, having)


def _constants(bundle: Bundle, latents: LatentTexture, tops: Sequence[int], suffix: str) -> str:
    """The numbers of the bundle, and the access to its atlas."""
    manifest = bundle.manifest
    sides = [each for each in (bundle, bundle.transmitted) if each]
    data = b"".join(
        constant_floats(each.spec, manifest.tensors, each.weights_bytes()) for each in sides
    )
    quads = np.frombuffer(data, "<f4").reshape(-1, 4)
    height, width = latents.levels[0].shape[1:3]
    layers = len(latents.levels[0])
    padded = np.zeros((2, 8), np.float32)
    padded[0, : 4 * layers], padded[1, : 4 * layers] = latents.scale, latents.offset
    rows = 1 + sum(level.shape[1] for level in latents.levels) + 1
    first, last = (", ".join(repr(value / 255) for value in mark) for mark in (FIRST, LAST))
    lines = [
        array_text("vec4", "kNeuralFloats", [vector_text(each) for each in quads], suffix),
        array_text("int", "kAtlasTops", [str(top) for top in tops], suffix),
        *(
            f"const int {name} = {value};"
            for name, value in (
                ("kAtlasWidth", width),
                ("kAtlasHeight", height),
                ("kAtlasRows", rows),
            )
        ),
        f"const vec3 kAtlasFirst = vec3({first});",
        f"const vec3 kAtlasLast = vec3({last});",
        _RECORD,
        _record("neuralRecord", padded, width, height, len(latents.levels), suffix),
        *_below_lines(bundle, padded, latents, suffix),
        fetch_text("effectAtlas", "latents", suffix),
    ]
    return translate("\n".join(lines), suffix)


# NeuralRecord of neural_record.slang, as the compiler names it.
_RECORD_NUMBERS = (
    *("width", "height", "levels", "textureIndex", "weights"),
    *(f"matrix{layer}" for layer in range(8)),
    *(f"reserved{number}" for number in range(3)),
)
_RECORD = "\n".join(
    (
        "struct NeuralRecord",
        "{",
        "    vec4 scale[2];",
        "    vec4 offset[2];",
        *(f"    uint {name};" for name in _RECORD_NUMBERS),
        "};",
    )
)
# Between the sizes and the three reserved ones.
_UNUSED = [0] * (len(_RECORD_NUMBERS) - 6)


def _below_lines(
    bundle: Bundle, padded: NDArray[np.float32], latents: LatentTexture, suffix: str
) -> list[str]:
    """The second record of a surface that transmits, with the bits of its index."""
    if not bundle.manifest.transmitted:
        return []
    index, (height, width) = bundle.manifest.transmitted.index, latents.levels[0].shape[1:3]
    bits = int(np.float32(index).view(np.uint32))
    sizes = width, height, len(latents.levels)
    return [
        _record("neuralRecordBelow", padded, *sizes, suffix, bits),
        f"const float kEffectIndex = {index!r};",
    ]


def _heights_text(heights: HeightMap, suffix: str) -> str:
    """The relief, and the access to the image with all levels of the height map."""
    _, tops = latent_atlas([level[None] for level in heights.levels])
    rows = 1 + sum(len(level) for level in heights.levels) + 1
    scale = _UNITS_A_METRE * heights.scale
    lines = [
        array_text("int", "kHeightTops", [str(top) for top in tops], suffix),
        f"const int kHeightRows = {rows};",
        f"const ivec2 kHeightSize = ivec2({heights.size[0]}, {heights.size[1]});",
        f"const vec2 kHeightRange = vec2({scale!r}, {heights.midlevel!r});",
        fetch_text("effectHeights", "heights", suffix),
        (EFFECTS / "heights.glsl").read_text("utf-8"),
        relief_text(),
    ]
    return translate("\n".join(lines), suffix)


def _record(
    name: str,
    numbers: NDArray[np.float32],
    width: int,
    height: int,
    levels: int,
    suffix: str,
    reserved: int = 0,
) -> str:
    quads = [[vector_text(half) for half in row.reshape(2, 4)] for row in numbers]
    if suffix == GLSL:
        arrays = ", ".join(f"vec4[2]({', '.join(each)})" for each in quads)
        begin, end = "NeuralRecord(", ")"
    else:
        arrays = ", ".join(f"{{ {', '.join(each)} }}" for each in quads)
        begin, end = "{ ", " }"
    rest = ", ".join(f"{value}u" for value in (width, height, levels, *_UNUSED, reserved, 0, 0))
    return f"const NeuralRecord {name} = {begin}{arrays}, {rest}{end};"


def _translated(file: str, suffix: str) -> str:
    return translate((EFFECTS / file).read_text("utf-8"), suffix)


def _light_parameters() -> list[_Parameter]:
    found = []
    for light in range(LIGHTS):
        group: tuple[tuple[str, Any], ...] = (("Object", f"Light {light}"),)
        for _, kind, name, default, semantic in _OF_LIGHT:
            space = (("Space", "World"),) if semantic in ("POSITION", "DIRECTION") else ()
            label = (("UIName", f"Light {light} {name}"),)
            found.append(
                _Parameter(kind, f"light{light}{name}", default, semantic, (*group, *label, *space))
            )
    return found


def _light_function() -> list[str]:
    lines = ["EffectLight effectLight(int index)", "{", "    EffectLight light;"]
    for number in range(LIGHTS):
        if number:
            lines += [f"    if (index == {number})", "    {"]
        for member, _, name, _, _ in _OF_LIGHT:
            lines.append(f"{'        ' if number else '    '}light.{member} = light{number}{name};")
        if number:
            lines.append("    }")
    return [*lines, "    return light;", "}"]


def _map_lines(suffix: str, maps: Sequence[str], scale: float) -> list[str]:
    def read(kind: str, channels: str) -> str:
        if suffix == GLSL:
            return f"texture({kind}Sampler, stored).{channels}"
        return f"{kind}Texture.Sample({kind}Sampler, stored).{channels}"

    lines = []
    if "emission" in maps:
        vector = translate("vec3", suffix)
        lines.append(f"        {vector} emitted = {read('emission', 'xyz')};")
        lines.append(f"        color += {scale!r} * emitted * emitted;")
    if "opacity" in maps:
        lines.append(f"        opacity = {read('opacity', 'x')};")
    return lines
