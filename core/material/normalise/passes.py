"""The rewrites that turn a document into the form that MaterialX's code generator handles.

`PASSES` lists them in the order in which they run. `after` names the passes that must have run
before; tests/core/material/normalise/test_passes.py has a document for each of these constraints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from verdigris.core.material.graph.colour_spaces import rename_colour_spaces
from verdigris.core.material.normalise.dropped_nodes import (
    bypass_disabled_nodes,
    empty_volumes_and_displacements,
    use_front_shader_for_back,
)
from verdigris.core.material.normalise.file_names import inline_file_names, unify_tile_tokens
from verdigris.core.material.normalise.geometry_properties import replace_geometry_readers
from verdigris.core.material.normalise.graphs import (
    flatten_nested_graphs,
    remove_code_beside_graphs,
    unwrap_material_definitions,
)
from verdigris.core.material.normalise.heights import emit_heights
from verdigris.core.material.normalise.inputs import (
    border_black,
    copy_inherited_inputs,
    inline_graph_inputs,
    remove_values_beside_interfaces,
    rename_channel_outputs,
)
from verdigris.core.material.normalise.names import (
    rename_library_clashes,
    resolve_namespaced_definitions,
)
from verdigris.core.material.normalise.type_conversions import Conversion, convert_types
from verdigris.core.material.normalise.units import convert_units

if TYPE_CHECKING:
    import MaterialX as mx

_ISSUES = "https://github.com/AcademySoftwareFoundation/MaterialX/issues"


class Pass(NamedTuple):
    """One rewrite of a document. It may return former names, by new ones, of what it renames, or
    what it converted."""

    name: str
    why: str
    upstream: str | None
    """The issue of MaterialX that makes the pass unnecessary once it is resolved."""

    apply: Callable[[mx.Document], Mapping[str, str] | Sequence[Conversion] | None]
    after: tuple[str, ...] = ()


PASSES = (
    Pass(
        "namespaced definitions",
        "MaterialX finds no implementation whose definition has a namespace of its own.",
        None,
        resolve_namespaced_definitions,
    ),
    Pass(
        "library names",
        "An element of the library hides one of the document that has the same name.",
        f"{_ISSUES}/2620",
        rename_library_clashes,
        after=("namespaced definitions",),
    ),
    Pass(
        "tile tokens",
        "Maya, Houdini and Arnold write other tokens for tiles than MaterialX knows.",
        None,
        unify_tile_tokens,
    ),
    Pass(
        "inherited inputs",
        "The generator reads values of a node only, not those that it inherits.",
        None,
        copy_inherited_inputs,
    ),
    Pass(
        "code beside graphs",
        "A definition with a graph and with shader code uses whichever comes first.",
        None,
        remove_code_beside_graphs,
    ),
    Pass(
        "material definitions",
        "The generator finds no surface inside a node that is defined as a whole material.",
        f"{_ISSUES}/620",
        unwrap_material_definitions,
        after=("code beside graphs",),
    ),
    Pass(
        "dropped nodes",
        "Volumes are not baked and heights apart, and their images and code may be missing.",
        None,
        empty_volumes_and_displacements,
    ),
    Pass(
        "disabled nodes",
        "The specification has the input `disable`; MaterialX refuses it.",
        None,
        bypass_disabled_nodes,
        after=("inherited inputs",),
    ),
    Pass(
        "black borders",
        "Outside of its image, UsdUVTexture returns the fallback of a missing file.",
        None,
        border_black,
        after=("inherited inputs",),
    ),
    Pass(
        "backs",
        "The back of a surface is not baked, and its graph may fail to compile.",
        None,
        use_front_shader_for_back,
        after=("inherited inputs",),
    ),
    Pass(
        "channel names",
        "The upgrade from 1.38 reads channels x, y, z from colours and r, g, b from vectors.",
        None,
        rename_channel_outputs,
    ),
    Pass(
        "stale values",
        "Outside of definitions, the generator prefers a value to the graph input beside it.",
        None,
        remove_values_beside_interfaces,
    ),
    Pass(
        "geometry properties",
        "A flat sample has no properties, and the generator cannot compile USD's reader of them.",
        f"{_ISSUES}/2900",
        replace_geometry_readers,
        after=("inherited inputs", "disabled nodes"),
    ),
    Pass(
        "colour space names",
        "MaterialX does not know the names that USD, OpenColorIO and applications write.",
        None,
        rename_colour_spaces,
    ),
    Pass(
        "nested graphs",
        "The generator ignores graphs inside graphs, and outputs that return a graph input.",
        f"{_ISSUES}/1272",
        flatten_nested_graphs,
        after=("stale values",),
    ),
    Pass(
        "types",
        "Applications mix types silently. MaterialX refuses it, or its code does not compile.",
        None,
        convert_types,
        after=("channel names", "nested graphs"),
    ),
    Pass(
        "graph inputs",
        "Unit and colour space are read where a value is used, not at the graph input.",
        None,
        inline_graph_inputs,
        after=("code beside graphs", "nested graphs", "types"),
    ),
    Pass(
        "file names",
        "The colour space of a file name that a node passes to another is ignored.",
        None,
        inline_file_names,
        after=("geometry properties", "nested graphs"),
    ),
    Pass(
        "units",
        "Lengths become metres, also those of films, which are in nanometres; angles are refused.",
        None,
        convert_units,
        after=("geometry properties", "nested graphs", "graph inputs"),
    ),
)


class Rewritten(NamedTuple):
    """Facts of a rewritten document."""

    former_names: dict[str, str]
    """By new name, the former name of what was renamed."""
    conversions: tuple[Conversion, ...]


def normalise(root: mx.Document, of_heights: bool = False) -> Rewritten:
    """Applies all passes to a document that has the library attached. `of_heights`: displaced
    materials emit their height."""
    former: dict[str, str] = {}
    conversions: list[Conversion] = []
    for each in PASSES:
        is_apart = of_heights and each.apply is empty_volumes_and_displacements
        apply = emit_heights if is_apart else each.apply
        found = apply(root)
        if isinstance(found, Mapping):
            former.update(found)
        elif found is not None:
            conversions += found
    return Rewritten(former, tuple(conversions))
