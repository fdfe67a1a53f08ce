"""The manifest's optional table `sampler`: the head of the sampler and its constants."""

from __future__ import annotations

from typing import Any

from verdigris.core.base.json_fields import Fields
from verdigris.core.network.spec import (
    HEAD_SLOPE,
    LEAST_LOBE_WEIGHT,
    LEAST_LOBE_WIDTH,
    LEAST_VIEW_COSINE,
    MOST_LOBE_WIDTH,
    NetworkSpec,
)

KIND = "visible_normals_cosine_uniform"
_HEADS = ("head0", "head1")
_CONSTANTS = {
    "slope": HEAD_SLOPE,
    "width_minimum": LEAST_LOBE_WIDTH,
    "width_maximum": MOST_LOBE_WIDTH,
    "weight_minimum": LEAST_LOBE_WEIGHT,
    "view_cosine_minimum": LEAST_VIEW_COSINE,
}


def head_names() -> tuple[str, ...]:
    """Names of the head's tensors: weights and bias of its hidden and of its last layer."""
    return tuple(f"{head}.{what}" for head in _HEADS for what in ("weights", "bias"))


def sampler_json(spec: NetworkSpec) -> dict[str, Any]:
    return {
        "kind": KIND,
        "layers": [
            {
                "inputs": layer.inputs,
                "outputs": layer.outputs,
                "weights": f"{head}.weights",
                "bias": f"{head}.bias",
            }
            for head, layer in zip(_HEADS, spec.head_layers, strict=True)
        ],
        **_CONSTANTS,
    }


def parse_sampler(manifest: Fields, spec: NetworkSpec, is_newer: bool) -> bool:
    """Whether there is a sampler that this version knows; those of newer versions are ignored."""
    if "sampler" not in manifest:
        return False
    fields = manifest.table("sampler")
    if is_newer and fields.text("kind") != KIND:
        return False
    fields.chosen("kind", (KIND,))
    layers = list(fields.tables("layers", len(_HEADS)))
    fields.require(len(layers) == len(_HEADS), "layers", f"there must be {len(_HEADS)}")
    for head, layer, table in zip(_HEADS, spec.head_layers, layers, strict=True):
        table.whole("inputs", layer.inputs, layer.inputs)
        table.whole("outputs", layer.outputs, layer.outputs)
        table.chosen("weights", (f"{head}.weights",))
        table.chosen("bias", (f"{head}.bias",))
    for name, value in _CONSTANTS.items():
        fields.require(fields.number(name) == value, name, f"this version needs {value}")
    return True
