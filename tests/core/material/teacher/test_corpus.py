"""MaterialX's example materials evaluate, every one.

They are no part of the project: the tests skip where they are not beside the repository, in
../shared/corpus, or where VERDIGRIS_CORPUS says.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import hemisphere

REPOSITORY = Path(__file__).parents[4]
CORPUS = Path(os.environ.get("VERDIGRIS_CORPUS", REPOSITORY.parent / "shared" / "corpus"))
DOCUMENTS = sorted(CORPUS.rglob("*.mtlx"))
SAMPLES = 20_000
# These let light through and reflect next to none of it.
CLEAR = ("glass", "honey", "soapbubble")

pytestmark = pytest.mark.skipif(not DOCUMENTS, reason=f"no MaterialX documents in {CORPUS}")


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(0)
    uv = random.uniform(-1, 2, (SAMPLES, 2))
    directions = (hemisphere(random, SAMPLES, 0.01) for _ in range(2))
    return tuple(part.astype(np.float32) for part in (uv, *directions))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_every_material_is_finite_and_not_negative(path, samples):
    uv, wi, wo = samples
    document = load_document(path, [CORPUS / "resources"])
    text = path.read_text()
    assert document.materials
    for material in document.materials:
        teacher = Teacher(document, material)
        response = teacher.response(uv, wi, wo)
        assert np.isfinite(response).all() and (response >= 0).all(), material.name
        # a kernel that compiles for a document that does not ask for it is time lost
        solid = np.ones(SAMPLES, bool)
        if any(word in text for word in ("emissi", "opacity", "alpha")):
            unlit = teacher.unlit(uv, wo)
            emission, opacity = unlit[:, :3], unlit[:, 3]
            assert np.isfinite(emission).all() and (emission >= 0).all(), material.name
            assert (opacity >= 0).all() and (opacity <= 1).all(), material.name
            solid = opacity > 0.5
        # the teacher turns what is not finite to zero: it must be next to nothing
        if not any(word in path.stem for word in CLEAR):
            assert (response[solid].max(1) == 0).mean() < 1e-3, material.name
