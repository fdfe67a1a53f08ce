"""FLIP on a device against NVIDIA's library."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.ladder.measure.device_flip import flip_maps
from verdigris.core.pictures.compare.metrics import ldr_flip


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (40, 56)])
def test_flip_on_a_device_is_that_of_the_library(rows, columns):
    rng = np.random.default_rng(rows)
    reference = (3 * rng.random((3, rows, columns, 3)) ** 3).astype(np.float32)
    drawn = reference.copy()
    # another hue, another texture, a shifted edge, and black
    drawn[0, ..., 1] *= 0.6
    drawn[1, :, ::3] = rng.random((rows, len(range(0, columns, 3)), 3))
    reference[2], drawn[2] = 0, 0
    reference[2, :, : columns // 2] = drawn[2, :, : columns // 2 + 1] = 0.7
    found = flip_maps(open_device("software"), drawn, reference)
    expected = np.stack([ldr_flip(*pair)[1] for pair in zip(drawn, reference, strict=True)])
    assert expected.max() > 0.2
    assert found == pytest.approx(expected, abs=1e-4)


def test_more_pictures_than_one_dispatch_takes_are_compared_each_by_itself(monkeypatch):
    monkeypatch.setattr("verdigris.core.ladder.measure.device_flip._MOST_PIXELS", 2 * 64)
    drawn = np.random.default_rng(1).random((5, 8, 8, 3)).astype(np.float32)
    device = open_device("software")
    found = flip_maps(device, drawn, drawn[::-1])
    assert np.array_equal(found[:1], flip_maps(device, drawn[:1], drawn[4:]))
    assert found[2] == pytest.approx(np.zeros((8, 8)))
