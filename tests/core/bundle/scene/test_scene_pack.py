"""The content of a scene pack, compared with its bundles."""

import json
from dataclasses import replace

import numpy as np

from verdigris.core.base.device import open_device
from verdigris.core.bundle.files.arithmetic import Arithmetic, slowest_arithmetic
from verdigris.core.bundle.files.manifest import VERSION
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.half_floats import judge
from verdigris.core.bundle.runtime import runtime_files
from verdigris.core.bundle.runtime.evaluate_queries import QueryEvaluator
from verdigris.core.bundle.runtime.runtime_files import TARGETS
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.scene_pack import open_scene

from ...small_endings import FEW_SHADERS
from ..bundles import lively_parameters, make_bundle
from ..scenes import LOOSE, TAME, damaged_copy

COARSE = Arithmetic("portable", {"cooperative": 0.02, "careful": 0.01})


def test_every_material_of_a_scene_finds_its_reference(scene):
    """Through the runtime shader, all in one dispatch, from what the files hold."""
    references = [scene.reference(material) for material in scene.materials]
    count = len(references[0])
    material = np.repeat(np.arange(len(references)), count)
    evaluator = QueryEvaluator(scene.stored(), open_device("software"))
    names = ("uv", "lod", "wi", "wo")
    joined = [np.concatenate([getattr(each, name) for each in references]) for name in names]
    found = evaluator.response(*joined, material=material)
    wanted = np.concatenate([each.exported for each in references])
    assert (np.abs(found - wanted) / np.maximum(wanted, 0.01)).max() < 1e-4


def test_equal_decoders_are_stored_once(scene, bundles):
    one = len(bundles[0].weights_bytes())
    assert [material.weights_offset for material in scene.materials] == [0, one, 0]
    assert scene.weights.bytes == 2 * one
    data = (scene.folder / "weights.bin").read_bytes()
    assert data == bundles[0].weights_bytes() + bundles[1].weights_bytes()


def test_bounds_are_those_of_the_bundles(scene, tmp_path):
    assert [material.bounds for material in scene.materials] == [Bounds(), Bounds(), LOOSE]
    old = damaged_copy(scene, tmp_path, ("materials", 2), None, forget="bounds")
    assert open_scene(old).materials[2].bounds == Bounds()


def test_the_most_careful_material_counts(bundles, scene, tmp_path):
    """The bundles of the other tests say nothing and are judged here."""
    found = [material.arithmetic for material in scene.materials]
    assert found == [
        judge(bundle.exact_parameters(), bundle.reference(), bundle.manifest.bounds)
        for bundle in bundles
    ]
    assert scene.advised == slowest_arithmetic(each.advised for each in found)
    mixed = [
        make_bundle(tmp_path / f"{name}.vdg", lively_parameters(seed=seed), arithmetic=arithmetic)
        for seed, (name, arithmetic) in enumerate({"tame": TAME, "coarse": COARSE}.items())
    ]
    for chosen, advised in ((mixed[:1], "cooperative"), (mixed, "portable")):
        packed = pack(chosen, tmp_path / f"{advised}.vdg")
        document = json.loads((packed.folder / "manifest.json").read_text())
        assert (document["version"], document["arithmetic"]) == (VERSION, {"advised": advised})
        assert document["materials"][-1]["arithmetic"]["advised"] == advised
        names = {path.name for path in (packed.folder / "runtime").iterdir()}
        assert ("cooperative.hlsl" in names) == (advised == "cooperative")
        assert "portable.hlsl" in names


def test_cooperative_code_for_several_decoders_reads_none_from_constants(tmp_path, monkeypatch):
    constants = {"portable_constants.hlsl": TARGETS["portable_constants.hlsl"]}
    monkeypatch.setattr(runtime_files, "TARGETS", FEW_SHADERS | constants)
    first, second = lively_parameters(seed=1), lively_parameters(seed=2)
    shared = replace(lively_parameters(seed=3), decoder=first.decoder)
    bundles = [
        make_bundle(tmp_path / f"{name}.vdg", parameters, arithmetic=TAME)
        for name, parameters in (("first", first), ("second", second), ("shared", shared))
    ]
    for name, chosen, decoders in (("family", bundles[::2], 1), ("mixed", bundles[:2], 2)):
        folder = pack(chosen, tmp_path / f"{name}-scene.vdg").folder
        text = (folder / "runtime" / "cooperative.hlsl").read_text()
        assert ("neuralFloats" in text) == (decoders == 1)
        assert "neuralFloats" in (folder / "runtime" / "portable_constants.hlsl").read_text()


def test_a_scene_pack_without_advice_is_checked_as_shipped(scene, tmp_path):
    copy = damaged_copy(scene, tmp_path, ("version",), "4.99")
    document = json.loads((copy / "manifest.json").read_text())
    for table in (document, *document["materials"]):
        del table["arithmetic"]
    (copy / "manifest.json").write_text(json.dumps(document))
    opened = open_scene(copy)
    assert opened.advised is None
    assert [material.arithmetic for material in opened.materials] == [None] * 3


def test_textures_are_those_of_the_bundles(scene, bundles):
    for material, bundle in zip(scene.materials, bundles, strict=True):
        data = (scene.folder / f"{material.name}.latents.ktx2").read_bytes()
        assert data == (bundle.folder / "latents.ktx2").read_bytes()
    assert [bool(material.opacity) for material in scene.materials] == [False, False, True]
    assert (scene.folder / "lace.opacity.ktx2").stat().st_size > 0
    assert (scene.folder / "runtime" / "portable.hlsl").is_file()
