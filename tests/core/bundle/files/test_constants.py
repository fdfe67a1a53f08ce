"""constants.bin: the weights as floats, for shaders."""

import json
import shutil
import struct
from hashlib import sha256

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.weights import constant_floats
from verdigris.core.bundle.scene.scene_pack import open_scene
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.network.spec import NetworkSpec

from ..bundles import lively_parameters, make_bundle

SPEC = NetworkSpec(7, 4, "silu")


@pytest.fixture
def folder(tmp_path):
    return make_bundle(tmp_path / "a.vdg", lively_parameters(SPEC)).folder


def test_it_holds_every_half_and_transposes_every_second_matrix(folder):
    """By the formula of docs/FORMAT.md, number by number."""
    document = json.loads((folder / "manifest.json").read_text())
    halves = np.frombuffer((folder / "weights.bin").read_bytes(), "<f2")
    wanted = halves.astype("<f4")
    tensors = {each["name"]: each for each in document["weights"]["tensors"]}
    for name in ("layer1.weights", "layer3.weights"):
        start, stride = tensors[name]["offset"] // 2, tensors[name]["row_stride"] // 2
        for row in range(7):
            for column in range(7):
                wanted[start + column * stride + row] = halves[start + row * stride + column]
    found = (folder / "constants.bin").read_bytes()
    assert found == wanted.tobytes()
    assert document["constants"]["bytes"] == len(found) == 2 * document["weights"]["bytes"]


def damage(folder, place):
    """Another number, with a digest that fits it."""
    data = bytearray((folder / "constants.bin").read_bytes())
    struct.pack_into("<f", data, place, 1.25)
    (folder / "constants.bin").write_bytes(data)
    document = json.loads((folder / "manifest.json").read_text())
    document["constants"]["sha256"] = sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(document))


def test_verify_names_the_number_that_is_not_that_of_the_weights(folder):
    damage(folder, 40)
    bundle = open_bundle(folder)
    assert bundle.parameters().decoder.any()  # decoders of ours do not read it
    with pytest.raises(BundleError, match=r"constants.bin: the number at byte 40 is 1.25, but "):
        verify(bundle)


def test_a_file_of_another_length_is_refused_as_the_bundle_opens(folder):
    document = json.loads((folder / "manifest.json").read_text())
    document["constants"]["bytes"] -= 4
    (folder / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(BundleError, match=r"constants.bytes is \d+: it must be \d+, twice"):
        open_bundle(folder)


def test_a_scene_pack_has_those_of_all_decoders(scene, tmp_path):
    weights = (scene.folder / "weights.bin").read_bytes()
    size = scene.decoder_bytes
    parts = [weights[begin : begin + size] for begin in range(0, len(weights), size)]
    wanted = [constant_floats(scene.spec, scene.tensors, part) for part in parts]
    assert len(parts) > 1 and (scene.folder / "constants.bin").read_bytes() == b"".join(wanted)
    copy = shutil.copytree(scene.folder, tmp_path / "copy.vdg")
    damage(copy, 4)
    with pytest.raises(BundleError, match="the number at byte 4 is"):
        open_scene(copy).check_files()
