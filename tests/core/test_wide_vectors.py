"""Vectors as wide as the processor's, and the same numbers in them."""

import os
import subprocess
import sys

import pytest

from verdigris.core.wide_vectors import VARIABLE, processor_flags, use_wide_vectors

ZEN4 = "processor\t: 0\nflags\t\t: fpu avx2 avx512f avx512bw avx512dq avx512vl avx512vbmi\n"
HASWELL = "processor\t: 0\nflags\t\t: fpu avx avx2\n"
EVALUATE = """
import hashlib, sys
import numpy as np
from verdigris.core.device import open_device
from verdigris.core.material.document import load_document
from verdigris.core.material.teacher import Teacher
from pathlib import Path

random = np.random.default_rng(5)
uv = random.random((5000, 2)).astype(np.float32)
pairs = np.abs(random.normal(size=(2, 5000, 3))) + 0.01
wi, wo = (pairs / np.linalg.norm(pairs, axis=2, keepdims=True)).astype(np.float32)
teacher = Teacher(load_document(Path(sys.argv[1])), device=open_device("software"))
print(hashlib.sha256(teacher.response(uv, wi, wo).tobytes()).hexdigest())
"""


@pytest.mark.parametrize(("text", "expected"), [(ZEN4, "512"), (HASWELL, None), ("", None)])
def test_they_are_asked_for_where_the_processor_has_them(text, expected, tmp_path, monkeypatch):
    facts = tmp_path / "cpuinfo"
    facts.write_text(text)
    monkeypatch.setenv(VARIABLE, "")  # so that it is put back as it was
    monkeypatch.delenv(VARIABLE)
    flags = processor_flags(facts)
    monkeypatch.setattr("verdigris.core.wide_vectors.processor_flags", lambda: flags)
    use_wide_vectors()
    assert os.environ.get(VARIABLE) == expected
    monkeypatch.setenv(VARIABLE, "128")
    use_wide_vectors()
    assert os.environ[VARIABLE] == "128"


def test_a_system_that_does_not_say_has_none(tmp_path):
    assert processor_flags(tmp_path / "missing") == frozenset()


def test_the_numbers_are_the_same_in_vectors_of_any_width(request, tmp_path):
    if "avx512f" not in processor_flags():
        pytest.skip("this processor has no wider vectors")
    example = request.config.rootpath / "examples" / "glazed_tile.mtlx"
    found = [evaluated(example, width, tmp_path) for width in ("256", "512")]
    assert found[0] == found[1]


def evaluated(example, width, tmp_path):
    # compiled anew: what is kept was compiled for one width
    own = {VARIABLE: width, "MESA_SHADER_CACHE_DIR": str(tmp_path / width)}
    command = [sys.executable, "-c", EVALUATE, str(example)]
    done = subprocess.run(
        command, env={**os.environ, **own}, capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()
