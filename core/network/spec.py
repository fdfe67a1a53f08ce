"""Every width, offset and Slang type name of the student, in one place.

The flat decoder vector holds, in this order: the frame matrix (row-major, no bias), then for each
layer its weights (row-major, [outputs][inputs]) and its bias. Latents are one flat array of
texels: level by level, in a level material by material, row by row (v), texel by texel (u).
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

from verdigris.core.base.errors import SettingsError

# Name -> the Slang type that implements it.
ACTIVATIONS = {
    "leaky_relu": "LeakyRelu",
    "silu": "Silu",
    "leaky_smelu": "LeakySmelu",
    "relu": "Relu",
}
LOSSES = {
    "cbrt_bounded": "CbrtBounded",
    "cbrt_log": "CbrtLog",
    "cbrt_l1": "CbrtL1",
    "log_l1": "LogL1",
    "l1": "L1",
}

LEAKY_SLOPE = 0.01
# Half the width of the quadratic joint of leaky_smelu.
SMELU_WIDTH = 1.0
# Response values above this are clamped before any loss sees them.
RESPONSE_LIMIT = 3e4
# A bounded loss is as steep, by a prediction's logarithm, as its cube root, and as this at most.
STEEPEST_ROOT = 3.0
# Lengths below this do not divide.
LENGTH_EPSILON = 1e-6
# Smallest 1 + h.z in the rotation that takes h to z.
HALF_Z_MINIMUM = 0.01

# Half vectors are stretched by exp(-this) to exp(this). Twice as much leads texels astray.
STRETCH_LIMIT = 3.0
# Texels of every level but the finest are means over so many of their own widths: what is filtered
# between them is smooth then, and a level serves footprints that are twice as wide as its texels.
COARSE_WIDTH = 2

# Decoders see a frame's cosines and a share of their logarithms, of the cosine plus an offset.
COSINE_OFFSET = 0.02
LOGARITHM_SHARE = 0.25

# Matrix hardware multiplies tiles of this width.
TILE = 16
# A learned frame is a raw normal and a raw tangent, and how it stretches the half vector along
# tangent and bitangent.
AXIS_ROWS = 6
FRAME_ROWS = 8
# Half vector and difference vector, then the normal's cosines with both directions and the
# logarithms of these.
VECTOR_INPUTS = 6
FRAME_INPUTS = 10
# Of a response.
CHANNELS = 3
# What half floats end at.
LARGEST_HALF = 65504.0
# Of whole numbers of a NetworkSpec, the least and the largest.
RANGES = {
    "hidden_width": (1, 256),
    "hidden_layers": (1, 8),
    "latent_channels": (1, 64),
    "frame_count": (1, 4),
    "lobes": (1, 4),
}


def _require(holds: bool, name: str, value: object, remedy: str) -> None:
    if not holds:
        raise SettingsError(f"{name} is {value!r}: {remedy}")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class LayerSpec:
    """One linear layer and where it lies in the flat decoder vector."""

    inputs: int
    outputs: int
    weight_offset: int

    @property
    def bias_offset(self) -> int:
        return self.weight_offset + self.inputs * self.outputs

    @property
    def end(self) -> int:
        return self.bias_offset + self.outputs

    @property
    def padded_inputs(self) -> int:
        return pad_to_tile(self.inputs)

    @property
    def padded_outputs(self) -> int:
        return pad_to_tile(self.outputs)


def is_within_halves(output_limit: float, lobes: int) -> bool:
    """Whether a half float holds the sum of so many lobes."""
    return lobes * math.exp(min(output_limit, 100.0)) < LARGEST_HALF


def limit_remedy(lobes: int) -> str:
    return f"use at most {math.floor(100 * math.log(LARGEST_HALF / lobes)) / 100}"


@dataclass(frozen=True)
class NetworkSpec:
    """The decoder's shape and constants; everything else about it is derived here."""

    hidden_width: int = 32
    """Neurons in each hidden layer."""

    hidden_layers: int = 2
    """Number of hidden layers."""

    activation: str = "leaky_relu"
    """Activation of the hidden layers, a key of ACTIVATIONS."""

    latent_channels: int = 8
    """Channels of a latent texel."""

    frame_count: int = 2
    """Learned shading frames, each adding a half and a difference vector to the inputs."""

    lobes: int = 2
    """Exponentials that a response is the sum of: a base and what lies on it need not share one."""

    output_shift: float = 3.0
    """Subtracted from the raw outputs before exp, so that an untrained decoder starts dark."""

    output_limit: float = 10.3
    """Largest exponent of a lobe: two of them are just below the largest half float."""

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            in_range = _is_int(value) and low <= value <= high
            _require(in_range, name, value, f"use a whole number from {low} to {high}")
        known = ", ".join(ACTIVATIONS)
        _require(
            self.activation in ACTIVATIONS, "activation", self.activation, f"use one of {known}"
        )
        for name in ("output_shift", "output_limit"):
            value = getattr(self, name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            _require(is_number and math.isfinite(value), name, value, "use a finite number")
        fits = is_within_halves(self.output_limit, self.lobes)
        _require(fits, "output_limit", self.output_limit, limit_remedy(self.lobes))

    @property
    def frame_rows(self) -> int:
        return FRAME_ROWS * self.frame_count

    @property
    def frame_offset(self) -> int:
        return 0

    @property
    def frame_size(self) -> int:
        return self.frame_rows * self.latent_channels

    @property
    def inputs(self) -> int:
        """Of the first layer: latents, then FRAME_INPUTS of each frame."""
        return self.latent_channels + FRAME_INPUTS * self.frame_count

    @property
    def outputs(self) -> int:
        return CHANNELS * self.lobes

    def inputs_of_frame(self, frame: int) -> slice:
        """Where a frame's inputs lie among all."""
        start = self.latent_channels + FRAME_INPUTS * frame
        return slice(start, start + FRAME_INPUTS)

    @cached_property
    def layers(self) -> tuple[LayerSpec, ...]:
        widths = [self.inputs, *[self.hidden_width] * self.hidden_layers, self.outputs]
        layers: list[LayerSpec] = []
        offset = self.frame_offset + self.frame_size
        for inputs, outputs in pairwise(widths):
            layers.append(LayerSpec(inputs, outputs, offset))
            offset = layers[-1].end
        return tuple(layers)

    @property
    def parameter_count(self) -> int:
        """Length of the flat decoder vector: frames, weights and biases."""
        return self.layers[-1].end

    @property
    def multiply_adds(self) -> int:
        """Of the matrices, in one evaluation."""
        layers = sum(layer.inputs * layer.outputs for layer in self.layers)
        return self.frame_size + layers

    @property
    def name(self) -> str:
        return f"{self.hidden_layers}x{self.hidden_width}"

    def slang_constants(self) -> dict[str, int | float]:
        """The numbers that shaders need, by their Slang names."""
        constants: dict[str, int | float] = {
            "kLatentChannels": self.latent_channels,
            "kFrameCount": self.frame_count,
            "kRowsOfFrame": FRAME_ROWS,
            "kFrameInputs": FRAME_INPUTS,
            "kFrameRows": self.frame_rows,
            "kFrameOffset": self.frame_offset,
            "kInputs": self.inputs,
            "kPaddedInputs": pad_to_tile(self.inputs),
            "kHiddenWidth": self.hidden_width,
            "kPaddedHiddenWidth": pad_to_tile(self.hidden_width),
            "kHiddenLayers": self.hidden_layers,
            "kLayerCount": len(self.layers),
            "kLobes": self.lobes,
            "kOutputs": self.outputs,
            "kPaddedOutputs": pad_to_tile(self.outputs),
            "kDecoderParameters": self.parameter_count,
            "kOutputShift": float(self.output_shift),
            "kOutputLimit": float(self.output_limit),
            "kLeakySlope": LEAKY_SLOPE,
            "kSmeluWidth": SMELU_WIDTH,
            "kResponseLimit": RESPONSE_LIMIT,
            "kSteepestRoot": STEEPEST_ROOT,
            "kLengthEpsilon": LENGTH_EPSILON,
            "kHalfZMinimum": HALF_Z_MINIMUM,
            "kStretchLimit": STRETCH_LIMIT,
            "kCosineOffset": COSINE_OFFSET,
            "kLogarithmShare": LOGARITHM_SHARE,
        }
        for index, layer in enumerate(self.layers):
            constants[f"kWeightOffset{index}"] = layer.weight_offset
            constants[f"kBiasOffset{index}"] = layer.bias_offset
        return constants

    def to_json(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> NetworkSpec:
        """Raises SettingsError for text that is no specification; absent fields get defaults."""
        try:
            values: Any = json.loads(text)
        except ValueError as error:
            raise SettingsError(f"network specification is not JSON: {error}") from error
        _require(isinstance(values, dict), "network specification", values, "use a JSON object")
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        _require(not unknown, "network specification", unknown, f"known fields: {sorted(known)}")
        return cls(**values)


@dataclass(frozen=True)
class LatentLayout:
    """Where each latent texel lies in the flat array of texels."""

    width: int
    """Texels in u on the finest level."""

    height: int
    """Texels in v on the finest level."""

    levels: int = 1
    """Mip levels, the finest included."""

    materials: int = 1
    """Latent textures that share the decoder."""

    def __post_init__(self) -> None:
        for name, high in (("width", 1 << 15), ("height", 1 << 15), ("materials", 1 << 12)):
            value = getattr(self, name)
            in_range = _is_int(value) and 1 <= value <= high
            _require(in_range, name, value, f"use a whole number from 1 to {high}")
        most = max(self.width, self.height).bit_length()
        in_range = _is_int(self.levels) and 1 <= self.levels <= most
        _require(in_range, "levels", self.levels, f"use 1 to {most} for this resolution")

    def level_size(self, level: int) -> tuple[int, int]:
        """Height and width of a level."""
        return max(1, self.height >> level), max(1, self.width >> level)

    @cached_property
    def level_offsets(self) -> tuple[int, ...]:
        """First texel of each level, and the count of all texels at the end."""
        offsets = [0]
        for level in range(self.levels):
            height, width = self.level_size(level)
            offsets.append(offsets[-1] + self.materials * height * width)
        return tuple(offsets)

    @property
    def texel_count(self) -> int:
        return self.level_offsets[-1]


def pad_to_tile(width: int) -> int:
    """The width rounded up to whole tiles of matrix hardware."""
    return -(-width // TILE) * TILE


PRESETS = {
    "2x16": NetworkSpec(hidden_layers=2, hidden_width=16),
    "2x32": NetworkSpec(hidden_layers=2, hidden_width=32),
    "3x64": NetworkSpec(hidden_layers=3, hidden_width=64),
}


def require_preset(name: str) -> NetworkSpec:
    """The decoder of that name; raises SettingsError naming those that exist."""
    _require(name in PRESETS, "network", name, f"use one of {', '.join(PRESETS)}")
    return PRESETS[name]


def require_loss(name: str, setting: str = "loss") -> None:
    """Refuses a loss that does not exist, naming those that do."""
    _require(name in LOSSES, setting, name, f"use one of {', '.join(LOSSES)}")
