import json

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.kernels import constants_module
from verdigris.core.network.spec import (
    PRESETS,
    LatentLayout,
    NetworkSpec,
    pad_to_tile,
    require_preset,
)


@pytest.mark.parametrize(
    ("preset", "count"),
    [
        ("2x16", 128 + (28 * 16 + 16) + (16 * 16 + 16) + (16 * 6 + 6)),
        ("2x32", 128 + (28 * 32 + 32) + (32 * 32 + 32) + (32 * 6 + 6)),
        ("3x64", 128 + (28 * 64 + 64) + 2 * (64 * 64 + 64) + (64 * 6 + 6)),
    ],
)
def test_the_parameter_count_is_the_sum_of_frames_weights_and_biases(preset, count):
    assert PRESETS[preset].parameter_count == count
    assert PRESETS[preset].name == preset


def test_layers_lie_one_after_the_other_behind_the_frames():
    spec = PRESETS["2x32"]
    offsets = [(layer.weight_offset, layer.bias_offset, layer.end) for layer in spec.layers]
    assert offsets == [(128, 1024, 1056), (1056, 2080, 2112), (2112, 2304, 2310)]


def test_inputs_are_latents_then_the_directions_in_each_frame():
    spec = NetworkSpec(latent_channels=8, frame_count=2)
    assert [spec.inputs_of_frame(k) for k in (0, 1)] == [slice(8, 18), slice(18, 28)]
    assert spec.inputs == 28


def test_matrices_are_padded_to_whole_tiles():
    layer = PRESETS["2x32"].layers[0]
    assert (layer.padded_inputs, layer.padded_outputs) == (32, 32)
    assert [pad_to_tile(width) for width in (1, 16, 17)] == [16, 16, 32]


def test_shaders_get_the_numbers_as_a_module_of_constants():
    module = constants_module("network_constants", NetworkSpec().slang_constants())
    assert module.name == "network_constants"
    lines = module.text.splitlines()
    assert lines[0] == "module network_constants;"
    assert "public static const int kWeightOffset1 = 1056;" in lines
    assert "public static const float kOutputLimit = 10.3;" in lines


def test_a_specification_survives_json():
    spec = NetworkSpec(48, 3, "silu", output_shift=2.5)
    assert NetworkSpec.from_json(spec.to_json()) == spec


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"hidden_width": 0}, "hidden_width is 0: use a whole number from 1 to 256"),
        ({"hidden_width": 16.0}, "hidden_width is 16.0"),
        ({"hidden_layers": True}, "hidden_layers is True"),
        ({"activation": "gelu"}, "activation is 'gelu': use one of leaky_relu, silu"),
        ({"output_limit": 20.0}, "output_limit is 20.0: use at most 10.39"),
        ({"output_limit": 10.3, "lobes": 3}, "output_limit is 10.3: use at most 9.99"),
        ({"lobes": 5}, "lobes is 5: use a whole number from 1 to 4"),
        ({"output_shift": float("nan")}, "output_shift is nan"),
    ],
)
def test_a_wrong_value_is_refused_by_name_with_its_remedy(values, message):
    with pytest.raises(SettingsError, match=message):
        NetworkSpec(**values)
    with pytest.raises(SettingsError, match=message):
        NetworkSpec.from_json(json.dumps(values))


@pytest.mark.parametrize(
    ("text", "message"), [("{", "not JSON"), ("[1]", "JSON object"), ('{"depth": 2}', "depth")]
)
def test_text_that_is_no_specification_is_refused(text, message):
    with pytest.raises(SettingsError, match=message):
        NetworkSpec.from_json(text)


def test_an_unknown_preset_is_refused_with_those_that_exist():
    with pytest.raises(SettingsError, match="use one of 2x16, 2x32, 3x64"):
        require_preset("4x64")


def test_levels_halve_down_to_one_texel():
    layout = LatentLayout(width=8, height=2, levels=4, materials=3)
    assert [layout.level_size(level) for level in range(4)] == [(2, 8), (1, 4), (1, 2), (1, 1)]
    np.testing.assert_array_equal(layout.level_offsets, [0, 48, 60, 66, 69])
    assert layout.texel_count == 69


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"width": 0, "height": 4}, "width is 0"),
        ({"width": 8, "height": 4, "levels": 5}, "levels is 5: use 1 to 4"),
        ({"width": 8, "height": 4, "materials": 0}, "materials is 0"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(values, message):
    with pytest.raises(SettingsError, match=message):
        LatentLayout(**values)
