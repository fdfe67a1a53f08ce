"""Templates of shaders: words like @NAME@, and lines that only some materials have.

    @if relief
    ...
    @else
    ...
    @end

`@if` names a condition, or `not` and a condition. Blocks nest.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from verdigris.core.geometry.height_map import MEAN_OF_BYTES
from verdigris.core.geometry.relief import BIAS, COSINE, STEPS
from verdigris.shaders import SHADER_FOLDER

# What a material can have that its shader needs more lines for.
RELIEF, THIN, LEAF, CLEAR = "relief", "thin", "leaf", "clear"
# It has the decoders of both sides, a solid's too.
BOTH = "both"
# It has none of them.
PLAIN = "plain"


def fill(text: str, words: Mapping[str, object], conditions: Collection[str] = ()) -> str:
    """The text with the lines that hold, and @WORD@ replaced by its value."""
    text = _chosen(text, conditions)
    for word, value in words.items():
        text = text.replace(f"@{word}@", str(value))
    return text


def relief_text() -> str:
    """neuralRelief() for shaders that read the height map by a function of their own."""
    text = (SHADER_FOLDER / "bundle" / "engines" / "relief.glsl").read_text("utf-8")
    words = {"STEPS": STEPS, "COSINE": COSINE, "BIAS": BIAS, "MEAN": f"{MEAN_OF_BYTES:.10f}"}
    return fill(text, words)


def _chosen(text: str, conditions: Collection[str]) -> str:
    kept, holds = [], [True]
    for line in text.splitlines(keepends=True):
        match line.split():
            case ["@if", "not", name]:
                holds.append(name not in conditions)
            case ["@if", name]:
                holds.append(name in conditions)
            case ["@else"]:
                holds[-1] = not holds[-1]
            case ["@end"]:
                holds.pop()
            case _ if all(holds):
                kept.append(line)
    return "".join(kept)
