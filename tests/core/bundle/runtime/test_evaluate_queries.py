"""The runtime shader, compared with numpy in double precision."""

from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError, DeviceError, SettingsError
from verdigris.core.bundle.files.arithmetic import WAYS
from verdigris.core.bundle.files.ktx2 import BC7, RGBA16F
from verdigris.core.bundle.files.reference import choose_points
from verdigris.core.bundle.files.weights import plan_tensors
from verdigris.core.bundle.runtime.device_materials import RuntimeChoice, relayout_weights
from verdigris.core.bundle.runtime.evaluate_queries import QueryEvaluator
from verdigris.core.network.numpy_mlp import evaluate_at_lod, latents_at_lod
from verdigris.core.network.spec import PRESETS, NetworkSpec

from ..bundles import made_up, stored

NETWORKS = {
    "2x16 leaky_relu": replace(PRESETS["2x16"], activation="leaky_relu"),
    "3x64 leaky_smelu": replace(PRESETS["3x64"], activation="leaky_smelu"),
    "1x5 relu, one frame": NetworkSpec(5, 1, "relu", frame_count=1),
    # layers are evaluated in pairs, and units by fours
    "4x6 relu, three lobes": NetworkSpec(6, 4, "relu", lobes=3, output_limit=9.0),
    "5x7 silu, one lobe, 4 latents": NetworkSpec(7, 5, "silu", latent_channels=4, lobes=1),
    # as wide as the last layer
    "3x6 silu": NetworkSpec(6, 3, "silu"),
}
# In the order of float sums alone; an activation or an offset that is wrong is off by percents.
ROUNDING = 1e-5


def expected(exported, points):
    parameters = exported.parameters.astype(np.float64)
    return evaluate_at_lod(parameters, points.uv, points.lod, points.wi, points.wo)


def relative_error(found, wanted, floor=0.01):
    return float((np.abs(found - wanted) / np.maximum(wanted, floor)).max())


@pytest.mark.parametrize(
    ("name", "is_constant"), [(name, index % 2 == 0) for index, name in enumerate(NETWORKS)]
)
def test_portable_code_is_the_numpy_decoder(software, name, is_constant):
    """512 points: between levels and beyond them, on seams and far tiles, grazing and below."""
    exported = made_up(NETWORKS[name])
    points = choose_points(exported.parameters.layout)
    choice = RuntimeChoice(is_constant=is_constant)
    evaluator = QueryEvaluator([stored(exported)], software, choice)
    found = evaluator.response(points.uv, points.lod, points.wi, points.wo)
    wanted = expected(exported, points)
    assert relative_error(found, wanted) < ROUNDING
    below = (points.wi[:, 2] <= 0) | (points.wo[:, 2] <= 0)
    assert below.sum() >= 16
    assert not found[below].any()


def test_stretches_far_beyond_their_limit_are_the_limit(software):
    """Powers of raw values in the thousands overflow, and some compilers' tanh is made of them."""
    exported = made_up(PRESETS["2x16"], seed=1)
    parameters = exported.parameters
    rows = [6, 7, 14, 15]
    parameters.frames()[rows] *= 3000
    points = choose_points(parameters.layout)
    evaluator = QueryEvaluator([stored(exported)], software)
    found = evaluator.response(points.uv, points.lod, points.wi, points.wo)
    wanted = expected(exported, points)
    # sums that are thousands large are off by more where they come near zero, and tanh is steep
    assert relative_error(found, wanted) < 5e-3
    assert np.percentile(np.abs(found - wanted) / np.maximum(wanted, 0.01), 95) < ROUNDING
    numbers = parameters.astype(np.float64)
    latents = latents_at_lod(numbers, points.uv.T.astype(np.float64), points.lod.astype(np.float64))
    raw = np.abs(numbers.frames()[rows] @ latents)
    assert raw.max() > 3000
    is_far = (raw > 60).all(0)
    assert is_far.mean() > 0.7
    assert relative_error(found[is_far], wanted[is_far]) < ROUNDING


