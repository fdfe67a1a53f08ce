"""The decoder as shader text for engines, and its numbers.

The text is GLSL of a subset that Godot's language and, with other names of types, HLSL share. The
numbers are vectors of four in the order of the browser package: matrices as blocks of 4 x 4 by
columns, the first layer split into what depends on the view alone and the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from verdigris.core.base.array_types import FloatArray, Floats
from verdigris.core.bundle.shader_templates import THIN, fill
from verdigris.core.material import sides
from verdigris.core.network.parameters import Parameters
from verdigris.core.network.spec import (
    COSINE_OFFSET,
    FRAME_INPUTS,
    FRAME_ROWS,
    HALF_Z_MINIMUM,
    LEAKY_SLOPE,
    LENGTH_EPSILON,
    LOGARITHM_SHARE,
    SMELU_WIDTH,
    STRETCH_LIMIT,
    NetworkSpec,
)
from verdigris.shaders import SHADER_FOLDER

_TEXT, _SIDES = (
    SHADER_FOLDER / "bundle" / "engines" / f"{name}.glsl" for name in ("decoder", "sides")
)
# The place of the second decoder's numbers.
BELOW = "below"
# Inputs of a frame that depend on the view alone: c.z and l(c.z).
_OF_VIEW = (7, 9)
_OF_LIGHT = (0, 1, 2, 3, 4, 5, 6, 8)
_HLSL_WORDS = (
    (re.compile(r"\bvec([234])\b"), r"float\1"),
    (re.compile(r"\bivec([234])\b"), r"int\1"),
    (re.compile(r"\bmix\("), "lerp("),
    (re.compile(r"^( +)for \(int", re.MULTILINE), r"\1[loop] for (int"),
    # textures and numbers of the material are arguments there
    (
        re.compile(
            r"\b(neural(?:Number|Latent|Times|Lod|(?:Prepare|Shade)(?:Side)?))"
            r"\((?=(int|float\d?|Neural(?:Place|Side)) )"
        ),
        r"\1(NeuralMaterial m, ",
    ),
    (
        re.compile(
            r"\b(neural(?:Number|Latent|Times|Lod|(?:Prepare|Shade)(?:Side)?))\((?!NeuralMaterial)"
        ),
        r"\1(m, ",
    ),
    (re.compile(r"\bneuralSize\(\)"), "neuralSize(m)"),
)


@dataclass(frozen=True)
class PackedNumbers:
    """The numbers of a decoder, and where each part begins."""

    quads: Floats
    """[count, 4]; halves hold them exactly."""
    places: dict[str, int]


def pack_numbers(parameters: Parameters) -> PackedNumbers:
    """The numbers of a decoder as its text reads them. Those of a thin wall have its second decoder
    behind the first. A solid needs none: what it refracts of one light is a caustic, which engines
    do not show."""
    above, *below = map(_pack_side, parameters.sides)
    if parameters.index_below != sides.THIN:
        return above
    places = above.places | {BELOW: len(above.quads)}
    return PackedNumbers(np.concatenate([above.quads, below[0].quads]), places)


def _pack_side(parameters: Parameters) -> PackedNumbers:
    spec = parameters.spec
    parts: list[Floats] = []
    places: dict[str, int] = {}

    def add(name: str, quads: Floats) -> None:
        places[name] = sum(map(len, parts))
        parts.append(quads)

    latents, live = spec.latent_channels, spec.live_inputs
    place = latents + live
    live_columns = list(range(latents, place))

    def of_frames(inputs: tuple[int, ...]) -> list[int]:
        return [place + FRAME_INPUTS * k + each for k in range(spec.frame_count) for each in inputs]

    first, *others = spec.layers
    weights = parameters.weights(first)
    frames = parameters.frames().reshape(FRAME_ROWS * spec.frame_count, place)
    add("frames", _blocks(frames, list(range(latents))))
    add("view", _blocks(weights, [*range(latents), *of_frames(_OF_VIEW)]))
    add("bias0", _padded(parameters.bias(first)))
    add("light", _blocks(weights, of_frames(_OF_LIGHT)))
    for number, layer in enumerate(others, 1):
        add(f"layer{number}", _blocks(parameters.weights(layer), list(range(layer.inputs))))
        add(f"bias{number}", _padded(parameters.bias(layer)))
    if live:
        add("framesLive", _blocks(frames, live_columns))
        add("viewLive", _blocks(weights, live_columns))
    return PackedNumbers(np.concatenate(parts), places)


def _padded(values: FloatArray) -> Floats:
    padded = np.zeros(4 * _quads(len(values)), np.float32)
    padded[: len(values)] = values
    return padded.reshape(-1, 4)


def _blocks(matrix: FloatArray, columns: list[int]) -> Floats:
    """Blocks of 4 x 4 by columns, row by row; what is missing is 0."""
    rows, width = _quads(len(matrix)), _quads(len(columns))
    padded = np.zeros((4 * rows, 4 * width), np.float32)
    padded[: len(matrix), : len(columns)] = matrix[:, columns]
    return np.ascontiguousarray(padded.reshape(rows, 4, 4 * width).swapaxes(1, 2)).reshape(-1, 4)


def _quads(length: int) -> int:
    return -(-length // 4)


def decoder_text(spec: NetworkSpec, places: dict[str, int], is_hlsl: bool = False) -> str:
    """The text of neuralPrepare() and neuralShade(). A thin wall has them for each side:
    sides_text() joins them."""
    layers, frames, width = spec.latent_layers, spec.frame_count, _quads(spec.hidden_width)
    views = _quads(2 * frames)
    zero = "vec4(0.0, 0.0, 0.0, 0.0)"
    live = "vec4(live.x, live.y, live.z, 0.0)"
    has_live = spec.live_inputs > 0

    def of_live(at: str) -> str:
        return f"neuralTimes({base}{at}, {live})"

    base = "base + " if BELOW in places else ""
    frames_live, view_live = places.get("framesLive", 0), places.get("viewLive", 0)
    words: dict[str, object] = {
        "FRAMES": frames,
        "WIDTH": width,
        "LAYERS": layers,
        "VIEWS": views,
        "PLACE": layers + views,
        "LIGHT": 2 * frames,
        "AT_FRAMES": places["frames"],
        "FRAME_STEP": 8 * layers,
        "HALF_STEP": 4 * layers,
        "AT_BIAS0": places["bias0"],
        "AT_VIEW": places["view"],
        "VIEW_STEP": 4 * (layers + views),
        "FRAMES_LIVE_0": of_live(f"{frames_live} + 8 * k") if has_live else zero,
        "FRAMES_LIVE_1": of_live(f"{frames_live + 4} + 8 * k") if has_live else zero,
        "VIEW_LIVE": f" + {of_live(f'{view_live} + 4 * row')}" if has_live else "",
        "LENGTH_EPSILON": f"{LENGTH_EPSILON:.7f}",
        "LOGARITHM_SHARE": LOGARITHM_SHARE,
        "COSINE_OFFSET": COSINE_OFFSET,
        "STRETCH_LIMIT": float(STRETCH_LIMIT),
        "HALF_Z_MINIMUM": HALF_Z_MINIMUM,
        "ACTIVATION": _ACTIVATIONS[spec.activation],
        "NETWORK": _network(spec, places, width, base),
        "OUTPUT": _output(spec),
        "BASE": base,
    }
    text = fill(_TEXT.read_text("utf-8"), words, [THIN] if base else [])
    return as_hlsl(text) if is_hlsl else text


def sides_text(places: dict[str, int], is_hlsl: bool = False) -> str:
    """neuralPrepare() and neuralShade() of a thin wall, behind its decoder; nothing for others."""
    if BELOW not in places:
        return ""
    text = fill(_SIDES.read_text("utf-8"), {"BELOW": places[BELOW]})
    return as_hlsl(text) if is_hlsl else text


def as_hlsl(text: str) -> str:
    """The text with HLSL's names of types and functions."""
    for pattern, word in _HLSL_WORDS:
        text = pattern.sub(word, text)
    return text


