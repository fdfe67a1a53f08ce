"""Scenes: bundles joined for one shader, read back as strictly as a bundle."""

import json
import shutil
import subprocess
import sys
import tracemalloc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verdigris.core import api, cli
from verdigris.core.bundle import files
from verdigris.core.bundle import verify_scene as verifying
from verdigris.core.bundle.arithmetic import Arithmetic, judge, most_careful
from verdigris.core.bundle.device_eval import QueryEvaluator
from verdigris.core.bundle.files import digest
from verdigris.core.bundle.manifest_parts import Bounds
from verdigris.core.bundle.pack import pack
from verdigris.core.bundle.read import open_bundle
from verdigris.core.bundle.replace import set_aside_name
from verdigris.core.bundle.scene import Scene, open_scene
from verdigris.core.bundle.verify import verify
from verdigris.core.bundle.verify_scene import verify_scene
from verdigris.core.device import open_device
from verdigris.core.errors import SettingsError, VerdigrisError
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from .bundles import lively_parameters, make_bundle

WIDE = LatentLayout(16, 2, 5)
TAME = Arithmetic("cooperative", {"cooperative": 0.004, "careful": 0.003})
COARSE = Arithmetic("portable", {"cooperative": 0.02, "careful": 0.01})
LOOSE = Bounds(relative=0.02, floor=0.1, absolute=0.001)


@pytest.fixture(scope="module")
def bundles(tmp_path_factory):
    """Three materials; the third has the first one's decoder and latents of its own."""
    folder = tmp_path_factory.mktemp("bundles")
    first, second = lively_parameters(seed=1), lively_parameters(seed=2, layout=WIDE)
    third = replace(lively_parameters(seed=3), decoder=first.decoder)
    opacity = [np.full((1, 1, 1), 7, np.uint8)]
    return [
        make_bundle(folder / "copper.vdg", first),
        make_bundle(folder / "oak.vdg", second, quantised=False),
        make_bundle(folder / "lace.vdg", third, opacity=opacity, bounds=LOOSE),
    ]


@pytest.fixture(scope="module")
def scene(bundles, tmp_path_factory):
    return pack(bundles, tmp_path_factory.mktemp("scene") / "kitchen.vdg")


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
    assert scene.advised == most_careful(each.advised for each in found)
    mixed = [
        make_bundle(tmp_path / f"{name}.vdg", lively_parameters(seed=seed), arithmetic=arithmetic)
        for seed, (name, arithmetic) in enumerate({"tame": TAME, "coarse": COARSE}.items())
    ]
    for chosen, advised in ((mixed[:1], "cooperative"), (mixed, "portable")):
        packed = pack(chosen, tmp_path / f"{advised}.vdg")
        document = json.loads((packed.folder / "manifest.json").read_text())
        assert (document["version"], document["arithmetic"]) == ("4.0", {"advised": advised})
        assert document["materials"][-1]["arithmetic"]["advised"] == advised
        names = {path.name for path in (packed.folder / "runtime").iterdir()}
        assert ("cooperative.spv" in names) == (advised == "cooperative")
        assert "portable.spv" in names


def test_cooperative_code_for_several_decoders_reads_none_from_constants(tmp_path):
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


def test_a_scene_that_says_nothing_is_tried_as_shipped(scene, tmp_path):
    copy = damaged_copy(scene, tmp_path, ("version",), "4.1")
    document = json.loads((copy / "manifest.json").read_text())
    for table in (document, *document["materials"]):
        del table["arithmetic"]
    (copy / "manifest.json").write_text(json.dumps(document))
    opened = open_scene(copy)
    assert opened.advised is None
    assert [material.arithmetic for material in opened.materials] == [None] * 3


def test_a_scene_is_proven_material_by_material(scene):
    result = verify_scene(scene, open_device("software"))
    assert result.holds
    found = [row for row in result.rows if row.measure == "largest relative"]
    assert [row.what for row in found] == [
        f"{name}: {decoder} against the reference"
        for name in ("copper", "oak", "lace")
        for decoder in ("numpy", "portable", "portable, constants")
    ]
    assert [row.bound for row in found] == [0.01] * 6 + [0.02] * 3
    assert max(row.found for row in found) < 1e-4


