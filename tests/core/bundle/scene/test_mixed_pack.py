"""A scene pack of a leaf, glass, a brick wall and wood: its runtime against numpy, and against the
single bundles' own decoders."""

import json
import re

import numpy as np
import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.kernels import Source
from verdigris.core.bundle.files.ktx2 import RGBA8
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.runtime.device_materials import (
    RuntimeChoice,
    read_stored,
    upload_texture,
)
from verdigris.core.bundle.runtime.evaluate_queries import QueryEvaluator
from verdigris.core.bundle.runtime.runtime_files import RUNTIME_SHADERS
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.scene_pack import open_scene
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.bundle.verify import sphere_density
from verdigris.core.geometry import relief
from verdigris.core.geometry.height_map import make_height_map
from verdigris.core.material.sides import passed
from verdigris.core.network.light.both_sides import SphereSampler
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod
from verdigris.core.network.parameters import TransmittedSide

from ...geometry.reliefs import bumpy_heights, rays
from ...in_process import run_command
from ...material.test_sides import directions
from ..bundles import lively_parameters, make_bundle
from ..scenes import WIDE, damaged_copy

COUNT = 200
NAMES = "brick", "glass", "leaf", "oak"


def transmitting(seed, index):
    parameters, below = (lively_parameters(seed=each) for each in (seed, seed + 1))
    parameters.transmitted = TransmittedSide(below.decoder, index, -below.head)
    return export_numbers(parameters)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed")
    numbers = lively_parameters(seed=8, layout=WIDE), transmitting(3, 1.5), transmitting(5, 1.0)
    contents = {"relief": make_height_map(bumpy_heights())}, {}, {}, {}
    return [
        make_bundle(folder / f"{name}.vdg", each, **own)
        for name, each, own in zip(
            NAMES, (*numbers, lively_parameters(seed=9)), contents, strict=True
        )
    ]


@pytest.fixture(scope="module")
def scene(bundles, tmp_path_factory):
    return pack(bundles, tmp_path_factory.mktemp("mixed-scene") / "set.vdg")


def queries(index):
    """uv, lod, wi on both sides, wo and two numbers."""
    random = np.random.default_rng(2)
    wi, wo = directions(COUNT)
    # a solid refracts to the viewer from few directions
    wi[:, ::4] = passed(wi[:, ::4], wo[:, ::4], index)
    wi[2, 2::4] *= -1
    uv, numbers = random.random((2, COUNT, 2))
    return [
        each.astype(np.float32) for each in (uv, random.uniform(-1, 4, COUNT), wi.T, wo.T, numbers)
    ]


def test_one_shader_covers_the_sphere_for_what_transmits_and_keeps_the_bits_of_the_rest(
    scene, bundles, software
):
    both = QueryEvaluator(scene.stored(), software, RuntimeChoice(in_pairs=True))
    for number, bundle in enumerate(bundles):
        transmitted = bundle.manifest.transmitted
        uv, lod, wi, wo, numbers = queries(transmitted.index if transmitted else 1.0)
        found = both.answers(uv, lod, wi, wo, 2 * number, *numbers.T)
        if transmitted is None:
            own = QueryEvaluator([read_stored(bundle)], software)
            np.testing.assert_array_equal(found, own.answers(uv, lod, wi, wo, 0, *numbers.T))
            continue
        exact = bundle.exact_parameters().astype(np.float64)
        uv, lod, wi, wo, numbers = (each.astype(np.float64) for each in (uv, lod, wi, wo, numbers))
        response = evaluate_at_lod(exact, uv, lod, wi, wo)
        np.testing.assert_allclose(found["response"], response, rtol=2e-3, atol=1e-5)
        sampler = SphereSampler.at(exact, latents_at_lod(exact, uv.T, lod), wo.T)
        np.testing.assert_allclose(found["pdf"], sampler.pdf(wi.T), rtol=5e-3, atol=1e-5)
        drawn = sampler.draw(numbers.T).T
        near = np.abs(found["drawn"] - drawn).max(1) < 2e-3
        assert near.mean() > 0.99
        lit = near & drawn.any(1)
        wanted = evaluate_at_lod(exact, uv, lod, drawn, wo)[lit]
        np.testing.assert_allclose(found["drawn_response"][lit], wanted, rtol=2e-2, atol=1e-3)
        assert (response[wi[:, 2] < 0].sum(1) > 0).mean() > 0.4 and (drawn[:, 2] < 0).mean() > 0.2


def test_the_pack_has_every_file_of_its_bundles(scene, bundles):
    brick, glass, leaf, oak = scene.materials
    assert [each.transmitted.index for each in (glass, leaf)] == [1.5, 1.0]
    assert brick.transmitted is None and oak.transmitted is None and oak.relief is None
    data, size = (scene.folder / "weights.bin").read_bytes(), scene.decoder_bytes
    assert (scene.decoders, len(data)) == (6, 6 * size)
    constants = (scene.folder / "constants.bin").read_bytes()
    for material, bundle in zip(scene.materials, bundles, strict=True):
        if below := material.transmitted:
            place = below.weights_offset
            assert data[place : place + size] == bundle.transmitted.weights_bytes()
            own = (bundle.folder / "transmitted_constants.bin").read_bytes()
            assert constants[2 * place : 2 * (place + size)] == own
    height = (scene.folder / brick.relief.record.file).read_bytes()
    assert height == (bundles[0].folder / "height.ktx2").read_bytes()
    names = {path.name for path in (scene.folder / "runtime").iterdir()}
    assert {"neural_sides.slang", "neural_relief.slang", "relief.hlsl"} <= names


