"""The advised arithmetic: computed, written, validated, and followed."""

import json

import numpy as np
import pytest

from verdigris.core.baking.finish.notices import coarse_halves
from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.arithmetic import ADVICE, Arithmetic, slowest_arithmetic
from verdigris.core.bundle.files.manifest import VERSION
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.reference import choose_points
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.files.write import Contents
from verdigris.core.bundle.half_floats import half_errors, judge
from verdigris.core.bundle.runtime import device_materials
from verdigris.core.bundle.runtime.device_materials import fastest_advised
from verdigris.core.bundle.scene.pack import pack
from verdigris.core.bundle.scene.verify_scene import verify_scene
from verdigris.core.bundle.verify.device_decoders import (
    QueryEvaluator,
    device_notes,
    exact_choices,
    unchecked_reasons,
)
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.network.numpy_mlp import evaluate_at_lod
from verdigris.core.network.parameters import TransmittedSide

from .bundles import SMALL, make_bundle, stored, with_sums_of

COARSE = Arithmetic("portable", {"cooperative": 0.023, "careful": 0.012, "exacting": 0.011})
CAREFUL = Arithmetic("careful", {"cooperative": 0.023, "careful": 0.006})
TAME = Arithmetic("cooperative", {"cooperative": 0.004, "careful": 0.003})
POINTS = choose_points(SMALL)


@pytest.mark.parametrize(
    ("size", "layer", "advised"), [(0, 0, "cooperative"), (20, 0, "careful"), (200, 1, "portable")]
)
def test_large_sums_are_advised_against_half_floats(size, layer, advised):
    found = judge(with_sums_of(size, layer), POINTS, Bounds())
    within = [name for name, error in found.errors.items() if error < 0.008]
    assert (found.advised, [*within, "portable"][0]) == (advised, advised)


def test_the_worse_side_of_a_surface_decides():
    parameters, below = with_sums_of(0), with_sums_of(200, 1)
    parameters.transmitted = TransmittedSide(below.decoder, 1.0)
    assert judge(parameters, POINTS, Bounds()) == judge(below, POINTS, Bounds())


def test_a_bundle_of_a_writer_that_knew_two_ways_is_read(tmp_path):
    folder = make_bundle(tmp_path / "a.vdg", arithmetic=CAREFUL).folder
    found = open_bundle(folder).manifest.arithmetic
    assert found == CAREFUL and "exacting" not in found.errors


def test_errors_up_to_four_fifths_of_the_bound_are_advised():
    parameters = with_sums_of(20)
    errors = half_errors(parameters, POINTS, 0.01)

    def advised(relative):
        found = judge(parameters, POINTS, Bounds(relative=relative))
        assert found.errors == errors
        return found.advised

    assert advised(errors["cooperative"] / 0.79) == "cooperative"
    assert advised(errors["cooperative"] / 0.81) == "careful"
    assert advised(errors["careful"] / 0.79) == "careful"
    assert advised(errors["careful"] / 0.81) == "exacting"
    assert advised(errors["exacting"] / 0.81) == "portable"


def test_a_wide_decoder_is_careful_where_that_suffices():
    wide = with_sums_of(20, width=64)
    errors = half_errors(wide, POINTS, 0.01)
    between = Bounds(relative=(errors["cooperative"] + errors["careful"]) / 2 / 0.8)
    assert errors["careful"] < 0.8 * between.relative < errors["cooperative"]
    assert judge(wide, POINTS, between).advised == "careful"


def test_the_most_careful_counts():
    assert ADVICE == ("cooperative", "careful", "exacting", "portable")
    assert slowest_arithmetic(["careful", "cooperative"]) == "careful"
    assert slowest_arithmetic(["exacting", "careful"]) == "exacting"
    assert slowest_arithmetic(["portable", "exacting"]) == "portable"


@pytest.fixture
def card(software, monkeypatch):
    """The same device as one that says it has cooperative vectors: what is chosen for it."""
    monkeypatch.setattr(
        device_materials, "has_cooperative_vectors", lambda device: device is software
    )
    return software


def test_a_bundle_stores_its_arithmetic(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg", arithmetic=CAREFUL)
    assert (bundle.advised, bundle.manifest.arithmetic) == ("careful", CAREFUL)
    document = json.loads((bundle.folder / "manifest.json").read_text())
    assert document["version"] == VERSION
    assert document["arithmetic"] == {
        "advised": "careful",
        "errors": {"cooperative": 0.023, "careful": 0.006},
    }


def edited(folder, **changes):
    path = folder / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **changes}))
    return open_bundle(folder)


def test_a_bundle_without_advice_is_checked_as_shipped(tmp_path, card):
    bundle = edited(make_bundle(tmp_path / "a.vdg").folder, version="4.99")
    assert bundle.advised is None and "arithmetic" not in json.loads(bundle.manifest.encode())
    names = [name for name, _ in exact_choices(card, advised=bundle.advised)]
    assert names == ["portable", "cooperative", "cooperative, row-major"]
    assert device_notes(bundle, card) == []