@pytest.fixture(scope="module")
def family():
    """Three materials: two of them with one decoder, each of another size and format."""
    spec = PRESETS["2x16"]
    first = made_up(spec, 16, 8, seed=1)
    second = made_up(spec, 4, 4, seed=2, texel_format=RGBA16F)
    third = made_up(spec, 32, 1, seed=3, texel_format=BC7)
    shared = replace(third, parameters=replace(third.parameters, decoder=first.parameters.decoder))
    return first, second, shared


def test_several_materials_lie_in_one_buffer(software, family):
    points = choose_points(family[0].parameters.layout)
    material = np.arange(len(points)) % len(family)
    evaluator = QueryEvaluator([stored(each) for each in family], software)
    found = evaluator.response(points.uv, points.lod, points.wi, points.wo, material)
    for index, exported in enumerate(family):
        mine = material == index
        wanted = expected(exported, points)[mine]
        assert relative_error(found[mine], wanted) < ROUNDING
    records = evaluator.materials.records
    assert records["weights"][0] == records["weights"][2] != records["weights"][1]
    assert records["texture"].tolist() == [0, 1, 2]
    assert evaluator.materials.weights.size == 2 * len(stored(family[0]).weights)


def test_the_mean_of_stochastic_filtering_is_the_trilinear_latent(software):
    """A decoder that is linear in one latent channel shows the latents' mean: exp is undone."""
    exported = latent_through_the_logarithm()
    count, draws = 6, 4096
    points = choose_points(exported.parameters.layout)
    chosen = slice(200, 200 + count)  # uv anywhere, lod between levels
    uv, lod = points.uv[chosen], np.full(count, 0.3, np.float32)
    up = np.tile(np.float32([0.0, 0.6, 0.8]), (count, 1))
    evaluator = QueryEvaluator([stored(exported)], software, RuntimeChoice(filter="stochastic"))
    random = np.tile((np.arange(draws, dtype=np.float32) + 0.5) / draws, count)
    repeated = [np.repeat(each, draws, axis=0) for each in (uv, lod, up, up)]
    found = np.log(evaluator.response(*repeated, random=random)).reshape(count, draws, 3)
    parameters = exported.parameters.astype(np.float64)
    latents = latents_at_lod(parameters, uv.T.astype(np.float64), lod.astype(np.float64))
    np.testing.assert_allclose(found.mean(1)[:, 0] + 3, latents[0], atol=16 / draws)
    assert found.std(1)[:, 0].min() > 0.01
    # one texel at a time, and only those around the place on the two levels
    assert max(len(np.unique(values.round(4))) for values in found[:, :, 0]) <= 8


def latent_through_the_logarithm():
    """A ReLU decoder whose outputs are latent channel 0: relu(x) - relu(-x)."""
    exported = made_up(NetworkSpec(8, 1, "relu", lobes=1))
    parameters = exported.parameters
    parameters.decoder[:] = 0
    first, last = parameters.spec.layers
    parameters.weights(first)[:2, 0] = 1, -1
    parameters.weights(last)[:, :2] = 1, -1
    return exported


def test_the_texture_unit_is_close_to_exact_filtering(software):
    """It weighs texels in steps of 1/256: latents are off by up to 1/256 of their difference."""
    exported = latent_through_the_logarithm()
    points = choose_points(exported.parameters.layout)
    up = np.tile(np.float32([0.0, 0.6, 0.8]), (len(points), 1))
    evaluator = QueryEvaluator([stored(exported)], software, RuntimeChoice(filter="sampler"))
    found = np.log(evaluator.response(points.uv, points.lod, up, up))[:, 0] + 3
    parameters = exported.parameters.astype(np.float64)
    latents = latents_at_lod(parameters, points.uv.T.astype(float), points.lod.astype(float))
    span = np.ptp(exported.parameters.latents[:, 0])
    near = np.abs(points.uv).max(1) < 4  # a far tile costs float digits as well
    assert np.abs(found - latents[0])[near].max() < 3 / 256 * span


