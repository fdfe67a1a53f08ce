"""What holds a bundle to its word: agreement is seen, and so is every kind of disagreement."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core import api
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import choose_points, make_reference
from verdigris.core.bundle.files.stored_textures import emission_levels, opacity_levels
from verdigris.core.bundle.files.write import export_numbers
from verdigris.core.bundle.runtime.runtime_files import slang_files
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.bundle.verify.device_decoders import device_notes
from verdigris.core.bundle.verify.map_differences import map_differences
from verdigris.core.bundle.verify.verify import numpy_decoder, source_notes, verify
from verdigris.core.cli import main as cli
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import source_facts
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ..bundles import lively_parameters, make_bundle

EXAMPLES = Path(__file__).parents[3] / "examples"


class Graph:
    """A source whose response is `scale` times what a bundle holds, the same everywhere in what it
    gives off and covers. Implements response() and unlit()."""

    # nothing is known of it beforehand
    is_dark_and_opaque = False

    def __init__(self, bundle, scale, glow=(0, 0, 0), coverage=1):
        self._unlit = np.array([*glow, coverage], np.float32)
        self._decode, self._scale = numpy_decoder(bundle), scale
        self._last = bundle.layout.levels
        self._width = bundle.layout.width

    def response(self, uv, wi, wo, footprint):
        # the point's lod, by the width of the patch that is asked for
        found = np.clip(np.log2(footprint.width * self._width), 0, self._last)
        lod = np.full(len(uv), found, np.float32)
        return (self._scale * self._decode(uv, lod, wi, wo)).astype(np.float32)

    def unlit(self, uv, wo):
        return np.tile(self._unlit, (len(uv), 1))


@pytest.fixture
def command(monkeypatch, capsys):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["verdigris", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, " ".join(captured.err.split())

    return run


def test_the_reference_is_what_the_oracle_of_training_finds_on_whole_levels():
    parameters = export_numbers(lively_parameters(layout=LatentLayout(16, 8, 5))).parameters
    reference = make_reference(parameters)
    above = (reference.wi[:, 2] > 0) & (reference.wo[:, 2] > 0)
    # texels of coarser levels stand for twice their width: lod 2 is on level 1, and so on
    for level, on_it in enumerate(
        [reference.lod <= 0, *(reference.lod == lod for lod in (2, 3, 4)), reference.lod >= 5]
    ):
        chosen = above & on_it
        if not chosen.any():
            continue
        found = evaluate(
            parameters.spec,
            parameters.astype(np.float64),
            reference.uv[chosen],
            level,
            reference.wi[chosen],
            reference.wo[chosen],
        )
        np.testing.assert_allclose(reference.exported[chosen], found, rtol=1e-6)
    assert (reference.exported[~above] == 0).all() and (~above).sum() >= 32


def test_between_levels_the_reference_mixes_latents_not_responses():
    parameters = export_numbers(lively_parameters()).parameters
    # one layer of one neuron could not tell; with a constant latent a level, both can be worked out
    for level in range(parameters.layout.levels):
        parameters.level(level)[:] = level
    points = choose_points(parameters.layout)
    reference = make_reference(parameters)
    for lod, level in ((0.25, 0.125), (1.0, 0.5), (1.75, 0.875), (2.75, 1.75)):
        between = points.lod == lod
        assert between.sum() >= 8
        mixed = parameters.copy()
        mixed.latents[:] = level
        found = evaluate(
            parameters.spec, mixed, points.uv[between], 0, points.wi[between], points.wo[between]
        )
        np.testing.assert_allclose(reference.exported[between], found, rtol=1e-4)


def test_the_points_cover_the_edges_that_decoders_get_wrong():
    layout = LatentLayout(16, 16, 5)
    points = choose_points(layout)
    assert len(points) >= 256
    places = points.uv * 16
    on_borders = (places == np.round(places)).all(1)
    on_centres = (places - 0.5 == np.round(places - 0.5)).all(1)
    assert min(on_borders.sum(), on_centres.sum()) >= 20
    assert ((points.uv < 0) | (points.uv > 1)).any(1).sum() >= 50
    assert points.lod.min() < 0 and points.lod.max() > layout.levels
    assert (points.lod % 1 != 0).sum() >= 30
    cosines = np.minimum(points.wi[:, 2], points.wo[:, 2])
    assert ((cosines > 0) & (cosines < 0.03)).sum() >= 50
    assert (points.wi[:, 2] == 0).any() and (points.wi[:, 2] < 0).any() and (cosines < 0).any()
    mirrored = (points.wi - points.wo * [-1, -1, 1]) ** 2
    assert (mirrored.sum(1) < 1e-10).sum() >= 20


@pytest.mark.parametrize("quantised", [True, False])
def test_a_bundle_as_written_holds(quantised, tmp_path):
    result = verify(make_bundle(tmp_path / "a.vdg", quantised=quantised))
    assert result.holds
    assert [row.what for row in result.rows] == ["numpy against the reference"] * 2
    # single floats are far inside what half floats are allowed
    assert result.rows[0].found < 1e-4


@pytest.mark.parametrize(
    ("spoil", "which"),
    [
        (lambda response: response * np.where(response > 0.02, 1.011, 1), "largest relative"),
        (lambda response: response + np.where(response < 0.01, 2e-4, 0), "largest in the dark"),
        (lambda response: np.where(response > 0.3, np.nan, response), "largest relative"),
        (lambda response: np.where(response == 0, np.inf, response), "largest in the dark"),
    ],
)
def test_a_decoder_beyond_the_bounds_is_told(spoil, which, tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    exact = numpy_decoder(bundle)
    result = verify(bundle, [("exact", exact), ("spoilt", lambda *given: spoil(exact(*given)))])
    assert not result.holds
    failed = [(row.what, row.measure) for row in result.rows if not row.holds]
    assert failed == [("spoilt against the reference", which)]
    json.loads(json.dumps(result.as_json(), allow_nan=False))


def test_the_source_is_held_to_what_was_stored_of_it(tmp_path):
    numbers = lively_parameters(layout=LatentLayout(16, 16, 5))
    # both stand for the whole square
    numbers.level(3)[:] = numbers.level(4)
    exported = export_numbers(numbers)
    plain = make_bundle(tmp_path / "plain.vdg", exported.parameters)
    reference = make_reference(exported.parameters, Graph(plain, 1.0))
    # the stand-in is the bundle itself, so what was stored of it is what is exported
    np.testing.assert_allclose(reference.teacher, reference.exported, rtol=1e-3, atol=1e-6)
    bundle = make_bundle(
        tmp_path / "a.vdg",
        exported.parameters,
        reference=reference,
        bounds=Bounds(teacher_log_mae=1e-3),
    )
    assert verify(bundle, teacher=Graph(plain, 1.0)).holds
    result = verify(bundle, teacher=Graph(plain, 1.3))
    failed = [row.what for row in result.rows if not row.holds]
    assert failed == ["the graph now against then", "reference against the graph now"]


def test_a_bound_on_the_graph_that_nothing_is_held_to_is_told(tmp_path):
    bounded = make_bundle(tmp_path / "a.vdg", bounds=Bounds(teacher_log_mae=1e-3))
    (note,) = verify(bounded).notes
    assert note == "the graph is not checked: reference.json does not say what it answered"
    assert verify(bounded, teacher=Graph(bounded, 1.0)).notes == ()
    free = make_bundle(tmp_path / "b.vdg")
    assert verify(free).notes == ()
    scene = pack([bounded, free], tmp_path / "scene.vdg")
    assert verify_scene(scene).notes == (note.replace("the graph", "the graph of a"),)


def test_what_of_a_source_is_not_what_was_baked_is_told(tmp_path):
    document = load_document(EXAMPLES / "foil_stamp.mtlx")
    material = document.require_material()
    baked = {**source_facts(document, material), "material": material.name}
    masks = baked["textures"][0]["file"]
    for source, told in (
        (baked, None),
        ({}, None),
        ({**baked, "material": "foil"}, "its material is 'foil_stamp', not 'foil'"),
        ({**baked, "document_sha256": "0"}, "foil_stamp.mtlx has changed"),
        ({**baked, "textures": baked["textures"][1:]}, f"{masks} is read now"),
        (
            {**baked, "textures": [{"file": masks, "sha256": "0"}, *baked["textures"][1:]]},
            f"{masks} has changed",
        ),
        (
            {**baked, "textures": [*baked["textures"], 5, {"file": ["a"]}]},
            "['a'] is read no more",
        ),
        (
            {**baked, "textures": [*baked["textures"], {"file": "\x1b]0;a\x07"}]},
            "\N{REPLACEMENT CHARACTER}]0;a\N{REPLACEMENT CHARACTER} is read no more",
        ),
    ):
        bundle = make_bundle(tmp_path / "a.vdg", name=material.name, source=source)
        found = source_notes(bundle, SimpleNamespace(document=document, material=material))
        assert found == ([f"the source is not what was baked: {told}"] if told else [])


def test_shaders_of_a_bundle_that_are_not_those_that_are_proven_are_told(software, tmp_path):
    spec = lively_parameters().spec
    own, others = slang_files(spec), slang_files(replace(spec, activation="relu"))
    changed = {**own, "neural_decoder.slang": b"#error no", "mine.slang": b"// mine"}
    told = "not what this Verdigris writes for the network, and proves: "
    for number, (runtime, names) in enumerate(
        (({}, ""), (own, ""), (others, "neural_network.slang"), (changed, "neural_decoder.slang"))
    ):
        bundle = make_bundle(tmp_path / f"{number}.vdg", runtime=runtime)
        found = [note for note in device_notes(bundle, software) if told in note]
        assert found == ([f"{told}runtime/{names}"] if names else [])
    scene = pack([bundle], tmp_path / "scene.vdg")
    assert not any(told in note for note in verify_scene(scene, software).notes)


def test_cooperative_vectors_that_are_too_coarse_alone_are_advised_against(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    exact = numpy_decoder(bundle)
    coarse = lambda *query: 1.02 * exact(*query)  # noqa: E731
    alone = verify(bundle, [("portable", exact), ("cooperative", coarse)])
    assert not alone.holds and "without NEURAL_COOPERATIVE" in alone.advice
    assert verify(bundle, [("portable", coarse), ("cooperative", coarse)]).advice == ""
    assert verify(bundle, [("cooperative", exact)]).advice == ""


def test_the_command_prints_a_table_and_exits_by_the_result(tmp_path, command):
    good = make_bundle(tmp_path / "good.vdg").folder
    code, out, _ = command("verify", good, "--device", "software")
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


def test_export_writes_beside_the_bundle_or_where_it_is_told(tmp_path, command):
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
    assert "'glsl' is not known: use one of rtxns-bin, rtxns-json" in errors
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
    assert f"lies in the bundle {damaged}, whose files are its own" in errors


def test_constants_that_a_decoder_does_not_fit_into_are_told(software, tmp_path):
    wide = make_bundle(tmp_path / "a.vdg", lively_parameters(NetworkSpec(192, 2)))
    assert wide.manifest.weights.bytes > 1 << 16
    assert "a decoder in constants is not checked: it is above 64 KB" in device_notes(
        wide, software
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes here")
def test_exports_replace_plain_files_alone_and_none_of_a_bundle(tmp_path, command):
    folder = make_bundle(tmp_path / "a.vdg").folder
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for path, message in (
        (folder / "manifest.json", f"lies in the bundle {folder}, whose files are its own"),
        (folder / "new.bin", f"lies in the bundle {folder}, whose files are its own"),
        (pipe, "is there, and is no plain file: choose another name"),
        (tmp_path, "is there, and is no plain file: choose another name"),
        (".", "is there, and is no plain file: choose another name"),
        (tmp_path / ("n" * 250), "cannot be written (File name too long)"),
        (tmp_path / ("n" * 300), "cannot be written (File name too long)"),
    ):
        code, _, errors = command("export", folder, "-t", "rtxns-bin", "-o", path)
        assert code == 1 and message in errors
    assert pipe.is_fifo()
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.vdg", "pipe"]


def test_inspect_says_what_a_bundle_holds(tmp_path, command):
    report = {"dropped": [{"name": "transmission", "how": "light that passes through"}]}
    folder = make_bundle(tmp_path / "a.vdg", name="pane", report=report).folder
    code, out, _ = command("inspect", folder)
    assert code == 0
    assert "2x16 silu" in out and "8 x 4, 4 levels, 8 bits a channel" in out
    assert "dropped       transmission: light that passes through" in out
    path = folder / "manifest.json"
    code, out, _ = command("inspect", folder, "--json")
    assert json.loads(out) == json.loads(path.read_text())
    # another version's words and fields are not made this one's
    manifest = json.loads(path.read_text()) | {"version": "4.7", "response": "light", "new": 1}
    path.write_text(json.dumps(manifest))
    code, out, _ = command("inspect", folder, "--json")
    assert (code, json.loads(out)) == (0, manifest)


@pytest.mark.parametrize("name", ["inspect", "verify", "cost", "render", "view", "compare"])
def test_another_material_than_that_of_a_bundle_is_refused(name, bundle, monkeypatch, capsys):
    bundles = [str(bundle.folder)] * (2 if name == "compare" else 1)
    words = ["verdigris", name, *bundles, "-m", "granite", "--device", "software"]
    picture = ["-o", "a.png"] if name in ("render", "compare") else []
    monkeypatch.setattr(sys, "argv", [*words, *picture])
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    said = " ".join(capsys.readouterr().err.split())
    assert f"small.vdg holds the material '{bundle.manifest.name}' and not" in said


def test_the_name_of_a_bundles_own_material_is_taken(bundle, command):
    code, out, _ = command("verify", bundle.folder, "-m", bundle.manifest.name)
    assert (code, "all agree" in out) == (0, True)


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


def test_the_public_api_opens_and_proves(tmp_path, command):
    make_bundle(tmp_path / "a.vdg")
    bundle = api.open_bundle(tmp_path / "a.vdg")
    result = api.verify(bundle, device="software")
    assert result.holds
    # the rows that the command prints
    code, out, _ = command("verify", bundle.folder, "--device", "software", "--json")
    assert (code, json.loads(out)) == (0, result.as_json())
    decoders = [row.what.removesuffix(" against the reference") for row in result.rows[::2]]
    assert decoders == ["numpy", "portable", "portable, constants"]
    own = [("bright", lambda *points: 1.02 * numpy_decoder(bundle)(*points))]
    assert not api.verify(bundle, own, device="software").holds
    student = api.evaluate(bundle, device="software")
    reference = bundle.reference()
    on_finest = reference.lod <= 0
    found = student.response(*(getattr(reference, name)[on_finest] for name in ("uv", "wi", "wo")))
    np.testing.assert_allclose(found, reference.exported[on_finest], rtol=2e-3, atol=1e-6)


GLOW, COVER = (1.0, 0.5, 0.0), 0.4


@pytest.mark.parametrize(
    ("glow", "coverage", "emission", "opacity"),
    [
        (GLOW, COVER, 0.0, 0.0),
        # logarithms of 1 + light, the mean of three channels
        ((3.0, 0.5, 0.0), COVER, np.log(2) / 3, 0.0),
        ((0, 0, 0), 1, np.log(2 * 1.5) / 3, 0.6),
    ],
)
def test_what_a_source_gives_off_and_covers_is_held_against_the_maps(
    glow, coverage, emission, opacity, tmp_path
):
    bundle = make_bundle(
        tmp_path / "a.vdg",
        emission=emission_levels(np.full((4, 4, 3), GLOW, np.float32)),
        opacity=opacity_levels(np.full((4, 4), COVER, np.float32)),
    )
    found = map_differences(bundle, Graph(bundle, 1.0, glow, coverage))
    assert found == (pytest.approx(emission, abs=1e-6), pytest.approx(opacity, abs=1e-6), (16, 16))
    rows = verify(bundle, teacher=Graph(bundle, 1.0, glow, coverage)).rows
    assert [(row.what, row.holds) for row in rows[-2:]] == [
        ("emission against the graph now", emission == 0),
        ("opacity against the graph now", opacity == 0),
    ]


class Ramp(Graph):
    """What it gives off grows with u and v, and what it covers with v."""

    def unlit(self, uv, wo):
        u, v = uv.T
        return np.stack([u, v, 0 * u, v], 1)


def test_maps_of_other_sizes_are_each_held_against_the_source_on_their_own_texels(tmp_path):
    def ramp(width, height):
        u, v = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
        return np.stack([*np.meshgrid(u, v), np.zeros((height, width))], -1, dtype=np.float32)

    bundle = make_bundle(
        tmp_path / "a.vdg",
        emission=emission_levels(ramp(8, 2)),
        opacity=opacity_levels(ramp(2, 4)[..., 1]),
    )
    emission, opacity, texels = map_differences(bundle, Ramp(bundle, 1.0))
    # the last digits of halves and of bytes
    assert (emission, opacity) == (pytest.approx(0, abs=2e-4), pytest.approx(0, abs=0.5 / 255))
    assert texels == (16, 8)
    flipped = make_bundle(tmp_path / "b.vdg", emission=emission_levels(ramp(8, 2)[:, ::-1]))
    # |log(1 + u) - log(2 - u)| in one of three channels
    u = (np.arange(8) + 0.5) / 8
    wanted = np.abs(np.log1p(u) - np.log(2 - u)).mean() / 3
    found = map_differences(flipped, Ramp(flipped, 1.0))
    assert found.emission == pytest.approx(wanted, abs=2e-4)


def test_a_source_that_glows_by_now_is_told(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    assert map_differences(bundle, Graph(bundle, 1.0))[:2] == (None, None)
    found = map_differences(bundle, Graph(bundle, 1.0, (1.0, 1.0, 1.0)))
    assert found[:2] == (pytest.approx(np.log(2)), None)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_disagreement(bundle, unbuffered):
    """Which ends with 1; that of a bake whose reader goes away ends with 141, too."""
    words = [sys.executable, "-m", "verdigris.core", "verify", str(bundle.folder)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "VERDIGRIS_DEVICE": "software"}
    with subprocess.Popen(words, env=environment, **pipes) as running:
        running.stdout.close()
        said = running.stderr.read()
    assert (running.returncode, said) == (141, b"")
