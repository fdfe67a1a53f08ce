"""A shader file on the command line: written, baked, verified, and baked again once it changes."""

import json
import re

import numpy as np
import pytest

from verdigris.core import api
from verdigris.core.cli.commands import new
from verdigris.core.material.teacher.teacher import Teacher

from ..baking.bakes import CHALK
from ..in_process import run_command
from ..small_endings import SMALL_ENDINGS

SMALL = (
    *("--device", "software", "--resolution", 8, "--iterations", 4),
    *("--set", "network=2x16", "--set", "batch=64", "--set", "starts=1"),
)


def bake(file, *arguments, patches=SMALL_ENDINGS):
    given = ("bake", file, *SMALL, "-o", file.parent, "--if-changed", *arguments)
    return run_command(given, *patches)


@pytest.fixture(scope="module")
def baked(tmp_path_factory):
    """The file of the template, with its bundle beside it."""
    file = tmp_path_factory.mktemp("new") / "paint.slang"
    code, out, errors = run_command(("new", file))
    assert (code, errors) == (0, "")
    assert f"verdigris bake {file}" in out
    code, _, errors = bake(file)
    assert code == 0, errors
    return file


def test_the_template_bakes_and_all_decoders_agree(baked):
    result = api.verify(
        api.open_bundle(baked.with_suffix(".vdg")), source=api.load(baked), device="software"
    )
    assert result.holds
    assert run_command(("new", baked))[0] == 1


def test_an_engine_sees_no_difference_to_a_bundle_of_a_document(baked):
    document = baked.with_name("chalk.mtlx")
    document.write_text(CHALK.format(name="chalk"))
    assert bake(document)[0] == 0

    def contents(bundle):
        manifest = json.loads((bundle / "manifest.json").read_text())
        files = {re.sub(r"paint|chalk", "NAME", each.name) for each in bundle.iterdir()}
        # keys of all levels
        found, waiting = set(), [("", manifest)]
        while waiting:
            path, value = waiting.pop()
            for key, inner in value.items() if isinstance(value, dict) else ():
                found.add(f"{path}/{key}")
                waiting.append((f"{path}/{key}", inner))
        return files, found

    assert contents(baked.with_suffix(".vdg")) == contents(document.with_suffix(".vdg"))


def test_a_bundle_is_stale_once_the_shader_or_an_input_changes(baked):
    assert "is up to date" in bake(baked, patches=())[1]
    set_input = ("--set-input", "roughness=0.5")
    code, _, errors = bake(baked, *set_input)
    assert code == 0, errors
    assert "is up to date" in bake(baked, *set_input, patches=())[1]
    source = json.loads((baked.with_suffix(".vdg") / "manifest.json").read_text())["source"]
    assert source["document"] == "paint.slang"
    assert [each["file"] for each in source["files"]] == ["paint.slang"]


def test_the_template_is_the_formula_that_it_names():
    place = np.full((1, 2), 0.5, np.float32)
    wi = np.float32([[0.6, 0, 0.8]])
    wo = np.float32([[-0.48, 0.6, 0.64]])
    found = Teacher(api.load(new.TEMPLATE)).response(place, wi, wo)
    h = (wi + wo)[0] / np.linalg.norm(wi + wo)
    a2 = 0.35**4
    d = a2 / (np.pi * (h[2] ** 2 * (a2 - 1) + 1) ** 2)
    masking = 0.5 / (0.64 * np.sqrt(a2 + (1 - a2) * 0.64) + 0.8 * np.sqrt(a2 + (1 - a2) * 0.4096))
    fresnel = 0.04 + 0.96 * (1 - wi[0] @ h) ** 5
    below = np.array([0.55, 0.2, 0.08]) * (1 - fresnel) / np.pi
    np.testing.assert_allclose(found[0], (below + d * masking * fresnel) * 0.8, rtol=1e-4)
