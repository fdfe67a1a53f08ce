"""The manifest's tables `network` and `sampler`.

`network` has the decoder's layers, output and direction inputs. `sampler` is optional: it has the
heads of sampler and split-sum lighting, and constants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.json_fields import LARGEST_SINGLE, Fields
from verdigris.core.network.spec import (
    ACTIVATIONS,
    COSINE_OFFSET,
    HALF_Z_MINIMUM,
    HEAD_SLOPE,
    LEAKY_SLOPE,
    LEAST_LEAN_COSINE,
    LEAST_LOBE_WEIGHT,
    LEAST_LOBE_WIDTH,
    LEAST_VIEW_COSINES,
    LENGTH_EPSILON,
    LOGARITHM_SHARE,
    MOST_LOBE_WIDTH,
    MOST_TILT,
    RANGES,
    SMELU_WIDTH,
    STRETCH_LIMIT,
    TILT_SHARE,
    LayerSpec,
    NetworkSpec,
    fits_half_floats,
    output_limit_remedy,
)
from verdigris.core.settings.bake_settings import LATENT_CHANNELS

LIVE_INPUTS = "live_inputs"
FRAMES = "frames"
PARAMETERISATION = "stretched_half_difference_cosines"
TRANSFORM = "sum_of_exp"
_DIRECTION_CONSTANTS = {
    "half_z_minimum": HALF_Z_MINIMUM,
    "length_epsilon": LENGTH_EPSILON,
    "stretch_limit": STRETCH_LIMIT,
    "cosine_offset": COSINE_OFFSET,
    "logarithm_share": LOGARITHM_SHARE,
}
# Constants of activations.
ACTIVATION_CONSTANTS = {
    "leaky_relu": {"slope": LEAKY_SLOPE},
    "leaky_smelu": {"slope": LEAKY_SLOPE, "width": SMELU_WIDTH},
}
FORMULAS = (
    "raw = frames * latent; of each frame 8 rows: normal, tangent, stretch x, stretch y",
    "normal += (0,0,1), tangent += (1,0,0)",
    "normalise(v) = v / max(length(v), length_epsilon)",
    "n = normalise(normal); t = normalise(tangent - n * dot(n, tangent)); b = cross(n, t)",
    "a = (dot(t,wi), dot(b,wi), dot(n,wi)); c = (dot(t,wo), dot(b,wo), dot(n,wo))",
    "h = normalise(a + c); cosine = dot(h, a)",
    "s = (cosine + a.z) / max(1 + h.z, half_z_minimum)",
    "d = (a.x - h.x * s, a.y - h.y * s, cosine)",
    "p = exp(stretch_limit * tanh(stretch / stretch_limit))",
    "g = normalise(h.x * p.x, h.y * p.y, h.z)",
    "l(x) = logarithm_share * log(max(x, 0) + cosine_offset)",
    "inputs = latent, then for each frame g.x g.y g.z d.x d.y d.z a.z c.z l(a.z) l(c.z)",
    "response = sum over lobes k of exp(min(y[3k..3k+2] - shift, limit))",
)
# The same formulas for live values, which follow the latent.
LIVE_FORMULAS = (
    "place = latent[0..7], then the live values",
    *(
        line.replace("frames * latent", "frames * place").replace("latent[0..7]", "place")
        for line in FORMULAS
    ),
)
KIND = "grazing_visible_normals_cosine_uniform"
# Kinds of bundles before 4.7, 4.6 and 4.4. Their lobes are evaluated as those of KIND, which differ
# at grazing views only. Outputs that their last layers lack count as zeros.
_LEANING = "leaning_visible_normals_cosine_uniform"
_TILTED, _UNTILTED = "tilted_visible_normals_cosine_uniform", "visible_normals_cosine_uniform"
_OLDER_KINDS = (_LEANING, _TILTED, _UNTILTED)
_HEADS = ("head0", "head1")
_SPLIT_HEADS = ("split0", "split1")
_CONSTANTS = {
    "slope": HEAD_SLOPE,
    "width_minimum": LEAST_LOBE_WIDTH,
    "width_maximum": MOST_LOBE_WIDTH,
    "weight_minimum": LEAST_LOBE_WEIGHT,
}
_VIEWS = {
    "view_cosine_minimum": LEAST_VIEW_COSINES[0],
    "view_cosine_maximum": LEAST_VIEW_COSINES[1],
}
_OLDER_VIEWS = {"view_cosine_minimum": LEAST_VIEW_COSINES[1]}
_TILTS = {"tilt_share": TILT_SHARE, "tilt_maximum": MOST_TILT}
_LEANS = {"lean_cosine_minimum": LEAST_LEAN_COSINE}


def network_json(spec: NetworkSpec) -> dict[str, Any]:
    return {
        "latent_channels": spec.latent_channels,
        "frame_count": spec.frame_count,
        "frames": FRAMES,
        **({LIVE_INPUTS: spec.live_inputs} if spec.live_inputs else {}),
        "inputs": spec.inputs,
        "layers": [
            {
                "inputs": layer.inputs,
                "outputs": layer.outputs,
                "activation": _activation_of(spec, index),
                "weights": weights_name(index),
                "bias": bias_name(index),
            }
            for index, layer in enumerate(spec.layers)
        ],
        "activation_constants": ACTIVATION_CONSTANTS.get(spec.activation, {}),
        "output": {
            "transform": TRANSFORM,
            "lobes": spec.lobes,
            "shift": spec.output_shift,
            "limit": spec.output_limit,
        },
        "directions": {
            "parameterisation": PARAMETERISATION,
            **_DIRECTION_CONSTANTS,
            "formulas": list(LIVE_FORMULAS if spec.live_inputs else FORMULAS),
        },
    }


def weights_name(layer: int) -> str:
    return f"layer{layer}.weights"


def bias_name(layer: int) -> str:
    return f"layer{layer}.bias"


def tensor_names(spec: NetworkSpec) -> tuple[str, ...]:
    """Names of the tensors that a decoder needs."""
    layers = range(len(spec.layers))
    return (FRAMES, *(each(k) for k in layers for each in (weights_name, bias_name)))


def parse_network(manifest: Fields) -> NetworkSpec:
    """The decoder of a bundle or of a scene pack."""
    try:
        return _parse_spec(manifest.table("network"))
    except SettingsError as failure:
        manifest.refuse("network", str(failure))


def _parse_spec(fields: Fields) -> NetworkSpec:
    """The table as a spec. Raises SettingsError if this version cannot evaluate the decoder."""
    layers = list(fields.tables("layers", RANGES["hidden_layers"][1] + 1))
    fields.require(len(layers) >= 2, "layers", "there must be a hidden layer and the last")
    output = fields.table("output")
    output.chosen("transform", (TRANSFORM,))
    for name in ("shift", "limit"):
        fits = abs(output.number(name)) < LARGEST_SINGLE
        output.require(fits, name, "it must fit single floats")
    lobes = output.whole("lobes", *RANGES["lobes"])
    fits = fits_half_floats(output.number("limit"), lobes)
    output.require(fits, "limit", output_limit_remedy(lobes))
    directions = fields.table("directions")
    directions.chosen("parameterisation", (PARAMETERISATION,))
    _require_constants(directions, _DIRECTION_CONSTANTS)
    spec = NetworkSpec(
        hidden_width=layers[0].whole("outputs", *RANGES["hidden_width"]),
        hidden_layers=len(layers) - 1,
        activation=layers[0].chosen("activation", tuple(ACTIVATIONS)),
        latent_channels=_parse_channels(fields),
        live_inputs=fields.whole(LIVE_INPUTS, *RANGES[LIVE_INPUTS]) if LIVE_INPUTS in fields else 0,
        frame_count=fields.whole("frame_count", *RANGES["frame_count"]),
        lobes=lobes,
        output_shift=output.number("shift"),
        output_limit=output.number("limit"),
    )
    fields.whole("inputs", spec.inputs, spec.inputs)
    fields.chosen("frames", (FRAMES,))
    for index, (layer, table) in enumerate(zip(spec.layers, layers, strict=True)):
        table.whole("inputs", layer.inputs, layer.inputs)
        table.whole("outputs", layer.outputs, layer.outputs)
        table.chosen("activation", (_activation_of(spec, index),))
        table.chosen("weights", (weights_name(index),))
        table.chosen("bias", (bias_name(index),))
    constants = fields.table("activation_constants")
    _require_constants(constants, ACTIVATION_CONSTANTS.get(spec.activation, {}))
    return spec


def _parse_channels(fields: Fields) -> int:
    channels = fields.whole("latent_channels", *RANGES["latent_channels"])
    known = " or ".join(map(str, LATENT_CHANNELS))
    fields.require(channels in LATENT_CHANNELS, "latent_channels", f"it must be {known}")
    return channels


def _activation_of(spec: NetworkSpec, layer: int) -> str:
    return spec.activation if layer < spec.hidden_layers else "none"


def _require_constants(fields: Fields, constants: Mapping[str, float]) -> None:
    for name, value in constants.items():
        fields.require(fields.number(name) == value, name, f"this version needs {value}")


@cache
def head_names() -> tuple[str, ...]:
    """Names of the tensors of both heads: weights and bias of hidden and of last layers."""
    heads = (*_HEADS, *_SPLIT_HEADS)
    return tuple(f"{head}.{what}" for head in heads for what in ("weights", "bias"))


def sampler_json(spec: NetworkSpec) -> dict[str, Any]:
    return {
        "kind": KIND,
        "layers": _layers_json(_HEADS, spec.head_layers[:2]),
        "split": {"layers": _layers_json(_SPLIT_HEADS, spec.head_layers[2:])},
        **_CONSTANTS,
        **_VIEWS,
        **_TILTS,
        **_LEANS,
    }


def _layers_json(heads: tuple[str, ...], layers: tuple[LayerSpec, ...]) -> list[dict[str, Any]]:
    return [
        {
            "inputs": layer.inputs,
            "outputs": layer.outputs,
            "weights": f"{head}.weights",
            "bias": f"{head}.bias",
        }
        for head, layer in zip(heads, layers, strict=True)
    ]


def has_older_lobes(manifest: Fields) -> bool:
    """Whether a reference has rows of an older version's lobes, which differ at grazing views."""
    return "sampler" in manifest and manifest.table("sampler").text("kind") in _OLDER_KINDS


