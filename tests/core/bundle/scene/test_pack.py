"""Packing bundles: memory, replacement and refusals."""

import json
import shutil
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.bundle.files import read as files
from verdigris.core.bundle.files.read import digest, open_bundle
from verdigris.core.bundle.files.replace_folder import backup_path
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.scene_pack import open_scene
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ...in_process import run_command
from ..bundles import lively_parameters, make_bundle
from ..scenes import TAME


@pytest.fixture(scope="module")
def large_bundles(tmp_path_factory):
    """Six materials, whose textures are most of what is packed."""
    folder = tmp_path_factory.mktemp("large")
    parameters = lively_parameters(layout=LatentLayout(128, 128, 8))
    opacity = [np.full((128 >> level, 128 >> level, 1), 7, np.uint8) for level in range(8)]
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
    assert "oak.vdg: 2x16 silu, 8 latents, 2 frames, 2 lobes" in str(caught.value)
    assert "glass.vdg: 3x16 relu, 8 latents, 2 frames, 2 lobes" in str(caught.value)
    living = LiveInput("wetness", "float", (0.0,), (1.0,), 0.0)
    spec = replace(bundles[0].spec, live_inputs=1)
    wet = make_bundle(tmp_path / "wet.vdg", lively_parameters(spec), live=(living,))
    with pytest.raises(VerdigrisError, match=r"wet\.vdg: 2x16 [^:]*, 1 live input: pack"):
        pack([*bundles, wet], tmp_path / "all.vdg")
    assert not (tmp_path / "all.vdg").exists()


def test_bundles_of_four_latents_are_packed_beside_their_like_alone(bundles, software, tmp_path):
    spec = replace(bundles[0].spec, latent_channels=4)
    few = [
        make_bundle(tmp_path / f"few{seed}.vdg", lively_parameters(spec, seed=seed))
        for seed in (1, 2)
    ]
    scene = open_scene(pack(few, tmp_path / "few.vdg").folder)
    assert [each.latents.layers for each in scene.materials] == [1, 1]
    found = verify_scene(scene, software)
    assert found.holds, found.notes
    with pytest.raises(VerdigrisError, match=r"few1.vdg: 2x16 silu, 4 latents, 2 frames"):
        pack([bundles[0], few[0]], tmp_path / "both.vdg")


def test_two_materials_of_one_name_are_refused(bundles, tmp_path):
    other = shutil.copytree(bundles[0].folder, tmp_path / "other" / bundles[0].folder.name)
    with pytest.raises(VerdigrisError, match="are both called copper: rename one"):
        pack([bundles[0], open_bundle(other)], tmp_path / "twice.vdg")
    with pytest.raises(VerdigrisError, match=r"copper.vdg: is named twice: leave one out"):
        pack([bundles[0], bundles[0]], tmp_path / "twice.vdg")


def test_names_keep_what_is_behind_a_point_but_vdg(bundles, tmp_path):
    folders = [
        shutil.copytree(bundles[0].folder, tmp_path / name) for name in ("rock.v1", "rock.v2.vdg")
    ]
    scene = pack([open_bundle(each) for each in folders], tmp_path / "rocks.vdg")
    assert [material.name for material in scene.materials] == ["rock.v1", "rock.v2"]


def test_a_bundle_that_a_killed_writer_has_set_aside_is_packed_by_its_own_name(bundles, tmp_path):
    path = tmp_path / "brass.vdg"
    shutil.copytree(bundles[0].folder, backup_path(path))
    scene = pack([open_bundle(path)], tmp_path / "all.vdg")
    assert [each.name for each in scene.materials] == ["brass"]
    assert (scene.folder / "brass.latents.ktx2").is_file()


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("aux.vdg", "it is a device on Windows"),
        ("\u6728.vdg", "use letters from A to Z, or digits"),
    ],
)
def test_a_name_that_not_every_file_system_takes_is_refused_with_its_bundle(
    name, remedy, bundles, tmp_path
):
    folder = shutil.copytree(bundles[0].folder, tmp_path / name)
    with pytest.raises(VerdigrisError, match=rf"{name}: its name is not valid on .*: {remedy}"):
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


def test_packing_again_replaces_the_scene(bundles, tmp_path):
    target = tmp_path / "scene.vdg"
    pack(bundles, target)
    pack(bundles[:1], target)
    assert [material.name for material in open_scene(target).materials] == ["copper"]
    assert not (target / "oak.latents.ktx2").exists()
    mine = tmp_path / "mine.vdg"
    mine.mkdir()
    (mine / "diary.txt").write_text("not a scene")
    with pytest.raises(VerdigrisError, match="already exists and is not a scene pack"):
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


def test_the_command_packs(bundles, tmp_path):
    target = tmp_path / "scene.vdg"
    names = [str(bundle.folder) for bundle in bundles]
    code, out, errors = run_command(["pack", *names, "-o", target])
    assert code == 0, errors
    assert "3 materials, 2x16 silu, 8 latents, 2 frames, 2 lobes, 2 decoders in" in out
    assert len(open_scene(target).materials) == 3
    code, out, errors = run_command(["versions", target])
    assert (code, out) == (1, "") and "is a scene pack, which has no versions" in errors
