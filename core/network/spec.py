"""The student's shape: every width, offset, constant and Slang type name.

The flat decoder vector holds the frame matrix (row-major, no bias), then each layer's weights
(row-major, [outputs][inputs]) and bias. Latents are one flat array of texels, ordered by level,
material, row (v) and column (u).
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import pairwise

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import find_json
from verdigris.core.material.live_inputs.live_input import MOST_LIVE_INPUTS

# Name -> Slang type.
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
# Half the width of the parabola of leaky_smelu.
SMELU_WIDTH = 1.0
# Losses clamp responses at this value.
RESPONSE_LIMIT = 3e4
# Largest slope of a bounded loss by a prediction's logarithm; below, the slope is its cube root.
STEEPEST_ROOT = 3.0
# Least divisor in normalisation.
LENGTH_EPSILON = 1e-6
# Least 1 + h.z in the rotation from h to z.
HALF_Z_MINIMUM = 0.01

# Half vectors are stretched by exp(-this) to exp(this). With twice as much, texels diverge.
STRETCH_LIMIT = 3.0
# Width (GGX's alpha) of a highlight whose half vectors are not stretched. It guides directions of
# light, and need not be exact.
UNSTRETCHED_WIDTH = 0.08
# Texels of coarse levels are means over this many of their own widths. Interpolation is smooth
# then, and a level serves footprints twice as wide as its texels.
COARSE_WIDTH = 2

# Decoder inputs: LOGARITHM_SHARE * log(cosine + COSINE_OFFSET).
COSINE_OFFSET = 0.02
LOGARITHM_SHARE = 0.25

# The heads of sampler and split: neurons of their hidden layers, and the slope of the activation
# below 0.
HEAD_WIDTH = 16
SPLIT_WIDTH = 24
HEAD_SLOPE = 0.1
# Split-sum lighting: parts of each frame's lobe and of diffuse light, and evaluations for them.
FRAME_PARTS, DIFFUSE_PARTS = 2, 3
FRAME_RATIOS, DIFFUSE_RATIOS = 3, 2
# GGX alpha of the sampler's lobes.
LEAST_LOBE_WIDTH = 0.004
MOST_LOBE_WIDTH = 4.0
# Tilt of a lobe by an output of the head, as a tangent, and its limit.
TILT_SHARE = 0.2
MOST_TILT = 1.0
# Least cosine between a frame's normal and that of the next frame, where a lobe leans towards it.
LEAST_LEAN_COSINE = 0.2
# Least share of each lobe, so that no direction with light is never drawn.
LEAST_LOBE_WEIGHT = 0.005
# The least cosine of the view in a lobe's frame is the lobe's larger width, within these limits:
# frames can tilt away from the view, and a narrow lobe that is lifted by more than its width misses
# its highlight.
LEAST_VIEW_COSINES = (0.01, 0.05)

# Tile width of matrix hardware.
TILE = 16
# Rows of a learned frame: raw normal, raw tangent, and the stretch along tangent and bitangent.
AXIS_ROWS = 6
FRAME_ROWS = 8
# Inputs of a frame: half vector, difference vector, two cosines, two logarithms.
VECTOR_INPUTS = 6
FRAME_INPUTS = 10
# Side of the blocks in which GPUs compress textures.
BLOCK = 4
# Channels of a response, and of a layer of the latent texture.
CHANNELS = 3
LAYER_CHANNELS = 4
# The largest half float.
LARGEST_HALF = 65504.0
# Smallest and largest values of a NetworkSpec's whole numbers.
RANGES = {
    "hidden_width": (1, 256),
    "hidden_layers": (1, 8),
    "latent_channels": (1, 64),
    "frame_count": (1, 4),
    "lobes": (1, 4),
    "live_inputs": (0, MOST_LIVE_INPUTS),
}


def _require(holds: bool, name: str, value: object, remedy: str) -> None:
    if not holds:
        raise SettingsError(f"{name} is {value!r}: {remedy}")


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class LayerSpec:
    """A linear layer and its place in the flat decoder vector."""

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


def fits_half_floats(output_limit: float, lobes: int) -> bool:
    """Whether the sum of so many lobes fits a half float."""
    return lobes * math.exp(min(output_limit, 100.0)) < LARGEST_HALF


def output_limit_remedy(lobes: int) -> str:
    return f"use at most {math.floor(100 * math.log(LARGEST_HALF / lobes)) / 100}"


@dataclass(frozen=True)
class NetworkSpec:
    """The decoder's shape and constants; all other sizes are derived from these."""

    hidden_width: int = 32
    """Neurons in each hidden layer."""

    hidden_layers: int = 2
    """Number of hidden layers."""

    activation: str = "leaky_relu"
    """Activation of the hidden layers, a key of ACTIVATIONS."""

    latent_channels: int = 8
    """Channels of a latent texel."""

    frame_count: int = 2
    """Number of learned shading frames."""

    lobes: int = 2
    """Number of exponentials whose sum is the response, for example a base and its coat."""

    live_inputs: int = 0
    """Number of values from 0 to 1 that an evaluation is given beside its latents."""

    output_shift: float = 3.0
    """Subtracted from the raw outputs before exp: an untrained decoder is dark."""

    output_limit: float = 10.3
    """Largest exponent of a lobe: two lobes stay below the largest half float."""

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
        fits = fits_half_floats(self.output_limit, self.lobes)
        _require(fits, "output_limit", self.output_limit, output_limit_remedy(self.lobes))

    @property
    def latent_layers(self) -> int:
        """Layers of the latent texture, of four channels each."""
        return -(-self.latent_channels // LAYER_CHANNELS)

    @property
    def frame_rows(self) -> int:
        return FRAME_ROWS * self.frame_count

    @property
    def frame_offset(self) -> int:
        return 0

    @property
    def frame_size(self) -> int:
        return self.frame_rows * self.place_inputs

    @property
    def place_inputs(self) -> int:
        """What frames and layers are given of a place: its latents, then the live values."""
        return self.latent_channels + self.live_inputs

    @property
    def inputs(self) -> int:
        """Inputs of the first layer: those of the place, then FRAME_INPUTS for each frame."""
        return self.place_inputs + FRAME_INPUTS * self.frame_count

    @property
    def outputs(self) -> int:
        return CHANNELS * self.lobes

    def inputs_of_frame(self, frame: int) -> slice:
        """The place of a frame's inputs among all inputs."""
        start = self.place_inputs + FRAME_INPUTS * frame
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
        """Length of the flat decoder vector."""
        return self.layers[-1].end

    def joined_count(self, sides: int) -> int:
        """Length of the decoders of all sides as devices hold them: each padded to groups of four
        numbers if there are two."""
        count = self.parameter_count
        return count if sides == 1 else sides * (count + -count % 4)

    @property
    def head_inputs(self) -> int:
        """Inputs of the sampler's head: those of the place, and for each frame and the surface the
        cosine of the view and its logarithm."""
        return self.place_inputs + 2 * self.frame_count + 2

    @property
    def head_outputs(self) -> int:
        """Two widths for each frame, a weight for each of frame_count + 2 lobes, a tilt along both
        tangents of each frame, and how far it leans towards the next frame."""
        return self.tilted_outputs + self.frame_count

    @property
    def tilted_outputs(self) -> int:
        """Those without leaning, which are all that bundles before 4.6 have."""
        return self.untilted_outputs + 2 * self.frame_count

    @property
    def untilted_outputs(self) -> int:
        """Those without tilts, which are all that bundles before 4.4 have."""
        return 3 * self.frame_count + 2

    @property
    def split_inputs(self) -> int:
        """Inputs of the split's head: those of the sampler's, and one for each evaluation."""
        return self.head_inputs + FRAME_RATIOS * self.frame_count + DIFFUSE_RATIOS

    @property
    def split_parts(self) -> int:
        """Outputs of the split's head: a factor for each part of the light."""
        return FRAME_PARTS * self.frame_count + DIFFUSE_PARTS

    @cached_property
    def head_layers(self) -> tuple[LayerSpec, ...]:
        """Two layers of the sampler's head and two of the split's, in a vector of their own."""
        layers: list[LayerSpec] = []
        for inputs, width, outputs in (
            (self.head_inputs, HEAD_WIDTH, self.head_outputs),
            (self.split_inputs, SPLIT_WIDTH, self.split_parts),
        ):
            hidden = LayerSpec(inputs, width, layers[-1].end if layers else 0)
            layers += [hidden, LayerSpec(width, outputs, hidden.end)]
        return tuple(layers)

    @property
    def multiply_adds(self) -> int:
        """Multiply-adds of one evaluation."""
        layers = sum(layer.inputs * layer.outputs for layer in self.layers)
        return self.frame_size + layers

    @property
    def name(self) -> str:
        return f"{self.hidden_layers}x{self.hidden_width}"

    def slang_constants(self) -> dict[str, int | float]:
        """Constants for shaders, by Slang name."""
        constants: dict[str, int | float] = {
            "kLatentChannels": self.latent_channels,
            "kLiveInputs": self.live_inputs,
            "kPlaceInputs": self.place_inputs,
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
        """Raises SettingsError for invalid text. Missing fields get defaults."""
        values = find_json(text)
        if values is None:
            raise SettingsError("network specification is not JSON: bake it again")
        _require(isinstance(values, dict), "network specification", values, "use a JSON object")
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(values) - known)
        _require(not unknown, "network specification", unknown, f"known fields: {sorted(known)}")
        return cls(**values)


@dataclass(frozen=True)
class LatentLayout:
    """The place of each latent texel in the flat array."""

    width: int
    """Texels in u on the finest level."""

    height: int
    """Texels in v on the finest level."""

    levels: int = 1
    """Mip levels, with the finest."""

    materials: int = 1
    """Number of latent textures that share the decoder."""

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
        """First texel of each level, then the number of texels."""
        offsets = [0]
        for level in range(self.levels):
            height, width = self.level_size(level)
            offsets.append(offsets[-1] + self.materials * height * width)
        return tuple(offsets)

    @property
    def texel_count(self) -> int:
        return self.level_offsets[-1]


def block_bytes(width: int, height: int, bits_per_texel: int) -> int:
    """Bytes of a texture with all mip levels, in whole blocks of 4 x 4 texels."""
    blocks = 0
    for level in range(max(width, height).bit_length()):
        sides = (max(1, side >> level) for side in (width, height))
        rows, columns = (-(-side // BLOCK) for side in sides)
        blocks += rows * columns
    return blocks * BLOCK * BLOCK * bits_per_texel // 8


def pad_to_tile(width: int) -> int:
    """Rounds a width up to whole tiles of matrix hardware."""
    return -(-width // TILE) * TILE


PRESETS = {
    "2x16": NetworkSpec(hidden_layers=2, hidden_width=16),
    "2x32": NetworkSpec(hidden_layers=2, hidden_width=32),
    "3x64": NetworkSpec(hidden_layers=3, hidden_width=64),
}


def require_preset(name: str) -> NetworkSpec:
    """The preset decoder of that name; a SettingsError lists the known names."""
    _require(name in PRESETS, "network", name, f"use one of {', '.join(PRESETS)}")
    return PRESETS[name]


def require_loss(name: str) -> None:
    """Raises SettingsError for an unknown loss, with the known names."""
    _require(name in LOSSES, "loss", name, f"use one of {', '.join(LOSSES)}")
