"""What a bake makes of the displacement of a material."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError, VerdigrisError
from verdigris.core.material.analyse.features import (
    APPROXIMATED,
    DISPLACEMENT,
    DROPPED,
    EMISSION_BY_VIEW,
    IGNORED,
    KEPT,
    Part,
)
from verdigris.core.material.analyse.image_facts import TextureFacts, facts_of_images
from verdigris.core.material.analyse.parts import parts_of
from verdigris.core.material.load.displaced import height_document
from verdigris.core.material.load.provenance import texture_files
from verdigris.core.material.normalise.dropped_nodes import DISPLACED_BY, VECTOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import MaterialX as mx

    from verdigris.core.material.load.mtlx_document import Document, Material

_SHADER = "displacementshader"
AS_RELIEF = "as a height map of its own, which shows relief; silhouettes keep the shape of the mesh"


def displacement_parts(
    document: Document, material: Material, nodes: Sequence[mx.Node]
) -> list[Part]:
    """The part that displacement is of a material, if it has one, and parts of its graph that are
    approximated."""
    kinds = [node.getAttribute(DISPLACED_BY) for node in nodes if node.getType() == _SHADER]
    unknown = next((kind for kind in kinds if kind not in ("", VECTOR)), "")
    if unknown:
        how = f"it is made by {unknown!r}: connect a 'displacement', or a 'mix' of them"
        return [Part(DISPLACEMENT, DROPPED, how)]
    try:
        found = height_document(document, material)
        if found is None:
            return []
        other, emitting = found
        texture_files(other, emitting)
    except VerdigrisError as failure:
        return [Part(DISPLACEMENT, DROPPED, str(failure))]
    part = Part(DISPLACEMENT, KEPT, AS_RELIEF)
    if VECTOR in kinds:
        how = f"{AS_RELIEF}; of a vector the part along the normal"
        part = Part(DISPLACEMENT, APPROXIMATED, how)
    return [part, *_approximated(list(other.nodes_of(emitting)))]


def without_effect(part: Part, notes: Sequence[str]) -> Part:
    """The part that a displacement is whose heights are the same everywhere."""
    return replace(part, fate=IGNORED, how="; ".join(notes) or "it is 0 everywhere")


def _approximated(nodes: Sequence[mx.Node]) -> Iterator[Part]:
    """What is approximated in the graph of the heights, which are emitted there."""
    for part in parts_of(nodes):
        if part == EMISSION_BY_VIEW:
            yield Part("displacement by view", APPROXIMATED, "as seen from straight above")
        elif part.fate == APPROXIMATED:
            yield part


def height_images(
    document: Document, material: Material, known: Sequence[TextureFacts]
) -> list[TextureFacts]:
    """The images of a material's displacement that can be read, without the known ones."""
    try:
        found = height_document(document, material)
    except DocumentError:
        return []
    if found is None:
        return []
    other, emitting = found
    facts = facts_of_images(other, list(other.nodes_of(emitting)))
    files = {each.file for each in known}
    return [each for each in facts if not each.problem and each.file not in files]
