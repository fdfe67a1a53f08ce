"""What `verdigris export` writes for engines that run in a browser, in their own renderers."""

import json
import shutil
import subprocess

import numpy as np
import pytest

from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.network.spec import NetworkSpec

from ..core.bundle.bundles import lively_parameters, made_up, make_bundle, random_curves
from ..core.geometry.reliefs import bumpy_heights
from ..core.in_process import run_command
from .conftest import LIVE_INPUTS, WEB, both_sides, relief_rows, run_node
from .test_package import wrong_in

# The transmitted albedo of the leaf and of glass, in sRGB.
THROUGH = (230, 200, 170, 255)


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    living = NetworkSpec(6, 2, "silu", frame_count=1, live_inputs=2)
    source = tmp_path_factory.mktemp("source") / "brass.vdg"
    emission = [np.full((1, 1, 4), (0.5, 0.25, 0.125, 1), np.float16)]
    opacity = [np.full((1, 1, 1), 200, np.uint8)]
    # a picture of 16 pixels sees levels 1 and 2 of the texture
    exported = made_up(living, 64, 32)
    levels = [np.full((5, 1, width, 4), 99, np.uint8) for width in (2, 1)]
    proxies = Proxies(levels, 32, random_curves())
    maps = {"emission": emission, "opacity": opacity, "proxies": proxies}
    make_bundle(source, exported, live=LIVE_INPUTS, **maps)
    for target in ("react", "babylon", "godot"):
        code, _, errors = run_command(
            ["export", source, "-t", target, "-o", folder / f"brass_{target}"]
        )
        assert (code, errors) == (0, "")
    # beside the brass, a leaf that lets light pass
    leaf = make_bundle(source.with_name("leaf.vdg"), both_sides(NetworkSpec(8, 2, "silu"), 1.0))
    out = source.with_name("leaf_babylon")
    code, _, errors = run_command(["export", leaf.folder, "-t", "babylon", "-o", out])
    assert (code, errors) == (0, "")
    shutil.copytree(out / "public" / "leaf.vdg", folder / "brass_babylon" / "public" / "leaf.vdg")
    heights = make_height_map(bumpy_heights())
    (folder / "relief").mkdir()
    small = lively_parameters(NetworkSpec(5, 2, "relu", frame_count=1, lobes=1))
    make_bundle(folder / "relief" / "bumps.vdg", small, relief=heights)
    # exports of Godot share an add-on: beside the brass, a leaf with relief, and glass
    spec, level = NetworkSpec(5, 2, "relu", frame_count=1, lobes=1), [np.uint8([[THROUGH]])]
    facts = {
        "proxies": Proxies([np.full((5, 1, 1, 4), 99, np.uint8)], 8, random_curves()),
        "transmitted_albedo": TransmittedAlbedo(level, 8),
    }
    for bundle in (
        make_bundle(folder / "relief" / "leaf.vdg", both_sides(spec, 1.0), relief=heights, **facts),
        make_bundle(source.with_name("glass.vdg"), both_sides(spec, 1.5), **facts),
    ):
        code, _, errors = run_command(
            ["export", bundle.folder, "-t", "godot", "-o", folder / "brass_godot"]
        )
        assert (code, errors) == (0, "")
    (folder / "relief" / "rows.json").write_text(json.dumps(relief_rows(heights)))
    return folder


def test_react_babylon_and_godot_draw_what_the_decoder_computes(node, chromium, exports):
    results = run_node(
        node, "engines.test.mjs", VERDIGRIS_EXPORTS=exports, VERDIGRIS_CHROMIUM=chromium
    )
    assert wrong_in(results) == {}
    skipped = {why for why in results.values() if why}
    if skipped:
        pytest.skip("; ".join(sorted(skipped)))


def test_typescript_takes_the_types_of_react_and_babylon(node):
    compiler = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    packages = (compiler, *(WEB / "node_modules" / name for name in ("@types/three", "@babylonjs")))
    if not all(path.exists() for path in packages):
        pytest.skip("TypeScript and types are not installed: npm install --prefix web")
    command = [
        *(node, compiler, "--noEmit", "--strict", "--skipLibCheck", "--jsx", "react-jsx"),
        *("--module", "esnext", "--moduleResolution", "bundler", "--target", "esnext"),
        *("tests/types/react.tsx", "tests/types/babylon.ts"),
    ]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
