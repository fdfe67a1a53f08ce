"""The materials' own graphs as hit shaders: what the neural materials were trained on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neural_pack import NeuralPack

from verdigris.core import api
from verdigris.core.base.device import Device
from verdigris.core.base.errors import DocumentError
from verdigris.core.material.teacher.teacher import Teacher


@dataclass(frozen=True)
class Graph:
    """One graph: the module with its hit shader, and what is bound for it."""

    entry: str
    source: str
    bindings: dict[str, Any]


def load_graph(device: Device, path: Path, index: int, pack: NeuralPack) -> Graph:
    """`index` is that of the material in the pack, whose sampler draws directions for the graph."""
    document = api.load(path)
    teacher = Teacher(document, device=device)
    generated = teacher.generated
    if generated.takes_slopes:
        raise DocumentError(
            f"{path}: this graph compares neighbouring pixels (heighttonormal), which a ray does "
            "not have: use a normal map"
        )
    if not teacher.is_dark_and_opaque:
        print(f"{path.name}: emission and opacity of this graph are not drawn")
    entry, block, floats = (f"{name}{index}" for name in ("shadeGraph", "pixelCB", "floats"))
    source = "\n".join(
        (
            # the modules of several graphs are linked to one program
            "#define export extern",
            pack.definitions(index, floats),
            f"#define ENGINE_HIT_SHADER {entry}",
            generated.source.replace("pixelCB", block),
            '#include "shade_graph.slang"',
        )
    )
    bindings = pack.constants(index, floats)
    if bound := teacher.bindings():
        bindings[block] = bound["pixelCB"]
    return Graph(entry, source, bindings)