def test_textures_of_one_group_at_a_time_are_read_and_on_the_device_for_a_proof(scene, monkeypatch):
    software = open_device("software")
    together = verify_scene(scene, software)
    held, most = weakref.WeakSet(), []
    read, alive = [], []
    stored = Scene.stored

    def watched(of, indices):
        found = stored(of, indices)
        read.extend(map(weakref.ref, found))
        alive.append(sum(each() is not None for each in read))
        return found

    class Watched(QueryEvaluator):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            held.add(self)
            most.append(sum(len(each.materials.textures) for each in held))

    monkeypatch.setattr(verifying, "QueryEvaluator", Watched)
    monkeypatch.setattr(verifying, "_AT_ONCE", 2)
    monkeypatch.setattr(Scene, "stored", watched)
    assert verify_scene(scene, software) == together
    # the two of the first decoder, in plain code and from constants, then that of the second
    assert alive == [2, 1]
    assert most == [2, 2, 1, 1]
    assert not held


def test_the_public_api_opens_and_proves_a_scene(scene):
    assert api.open_scene(str(scene.folder)) == scene
    for given in (scene, scene.folder, str(scene.folder)):
        found = api.verify(given, device="software")
        assert found.holds
        assert found.rows == verify_scene(scene, open_device("software")).rows
    with pytest.raises(SettingsError, match=r"is a scene.*verify their bundles with a source"):
        api.verify(scene, [("mine", lambda *_: None)])


def test_a_material_with_another_ones_decoder_is_found(scene, tmp_path, monkeypatch, capsys):
    path = ("materials", 0, "weights_offset")
    copy = damaged_copy(scene, tmp_path, path, scene.materials[1].weights_offset)
    arguments = ["verdigris", "verify", str(copy), "--device", "software", "--json"]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    rows = json.loads(capsys.readouterr().out)["rows"]
    wrong = {row["what"].split(":")[0] for row in rows if not row["holds"]}
    assert (len(rows), wrong) == (18, {"copper"})
    monkeypatch.setattr(sys, "argv", [*arguments, "--source", "brass.mtlx"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert "is a scene, of several documents" in " ".join(capsys.readouterr().err.split())


def test_a_scene_with_a_file_that_was_changed_is_not_proven(scene, tmp_path):
    copy = damaged_copy(scene, tmp_path, ("version",), "4.1")
    shader = copy / "runtime" / "portable.glsl"
    shader.write_bytes(shader.read_bytes().replace(b"vec3", b"vec4"))
    with pytest.raises(VerdigrisError, match=r"portable.glsl.*sha256"):
        verify_scene(open_scene(copy))


def test_textures_are_those_of_the_bundles(scene, bundles):
    for material, bundle in zip(scene.materials, bundles, strict=True):
        data = (scene.folder / f"{material.name}.latents.ktx2").read_bytes()
        assert data == (bundle.folder / "latents.ktx2").read_bytes()
    assert [bool(material.opacity) for material in scene.materials] == [False, False, True]
    assert (scene.folder / "lace.opacity.ktx2").stat().st_size > 0
    assert (scene.folder / "runtime" / "portable.glsl").is_file()


@pytest.fixture(scope="module")
def large_bundles(tmp_path_factory):
    """Six materials, whose textures are most of what is packed."""
    folder = tmp_path_factory.mktemp("large")
    parameters = lively_parameters(layout=LatentLayout(256, 256, 9))
    opacity = [np.full((256 >> level, 256 >> level, 1), 7, np.uint8) for level in range(9)]
    first = make_bundle(folder / "0.vdg", parameters, opacity=opacity, arithmetic=TAME).folder
    names = [folder / f"{number}.vdg" for number in range(1, 6)]
    return [open_bundle(each) for each in (first, *(shutil.copytree(first, n) for n in names))]


def test_more_materials_take_hardly_more_memory_to_pack(large_bundles, tmp_path):
    def peak(count):
        tracemalloc.start()
        try:
            pack(large_bundles[:count], tmp_path / "scene.vdg")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # what is loaded at the first use does not count
    peak(1)
    assert peak(6) - peak(2) < large_bundles[0].manifest.latents.record.bytes


def test_packing_reads_every_texture_once(large_bundles, tmp_path, monkeypatch):
    read = []

    def digest_of(data):
        read.append(len(data))
        return digest(data)

    monkeypatch.setattr(files, "digest", digest_of)
    pack(large_bundles, tmp_path / "scene.vdg")
    manifest = large_bundles[0].manifest
    for record in (manifest.latents.record, manifest.opacity.record):
        assert read.count(record.bytes) == 6


@pytest.mark.parametrize("name", ["latents.ktx2", "opacity.ktx2", "preview.png", "runtime/a.slang"])
def test_a_bundle_that_was_changed_is_not_packed_and_the_scene_before_stays(tmp_path, name):
    opacity = [np.full((1, 1, 1), 7, np.uint8)]
    contents = {"opacity": opacity, "preview": b"a picture", "runtime": {"a.slang": b"// code"}}
    sound = make_bundle(tmp_path / "sound.vdg", **contents)
    changed = open_bundle(shutil.copytree(sound.folder, tmp_path / "changed.vdg"))
    before = pack([sound], tmp_path / "scene.vdg")
    file = changed.folder / name
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    with pytest.raises(VerdigrisError, match=rf"changed.vdg/{name}: sha256 is \w+: the manifest"):
        pack([sound, changed], tmp_path / "scene.vdg")
    verify_scene(open_scene(before.folder))
    assert [each.name for each in open_scene(before.folder).materials] == ["sound"]
    assert {each.name for each in tmp_path.iterdir()} == {"sound.vdg", "changed.vdg", "scene.vdg"}


def test_several_architectures_are_refused_with_a_list(bundles, tmp_path):
    other = make_bundle(tmp_path / "glass.vdg", lively_parameters(NetworkSpec(16, 3, "relu")))
    with pytest.raises(VerdigrisError) as caught:
        pack([*bundles, other], tmp_path / "all.vdg")
    assert "oak.vdg: 2x16 silu, 2 frames, 2 lobes" in str(caught.value)
    assert "glass.vdg: 3x16 relu, 2 frames, 2 lobes" in str(caught.value)
    assert not (tmp_path / "all.vdg").exists()


def test_two_materials_of_one_name_are_refused(bundles, tmp_path):
    with pytest.raises(VerdigrisError, match="are both called copper: rename one"):
        pack([bundles[0], bundles[0]], tmp_path / "twice.vdg")


def test_a_bundle_that_a_killed_writer_has_set_aside_is_packed_by_its_own_name(bundles, tmp_path):
    path = tmp_path / "brass.vdg"
    shutil.copytree(bundles[0].folder, set_aside_name(path))
    scene = pack([open_bundle(path)], tmp_path / "all.vdg")
    assert [each.name for each in scene.materials] == ["brass"]
    assert (scene.folder / "brass.latents.ktx2").is_file()


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("aux.vdg", "Windows calls a device so"),
        ("\u6728.vdg", "with letters from A to Z, or digits"),
    ],
)
def test_a_name_that_not_every_file_system_takes_is_refused_with_its_bundle(
    name, remedy, bundles, tmp_path
):
    folder = shutil.copytree(bundles[0].folder, tmp_path / name)
    with pytest.raises(VerdigrisError, match=rf"{name}: has no name .*: rename it: {remedy}"):
        pack([open_bundle(folder)], tmp_path / "all.vdg")
    assert not (tmp_path / "all.vdg").exists()


