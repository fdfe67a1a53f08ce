"""Damaged documents: a clean error or a working material, never anything else."""

import random
from pathlib import Path

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.material.codegen.generate_teacher import generate
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe_material
from verdigris.core.material.teacher.teacher import Teacher

from ..mutations import mutate

EXAMPLES = Path(__file__).parents[4] / "examples"
SEED = 2
MUTANTS = 60
MOST_EVALUATED = 2


def test_mutants_of_the_examples_fail_cleanly_or_work():
    rng = random.Random(SEED)
    originals = [path.read_text() for path in sorted(EXAMPLES.glob("*.mtlx"))]
    worked, refused, evaluated = 0, 0, set()
    for _ in range(MUTANTS):
        text = mutate(rng.choice(originals), rng)
        try:
            loaded = parse_document(text, [EXAMPLES], "mutant")
            chosen = loaded.require_material()
            describe_material(loaded, chosen, probe=False)
            generated = generate(loaded, chosen)
            worked += 1
            if generated.digest not in evaluated and len(evaluated) < MOST_EVALUATED:
                evaluated.add(generated.digest)
                evaluate(loaded, chosen)
        except VerdigrisError as failure:
            refused += 1
            assert 10 < len(str(failure)) < 1500
            assert "\n" not in str(failure)
    # both ways out are taken, or the damage is too small or too great to test anything
    assert worked > MUTANTS // 20
    assert refused > MUTANTS // 4
    assert len(evaluated) == MOST_EVALUATED


def evaluate(loaded, chosen):
    up = np.tile(np.float32([0.0, 0.6, 0.8]), (64, 1))
    uv = np.random.default_rng(SEED).random((64, 2)).astype(np.float32)
    values = Teacher(loaded, chosen).response(uv, up, up)
    assert np.isfinite(values).all()
    assert (values >= 0).all()