def test_an_opaque_pack_has_nothing_of_it(bundles, tmp_path):
    packed = pack(bundles[3:], tmp_path / "oak.vdg")
    names = {path.name for path in (packed.folder / "runtime").iterdir()}
    assert not [name for name in names if "sides" in name or "relief" in name]
    document = json.loads((packed.folder / "manifest.json").read_text())
    assert not {"transmission", "relief"} & {*document["materials"][0]}
    assert "NeuralSides" not in (packed.folder / "runtime" / "portable.hlsl").read_text()


def test_verify_proves_both_sides_and_the_heights(scene, software, tmp_path, monkeypatch):
    for name, number in (("PLACES", 8), ("_GRAZING", 1)):
        monkeypatch.setattr(sphere_density, name, number)
    rows = {row.what for row in verify_scene(scene, software).rows if row.holds}
    for name in ("leaf", "glass"):
        for decoder in ("numpy", "portable", "portable, constants"):
            assert f"{name}: transmitted: {decoder} against the reference" in rows
            assert f"{name}: transmitted: {decoder} sampler against the reference" in rows
        assert f"{name}: density over the sphere against 1" in rows
    assert "brick: extrema of heights" in rows and "oak: numpy against the reference" in rows
    assert not [what for what in rows if "transmitted" in what and "brick" in what]
    place = ("materials", 2, "transmission", "weights_offset")
    copy = damaged_copy(scene, tmp_path, place, scene.materials[1].transmitted.weights_offset)
    wrong = {row.what for row in verify_scene(open_scene(copy)).rows if not row.holds}
    assert {what.partition(" ")[0] for what in wrong} == {"leaf:"}
    assert all(what.startswith("leaf: transmitted: ") for what in wrong)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("index",), 0.0, r"index is 0.0: it must be from 0.05 to 20"),
        (("weights_offset",), 64, r"weights_offset is 64: it must be a multiple of 128"),
        (("reference", "file"), "oak.reference.json", r"names the same file"),
    ],
)
def test_a_transmission_that_cannot_be_is_refused(scene, tmp_path, path, value, told):
    copy = damaged_copy(scene, tmp_path, ("materials", 2, "transmission", *path), value)
    with pytest.raises(VerdigrisError, match=told):
        open_scene(copy)


def test_the_command_packs_all_of_it_without_a_word(bundles, tmp_path):
    names = [bundle.folder for bundle in bundles]
    code, out, errors = run_command(["pack", *names, "-o", tmp_path / "set.vdg"])
    assert (code, errors) == (0, "")
    assert "4 materials, 2x16 silu, 8 latents, 2 frames, 2 lobes, 6 decoders in" in out


def test_relief_of_several_maps_is_that_of_each_and_of_none(software):
    """The shader that the HLSL and GLSL of scene packs are made from."""
    count = 1500
    maps = [make_height_map(bumpy_heights()), make_height_map(3 * bumpy_heights(64, 64) - 0.05)]
    records = np.zeros((3, 8), "<u4")
    # the second record is of a flat material
    for place, (number, each) in zip((0, 2), enumerate(maps), strict=True):
        records[place, :3] = *each.size, len(each.levels)
        records[place, 3:5] = np.float32([each.scale, each.midlevel]).view("<u4")
        records[place, 5] = number
    uv, wo, extent = rays(count)
    wi, index = rays(count, seed=7)[1], np.arange(count) % 3
    queries = np.zeros((count, 12), np.float32)
    for start, values in ((0, uv), (2, extent), (4, wo), (8, wi)):
        queries[:, start : start + values.shape[1]] = values
    queries[:, 7], queries[:, 11] = 0.5, index.astype("<u4").view("<f4")
    answers = software.new_space(2 * count, 16)
    # slangpy numbers what it binds by itself
    text = re.sub(
        r"\[\[vk::binding.*?\]\] ", "", (RUNTIME_SHADERS / "evaluate_relief.slang").read_text()
    ).replace("import neural_relief", "import bundle.runtime.neural_relief")
    kernels = software.new_kernels({"NEURAL_HEIGHTS": "2"})
    software.dispatch(
        kernels.get((Source("relief_of_several", text),), "evaluateQueries"),
        count,
        {
            "neuralQueries": software.new_buffer(queries, 48),
            "neuralAnswers": answers,
            "neuralQueryCount": {"count": count},
            "neuralHeightRecords": software.new_buffer(records, 32),
            "neuralHeights": [upload_texture(software, RGBA8, each.levels) for each in maps],
        },
    )
    found = answers.to_numpy().view(np.float32).reshape(count, 8)
    flat = index == 1
    np.testing.assert_array_equal(found[flat, :2], queries[flat, :2])
    np.testing.assert_array_equal(found[flat, 2:7], np.tile([0, 1, 0, 0, 1], (flat.sum(), 1)))
    for place, each in zip((0, 2), maps, strict=True):
        own = index == place
        expected = relief.relief(
            each, *(values[own].astype(np.float32) for values in (uv, wo, extent)), 0
        )
        same = np.abs(found[own, 2] - expected.height) < 1e-3 * each.scale
        # a ray that grazes an edge may miss it in single floats
        assert same.mean() > 0.995
        np.testing.assert_allclose(found[own][same, :2], expected.uv[same], atol=2e-3)
        seen = relief.Relief(found[own, :2].astype(float), found[own, 2].astype(float))
        lit = relief.lit(each, seen, wi[own].astype(np.float32), extent[own].astype(np.float32), 0)
        assert (found[own, 3] == lit).mean() > 0.99 and 0.1 < lit.mean() < 0.95
