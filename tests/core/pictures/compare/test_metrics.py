import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.errors import SettingsError
from verdigris.core.pictures.compare.metrics import (
    SampleMetrics,
    display,
    ldr_flip,
    measure_picture,
    measure_samples,
    psnr,
    texel_errors,
)


def picture(value, size=32):
    return np.full((size, size, 3), value, np.float32)


def noisy(scale, seed=0):
    random = np.random.default_rng(seed)
    base = np.linspace(0.05, 3, 32 * 32 * 3).reshape(32, 32, 3)
    return base, np.maximum(base + scale * random.standard_normal(base.shape), 0)


def test_sample_metrics_have_their_closed_forms():
    """Predictions 3 and 0 against responses 1 and 0, in every channel."""
    prediction = np.array([[3.0, 3, 3], [0, 0, 0]])
    reference = np.array([[1.0, 1, 1], [0, 0, 0]])
    metrics = measure_samples(prediction, reference)
    assert metrics.log_mae == pytest.approx(np.log(2) / 2)
    assert metrics.relative_l1 == pytest.approx(2)
    assert metrics.smape == pytest.approx(2 / 2.001 / 2)
    assert metrics.bias == pytest.approx(2)


def test_bias_is_the_share_of_light_that_is_gained_or_lost():
    """The total is 3 x (1 + 3)."""
    reference = np.array([[1.0, 1, 1], [3, 3, 3]])
    gain, loss = np.array([[1.25], [1]]), np.array([[1], [0.8]])
    assert measure_samples(reference * gain, reference).bias == pytest.approx(0.25 / 4)
    assert measure_samples(reference * loss, reference).bias == pytest.approx(-0.6 / 4)
    # gains and losses balance, and their errors do not
    balanced = measure_samples(reference + np.array([[0.5], [-0.5]]), reference)
    assert balanced.bias == pytest.approx(0, abs=1e-12)
    assert balanced.relative_l1 == pytest.approx(0.25)


def test_equal_samples_have_no_error():
    values = np.random.default_rng(0).exponential(1, (50, 3))
    metrics = measure_samples(values, values)
    assert metrics == SampleMetrics(0, 0, 0, 0)


def test_a_black_prediction_of_a_black_material_has_no_error():
    metrics = measure_samples(np.zeros((4, 3)), np.zeros((4, 3)))
    assert metrics == SampleMetrics(0, 0, 0, 0)


def test_display_values_have_their_closed_forms():
    """1 shows as a linear half; the sRGB value of 0.5 is 0.735357; the toe is linear."""
    shown = display(np.array([0.0, 1.0, np.inf, 0.001, -1.0]))
    expected = [0, 0.7353569831, 1, 12.92 * 0.001 / 1.001, 0]
    np.testing.assert_allclose(shown, expected, rtol=1e-8)


def test_psnr_of_a_constant_difference_is_its_logarithm():
    p, r = picture(1.0), picture(0.0)
    assert psnr(p, r) == pytest.approx(-20 * np.log10(0.7353569831), rel=1e-6)
    assert psnr(p, p) == 100


def test_flip_is_zero_for_equal_pictures_and_grows_with_noise():
    reference, little = noisy(0.02)
    _, much = noisy(0.3)
    same, error_map = ldr_flip(reference, reference)
    assert same == pytest.approx(0, abs=1e-4)
    assert error_map.shape == (32, 32)
    assert 0 < ldr_flip(little, reference)[0] < ldr_flip(much, reference)[0] < 1


def test_flip_of_white_for_black_is_nearly_one():
    assert ldr_flip(picture(1e4), picture(0))[0] == pytest.approx(0.97, abs=0.05)


def test_texel_errors_fall_into_the_texel_that_holds_the_sample():
    uv = np.array([[0.1, 0.1], [1.2, -0.9], [0.9, 0.6]])
    reference = np.zeros((3, 3))
    prediction = np.array([[1.0, 1, 1], [0, 0, 0], [3, 3, 3]])
    errors = texel_errors(uv, prediction, reference, height=2, width=2)
    np.testing.assert_allclose(errors, [[np.log(2) / 2, np.nan], [np.nan, np.log(4)]])


def test_pictures_of_different_sizes_are_refused():
    with pytest.raises(SettingsError, match=r"\(32, 32, 3\) and \(16, 16, 3\)"):
        measure_picture(picture(0), picture(0, 16))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted by /proc")
@pytest.mark.parametrize(("given", "threads"), [(None, 0), ("3", 2)])
def test_flip_uses_one_thread_unless_the_environment_sets_more(given, threads):
    program = (
        "import os, numpy as np\n"
        "from verdigris.core.pictures.compare.metrics import ldr_flip\n"
        "count = lambda: len(os.listdir('/proc/self/task'))\n"
        "before, given = count(), os.environ.get('OMP_NUM_THREADS')\n"
        "ldr_flip(np.ones((32, 32, 3)), np.zeros((32, 32, 3)))\n"
        "print(count() - before, os.environ.get('OMP_NUM_THREADS') == given)\n"
    )
    environment = {name: text for name, text in os.environ.items() if name != "OMP_NUM_THREADS"}
    environment |= {"OMP_NUM_THREADS": given} if given else {}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == [str(threads), "True"]
