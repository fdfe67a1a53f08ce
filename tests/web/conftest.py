"""Bundles, pages and the results of the browser package's own tests, which run once."""

import json
import os
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.bundle.files.ktx2 import RGBA8, RGBA16F
from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
from verdigris.core.bundle.runtime import runtime_files as runtime
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.geometry.relief import lit, normal, relief
from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.network.parameters import TransmittedSide
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.pictures.picture_files import encode_png

from ..core.bundle.bundles import (
    lively_parameters,
    made_up,
    make_bundle,
    random_curves,
    with_older_head,
    write_as_older,
)
from ..core.geometry.reliefs import bumpy_heights, rays
from ..core.in_process import run_command

WEB = Path(__file__).resolve().parents[2] / "web"
ERRORS = {"samples": {"log_mae": 0.004}, "sphere": {"psnr": 40.0, "ldr_flip": 0.01}}
LIVE_INPUTS = (
    LiveInput("wetness", "float", (0.0,), (2.0,), 0.25),
    LiveInput("tint", "color3", (1.0, 0.5, 0.0), (0.0, 0.0, 1.0), 0.75),
)
TILT = np.radians(50)
FOR_BROWSERS = (".es300.glsl", ".wgsl")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="session")
def node():
    found = shutil.which("node")
    if not found:
        pytest.skip("there is no node: install Node.js 20 or newer")
    return found


@pytest.fixture(scope="session")
def chromium():
    named = os.environ.get("VERDIGRIS_CHROMIUM")
    found = next(filter(None, map(shutil.which, [named] if named else BROWSERS)), None)
    if not found:
        pytest.skip("there is no Chromium: install it, or name it in VERDIGRIS_CHROMIUM")
    return found


def texts_for_browsers(spec, transmits=False):
    """The shaders of a bundle's `runtime/` that browsers compile."""
    with pytest.MonkeyPatch.context() as patch:
        chosen = {
            name: each for name, each in runtime.TARGETS.items() if name.endswith(FOR_BROWSERS)
        }
        patch.setattr(runtime, "TARGETS", chosen)
        files = runtime.runtime_files(spec, transmits=transmits)
    return {name: files[name] for name in chosen}


def both_sides(spec, index):
    """Random numbers of a surface that transmits."""
    parameters, below = (lively_parameters(spec, seed=seed) for seed in (3, 4))
    parameters.transmitted = TransmittedSide(below.decoder, index, -below.head)
    return parameters


@pytest.fixture(scope="session")
def bundles(tmp_path_factory):
    """A folder of bundles that differ in all that shaders depend on."""
    folder = tmp_path_factory.mktemp("web")
    picture = np.linspace(0, 1, 8 * 24 * 3, dtype=np.float32).reshape(8, 24, 3)
    four = NetworkSpec(16, activation="silu", latent_channels=4)
    make_bundle(
        folder / "a_small.vdg",
        lively_parameters(four),
        name="</script>copper",
        preview=encode_png(picture),
        errors=ERRORS,
    )
    emission = [np.full((1, 1, 4), 0.5, np.float16)]
    opacity = [np.full((2, 2, 1), 200, np.uint8), np.full((1, 1, 1), 200, np.uint8)]
    odd = NetworkSpec(10, 3, "leaky_smelu", frame_count=3, lobes=3, output_limit=9.0)
    halves = with_older_head(lively_parameters(odd), "4.3")
    make_bundle(folder / "b_halves.vdg", halves, RGBA16F, emission=emission, opacity=opacity)
    write_as_older(folder / "b_halves.vdg", odd, "4.3")
    for name, index in (("b_solid", 1.5), ("b_thin", 1.0)):
        spec = NetworkSpec(8, 2, "silu", frame_count=2, lobes=1)
        passing = TransmittedAlbedo([np.full((1, 1, 4), (188, 99, 10, 255), np.uint8)], 8)
        make_bundle(folder / f"{name}.vdg", both_sides(spec, index), transmitted_albedo=passing)
    heights = make_height_map(bumpy_heights())
    flat = lively_parameters(NetworkSpec(5, 2, "relu", frame_count=1, lobes=1))
    make_bundle(folder / "b_relief.vdg", flat, relief=heights)
    (folder / "relief_rows.json").write_text(json.dumps(relief_rows(heights)))
    without = lively_parameters(NetworkSpec(16, 2, "relu", frame_count=1, lobes=1))
    without.head = None
    proxies = Proxies([np.full((5, 1, 1, 4), 99, np.uint8)], 8, random_curves())
    make_bundle(folder / "c_no_sampler.vdg", without, RGBA8, proxies=proxies)
    eight = with_older_head(lively_parameters(), "4.5")
    make_bundle(folder / "c_eight_latents.vdg", eight)
    write_as_older(folder / "c_eight_latents.vdg", eight.spec, "4.5")
    small = NetworkSpec(5, 2, "leaky_smelu", latent_channels=4, frame_count=1)
    texts = texts_for_browsers(small)
    if texts:
        make_bundle(folder / "d_shipped.vdg", lively_parameters(small), runtime=texts)
    texts = texts_for_browsers(small, transmits=True)
    make_bundle(folder / "d_glass.vdg", both_sides(small, 1.5), runtime=texts)
    living = NetworkSpec(6, 2, "silu", frame_count=1, live_inputs=2)
    exported, texts = made_up(living), texts_for_browsers(living)
    make_bundle(folder / "e_living.vdg", exported, live=LIVE_INPUTS, runtime=texts)
    return folder


