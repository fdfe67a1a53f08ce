"""The browser package `@verdigris/material`: its own tests, under node and in Chromium."""

import json
import subprocess

import pytest

from .conftest import WEB, run_node


def wrong_in(results):
    return {name: why for name, why in results.items() if why and not why.startswith("skipped")}


def test_the_reader_and_its_decoder_pass_under_node(node, bundles):
    results = run_node(node, "package.test.mjs", VERDIGRIS_BUNDLES=bundles)
    assert len(results) > 25
    assert wrong_in(results) == {}
    assert [name for name, why in results.items() if why] == []


def test_chromium_draws_what_the_decoder_computes(node, chromium, bundles, pages):
    results = run_node(
        node,
        "browser.test.mjs",
        VERDIGRIS_BUNDLES=bundles,
        VERDIGRIS_PAGE=pages[1],
        VERDIGRIS_CHROMIUM=chromium,
    )
    assert wrong_in(results) == {}
    skipped = {why for why in results.values() if why}
    if skipped:
        pytest.skip("; ".join(sorted(skipped)))


def test_the_package_holds_its_own_sources_alone(node):
    done = subprocess.run(
        ["npm", "pack", "--dry-run", "--json"], cwd=WEB, capture_output=True, text=True, check=True
    )
    (packed,) = json.loads(done.stdout)
    names = {entry["path"] for entry in packed["files"]}
    own = {f"src/{path.name}" for path in (WEB / "src").iterdir()}
    assert names == own | {"package.json", "README.md"}
    assert {path.suffix for path in (WEB / "src").iterdir()} == {".js", ".ts"}


# three.js' names of a format and of its type.
THREE = {
    "R8_UNORM": ("RedFormat", "UnsignedByteType"),
    "R8G8B8A8_UNORM": ("RGBAFormat", "UnsignedByteType"),
    "R16G16B16A16_SFLOAT": ("RGBAFormat", "HalfFloatType"),
    "BC6H_UFLOAT_BLOCK": ("RGB_BPTC_UNSIGNED_Format", "HalfFloatType"),
    "BC7_UNORM_BLOCK": ("RGBA_BPTC_Format", "UnsignedByteType"),
    "ASTC_4x4_UNORM_BLOCK": ("RGBA_ASTC_4x4_Format", "UnsignedByteType"),
}
SHOW_CONSTANTS = """
import * as three from "three";
import { FORMATS } from "./src/formats.js";
const numbers = Object.entries(three).filter(([, value]) => typeof value === "number");
const found = Object.entries(FORMATS).map(([name, row]) => [name, row.three]);
console.log(JSON.stringify([Object.fromEntries(found), Object.fromEntries(numbers)]));
"""


def test_formats_have_the_constants_of_three(node):
    if not (WEB / "node_modules" / "three").is_dir():
        pytest.skip("three.js is not installed: npm install --prefix web")
    command = [node, "--input-type=module", "-e", SHOW_CONSTANTS]
    done = subprocess.run(command, cwd=WEB, capture_output=True, text=True, check=True)
    found, constants = json.loads(done.stdout)
    for name, wanted in THREE.items():
        assert found[name] == [constants[each] for each in wanted], name
