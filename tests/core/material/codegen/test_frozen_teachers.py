"""The Slang that is generated for the examples and MaterialX's own documents stays as it is.

An intended change writes the file again: `python test_frozen_teachers.py`, with the reason in the
commit. Documents that are not at hand are left out.
"""

import difflib
import json
import lzma
import os
import sys
from pathlib import Path

import pytest

from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.load.mtlx_document import load_document

FROZEN = Path(__file__).parents[1] / "data" / "frozen_teachers.json.xz"
REPOSITORY = Path(__file__).resolve().parents[4]
CORPUS = Path(os.environ.get("VERDIGRIS_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
RESOURCES = CORPUS / "resources"
DOCUMENTS = [
    *sorted((REPOSITORY / "examples").glob("*.mtlx")),
    *sorted((RESOURCES / "Materials" / "Examples").rglob("*.mtlx")),
]


def generated(path):
    document = load_document(path, [RESOURCES])
    return {
        f"{path.name} {each.name}": generate(document, each).source for each in document.materials
    }


def differences(before, now):
    return "\n".join(
        difflib.unified_diff(before.splitlines(), now.splitlines(), "frozen", "now", "", "", 2)
    )


@pytest.fixture(scope="module")
def frozen():
    return json.loads(lzma.decompress(FROZEN.read_bytes()))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_generated_slang_is_what_it_was(path, frozen):
    for name, source in generated(path).items():
        assert name in frozen, f"{name}: is not frozen yet"
        assert not differences(frozen[name], source), differences(frozen[name], source)


def main():
    sources = json.loads(lzma.decompress(FROZEN.read_bytes())) if FROZEN.exists() else {}
    for path in DOCUMENTS:
        sources.update(generated(path))
    text = json.dumps(sources, sort_keys=True, indent=0).encode()
    FROZEN.write_bytes(lzma.compress(text, preset=9))


if __name__ == "__main__":
    sys.exit(main())
