"""The commands that read a bundle: verify, inspect, export; and the public API."""

import json
import os

import numpy as np
import pytest

from verdigris.core import api
from verdigris.core.bundle.engines.export_engine import ENGINES
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.verify.verify import parameters_decoder

from ...in_process import into, run_command, stream_of
from ..bundles import make_bundle


@pytest.fixture
def command():
    def run(*arguments):
        code, out, errors = run_command(arguments)
        assert "Traceback" not in errors
        return code, out, " ".join(errors.split())

    return run


def test_the_command_prints_a_table_and_exits_by_the_result(bundle, tmp_path, command):
    # the name of its own material is taken
    named = ("-m", bundle.manifest.name)
    code, out, _ = command("verify", bundle.folder, *named, "--device", "software")
    assert code == 0
    assert "all agree" in out and "numpy against the reference" in out
    bad = make_bundle(tmp_path / "bad.vdg", bounds=Bounds(relative=1e-12)).folder
    code, out, _ = command("verify", bad, "--device", "software", "--json")
    found = json.loads(out)
    assert (code, found["holds"]) == (1, False)
    assert not found["rows"][0]["holds"] and found["rows"][1]["holds"]
    code, out, _ = command("verify", bad, "--device", "software")
    assert code == 1
    assert "DISAGREES" in out


def test_export_writes_beside_the_bundle_or_to_the_given_file(tmp_path, command):
    folder = make_bundle(tmp_path / "a.vdg").folder
    code, out, _ = command("export", folder, "--target", "rtxns-bin")
    assert code == 0
    assert out.startswith(f"{tmp_path / 'a.bin'}: ")
    assert (tmp_path / "a.bin").read_bytes()[:4] == bytes.fromhex("01dec0a1")
    code, _, _ = command("export", folder, "-t", "rtxns-json", "-o", tmp_path / "b.json")
    assert code == 0
    assert len(json.loads((tmp_path / "b.json").read_text())["layers"]) == 3
    code, _, errors = command("export", folder, "-t", "glsl")
    assert code == 2
    known = ("astc", "rgba8", *ENGINES, "maya", "rtxns-bin", "rtxns-json")
    assert f"'glsl' is not known: use one of {', '.join(known)}" in errors
    code, _, errors = command("export", folder, "-t", "rtxns-bin", "-o", tmp_path / "no" / "b")
    assert code == 1
    assert "cannot be written (No such file or directory)" in errors
    folder.rename(tmp_path / "rock.v1")
    command("export", tmp_path / "rock.v1", "-t", "rtxns-bin")
    assert (tmp_path / "rock.v1.bin").read_bytes() == (tmp_path / "a.bin").read_bytes()


def test_nothing_is_exported_into_a_bundle_that_is_damaged(tmp_path, command):
    whole, damaged = (make_bundle(tmp_path / name).folder for name in ("a.vdg", "b.vdg"))
    (damaged / "manifest.json").write_bytes((damaged / "manifest.json").read_bytes()[:100])
    before = (damaged / "weights.bin").read_bytes()
    code, _, errors = command("export", whole, "-t", "rtxns-bin", "-o", damaged / "weights.bin")
    assert (code, (damaged / "weights.bin").read_bytes()) == (1, before)
    assert f"lies in the bundle {damaged}, whose next bake would remove it" in errors


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_exports_replace_plain_files_alone_and_none_of_a_bundle(tmp_path, command):
    folder = make_bundle(tmp_path / "a.vdg").folder
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for path, message in (
        (folder / "manifest.json", f"lies in the bundle {folder}, whose next bake would remove it"),
        (folder / "new.bin", f"lies in the bundle {folder}, whose next bake would remove it"),
        (pipe, "exists and is not a plain file: choose another name"),
        (tmp_path, "exists and is not a plain file: choose another name"),
        (".", "exists and is not a plain file: choose another name"),
        (tmp_path / ("n" * 250), "cannot be written (File name too long)"),
        (tmp_path / ("n" * 300), "cannot be written (File name too long)"),
    ):
        code, _, errors = command("export", folder, "-t", "rtxns-bin", "-o", path)
        assert code == 1 and message in errors
    assert pipe.is_fifo()
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.vdg", "pipe"]