def test_a_name_that_is_too_long_for_a_scene_is_refused_with_what_would_fit(bundles, tmp_path):
    fits, long = (
        open_bundle(shutil.copytree(bundles[0].folder, tmp_path / f"{'n' * length}.vdg"))
        for length in (113, 114)
    )
    packed = pack([fits], tmp_path / "all.vdg")
    assert {len(record.file) for record in packed.records if "reference" in record.file} == {128}
    with pytest.raises(VerdigrisError, match=r"n.vdg: its name has 114 letters: rename it to 113"):
        pack([long], tmp_path / "more.vdg")
    with pytest.raises(
        VerdigrisError, match=r"File name too long\): choose a shorter name than .ss"
    ):
        pack([fits], tmp_path / f"{'s' * 250}.vdg")


@pytest.mark.parametrize("target", [".", "..", "/"])
def test_a_scene_without_a_name_is_refused(bundles, target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VerdigrisError, match=f"'{target}': names no folder to write: use a name"):
        pack(bundles, Path(target))
    assert not list(tmp_path.iterdir())


def test_a_scene_is_no_bundle_and_a_bundle_no_scene(scene, bundles):
    with pytest.raises(VerdigrisError) as failure:
        open_bundle(scene.folder)
    assert str(failure.value).endswith(
        "format is 'verdigris.scene': a bundle's is 'verdigris.material': name a bundle that the "
        "scene was packed of; verify alone takes scenes"
    )
    with pytest.raises(VerdigrisError, match=r"format is 'verdigris.material': a scene's is"):
        open_scene(bundles[0].folder)


def test_packing_again_replaces_the_scene(bundles, tmp_path):
    target = tmp_path / "scene.vdg"
    pack(bundles, target)
    pack(bundles[:1], target)
    assert [material.name for material in open_scene(target).materials] == ["copper"]
    assert not (target / "oak.latents.ktx2").exists()
    mine = tmp_path / "mine.vdg"
    mine.mkdir()
    (mine / "diary.txt").write_text("not a scene")
    with pytest.raises(VerdigrisError, match="is there, and is no bundle"):
        pack(bundles, mine)
    assert (mine / "diary.txt").read_text() == "not a scene"


