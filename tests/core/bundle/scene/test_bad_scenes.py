"""Invalid scene packs are refused as strictly as bundles."""

import json
import shutil

import numpy as np
import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.scene.scene_pack import open_scene

from ..scenes import damaged_copy


def test_a_scene_is_no_bundle_and_a_bundle_no_scene(scene, bundles):
    with pytest.raises(VerdigrisError) as failure:
        open_bundle(scene.folder)
    assert str(failure.value).endswith(
        "format is 'verdigris.scene': a bundle's is 'verdigris.material': this is a scene pack, "
        "which only verify reads: name one of its bundles"
    )
    with pytest.raises(VerdigrisError, match=r"format is 'verdigris.material': a scene pack's is"):
        open_scene(bundles[0].folder)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("materials", 1, "weights_offset"), 64, r"materials\[1\].weights_offset is 64"),
        (("materials", 1, "weights_offset"), 1 << 20, r"materials\[1\].weights_offset"),
        (("materials", 0, "latents", "file"), "../x.ktx2", r"materials\[0\].latents.file"),
        (("materials", 0, "latents", "width"), 9, r"latents.levels|latents.ktx2"),
        (("materials", 2, "name"), "copper", "their names must differ"),
        (
            ("materials", 2, "latents", "file"),
            "oak.latents.ktx2",
            r"materials\[2\].latents.file is 'oak.latents.ktx2': materials\[1\].latents.file names",
        ),
        (("materials", 2, "name"), "\x1b[31mred", r"materials\[2\].name is '.x1b.*it must be a pl"),
        (("materials", 2, "name"), "", r"materials\[2\].name is '': it must be a plain text"),
        (("materials", 0, "reference", "count"), 255, r"materials\[0\].reference.count is 255"),
        (("materials", 1, "bounds", "floor"), 0, r"materials\[1\].bounds.floor is 0: .* above 0"),
        (("weights", "decoder_bytes"), 100, "weights.decoder_bytes is 100"),
        (
            ("weights", "decoder_bytes"),
            1 << 20,
            r"weights.decoder_bytes is 1048576: weights.bytes is \d+, less than a decoder",
        ),
        (("weights", "bytes"), 8000, "weights.bytes is 8000: it must be a multiple of 128"),
        (("weights", "tensors", 1, "offset"), 1 << 14, "must end within"),
        (("network", "layers", 0, "outputs"), 17, "network.layers"),
        (("materials", 1, "bounds", "floor"), -1, r"materials\[1\].bounds.floor is -1"),
        (("version",), "3.0", "this reads 4.x: bake the materials again, and pack them"),
        (("version",), "5.0", "this reads 4.x: use a newer Verdigris"),
        (("arithmetic", "advised"), "split", "arithmetic.advised is 'split': this reads"),
        (("materials", 1, "arithmetic", "advised"), 1, r"materials\[1\].arithmetic.advised is 1"),
        (
            ("materials", 0, "arithmetic", "advised"),
            "portable",
            r"json: arithmetic.advised is '\w+': one of its materials needs portable",
        ),
        (("materials",), [], "it must be a list of 1 to 4096 objects"),
    ],
)
def test_a_manifest_that_lies_is_refused(scene, tmp_path, path, value, message):
    copy = damaged_copy(scene, tmp_path, path, value)
    with pytest.raises(VerdigrisError, match=message) as caught:
        open_scene(copy).stored()
    assert "damaged.vdg" in str(caught.value)


def test_a_scene_without_a_word_on_its_response_is_refused(scene, tmp_path):
    copy = damaged_copy(scene, tmp_path, ("version",), "4.0")
    document = json.loads((copy / "manifest.json").read_text())
    del document["response"]
    (copy / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(VerdigrisError, match=r"manifest.json: response is missing"):
        open_scene(copy)


def test_a_decoder_that_is_no_number_is_refused(scene, tmp_path):
    import hashlib

    copy = tmp_path / "damaged.vdg"
    shutil.copytree(scene.folder, copy)
    data = bytearray((copy / "weights.bin").read_bytes())
    data[0:2] = b"\x00\x7e"
    (copy / "weights.bin").write_bytes(data)
    with pytest.raises(VerdigrisError, match="sha256"):
        open_scene(copy).stored()
    document = json.loads((copy / "manifest.json").read_text())
    document["weights"]["sha256"] = hashlib.sha256(data).hexdigest()
    (copy / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(VerdigrisError, match="frames contains values that are not finite"):
        open_scene(copy).stored()


def test_scenes_damaged_at_random_are_read_or_refused(scene, tmp_path):
    copy = tmp_path / "fuzzed.vdg"
    shutil.copytree(scene.folder, copy)
    text = (copy / "manifest.json").read_bytes()
    random = np.random.default_rng(5)
    for _ in range(200):
        data = bytearray(text)
        for place in random.integers(0, len(data), random.integers(1, 4)):
            data[place] = random.integers(32, 127)
        (copy / "manifest.json").write_bytes(bytes(data))
        try:
            open_scene(copy).stored()
        except VerdigrisError as refusal:
            assert "fuzzed.vdg" in str(refusal)
