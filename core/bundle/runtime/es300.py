"""Rewrites the Slang compiler's GLSL 4.50 to OpenGL ES 3.00, which it cannot write.

ES 3.00 has neither bindings nor separate samplers, loop attributes, or lists as initialisers. The
record becomes a plain uniform, so that no buffer is needed.
"""

from __future__ import annotations

import re

_PRECISION = """precision highp float;
precision highp int;
precision highp sampler2D;
precision highp sampler2DArray;
"""
_LEFT_OUT = re.compile(
    r"^\s*(#extension .*|\[\[\w+\]\]|layout\(binding = \d+\)|uniform sampler \w+;)\n", re.MULTILINE
)
_BLOCK = re.compile(r"^layout\(std140\) uniform (\w+)Block\n\{[^}]*\}\s*(\w+);", re.MULTILINE)
_LIST = re.compile(r"(const )?(\w+) +(\w+)\[(\d+)\] = \{([^}]*)\};")
_SAMPLER_PARAMETER = re.compile(r"\bsampler (\w+)(?:, )?")
_COPY = re.compile(r"(?:^    (\w+\.\w+)\.(\w+) = (neuralRecord)\.\2;\n)+", re.MULTILINE)


def as_es300(text: str) -> str:
    """The text in OpenGL ES 3.00, without its version line."""
    text = _LEFT_OUT.sub("", f"{text}\n")
    # arrays that are written as lists need their type in front
    text = _LIST.sub(r"\1\2 \3[\4] = \2[\4](\5);", text)
    text = _BLOCK.sub(r"uniform \1 \2;", text)
    text = _COPY.sub(r"    \1 = \3;\n", text)
    text = _without_samplers(text)
    text = re.sub(r"\btexture2DArray\b", "sampler2DArray", text)
    text = re.sub(r"\btexture2D\b", "sampler2D", text)
    return _PRECISION + text


def _without_samplers(text: str) -> str:
    """Textures bring their sampler: drops samplers among parameters and arguments."""
    names = {*_SAMPLER_PARAMETER.findall(text)} | {"neuralSampler"}
    text = re.sub(r"sampler2DArray\((\w+), ?(\w+)\)", r"\1", text)
    parts = []
    for part in re.split(r"(?<=^\}\n)", text, flags=re.MULTILINE):
        own = {*_SAMPLER_PARAMETER.findall(part)} & names | {"neuralSampler"}
        part = _SAMPLER_PARAMETER.sub("", part)
        for name in own:
            part = re.sub(rf"\b{name}, ", "", part)
            part = re.sub(rf", {name}\b", "", part)
        parts.append(part)
    return "".join(parts)