@pytest.mark.gpu
@pytest.mark.parametrize("is_constant", [False, True], ids=["buffer", "constants"])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("is_optimal", [False, True], ids=["row-major", "optimal"])
@pytest.mark.parametrize("name", NETWORKS)
def test_cooperative_vectors_are_the_numpy_decoder_in_half_floats(
    cooperative_card, name, is_optimal, way, is_constant
):
    exported = made_up(NETWORKS[name])
    points = choose_points(exported.parameters.layout)
    choice = RuntimeChoice("cooperative", is_optimal=is_optimal, is_constant=is_constant, way=way)
    evaluator = QueryEvaluator([stored(exported)], cooperative_card, choice)
    found = evaluator.response(points.uv, points.lod, points.wi, points.wo)
    assert relative_error(found, expected(exported, points)) < 0.02


@pytest.mark.gpu
def test_cooperative_vectors_find_every_material(cooperative_card, family):
    points = choose_points(family[0].parameters.layout)
    material = np.arange(len(points)) % len(family)
    evaluator = QueryEvaluator(
        [stored(e) for e in family], cooperative_card, RuntimeChoice("cooperative")
    )
    found = evaluator.response(points.uv, points.lod, points.wi, points.wo, material)
    for index, exported in enumerate(family):
        mine = material == index
        assert relative_error(found[mine], expected(exported, points)[mine]) < 0.02


def test_invalid_choices_and_materials_are_refused(software):
    with pytest.raises(SettingsError, match="decoder is 'fast': use one of portable"):
        RuntimeChoice("fast")
    with pytest.raises(DeviceError, match="no cooperative vectors: use the portable decoder"):
        QueryEvaluator([stored(made_up(PRESETS["2x16"]))], software, RuntimeChoice("cooperative"))
    mixed = [stored(made_up(PRESETS[name])) for name in ("2x16", "2x32")]
    with pytest.raises(BundleError, match="several architectures"):
        QueryEvaluator(mixed, software)
    two = [stored(made_up(PRESETS["2x16"], seed=seed)) for seed in (1, 2)]
    with pytest.raises(BundleError, match="have 2 decoders, and a constant buffer holds one"):
        QueryEvaluator(two, software, RuntimeChoice(is_constant=True))
    wide = [stored(made_up(NetworkSpec(128, 2, "relu")))]
    with pytest.raises(BundleError, match="the decoder 2x128 is larger than a constant buffer"):
        QueryEvaluator(wide, software, RuntimeChoice(is_constant=True))


def test_padding_in_the_buffer_of_weights_is_not_used(software):
    """NaN times zero would be NaN: an engine uploads a file of any writer as it is."""
    exported = made_up(NETWORKS["1x5 relu, one frame"])
    clean = stored(exported)
    tensors, size = plan_tensors(exported.parameters.spec)
    source, dirty = np.frombuffer(clean.weights, np.uint8), np.full(size, 0xFF, np.uint8)
    for tensor in tensors:
        for row in range(tensor.offset, tensor.end, tensor.row_stride):
            values = slice(row, row + 2 * tensor.shape[-1])
            dirty[values] = source[values]
    assert (dirty != source).sum() > 100
    points = choose_points(exported.parameters.layout)
    materials = [clean, replace(clean, weights=dirty.tobytes())]
    first, second = (
        QueryEvaluator([each], software).response(points.uv, points.lod, points.wi, points.wo)
        for each in materials
    )
    np.testing.assert_array_equal(first, second)
    assert first.any()


def test_places_and_padding_of_another_writer_do_not_matter():
    """The format lets tensors lie elsewhere and says nothing of the bytes between."""
    exported = made_up(PRESETS["2x16"])
    wanted = stored(exported).weights
    tensors, size = plan_tensors(exported.parameters.spec)
    moved, data = [], np.full(size + 32768, 0xFF, np.uint8)  # 0xFFFF is no number
    source = np.frombuffer(wanted, np.uint8)
    for index, tensor in enumerate(reversed(tensors)):
        stride = tensor.row_stride + 16 * (len(tensor.shape) == 2)
        moved.append(replace(tensor, offset=2048 * index, row_stride=stride))
        rows = tensor.shape[0] if len(tensor.shape) == 2 else 1
        for row in range(rows):
            begin, count = tensor.offset + row * tensor.row_stride, 2 * tensor.shape[-1]
            place = 2048 * index + row * stride
            assert row * stride + count <= 2048
            data[place : place + count] = source[begin : begin + count]
    found = relayout_weights(exported.parameters.spec, tuple(moved), data.tobytes(), "weights.bin")
    assert found == wanted
