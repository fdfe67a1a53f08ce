"""The shaders of a compressed set: Slang, and GLSL that the Slang compiler makes from it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from verdigris.core.bundle.runtime.readable_text import LICENCE, declarations, readable
from verdigris.core.bundle.runtime.slang_compiler import compile_entry_point, compiler_version
from verdigris.core.compress.compressed_set import INPUTS, NEAR, CompressedSet
from verdigris.core.compress.mlp import SLOPE
from verdigris.core.compress.texture_set import SetTexture
from verdigris.shaders import SHADER_FOLDER

SLANG_FILE, NUMBERS_FILE, GLSL_FILE = (
    "texture_set.slang",
    "texture_set_numbers.slang",
    "texture_set.glsl",
)
ENTRY_POINT = "evaluateSet"
_SOURCE = SHADER_FOLDER / "compress" / "runtime" / SLANG_FILE
_HEAD = (
    LICENCE
    + """// {name}: made by Slang {version} from texture_set.slang, for GLSL 4.50.
// Bindings: 0 neuralSetFine, 1 neuralSetCoarse (BC7, linear), 2 weights.bin. The entry point adds
// 3 queries (u, v, level) and 4 answers. Define NEURAL_NO_ENTRY_POINT to include it in a shader of
// your own, and call neuralTextureSetEvaluate(uv, level, values): level is a mip level of the
// textures.
"""
)
_LEFT_OUT = re.compile(r"^(#version .*|layout\((column|row)_major\) (uniform|buffer);)\n", re.M)
_OF_ENTRY_POINT = re.compile(
    r"\b(n|N)euralSet(Quer|Answer)|\b(neuralGetCount|local_size_x)\b|main\("
)


def runtime_files(
    compressed: CompressedSet, textures: Sequence[SetTexture], name: str
) -> dict[str, bytes]:
    """Shaders by file name."""
    files = slang_files(compressed, textures)
    return {**files, GLSL_FILE: _glsl(files, compressed, textures, name).encode()}


def slang_files(compressed: CompressedSet, textures: Sequence[SetTexture]) -> dict[str, bytes]:
    """The shaders in Slang, which need no compiler."""
    numbers = _numbers_module(compressed, textures).encode()
    return {NUMBERS_FILE: numbers, SLANG_FILE: _SOURCE.read_bytes()}


def _numbers_module(compressed: CompressedSet, textures: Sequence[SetTexture]) -> str:
    """The module of numbers that the shader imports, with a function for each texture."""
    fine, coarse = compressed.latents
    wholes = {
        "kSetInputs": INPUTS,
        "kSetWidth": len(compressed.layers[0].bias),
        "kSetHidden": len(compressed.layers) - 1,
        "kSetChannels": compressed.channels,
        "kSetFineLevels": len(fine.levels),
        "kSetCoarseLevels": len(coarse.levels),
    }
    lines = [LICENCE, "module texture_set_numbers;", ""]
    lines += [f"public static const uint {name} = {value};" for name, value in wholes.items()]
    for name, each in (("kSetFineSize", fine), ("kSetCoarseSize", coarse)):
        size = f"uint2({each.columns}, {each.rows})"
        lines.append(f"public static const uint2 {name} = {size};")
    lines += [f"public static const float kSetSlope = {SLOPE};"]
    lines += [f"public static const float kSetNear = {NEAR};", ""]
    lines += ["// Textures from all channels, in the numbers of their files."]
    lines += _functions(textures, "public float", "float", "kSetChannels")
    return "\n".join(lines) + "\n"


def _functions(textures: Sequence[SetTexture], kind: str, vector: str, count: str) -> list[str]:
    lines = []
    for texture in textures:
        parts = [
            f"{each.offset:.9g}"
            if each.output is None
            else f"values[{each.output}]"
            if (each.scale, each.offset) == (1, 0)
            else f"{each.offset:.9g} + {each.scale:.9g} * values[{each.output}]"
            for each in texture.channels
        ]
        size = len(parts)
        wide = "float" if size == 1 else f"{vector}{size}"
        own = kind.replace("float", wide)
        lines += [
            f"// {', '.join(texture.reaches) or 'unused'}; {texture.colour_space}",
            f"{own} neuralSet_{texture.name}(float values[{count}]) "
            f"{{ return {wide}({', '.join(parts)}); }}",
        ]
    return lines


def _glsl(
    files: dict[str, bytes], compressed: CompressedSet, textures: Sequence[SetTexture], name: str
) -> str:
    with tempfile.TemporaryDirectory() as folder:
        for file, data in files.items():
            (Path(folder) / file).write_bytes(data)
        code = compile_entry_point(
            [
                Path(folder) / SLANG_FILE,
                *("-entry", ENTRY_POINT, "-stage", "compute", "-target", "glsl"),
                *("-no-mangle", "-line-directive-mode", "none"),
            ]
        )
    shared: list[str] = []
    own: list[str] = []
    for part in declarations(readable(_LEFT_OUT.sub("", code.decode()))):
        (own if _OF_ENTRY_POINT.search(part) else shared).append(part)
    functions = _functions(textures, "float", "vec", str(compressed.channels))
    lines = [*shared, *functions, "#ifndef NEURAL_NO_ENTRY_POINT", *own, "#endif"]
    return _HEAD.format(name=name, version=compiler_version()) + "\n".join(lines) + "\n"
