"""Decoders of bundles with live inputs, compared with numpy in double precision."""

import json

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.manifest import VERSION
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.files.reference import choose_points
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.runtime.device_materials import RuntimeChoice
from verdigris.core.bundle.runtime.evaluate_queries import QueryEvaluator
from verdigris.core.bundle.runtime.runtime_files import targets_of
from verdigris.core.bundle.verify.device_decoders import decoders_on
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.material.live_inputs.live_input import LiveInput
from verdigris.core.network.numpy_mlp import evaluate_at_lod
from verdigris.core.network.spec import NetworkSpec
from verdigris.core.network.student import Student

from ..bundles import made_up, make_bundle, stored

INPUTS = (
    LiveInput("wetness", "float", (0.0,), (2.0,), 0.25),
    LiveInput("tint", "color3", (1.0, 0.5, 0.0), (0.0, 0.0, 1.0), 0.75),
)
SPEC = NetworkSpec(6, 2, "silu", live_inputs=2)


@pytest.fixture(scope="module")
def living(tmp_path_factory):
    return make_bundle(tmp_path_factory.mktemp("living") / "a.vdg", made_up(SPEC), live=INPUTS)


def relative_error(found, wanted, floor=0.01):
    return float((np.abs(found - wanted) / np.maximum(wanted, floor)).max())


@pytest.mark.parametrize(("inputs", "is_constant"), [(1, True), (3, False)])
def test_portable_code_is_the_numpy_decoder(software, inputs, is_constant):
    exported = made_up(NetworkSpec(6, 2, "silu", live_inputs=inputs))
    points = choose_points(exported.parameters.layout, inputs)
    place = points.uv, points.lod, points.wi, points.wo
    evaluator = QueryEvaluator([stored(exported)], software, RuntimeChoice(is_constant=is_constant))
    exact = evaluate_at_lod(exported.parameters.astype(np.float64), *place, points.live)
    assert relative_error(evaluator.response(*place, live=points.live), exact) < 1e-5
    still = evaluate_at_lod(exported.parameters.astype(np.float64), *place)
    assert relative_error(still, exact) > 0.1


def test_a_bundle_is_read_as_it_was_written(living):
    assert living.manifest.live == INPUTS
    assert living.parameters().live == (0.25, 0.75)
    manifest = json.loads((living.folder / "manifest.json").read_text())
    assert manifest["version"] == VERSION
    assert manifest["live"][1]["low"] == [1, 0.5, 0]
    reference = living.reference()
    assert reference.live.shape == (len(reference), 2)
    assert (reference.live == 0).any() and (reference.live == 1).any()


def test_all_decoders_of_a_bundle_agree(living, software):
    found = decoders_on(living, software)
    assert verify(living, found.decoders, samplers=found.samplers).holds


def test_without_values_a_material_has_its_defaults(living, software):
    reference = living.reference()
    uv, wi, wo = reference.uv[:128], reference.wi[:128], reference.wo[:128]
    exact = evaluate_at_lod(
        living.parameters(), uv, np.zeros(128), wi, wo, np.array([[0.25, 0.75]])
    )
    drawn, student = BundleMaterial(living, software), Student(living.parameters(), software)
    for material in (drawn, student):
        assert relative_error(material.response(uv, wi, wo), exact) < 1e-4
    evaluator = QueryEvaluator([stored(made_up(SPEC))], software)
    assert evaluator.materials.records["live"].tolist() == [[0, 0, 0]]
    # other values of a picture, and of each point
    other = np.tile(np.float32([[1, 0.5]]), (128, 1))
    moved = student.response(uv, wi, wo, live=other)
    assert relative_error(moved, exact) > 0.05
    for material in (drawn, student):
        material.live = (1.0, 0.5)
        np.testing.assert_allclose(material.response(uv, wi, wo), moved, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda live: live.pop(), "the network has 2 live inputs"),
        (lambda live: live[0].update(type="integer"), r"live\[0\]\.type"),
        (lambda live: live[0].update(default=1.5), r"live\[0\]\.default is 1\.5: use a number"),
        (lambda live: live[0].update(high=0), "it must differ from low"),
        (lambda live: live[1].update(name="wetness"), "each must have a different name"),
    ],
)
def test_a_wrong_list_of_live_inputs_is_refused(living, tmp_path, change, told):
    manifest = json.loads((living.folder / "manifest.json").read_text())
    change(manifest["live"])
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(BundleError, match=told):
        open_bundle(tmp_path)


def test_only_shaders_of_live_inputs_take_their_values():
    for spec, is_live in ((SPEC, True), (NetworkSpec(6, 2), False)):
        for target in targets_of(spec).values():
            assert ("-DNEURAL_LIVE=1" in target.defines) == is_live
