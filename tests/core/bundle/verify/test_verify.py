"""A bundle is compared with its reference, the graph and its source."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from verdigris.core.bundle.files import reference as rows_of_reference
from verdigris.core.bundle.files.ktx2 import formats_of
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import choose_points, make_reference
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.runtime.runtime_files import slang_files
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.bundle.verify.device_decoders import device_notes
from verdigris.core.bundle.verify.verify import parameters_decoder, source_notes, verify
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import source_facts
from verdigris.core.network.light.sampler import head_views
from verdigris.core.network.numpy_mlp import evaluate
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ..bundles import Graph, lively_parameters, make_bundle

EXAMPLES = Path(__file__).parents[4] / "examples"


def test_the_rows_that_are_verified_reach_grazing_views():
    cosines = choose_points(LatentLayout(16, 8, 5)).wo[:, 2]
    assert ((cosines > 0) & (cosines < 0.005)).sum() >= 32
    assert ((cosines > 0.005) & (cosines < 0.05)).sum() >= 16


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


@pytest.mark.parametrize("texel_format", formats_of("latents"))
def test_a_bundle_as_written_holds(texel_format, tmp_path):
    result = verify(make_bundle(tmp_path / "a.vdg", texel_format=texel_format))
    assert result.holds
    assert [row.what for row in result.rows] == [
        *["numpy against the reference"] * 2,
        *["numpy sampler against the reference"] * 2,
    ]
    # single floats are far inside what half floats are allowed
    assert result.rows[0].found < 1e-4 and result.rows[2].found < 2e-3


@pytest.mark.parametrize(
    ("spoil", "which"),
    [
        (lambda response: response * np.where(response > 0.02, 1.011, 1), "largest relative"),
        (lambda response: response + np.where(response < 0.01, 2e-4, 0), "largest in the dark"),
        (lambda response: np.where(response > 0.3, np.nan, response), "largest relative"),
        (lambda response: np.where(response == 0, np.inf, response), "largest in the dark"),
    ],
)
def test_a_decoder_beyond_the_bounds_is_reported(spoil, which, tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    exact = parameters_decoder(bundle.parameters())
    result = verify(bundle, [("exact", exact), ("spoilt", lambda *given: spoil(exact(*given)))])
    assert not result.holds
    failed = [(row.what, row.measure) for row in result.rows if not row.holds]
    assert failed == [("spoilt against the reference", which)]
    json.loads(json.dumps(result.as_json(), allow_nan=False))


def test_the_graph_is_compared_with_its_stored_responses(tmp_path):
    numbers = lively_parameters(layout=LatentLayout(16, 16, 5))
    # both stand for the whole square
    numbers.level(3)[:] = numbers.level(4)
    exported = export_numbers(numbers)
    plain = make_bundle(tmp_path / "plain.vdg", exported)
    reference = make_reference(exported.parameters, Graph(plain, 1.0))
    # the stand-in is the bundle itself, so what was stored of it is what is exported
    np.testing.assert_allclose(reference.teacher, reference.exported, rtol=1e-3, atol=1e-6)
    bundle = make_bundle(
        tmp_path / "a.vdg", exported, reference=reference, bounds=Bounds(teacher_log_mae=1e-3)
    )
    assert verify(bundle, teacher=Graph(plain, 1.0)).holds
    result = verify(bundle, teacher=Graph(plain, 1.3))
    failed = [row.what for row in result.rows if not row.holds]
    assert failed == ["the graph now against then", "reference against the graph now"]


def test_a_bound_on_the_graph_without_stored_responses_is_noted(tmp_path):
    bounded = make_bundle(tmp_path / "a.vdg", bounds=Bounds(teacher_log_mae=1e-3))
    (note,) = verify(bounded).notes
    assert note == "the graph is not checked: reference.json has no response of it"
    assert verify(bounded, teacher=Graph(bounded, 1.0)).notes == ()
    free = make_bundle(tmp_path / "b.vdg")
    assert verify(free).notes == ()
    scene = pack([bounded, free], tmp_path / "scene.vdg")
    assert verify_scene(scene).notes == (note.replace("the graph", "the graph of a"),)


def test_changes_of_the_source_since_the_bake_are_noted(tmp_path):
    document = load_document(EXAMPLES / "foil_stamp.mtlx")
    material = document.require_material()
    baked = {**source_facts(document, material), "material": material.name}
    masks = baked["textures"][0]["file"]
    for source, change in (
        (baked, None),
        ({}, None),
        ({**baked, "material": "foil"}, "its material is 'foil_stamp', not 'foil'"),
        ({**baked, "document_sha256": "0"}, "foil_stamp.mtlx has changed"),
        ({**baked, "textures": baked["textures"][1:]}, f"{masks} is new"),
        (
            {**baked, "textures": [{"file": masks, "sha256": "0"}, *baked["textures"][1:]]},
            f"{masks} has changed",
        ),
        (
            {**baked, "textures": [*baked["textures"], 5, {"file": ["a"]}]},
            "['a'] is no longer read",
        ),
        (
            {**baked, "textures": [*baked["textures"], {"file": "\x1b]0;a\x07"}]},
            "\N{REPLACEMENT CHARACTER}]0;a\N{REPLACEMENT CHARACTER} is no longer read",
        ),
    ):
        bundle = make_bundle(tmp_path / "a.vdg", name=material.name, source=source)
        found = source_notes(bundle, SimpleNamespace(document=document, material=material))
        assert found == ([f"the source has changed since the bake: {change}"] if change else [])


def test_shaders_that_differ_from_the_checked_ones_are_noted(software, tmp_path):
    spec = lively_parameters().spec
    own, others = slang_files(spec), slang_files(replace(spec, activation="relu"))
    changed = {**own, "neural_decoder.slang": b"#error no", "mine.slang": b"// mine"}
    text = "not checked, because this Verdigris writes other files: "
    for number, (runtime, names) in enumerate(
        (({}, ""), (own, ""), (others, "neural_network.slang"), (changed, "neural_decoder.slang"))
    ):
        bundle = make_bundle(tmp_path / f"{number}.vdg", runtime=runtime)
        found = [note for note in device_notes(bundle, software) if text in note]
        assert found == ([f"{text}runtime/{names}"] if names else [])
    scene = pack([bundle], tmp_path / "scene.vdg")
    assert not any(text in note for note in verify_scene(scene, software).notes)


def test_cooperative_vectors_that_are_too_coarse_alone_are_advised_against(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    exact = parameters_decoder(bundle.parameters())
    coarse = lambda *query: 1.02 * exact(*query)  # noqa: E731
    alone = verify(bundle, [("portable", exact), ("cooperative", coarse)])
    assert not alone.holds and "without NEURAL_COOPERATIVE" in alone.advice
    assert verify(bundle, [("portable", coarse), ("cooperative", coarse)]).advice == ""
    assert verify(bundle, [("cooperative", exact)]).advice == ""


def test_a_decoder_that_exceeds_constants_is_noted(software, tmp_path):
    wide = make_bundle(tmp_path / "a.vdg", lively_parameters(NetworkSpec(192, 2)))
    assert wide.manifest.weights.bytes > 1 << 16
    assert "the decoder in constants is not checked: it exceeds 64 KB" in device_notes(
        wide, software
    )


def test_rows_of_the_sampler_have_directions_and_densities_that_single_floats_find(monkeypatch):
    parameters = lively_parameters()
    # the lobes of both frames are narrow, and rarely drawn
    _, _, _, bias = head_views(parameters.spec, parameters.head)
    bias[:6] -= 3
    points = choose_points(parameters.layout)
    places = points.uv, points.lod, points.wi, points.wo
    monkeypatch.setattr(rows_of_reference, "ROUNDED", 1e-3)
    rows = rows_of_reference.make_sampler_rows(parameters, *places)
    found = rows_of_reference.sample_rows(parameters, *places, rows.random)
    # without a choice of random numbers 1.5e-6 and 1.1e-4
    assert np.abs(found.drawn - rows.drawn).max() <= 1e-6
    assert np.abs(found.drawn_pdf / rows.drawn_pdf - 1).max() <= 1e-5
