"""Which materials of which documents are meant."""

from __future__ import annotations

from collections.abc import Sequence

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import Document, Material


def select_materials(
    documents: Sequence[Document], names: Sequence[str]
) -> list[tuple[Document, Material]]:
    """Of each document those that are named, in their order there, or else its only one."""
    for name in names:
        if not any(document.find_material(name) for document in documents):
            for document in documents:
                document.refuse_left_out(name)
            listed = ", ".join(each.name for document in documents for each in document.materials)
            where = ", ".join(document.name for document in documents)
            raise DocumentError(f"{where}: has no material {name!r}; there are: {listed}")
    chosen = []
    for document in documents:
        named = [each for each in document.materials if {each.name, each.path} & set(names)]
        chosen += [(document, each) for each in named or [document.require_material()]]
    return chosen