def test_nothing_is_packed_into_a_bundle_or_a_scene(bundles, tmp_path):
    copy = shutil.copytree(bundles[0].folder, tmp_path / "copper.vdg")
    packed = pack(bundles, tmp_path / "scene.vdg").folder
    for folder in (copy, packed):
        before = sorted(folder.rglob("*"))
        for target in (folder / "inner.vdg", folder / "runtime" / "inner.vdg"):
            with pytest.raises(VerdigrisError, match=rf"inner.vdg: lies in the bundle {folder}"):
                pack(bundles, target)
        assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("materials", 1, "weights_offset"), 64, r"materials\[1\].weights_offset is 64"),
        (("materials", 1, "weights_offset"), 1 << 20, r"materials\[1\].weights_offset"),
        (("materials", 0, "latents", "file"), "../x.ktx2", r"materials\[0\].latents.file"),
        (("materials", 0, "latents", "width"), 9, r"latents.levels|latents.ktx2"),
        (("materials", 2, "name"), "copper", "each must have a name of its own"),
        (
            ("materials", 2, "latents", "file"),
            "oak.latents.ktx2",
            r"materials\[2\].latents.file is 'oak.latents.ktx2': materials\[1\].latents.file is",
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
        (("version",), "5.0", "this reads 4.x: take a newer Verdigris"),
        (("arithmetic", "advised"), "split", "arithmetic.advised is 'split': this reads"),
        (("materials", 1, "arithmetic", "advised"), 1, r"materials\[1\].arithmetic.advised is 1"),
        (
            ("materials", 0, "arithmetic", "advised"),
            "portable",
            r"json: arithmetic.advised is '\w+': one of its materials asks for portable",
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


def test_a_reference_that_cannot_be_read_is_not_packed(tmp_path):
    folder = make_bundle(tmp_path / "clay.vdg").folder
    data = b'{"count": 512, "uv": 7}'
    (folder / "reference.json").write_bytes(data)
    document = json.loads((folder / "manifest.json").read_text())
    document["reference"].update(bytes=len(data), sha256=digest(data))
    # with an arithmetic, nothing but the copy asks for the reference
    document["arithmetic"] = TAME.as_json()
    (folder / "manifest.json").write_text(json.dumps(document))
    with pytest.raises(VerdigrisError, match=r"clay.vdg/reference.json: uv is 7: it must be fin"):
        pack([open_bundle(folder)], tmp_path / "set.vdg")
    assert not (tmp_path / "set.vdg").exists()


def test_a_map_that_is_no_texture_is_found_in_bundles_and_scenes(scene, bundles, tmp_path):
    name, data = "lace.opacity.ktx2", b"no texture"
    copy = damaged_copy(scene, tmp_path, ("version",), "4.0")
    document = json.loads((copy / "manifest.json").read_text())
    document["materials"][2]["opacity"].update(bytes=len(data), sha256=digest(data))
    (copy / "manifest.json").write_text(json.dumps(document))
    (copy / name).write_bytes(data)
    with pytest.raises(VerdigrisError, match=r"lace.opacity.ktx2: length is 10: shorter than its"):
        verify_scene(open_scene(copy))

    bundle = bundles[2].folder
    shutil.copytree(bundle, tmp_path / "b.vdg")
    document = json.loads((bundle / "manifest.json").read_text())
    document["opacity"].update(bytes=len(data), sha256=digest(data))
    (tmp_path / "b.vdg" / "manifest.json").write_text(json.dumps(document))
    (tmp_path / "b.vdg" / "opacity.ktx2").write_bytes(data)
    with pytest.raises(VerdigrisError, match=r"b.vdg/opacity.ktx2: length is 10: shorter than its"):
        verify(open_bundle(tmp_path / "b.vdg"))


def damaged_copy(scene, tmp_path, path, value, forget=None):
    copy = tmp_path / "damaged.vdg"
    shutil.copytree(scene.folder, copy)
    document = json.loads((copy / "manifest.json").read_text())
    *way, last = path
    place = document
    for step in way:
        place = place[step]
    if forget:
        del place[last][forget]
    else:
        place[last] = value
    (copy / "manifest.json").write_text(json.dumps(document))
    return copy


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
    with pytest.raises(VerdigrisError, match="frames holds values that are not finite"):
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


def test_the_command_packs(bundles, tmp_path):
    target = tmp_path / "scene.vdg"
    names = [str(bundle.folder) for bundle in bundles]
    command = [sys.executable, "-m", "verdigris.core", "pack", *names, "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "3 materials, 2x16 silu, 2 frames, 2 lobes, 2 decoders in" in done.stdout
    assert len(open_scene(target).materials) == 3
