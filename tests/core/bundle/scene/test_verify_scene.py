"""A scene pack is verified against the references of its materials."""

import json
import shutil
import sys
import weakref

import pytest

from verdigris.core import api
from verdigris.core.base.errors import SettingsError, VerdigrisError
from verdigris.core.bundle.files.read import digest, open_bundle
from verdigris.core.bundle.runtime.evaluate_queries import QueryEvaluator
from verdigris.core.bundle.scene import verify_scene as verifying
from verdigris.core.bundle.scene.scene_pack import ScenePack, open_scene
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.bundle.verify.rows import Row
from verdigris.core.bundle.verify.verify import Verification, print_verification, verify
from verdigris.core.cli import main as cli

from ..scenes import damaged_copy


def test_a_scene_is_proven_material_by_material(scene_verification):
    result = scene_verification
    assert result.holds
    relative = [row for row in result.rows if row.measure == "largest relative"]
    found = [row for row in relative if "sampler" not in row.what]
    assert len(relative) == 2 * len(found)  # each decoder has its sampler
    assert [row.what for row in found] == [
        f"{name}: {decoder} against the reference"
        for name in ("copper", "oak", "lace")
        for decoder in ("numpy", "portable", "portable, constants")
    ]
    assert [row.bound for row in found] == [0.01] * 6 + [0.02] * 3
    assert max(row.found for row in found) < 1e-4


def test_of_many_materials_the_nearest_to_a_bound_and_all_that_disagree_are_printed(capsys):
    def row(name, what, found):
        return Row(f"{name}: {what} against the reference", 8, "largest relative", found, 0.01)

    good = [row("oak", "numpy", 1e-5), row("lace", "numpy", 1e-4), row("ash", "numpy", 1e-6)]
    bad = [row("oak", "portable", 2.0), row("lace", "portable", 1.0), row("ash", "portable", 0.0)]
    print_verification(Verification("set.vdg", (*good, *bad), materials=3))
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[2:-1]] == ["lace:", "oak:", "lace:"]
    assert printed[-1] == "  2 of 6 disagree; 3 that agree better are not shown: --json has them"


def test_textures_of_one_group_at_a_time_are_read_and_on_the_device_for_a_proof(
    scene, scene_verification, software, monkeypatch
):
    held, most = weakref.WeakSet(), []
    read, alive = [], []
    stored = ScenePack.stored

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
    monkeypatch.setattr(verifying, "AT_ONCE", 2)
    monkeypatch.setattr(ScenePack, "stored", watched)
    assert verify_scene(scene, software) == scene_verification
    # the two of the first decoder, in plain code and from constants, then that of the second
    assert alive == [2, 1]
    assert most == [2, 2, 1, 1]
    assert not held


def test_the_public_api_opens_and_proves_a_scene(scene, scene_verification, monkeypatch):
    assert api.open_scene(str(scene.folder)) == scene
    assert api.verify(str(scene.folder), device="software").rows == scene_verification.rows
    # the other ways to name it lead to the same call
    with monkeypatch.context() as patched:
        patched.setattr(verifying, "verify_scene", lambda pack, _device: pack)
        assert [api.verify(given, device="software") for given in (scene, scene.folder)] == [
            scene,
            scene,
        ]
    with pytest.raises(SettingsError, match=r"scene pack.*verify the single bundles with them"):
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
    assert (len(rows), wrong) == (37, {"copper"})
    monkeypatch.setattr(sys, "argv", [*arguments, "--source", "brass.mtlx"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 1
    assert "is a scene pack of several documents" in " ".join(capsys.readouterr().err.split())


def test_a_scene_with_a_file_that_was_changed_is_not_proven(scene, tmp_path):
    copy = damaged_copy(scene, tmp_path, ("version",), "4.99")
    shader = copy / "runtime" / "portable.hlsl"
    shader.write_bytes(shader.read_bytes().replace(b"float3", b"float4"))
    with pytest.raises(VerdigrisError, match=r"portable.hlsl.*sha256"):
        verify_scene(open_scene(copy))


def test_a_map_that_is_not_a_texture_is_found_in_bundles_and_scene_packs(scene, bundles, tmp_path):
    name, data = "lace.opacity.ktx2", b"no texture"
    copy = damaged_copy(scene, tmp_path, ("version",), "4.0")
    document = json.loads((copy / "manifest.json").read_text())
    document["materials"][2]["opacity"].update(bytes=len(data), sha256=digest(data))
    (copy / "manifest.json").write_text(json.dumps(document))
    (copy / name).write_bytes(data)
    with pytest.raises(VerdigrisError, match=r"lace.opacity.ktx2: length is 10: a header has"):
        verify_scene(open_scene(copy))

    bundle = bundles[2].folder
    shutil.copytree(bundle, tmp_path / "b.vdg")
    document = json.loads((bundle / "manifest.json").read_text())
    document["opacity"].update(bytes=len(data), sha256=digest(data))
    (tmp_path / "b.vdg" / "manifest.json").write_text(json.dumps(document))
    (tmp_path / "b.vdg" / "opacity.ktx2").write_bytes(data)
    with pytest.raises(VerdigrisError, match=r"b.vdg/opacity.ktx2: length is 10: a header has"):
        verify(open_bundle(tmp_path / "b.vdg"))
