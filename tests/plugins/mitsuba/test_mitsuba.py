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
from verdigris.core.network.parameters import TransmittedSide

from ...core.bundle.bundles import lively_parameters, make_bundle

JUDGE = Path(__file__).parent / "judge.py"
# Dr.Jit aborts with older ones.
OLDEST_LLVM = 17
# Šidák's correction: one of all tests fails in a hundred runs.
PLACES = 40
LEAST_P = 1 - (1 - 0.01) ** (1 / PLACES)
# Places of each surface that transmits.
SPHERES = 3


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


def judged(*words):
    """The findings of judge.py, one for each bundle."""
    if importlib.util.find_spec("mitsuba") is None:
        pytest.skip("Mitsuba is not installed: pip install mitsuba")
    library = find_llvm()
    if library is None:
        pytest.skip(f"there is no LLVM {OLDEST_LLVM} or later: apt-get install libllvm19")
    ended = subprocess.run(
        [sys.executable, "-P", JUDGE, *words],
        env={**os.environ, "DRJIT_LIBLLVM_PATH": library},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]


def test_mitsuba_agrees_with_the_reference_and_draws_as_the_density_says(tmp_path):
    random = np.random.default_rng(2)
    bundle = make_bundle(
        tmp_path / "lively.vdg",
        lively_parameters(),
        emission=emission_levels(random.random((8, 16, 3), np.float32)),
        opacity=opacity_levels(0.2 + 0.8 * random.random((4, 4), np.float32)),
    )
    (found,) = judged("--places", str(PLACES), "--picture", bundle.folder)
    response, density, direction, opacity, emission = found["rows"]
    assert max(response, density, direction) < 1e-3
    assert max(opacity, emission) < 1e-4
    assert len(found["p"]) == PLACES and min(found["p"]) > LEAST_P
    assert found["energy"] == pytest.approx(1, abs=0.005)
    ratio, correlation = found["picture"]
    assert ratio == pytest.approx(1, abs=0.005)
    assert correlation > 0.999


def test_both_sides_are_those_of_the_references_and_drawn_over_the_sphere(tmp_path):
    folders = []
    for name, index in (("leaf", 1.0), ("glass", 1.5)):
        parameters, below = (lively_parameters(seed=seed) for seed in (3, 4))
        # lobes that the test's cells do not miss on both sides
        parameters.head *= 0.5
        parameters.transmitted = TransmittedSide(below.decoder, index, -parameters.head)
        folders.append(make_bundle(tmp_path / f"{name}.vdg", parameters).folder)
    for found in judged("--places", str(SPHERES), *folders):
        assert max(*found["rows"], *found["below"]) < 2e-3
        assert len(found["p"]) == SPHERES and min(found["p"]) > 1 - 0.99 ** (1 / SPHERES)
        assert found["energy"] == pytest.approx(1, abs=0.01)