def parse_sampler(manifest: Fields, spec: NetworkSpec, is_newer: bool) -> bool:
    """Whether there is a sampler that this version knows. Those of newer versions are ignored."""
    if "sampler" not in manifest:
        return False
    fields = manifest.table("sampler")
    kinds = {
        KIND: (spec.head_outputs, _VIEWS | _TILTS | _LEANS),
        _LEANING: (spec.head_outputs, _OLDER_VIEWS | _TILTS | _LEANS),
        _TILTED: (spec.tilted_outputs, _OLDER_VIEWS | _TILTS),
        _UNTILTED: (spec.untilted_outputs, _OLDER_VIEWS),
    }
    if is_newer and fields.text("kind") not in kinds:
        return False
    outputs, constants = kinds[fields.chosen("kind", tuple(kinds))]
    hidden, last = spec.head_layers[:2]
    _check_layers(fields, _HEADS, (hidden, replace(last, outputs=outputs)))
    _check_layers(fields.table("split"), _SPLIT_HEADS, spec.head_layers[2:])
    _require_constants(fields, _CONSTANTS | constants)
    return True


def _check_layers(fields: Fields, heads: tuple[str, ...], layers: tuple[LayerSpec, ...]) -> None:
    tables = list(fields.tables("layers", len(heads)))
    fields.require(len(tables) == len(heads), "layers", f"there must be {len(heads)}")
    for head, layer, table in zip(heads, layers, tables, strict=True):
        table.whole("inputs", layer.inputs, layer.inputs)
        table.whole("outputs", layer.outputs, layer.outputs)
        table.chosen("weights", (f"{head}.weights",))
        table.chosen("bias", (f"{head}.bias",))