def tilted_rows(heights, side=16):
    """What numpy sees at the pixels of a unit plane that leans back by TILT, with a sun before it
    and behind."""
    down, across = np.divmod(np.arange(side * side), side)
    along = ((down + 0.5) / side - 0.5) / np.cos(TILT)
    inside = np.flatnonzero(np.abs(along) < 0.45)
    uv = np.stack([(across[inside] + 0.5) / side, along[inside] + 0.5], 1)
    x, y, z = np.array([1, 2, 3]) / np.sqrt(14)
    sine, cosine = np.sin(TILT), np.cos(TILT)
    wo = np.tile([0, -sine, cosine], (len(uv), 1))
    wi = np.tile([x, y * cosine - z * sine, y * sine + z * cosine], (len(uv), 1))
    behind = np.tile([x, y * cosine + z * sine, y * sine - z * cosine], (len(uv), 1))
    level = int(np.log2(min(heights.size[0], heights.size[1] / cosine) / side))
    extent = np.ones_like(uv)
    place = relief(heights, uv, wo, extent, level)
    upward = normal(heights, place.uv, extent, level)
    columns = {
        "pixel": inside,
        "uv": place.uv,
        "lit": lit(heights, place, wi, extent, level).astype(float),
        "wi": turned(upward, wi),
        "behind": turned(upward, behind),
        "wo": turned(upward, wo),
    }
    return [{name: each[row].tolist() for name, each in columns.items()} for row in range(len(uv))]


def turned(upward, directions):
    """Directions in the frame of the relief."""
    tangent = np.stack([upward[:, 2], 0 * upward[:, 0], -upward[:, 0]], 1)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    axes = tangent, np.cross(upward, tangent), upward
    return np.stack([(axis * directions).sum(1) for axis in axes], 1)


def relief_rows(heights, count=600):
    """Rays on two levels of a height map, and what numpy sees along them."""
    uv, wo, extent = rays(count)
    _, wi, _ = rays(count, seed=7)
    rows = []
    for level in (0, 2):
        place = relief(heights, uv, wo, extent, level)
        columns = {
            "place": np.concatenate([uv, extent], 1),
            "wo": np.concatenate([wo, np.full((count, 1), level + 0.5)], 1),
            "wi": wi,
            "seen": np.concatenate([place.uv, place.height[:, None]], 1),
            "normal": normal(heights, place.uv, extent, level),
            "lit": lit(heights, place, wi, extent, level).astype(float)[:, None],
        }
        rows += [
            {name: values[row].tolist() for name, values in columns.items()} for row in range(count)
        ]
    return {"rows": rows, "scale": heights.scale, "tilted": tilted_rows(heights)}


@pytest.fixture(scope="session")
def pages(bundles, tmp_path_factory):
    """A page of one bundle; and one of four: the second was damaged on its way, the third has live
    inputs, and the fourth lets light pass."""
    folder = tmp_path_factory.mktemp("pages")
    whole, broken = folder / "review.html", folder / "broken.html"
    first, second = bundles / "a_small.vdg", folder / "second.vdg"
    code, told, errors = run_command(["publish", first, "-o", whole])
    assert code == 0, errors
    assert f"{whole}: 1 material, 1 reference picture, 0." in told
    shutil.copytree(first, second)
    from verdigris.core.bundle.files.read import open_bundle
    from verdigris.core.publish import Published, make_page

    others = bundles / "e_living.vdg", bundles / "b_thin.vdg"
    opened = [open_bundle(path) for path in (first, second, *others)]
    latents = bytearray((second / "latents.ktx2").read_bytes())
    latents[-1] ^= 1
    (second / "latents.ktx2").write_bytes(latents)
    broken.write_bytes(make_page([Published(each) for each in opened], "two", "a test"))
    return whole, broken


def run_node(node, test, **variables):
    """Results of a test file by name: None, or what failed."""
    command = [node, "--test", "--test-reporter=junit", f"tests/{test}"]
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run(
        command, cwd=WEB, env=environment, capture_output=True, text=True, check=False, timeout=240
    )
    found = {}
    for case in ET.fromstring(done.stdout).iter("testcase"):
        wrong = case.find("failure")
        skipped = case.find("skipped")
        found[case.get("name")] = (
            wrong.text
            if wrong is not None
            else f"skipped: {skipped.get('message')}"
            if skipped is not None
            else None
        )
    assert found, done.stdout + done.stderr
    return found
