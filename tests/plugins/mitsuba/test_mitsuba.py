"""Mitsuba, another renderer, as judge: it reads bundles by plugins/mitsuba."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.bundle.files.stored_textures import emission_levels, opacity_levels

from ...core.bundle.bundles import lively_parameters, make_bundle

JUDGE = Path(__file__).parent / "judge.py"
# Dr.Jit aborts with older ones.
OLDEST_LLVM = 17
# Šidák's correction: one of all tests fails in a hundred runs.
PLACES = 40
LEAST_P = 1 - (1 - 0.01) ** (1 / PLACES)


def find_llvm():
    """The library that Dr.Jit shall load: beside an older one it might choose that."""
    if "DRJIT_LIBLLVM_PATH" in os.environ:
        return os.environ["DRJIT_LIBLLVM_PATH"]
    found = {}
    for path in Path("/usr/lib").glob("**/libLLVM*.so*"):
        version = re.search(r"libLLVM(?:-|\.so\.)(\d+)", path.name)
        if version and int(version[1]) >= OLDEST_LLVM:
            found[int(version[1])] = str(path)
    return found[max(found)] if found else None


def test_mitsuba_agrees_with_the_reference_and_draws_as_the_density_says(tmp_path):
    if importlib.util.find_spec("mitsuba") is None:
        pytest.skip("Mitsuba is not installed: pip install mitsuba")
    library = find_llvm()
    if library is None:
        pytest.skip(f"there is no LLVM {OLDEST_LLVM} or later: apt-get install libllvm19")
    random = np.random.default_rng(2)
    bundle = make_bundle(
        tmp_path / "lively.vdg",
        lively_parameters(),
        emission=emission_levels(random.random((8, 16, 3), np.float32)),
        opacity=opacity_levels(0.2 + 0.8 * random.random((4, 4), np.float32)),
    )
    ended = subprocess.run(
        [sys.executable, "-P", JUDGE, "--places", str(PLACES), "--picture", bundle.folder],
        env={**os.environ, "DRJIT_LIBLLVM_PATH": library},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout.splitlines()[-1])
    response, density, direction, opacity, emission = found["rows"]
    assert max(response, density, direction) < 1e-3
    assert max(opacity, emission) < 1e-4
    assert len(found["p"]) == PLACES and min(found["p"]) > LEAST_P
    assert found["energy"] == pytest.approx(1, abs=0.005)
    ratio, correlation = found["picture"]
    assert ratio == pytest.approx(1, abs=0.005)
    assert correlation > 0.999
