"""Evaluating more samples than one dispatch takes."""

import numpy as np
import pytest

from verdigris.core.base import device
from verdigris.core.material import evaluator
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from .documents import with_surface
from .surfaces import node

DENTS = (
    node("noise2d", "dents", "float", {"amplitude": ("float", "2")}),
    node(
        "heighttonormal", "bent", "vector3", {"in": ("float", "@dents"), "scale": ("float", "16")}
    ),
)


def test_a_dispatch_is_no_larger_than_what_direct3d_takes():
    assert device.MOST_THREADS == 64 * (2**16 - 1)


@pytest.mark.parametrize(("nodes", "lanes"), [((), 1), (DENTS, 4)])
def test_samples_are_the_same_in_one_dispatch_and_in_many(monkeypatch, nodes, lanes):
    normal = '<input name="normal" type="vector3" nodename="bent"/>' if nodes else ""
    colour = '<input name="base_color" type="color3" value="0.7, 0.4, 0.1"/>'
    teacher = Teacher(parse_document(with_surface(colour + normal, *nodes)))
    assert teacher.lanes_per_sample == lanes
    random = np.random.default_rng(0)
    uv = random.random((1000, 2), np.float32)
    wi, wo = (np.tile(np.float32(each), (1000, 1)) for each in ([0.6, 0, 0.8], [0, 0.6, 0.8]))
    whole = teacher.response(uv, wi, wo)
    sizes, real = [], device.Device.dispatch

    def noted(self, kernel, threads, *rest):
        sizes.append(threads)
        return real(self, kernel, threads, *rest)

    monkeypatch.setattr(evaluator, "MOST_THREADS", 640)
    monkeypatch.setattr(device.Device, "dispatch", noted)
    np.testing.assert_array_equal(teacher.response(uv, wi, wo), whole)
    assert max(sizes) <= 640 and sum(sizes) == 1000 * lanes
    assert np.ptp(whole[:, 0]) > 0.05 or not nodes
