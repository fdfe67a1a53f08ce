"""Bundles for exports to engines, and rows of their references as shaders of engines see them."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np

from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.files.reference import make_reference
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.proxies.proxy_texture import Proxies, TransmittedAlbedo
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.network.parameters import TransmittedSide
from verdigris.core.network.spec import NetworkSpec

from ...geometry.reliefs import bumpy_heights
from ...in_process import run_command
from ..bundles import made_up, make_bundle, random_curves

HERE = Path(__file__).parent
SPECS = {
    "live": NetworkSpec(6, 1, "silu", frame_count=2, lobes=2, live_inputs=2),
    "small": NetworkSpec(
        5, 3, "leaky_smelu", latent_channels=4, frame_count=1, lobes=3, output_limit=9.0
    ),
    # a thin wall with a height map
    "leaf": NetworkSpec(8, 2, "silu", latent_channels=4, frame_count=2, lobes=1),
}
LIVE = (
    LiveInput("wetness", "float", (0.0,), (2.0,), 0.25),
    LiveInput("tint", "color3", (1.0, 0.5, 0.0), (0.0, 0.0, 1.0), 0.75),
)


def make_exported(folder, spec, has_maps=False, index=0.0):
    """A bundle with proxies, and its numbers."""
    exported, maps = made_up(spec), {}
    if index:
        parameters, below = exported.parameters, made_up(spec, seed=1).parameters
        parameters.transmitted = TransmittedSide(below.decoder, index, below.head)
        exported = export_numbers(parameters, format_name=RGBA8)
        passing = [np.full((1, 1, 4), (188, 99, 10, 255), np.uint8)]
        maps["transmitted_albedo"] = TransmittedAlbedo(passing, 16)
        if index == 1:
            maps["relief"] = make_height_map(bumpy_heights())
    random = np.random.default_rng(5)
    proxies = [random.integers(0, 256, (5, 1, width, 4), np.uint8) for width in (2, 1)]
    if has_maps:
        maps["emission"] = [np.full((1, 1, 4), (0.5, 0.25, 0.125, 1), np.float16)]
        maps["opacity"] = [np.full((1, 1, 1), 200, np.uint8)]
    bundle = make_bundle(
        folder / "brass.vdg",
        exported,
        name="old brass",
        live=LIVE[: spec.live_inputs],
        proxies=Proxies(proxies, 8, random_curves()),
        **maps,
    )
    return bundle, exported


def export_to(target, name, folder):
    """A bundle's numbers, and the files of its export by path. `name` is one of SPECS, or glass."""
    index = {"leaf": 1.0, "glass": 1.5}.get(name, 0.0)
    spec = SPECS["leaf" if index else name]
    bundle, exported = make_exported(folder, spec, name == "small", index)
    code, text, errors = run_command(["export", bundle.folder, "-t", target])
    assert (code, errors) == (0, "")
    out = folder / f"brass_{target}"
    files = {path.relative_to(out).as_posix(): path for path in out.rglob("*") if path.is_file()}
    assert text == f"{out}: {len(files)} files\n"
    return exported, files


def rows_above(exported):
    """The rows of the reference with both directions above the horizon: their columns, and the
    responses. Those of a thin wall's other side have the light below."""
    found, answers = [], []
    for side, parameters in enumerate(exported.exact.sides):
        reference = make_reference(parameters)
        # a surface that is seen at less than .001 is bent towards the viewer
        chosen = (reference.wi[:, 2] > 0) & (reference.wo[:, 2] > 0.002)
        columns = {name: getattr(reference, name)[chosen] for name in ("uv", "lod", "wi", "wo")}
        columns["wi"] = columns["wi"] * (1, 1, -1 if side else 1)
        columns["live"] = np.zeros((chosen.sum(), 4), np.float32)
        if reference.live is not None:
            columns["live"][:, : reference.live.shape[1]] = reference.live[chosen]
        found.append(columns)
        answers.append(reference.exported[chosen].astype(float))
    joined = {name: np.concatenate([each[name] for each in found]) for name in found[0]}
    return joined, np.concatenate(answers)


def open_container(data):
    """`material.json` and the arrays of NAME.verdigris."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read("material.json")), {
            name: archive.read(name) for name in archive.namelist() if name.endswith(".bin")
        }


def largest_difference(found, wanted):
    """Relative to the response, or to .01 where it is darker."""
    return (np.abs(found - wanted) / np.maximum(wanted, 0.01)).max()


def queries_of(columns, facts):
    """Rows for a shader, [2, rows, 4, 4], first as they are, then on a mirrored mesh: uv, lod and a
    texel's width; the directions, the second with the side; live values."""
    queries = np.zeros((2, len(columns["lod"]), 4, 4), np.float32)
    queries[..., 0, :2], queries[..., 0, 2] = columns["uv"], columns["lod"]
    # the texture is wider than high, so the width in texels follows from x
    queries[..., 0, 3] = 1 / max(facts["latents"]["width"], facts["latents"]["height"])
    queries[..., 1, :3], queries[..., 2, :3] = columns["wi"], columns["wo"]
    queries[..., 3, :] = columns["live"]
    queries[0, :, 2, 3], queries[1, :, 2, 3] = 1, -1
    return queries


def texels_of(exported):
    """The texels of all levels, from 0 to 1, each level layer after layer."""
    levels = [level.ravel() for level in exported.latents.levels]
    return (np.concatenate(levels) / 255).astype("<f4")