_ACTIVATIONS = {
    "silu": "return x / (1.0 + exp(-x));",
    "relu": "return max(x, 0.0);",
    "leaky_relu": f"return max(x, {LEAKY_SLOPE} * x);",
    "leaky_smelu": (
        f"vec4 q = clamp(x + {SMELU_WIDTH}, 0.0, {2 * SMELU_WIDTH});\n"
        f"    return {LEAKY_SLOPE} * x + {1 - LEAKY_SLOPE} * "
        f"(q * q / {4 * SMELU_WIDTH} + max(x - {SMELU_WIDTH}, 0.0));"
    ),
}


def _network(spec: NetworkSpec, places: dict[str, int], width: int, base: str) -> str:
    """The layers behind the split first one."""
    parts = [
        _layer(
            *("x0", width, "s.view[row]", f"{base}{places['light']}", "light"),
            *(2 * spec.frame_count, True),
        )
    ]
    last = len(spec.layers) - 1
    for number in range(1, last + 1):
        rows = _quads(spec.layers[number].outputs)
        start = f"neuralNumber({base}{places[f'bias{number}']} + row)"
        at = f"{base}{places[f'layer{number}']}"
        parts.append(_layer(f"x{number}", rows, start, at, f"x{number - 1}", width, number < last))
    return "\n".join(parts)


def _layer(
    name: str, rows: int, start: str, at: str, inputs: str, count: int, is_activated: bool
) -> str:
    result = "neuralActivate(sum)" if is_activated else "sum"
    return f"""    vec4 {name}[{rows}];
    for (int row = 0; row < {rows}; row++)
    {{
        vec4 sum = {start};
        for (int i = 0; i < {count}; i++)
            sum += neuralTimes({at} + {4 * count} * row + 4 * i, {inputs}[i]);
        {name}[row] = {result};
    }}"""


def _output(spec: NetworkSpec) -> str:
    """The sum of exponentials."""
    name = f"x{len(spec.layers) - 1}"

    def exponent(channel: int) -> str:
        quad = f"{name}[{channel // 4}].{'xyzw'[channel % 4]}"
        return f"min({quad} - {float(spec.output_shift)!r}, {float(spec.output_limit)!r})"

    lobes = [
        f"exp(vec3({', '.join(exponent(3 * lobe + channel) for channel in range(3))}))"
        for lobe in range(spec.lobes)
    ]
    return "\n        + ".join(lobes)
