"""Whether a material of an application has changed since its bake. Without MaterialX, so that every
application can tell."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.hosts.documents import named_files
from verdigris.core.hosts.host import HostDocument
from verdigris.core.material.load.provenance import Digest, changed_sources, text_digest


def find_changes(
    document: HostDocument, baked: Mapping[str, Any], digest: Digest, folders: Sequence[Path] = ()
) -> tuple[str, ...] | None:
    """The differences from what a bundle was made of (`Version.sources`), by the rule of
    `bake --if-changed`. None for a bundle without the digest of its text. Images that are not found
    are no difference: they are reported when the material is opened."""
    if "text_sha256" not in baked:
        return None
    recorded = baked.get("textures")
    known = [each for each in recorded if _is_facts(each)] if isinstance(recorded, list) else []
    places = _folders_of_images(document, (*document.search, *folders))
    now = {
        "document": "the material",
        "text_sha256": text_digest(document.text),
        "textures": [_present(each, places, digest) for each in known],
    }
    return tuple(changed_sources({**baked, "textures": known}, now))


def _is_facts(each: Any) -> bool:
    return isinstance(each, Mapping) and {"file", "sha256"} <= {*each}


def _present(baked: Mapping[str, Any], places: Sequence[Path], digest: Digest) -> Mapping[str, Any]:
    """The facts of an image as it is now: of the file with its name that is the same, or of the
    first one with its name."""
    found = []
    for place in places:
        try:
            found.append(digest(place / str(baked["file"])))
        except (OSError, ValueError):
            continue
        if found[-1] == baked["sha256"]:
            return baked
    return {**baked, "sha256": found[0]} if found else baked


def _folders_of_images(document: HostDocument, search: Sequence[Path]) -> list[Path]:
    """The folders in which the images of a document may be."""
    found = dict.fromkeys(search)
    with contextlib.suppress(VerdigrisError):
        for file in named_files(document.text, document.name):
            # an absolute folder stays as it is
            found |= dict.fromkeys(each / Path(file).parent for each in (Path(), *search))
    return list(found)
