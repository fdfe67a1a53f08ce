"""The manifest's optional table `sampler`: the heads of sampler and split, and constants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from verdigris.core.base.json_fields import Fields
from verdigris.core.network.spec import (
    HEAD_SLOPE,
    LEAST_LEAN_COSINE,
    LEAST_LOBE_WEIGHT,
    LEAST_LOBE_WIDTH,
    LEAST_VIEW_COSINE,
    MOST_LOBE_WIDTH,
    MOST_TILT,
    TILT_SHARE,
    LayerSpec,
    NetworkSpec,
)

KIND = "leaning_visible_normals_cosine_uniform"
# Of bundles before 4.6 and before 4.4. Outputs that their last layers do not have count as zeros.
_TILTED, _UNTILTED = "tilted_visible_normals_cosine_uniform", "visible_normals_cosine_uniform"
_HEADS = ("head0", "head1")
_SPLIT_HEADS = ("split0", "split1")
_CONSTANTS = {
    "slope": HEAD_SLOPE,
    "width_minimum": LEAST_LOBE_WIDTH,
    "width_maximum": MOST_LOBE_WIDTH,
    "weight_minimum": LEAST_LOBE_WEIGHT,
    "view_cosine_minimum": LEAST_VIEW_COSINE,
}
_TILTS = {"tilt_share": TILT_SHARE, "tilt_maximum": MOST_TILT}
_LEANS = {"lean_cosine_minimum": LEAST_LEAN_COSINE}


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


def parse_sampler(manifest: Fields, spec: NetworkSpec, is_newer: bool) -> bool:
    """Whether there is a sampler that this version knows; those of newer versions are ignored."""
    if "sampler" not in manifest:
        return False
    fields = manifest.table("sampler")
    kinds = {
        KIND: (spec.head_outputs, _TILTS | _LEANS),
        _TILTED: (spec.tilted_outputs, _TILTS),
        _UNTILTED: (spec.untilted_outputs, {}),
    }
    if is_newer and fields.text("kind") not in kinds:
        return False
    outputs, constants = kinds[fields.chosen("kind", tuple(kinds))]
    hidden, last = spec.head_layers[:2]
    _check_layers(fields, _HEADS, (hidden, replace(last, outputs=outputs)))
    _check_layers(fields.table("split"), _SPLIT_HEADS, spec.head_layers[2:])
    for name, value in (_CONSTANTS | constants).items():
        fields.require(fields.number(name) == value, name, f"this version needs {value}")
    return True


def _check_layers(fields: Fields, heads: tuple[str, ...], layers: tuple[LayerSpec, ...]) -> None:
    tables = list(fields.tables("layers", len(heads)))
    fields.require(len(tables) == len(heads), "layers", f"there must be {len(heads)}")
    for head, layer, table in zip(heads, layers, tables, strict=True):
        table.whole("inputs", layer.inputs, layer.inputs)
        table.whole("outputs", layer.outputs, layer.outputs)
        table.chosen("weights", (f"{head}.weights",))
        table.chosen("bias", (f"{head}.bias",))
