"""The generated Slang module of an architecture: its sizes, and the places of its weights."""

from __future__ import annotations

from collections.abc import Mapping

from verdigris.core.base.device import MOST_CONSTANT_BYTES
from verdigris.core.bundle.files.manifest_network import FRAMES, bias_name, head_names, weights_name
from verdigris.core.bundle.files.manifest_parts import Tensor
from verdigris.core.bundle.files.weights import plan_tensors
from verdigris.core.bundle.half_floats import CAREFUL_UNITS
from verdigris.core.bundle.runtime.readable_text import LICENCE
from verdigris.core.network.spec import (
    ACTIVATIONS,
    COSINE_OFFSET,
    FRAME_INPUTS,
    HALF_Z_MINIMUM,
    HEAD_SLOPE,
    HEAD_WIDTH,
    LEAKY_SLOPE,
    LEAST_LEAN_COSINE,
    LEAST_LOBE_WEIGHT,
    LEAST_LOBE_WIDTH,
    LEAST_VIEW_COSINES,
    LENGTH_EPSILON,
    LOGARITHM_SHARE,
    MOST_LOBE_WIDTH,
    MOST_TILT,
    SMELU_WIDTH,
    SPLIT_WIDTH,
    STRETCH_LIMIT,
    TILT_SHARE,
    NetworkSpec,
)

NETWORK_MODULE = "neural_network"
_HALVES = 2


def fits_in_constants(spec: NetworkSpec, decoders: int = 1) -> bool:
    """Whether the NeuralFloats of this decoder, or of as many, fit into a constant buffer."""
    floats = plan_tensors(spec)[1] // _HALVES
    return 4 * floats * decoders <= MOST_CONSTANT_BYTES


def network_source(spec: NetworkSpec) -> str:
    """The only module that differs between architectures."""
    tensors, size = plan_tensors(spec)
    places = {tensor.name: tensor for tensor in tensors}
    layers = range(len(spec.layers))
    heads = [places[name] for name in head_names()]
    matrices = [places[weights_name(layer)] for layer in layers]
    lines = [
        LICENCE,
        "// Generated: one architecture, and where its numbers lie in weights.bin, in bytes.",
        "// kPadded... are lengths of rows with their padding.",
        "",
        *(
            f"public static const int k{name} = {number};"
            for number, name in enumerate(ACTIVATIONS.values())
        ),
        f"public static const int kActivation = k{ACTIVATIONS[spec.activation]};",
    ]
    for name, value in _numbers(spec, places, size).items():
        kind = "int" if isinstance(value, int) else "float"
        lines.append(f"public static const {kind} {name} = {value!r};")
    biases = [places[bias_name(layer)] for layer in layers]
    for name, chosen in (
        ("kMatrices", matrices),
        ("kBiases", biases),
        ("kHeadMatrices", heads[::2]),
        ("kHeadBiases", heads[1::2]),
    ):
        offsets = ", ".join(str(tensor.offset) for tensor in chosen)
        lines.append(f"public static const uint {name}[{len(chosen)}] = {{ {offsets} }};")
    return "\n".join(lines) + "\n"


def _numbers(
    spec: NetworkSpec, places: Mapping[str, Tensor], weight_bytes: int
) -> dict[str, int | float]:
    """The sizes of the decoder and its constants, by the names of the shaders."""
    return {
        "kLatentChannels": spec.latent_channels,
        "kLiveInputs": spec.live_inputs,
        "kPlaceInputs": spec.place_inputs,
        "kPaddedLatents": places[FRAMES].row_stride // _HALVES,
        "kFrameCount": spec.frame_count,
        "kFrameInputs": FRAME_INPUTS,
        "kInputs": spec.inputs,
        "kPaddedInputs": places[weights_name(0)].row_stride // _HALVES,
        "kHiddenWidth": spec.hidden_width,
        "kPaddedHidden": places[weights_name(1)].row_stride // _HALVES,
        "kHiddenLayers": spec.hidden_layers,
        "kCarefulUnits": min(CAREFUL_UNITS, spec.hidden_width),
        "kOutputs": spec.outputs,
        "kWeightBytes": weight_bytes,
        "kFrames": places[FRAMES].offset,
        "kOutputShift": float(spec.output_shift),
        "kOutputLimit": float(spec.output_limit),
        "kLeakySlope": LEAKY_SLOPE,
        "kSmeluWidth": SMELU_WIDTH,
        "kLengthEpsilon": LENGTH_EPSILON,
        "kHalfZMinimum": HALF_Z_MINIMUM,
        "kStretchLimit": STRETCH_LIMIT,
        "kCosineOffset": COSINE_OFFSET,
        "kLogarithmShare": LOGARITHM_SHARE,
        "kHeadInputs": spec.head_inputs,
        "kPaddedHeadInputs": places[head_names()[0]].row_stride // _HALVES,
        "kHeadWidth": HEAD_WIDTH,
        "kHeadOutputs": spec.head_outputs,
        "kHeadSlope": HEAD_SLOPE,
        "kSplitWidth": SPLIT_WIDTH,
        "kSplitInputs": spec.split_inputs,
        "kPaddedSplitInputs": places[head_names()[4]].row_stride // _HALVES,
        "kSplitRatios": spec.split_inputs - spec.head_inputs,
        "kSplitParts": spec.split_parts,
        "kLobeWidthMinimum": LEAST_LOBE_WIDTH,
        "kLobeWidthMaximum": MOST_LOBE_WIDTH,
        "kLobeWeightMinimum": LEAST_LOBE_WEIGHT,
        "kViewCosineMinimum": LEAST_VIEW_COSINES[0],
        "kViewCosineMaximum": LEAST_VIEW_COSINES[1],
        "kTiltShare": TILT_SHARE,
        "kTiltMaximum": MOST_TILT,
        "kLeanCosineMinimum": LEAST_LEAN_COSINE,
    }