def test_inspect_prints_the_content_of_a_bundle(tmp_path, command):
    report = {"dropped": [{"name": "transmission", "how": "light that passes through"}]}
    folder = make_bundle(tmp_path / "a.vdg", name="pane", report=report).folder
    code, out, _ = command("inspect", folder)
    assert code == 0
    assert "2x16 silu" in out and "8 x 4, 4 levels, 8 channels in BC7 blocks" in out
    assert "dropped       transmission: light that passes through" in out
    path = folder / "manifest.json"
    code, out, _ = command("inspect", folder, "--json")
    assert json.loads(out) == json.loads(path.read_text())
    # another version's words and fields are not made this one's
    manifest = json.loads(path.read_text()) | {"version": "4.9", "response": "light", "new": 1}
    path.write_text(json.dumps(manifest))
    code, out, _ = command("inspect", folder, "--json")
    assert (code, json.loads(out)) == (0, manifest)


@pytest.mark.parametrize("name", ["inspect", "verify", "cost", "render", "view", "compare"])
def test_another_material_than_that_of_a_bundle_is_refused(name, bundle, command):
    bundles = [str(bundle.folder)] * (2 if name == "compare" else 1)
    picture = ["-o", "a.png"] if name in ("render", "compare") else []
    code, _, printed = command(name, *bundles, "-m", "granite", "--device", "software", *picture)
    assert code == 2
    assert f"small.vdg contains the material '{bundle.manifest.name}' and not" in printed


def test_inspect_writes_no_escape_sequences_of_strangers(tmp_path, command):
    bad = "a\x1b[2Jb\nc"
    folder = make_bundle(tmp_path / "a.vdg", report={"dropped": [{"name": bad, "how": bad}]}).folder
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["source"] = dict.fromkeys(("material", "document", "verdigris", "materialx"), bad)
    manifest["errors"] = {bad: {bad: bad}}
    path.write_text(json.dumps(manifest))
    code, out, _ = command("inspect", folder)
    assert code == 0 and "\x1b" not in out
    assert out.count("a\ufffd[2Jb\ufffdc") == 9
    assert out.endswith("a\ufffd[2Jb\ufffdc: a\ufffd[2Jb\ufffdc\n")


def test_the_public_api_opens_and_proves(folder, command):
    bundle = api.open_bundle(folder)
    result = api.verify(bundle, device="software")
    assert result.holds
    # the rows that the command prints
    code, out, _ = command("verify", bundle.folder, "--device", "software", "--json")
    assert (code, json.loads(out)) == (0, result.as_json())
    decoders = [row.what.removesuffix(" against the reference") for row in result.rows[::2]]
    expected = ["numpy", "portable", "portable, constants"]
    assert {*decoders} == {*expected, *(f"{name} sampler" for name in expected)}
    own = [("bright", lambda *points: 1.02 * parameters_decoder(bundle.parameters())(*points))]
    assert not api.verify(bundle, own, device="software").holds
    student = api.evaluate(bundle, device="software")
    reference = bundle.reference()
    on_finest = reference.lod <= 0
    found = student.response(*(getattr(reference, name)[on_finest] for name in ("uv", "wi", "wo")))
    np.testing.assert_allclose(found, reference.exported[on_finest], rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("is_unbuffered", [False, True])
def test_a_reader_that_goes_away_is_no_disagreement(bundle, is_unbuffered):
    """Which ends with 1; that of a bake whose reader goes away ends with 141, too."""
    reader, writer = os.pipe()
    os.close(reader)
    stream = stream_of(writer, is_unbuffered)
    assert into(stream, "verify", bundle.folder, "--device", "software") == (141, "")