ERRORS = {"cooperative": 0.004, "careful": 0.003}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], r"arithmetic is \[\]: it must be an object"),
        ({"errors": ERRORS}, "arithmetic.advised is missing"),
        ({"advised": "cooperative"}, "arithmetic.errors is missing"),
        ({"advised": "split", "errors": ERRORS}, "advised is 'split': this reads cooperative or"),
        ({"advised": 3, "errors": ERRORS}, "arithmetic.advised is 3: it must be a text"),
        (
            {"advised": "careful", "errors": {"cooperative": 0.1}},
            "arithmetic.errors.careful is missing",
        ),
        ({"advised": "exacting", "errors": ERRORS}, "arithmetic.errors.exacting is missing"),
        (
            {"advised": "portable", "errors": {**ERRORS, "careful": -1}},
            "arithmetic.errors.careful is -1: it must be from 0 to 1000",
        ),
        (
            {"advised": "portable", "errors": {**ERRORS, "careful": True}},
            "arithmetic.errors.careful is True: it must be a finite number",
        ),
        (
            {"advised": "cooperative", "errors": {"cooperative": 0.02, "careful": 0.003}},
            "arithmetic.advised is 'cooperative': its error is beyond bounds.relative, 0.01",
        ),
    ],
)
def test_a_table_that_is_wrong_or_lies_is_refused_by_its_field(table, message, tmp_path):
    folder = make_bundle(tmp_path / "a.vdg").folder
    with pytest.raises(BundleError, match=message) as failure:
        edited(folder, arithmetic=table)
    assert str(failure.value).startswith(str(folder))


def test_an_unknown_advice_of_a_newer_minor_version_means_plain_code(tmp_path):
    folder = make_bundle(tmp_path / "a.vdg", arithmetic=TAME).folder
    table = {"advised": "bfloat16", "errors": {**ERRORS, "bfloat16": 0.1}, "why": "new"}
    bundle = edited(folder, version="4.99", arithmetic=table)
    assert bundle.manifest.arithmetic == Arithmetic("portable", ERRORS)
    # words that are known are still held to what they mean
    with pytest.raises(BundleError, match=r"arithmetic.advised is 7"):
        edited(folder, arithmetic={**table, "advised": 7})


def test_a_device_with_cooperative_vectors_follows_the_advice(card):
    ways = {name: fastest_advised(card, name) for name in ADVICE}
    assert {name: (way.decoder, way.way) for name, way in ways.items()} == {
        "cooperative": ("cooperative", 0),
        "careful": ("cooperative", 1),
        "exacting": ("cooperative", 2),
        "portable": ("portable", 0),
    }
    assert {name: [each for each, _ in exact_choices(card, True, name)] for name in ADVICE} == {
        "cooperative": [
            *("portable", "cooperative", "cooperative, row-major"),
            *("portable, constants", "cooperative, constants"),
        ],
        "careful": [
            *("portable", "cooperative, careful", "cooperative, careful, row-major"),
            *("portable, constants", "cooperative, careful, constants"),
        ],
        "exacting": [
            *("portable", "cooperative, exacting", "cooperative, exacting, row-major"),
            *("portable, constants", "cooperative, exacting, constants"),
        ],
        "portable": ["portable", "portable, constants"],
    }


def test_a_device_without_them_uses_plain_code_whatever_the_advice(software):
    assert not any(fastest_advised(software, name).is_cooperative for name in (None, *ADVICE))
    assert unchecked_reasons(software, [("copper", COARSE, Bounds())]) == []


def test_a_device_without_them_is_named_once(software, tmp_path):
    line = f"cooperative vectors are not checked: {software.name} has none"
    for arithmetic in (TAME, CAREFUL, None):
        bundle = make_bundle(tmp_path / "a.vdg", arithmetic=arithmetic)
        assert device_notes(bundle, software) == [line]
    parts = [("copper", CAREFUL, Bounds()), ("oak", None, Bounds())]
    assert unchecked_reasons(software, parts) == [line]
    # who needs plain code lacks nothing
    assert unchecked_reasons(software, [*parts, ("lace", COARSE, Bounds())]) == []
    packed = pack([bundle], tmp_path / "set.vdg")
    assert verify_scene(packed, software).notes == (line,)


def test_a_note_gives_the_reason_for_a_missing_check(tmp_path, card):
    bundle = make_bundle(tmp_path / "a.vdg", arithmetic=COARSE)
    (line,) = device_notes(bundle, card)
    assert line == (
        "cooperative vectors are not checked: the bundle needs plain code (emulated "
        "error 0.023, at best 0.011, bound 0.01)"
    )
    result = verify(bundle, notes=[line])
    assert result.holds and result.as_json()["notes"] == [line]
    parts = [("copper", CAREFUL, Bounds()), ("oak", None, Bounds()), ("lace", COARSE, Bounds())]
    (line,) = unchecked_reasons(card, parts)
    assert line.startswith("cooperative vectors are not checked: lace needs plain code")


def test_only_plain_code_is_reported_to_the_artist():
    for arithmetic in (TAME, CAREFUL):
        assert [*coarse_halves(Contents(arithmetic=arithmetic), "clay")] == []
    (warning,) = coarse_halves(Contents(arithmetic=COARSE), "clay")
    assert warning.text == (
        "clay: engines decode it in single precision, which is slower than cooperative vectors: "
        "half floats would cause an error of 2.3%, and at most 0.8% is accepted"
    )


@pytest.mark.gpu
@pytest.mark.parametrize(("size", "layer"), [(0, 0), (20, 0), (200, 1)])
def test_what_is_advised_agrees_on_a_gpu(cooperative_card, size, layer):
    exported = export_numbers(with_sums_of(size, layer))
    parameters = exported.parameters
    advised = judge(parameters, POINTS, Bounds()).advised
    query = POINTS.uv, POINTS.lod, POINTS.wi, POINTS.wo
    wanted = evaluate_at_lod(parameters.astype(np.float64), *query)
    for _, choice in exact_choices(cooperative_card, True, advised):
        found = QueryEvaluator([stored(exported)], cooperative_card, choice).response(*query)
        assert (np.abs(found - wanted) / np.maximum(wanted, 0.01)).max() < 0.01
