"""Texts of effects in GLSL and HLSL: the decoder as Slang compiles it, constants, and textures."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from verdigris.core.bundle.runtime.readable_text import declarations, readable
from verdigris.core.bundle.runtime.runtime_files import ENTRY_FILE_OF_ONE, ENTRY_POINT, slang_files
from verdigris.core.bundle.runtime.slang_compiler import compile_entry_point
from verdigris.core.network.spec import NetworkSpec

GLSL, HLSL = ".ogsfx", ".fx"
TARGETS = {GLSL: ("-target", "glsl"), HLSL: ("-target", "hlsl", "-profile", "sm_5_0")}
# Only the entry point, or filters of the texture unit, use these.
_LEFT_OUT = re.compile(
    r"\b[nN]eural(Quer|Answer|Params)\w*|\bevaluateQueries\b|\bmain\(|local_size_x|\bsampler\b"
    r"|\bSamplerState\b|\bneuralSampler\b|\bneuralPrepareSampled\b"
)
_RESOURCE = re.compile(
    r"\s*(layout\(binding|layout\(std|uniform |cbuffer |ByteAddressBuffer |Texture2DArray<"
    r"|struct Neural(Floats|Record|\w*Block)\b)"
)
_PREPROCESSOR = re.compile(
    r"^(#.*|\s*\[\[\w+\]\]|layout\((?:column|row)_major\) \w+;)\n", re.MULTILINE
)
_ARRAY_VARIABLE = re.compile(r"^(\s+float) (\w+)\[int\((\d+)\)\];", re.MULTILINE)
_HLSL_WORDS = (
    (re.compile(r"\b(i?)vec([234])\b"), r"\1float\2"),
    (re.compile(r"\bifloat"), "int"),
    (re.compile(r"\bmix\("), "lerp("),
    (re.compile(r"^const ", re.MULTILINE), "static const "),
    (re.compile(r"^( +)for \(int (index|count)", re.MULTILINE), r"\1[loop] for (int \2"),
    (re.compile(r"\bdFd([xy])\("), r"dd\1("),
)


def decoder_text(spec: NetworkSpec, suffix: str, has_both_sides: bool = False) -> str:
    """The decoder and the sampler, as functions on kNeuralFloats, neuralRecord and
    neuralTexel()."""
    sides = ["-DNEURAL_SIDES=1"] if has_both_sides else []
    with tempfile.TemporaryDirectory() as folder:
        for file, data in slang_files(spec).items():
            (Path(folder) / file).write_bytes(data)
        code = compile_entry_point(
            [
                Path(folder) / ENTRY_FILE_OF_ONE,
                *("-entry", ENTRY_POINT, "-stage", "compute", *TARGETS[suffix]),
                # loops stay: the drivers of a viewport compile while an artist waits
                *("-DNEURAL_CONSTANTS=1", "-DNEURAL_ROLLED=1", "-DNEURAL_COOPERATIVE=0"),
                *("-DNEURAL_PIXELS=0", f"-DNEURAL_LIVE={int(spec.live_inputs > 0)}"),
                *sides,
                *("-no-mangle", "-line-directive-mode", "none"),
            ]
        )
    text = _PREPROCESSOR.sub("", readable(code.decode()) + "\n")
    parts = [each for each in declarations(text) if not _LEFT_OUT.search(each)]
    text = "\n".join(each for each in parts if not _is_resource(each))
    text = re.sub(r"\bneuralFloats\.quads\[", "kNeuralFloats[", text)
    return _glsl_functions(text) if suffix == GLSL else _hlsl_functions(text)


def _is_resource(declaration: str) -> bool:
    return bool(_RESOURCE.match(declaration))


def _glsl_functions(text: str) -> str:
    text = re.sub(
        r"(const )?(\w+) +(\w+)\[(\d+)\] = \{([^}]*)\};", r"\1\2 \3[\4] = \2[\4](\5);", text
    )
    return re.sub(
        r"\(?texelFetch\(\(neuralLatents\), \(\((\w+)\)\)\.xyz, \(\(\1\)\)\.w\)\)?(?=[,)])",
        r"neuralTexel(\1)",
        text,
    )


def _hlsl_functions(text: str) -> str:
    # resources among parameters become numbers that nobody reads
    text = re.sub(r"\b(Texture2DArray<float4 >|ByteAddressBuffer) ", "int ", text)
    text = re.sub(r"\b\w+\.Load\(int4\(", "neuralTexel(int4(", text)
    # fxc refuses arrays that it does not see filled
    text = re.sub(r"\bout float (\w+)\[", r"inout float \1[", text)
    text = "\n".join(_filled(each) for each in declarations(text))
    return f"static const int neuralLatents = 0;\nstatic const int neuralWeights = 0;\n{text}"


def _filled(declaration: str) -> str:
    if declaration.startswith("struct"):
        return declaration
    return _ARRAY_VARIABLE.sub(r"\1 \2[\3] = (float[\3])0;", declaration)


def fetch_text(name: str, kind: str, suffix: str) -> str:
    read = {
        GLSL: f"texelFetch({kind}Sampler, texel, 0)",
        HLSL: f"{kind}Texture.Load(int3(texel, 0))",
    }
    return f"vec3 {name}(ivec2 texel) {{ return {read[suffix]}.xyz; }}"


def array_text(kind: str, name: str, values: Sequence[str], suffix: str) -> str:
    begin, end = (f"{kind}[{len(values)}](", ")") if suffix == GLSL else ("{", "}")
    return f"const {kind} {name}[{len(values)}] = {begin}\n" + ",\n".join(values) + f"{end};"


def vector_text(numbers: NDArray[np.float32]) -> str:
    return f"vec4({', '.join(f'{float(each):.9g}' for each in numbers)})"


def translate(text: str, suffix: str) -> str:
    return as_hlsl(text) if suffix == HLSL else text


def as_hlsl(text: str) -> str:
    for pattern, word in _HLSL_WORDS:
        text = pattern.sub(word, text)
    return text


def note_text(name: str, value: str | float) -> str:
    if isinstance(value, str):
        return f'string {name} = "{value}";'
    return f"{'int' if isinstance(value, int) else 'float'} {name} = {value!r};"


def texture_text(suffix: str, kind: str, file: str) -> str:
    is_exact = kind in ("latents", "heights")
    notes = " ".join(
        note_text(name, value)
        for name, value in (
            ("ResourceName", file),
            ("ResourceType", "2D"),
            ("UIWidget", "FilePicker"),
            ("UIName", kind.capitalize()),
            ("mipmaplevels", int(is_exact)),
        )
    )
    if suffix == GLSL:
        word = "NEAREST" if is_exact else "LINEAR"
        states = f"TEXTURE_MIN_FILTER = {word}; TEXTURE_MAG_FILTER = {word};"
        states += " TEXTURE_WRAP_S = REPEAT; TEXTURE_WRAP_T = REPEAT;"
        return (
            f"uniform texture2D {kind}Texture < {notes} >;\n"
            f"uniform sampler2D {kind}Sampler = sampler_state "
            f"{{ Texture = <{kind}Texture>; {states} }};\n"
        )
    text = f"Texture2D {kind}Texture < {notes} >;\n"
    if is_exact:
        return text
    states = "Filter = MIN_MAG_MIP_LINEAR; AddressU = Wrap; AddressV = Wrap;"
    return f"{text}SamplerState {kind}Sampler {{ {states} }};\n"
