"""The kernels that are timed compute what an engine shows of a rung."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.ladder.measure.time_rung import nanoseconds_of, time_rung
from verdigris.core.ladder.rungs.pbr import PbrRung
from verdigris.core.ladder.rungs.reflection import mirror_uv
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.pbr_model import PbrTextures

from ..image_rungs import (
    CURVE,
    MIRROR,
    ROUNDS,
    THREADS,
    bytes_of,
    detail_rung,
    reflection_rung,
    sums_of,
    unlit_rung,
    vertex_rung,
)


@pytest.fixture(scope="module")
def device():
    return open_device("software")


def random_numbers(salt):
    """unitFloat(hash(uint4(thread, round, 1, salt))) of random.slang: pcg4d."""
    thread, number = np.indices((THREADS, ROUNDS), np.uint32).reshape(2, -1)
    v = [thread, number, np.full_like(thread, 1), np.full_like(thread, salt)]
    v = [each * np.uint32(1664525) + np.uint32(1013904223) for each in v]
    for is_last in (False, True):
        v[0] = v[0] + v[1] * v[3]
        v[1] = v[1] + v[2] * v[0]
        v[2] = v[2] + v[0] * v[1]
        v[3] = v[3] + v[1] * v[2]
        if not is_last:
            v = [each ^ each >> np.uint32(16) for each in v]
    return np.stack([(each >> np.uint32(8)) / 2.0**24 for each in v])


def above_surface(xi):
    cosine = 0.05 + 0.95 * xi[0]
    sine = np.sqrt(1 - cosine**2)
    return np.stack([sine * np.cos(2 * np.pi * xi[1]), sine * np.sin(2 * np.pi * xi[1]), cosine])


def shown_by_unlit(model, drawn):
    return CURVE.to_light(model.texture.sample(drawn[:2]))


def shown_by_reflection(model, drawn):
    mirrored = model.mirror.sample(mirror_uv(above_surface(drawn[2:])))
    return shown_by_unlit(model, drawn) + model.share.sample(drawn[:2]) * MIRROR.to_light(mirrored)


def shown_by_detail(model, drawn):
    uv = drawn[:2]
    return 4 * model.detail.sample(uv) ** 2 * CURVE.to_light(model.colour.sample(uv))


def shown_by_vertices(_, drawn):
    return CURVE.to_light(drawn[:3])


@pytest.mark.parametrize(
    ("make_rung", "shown"),
    [
        (unlit_rung, shown_by_unlit),
        (reflection_rung, shown_by_reflection),
        (detail_rung, shown_by_detail),
        (vertex_rung, shown_by_vertices),
    ],
)
def test_the_timed_light_of_a_pixel_is_that_of_the_rung(device, make_rung, shown):
    rung = make_rung()
    light = shown(rung.model, random_numbers(0))
    expected = light.sum(0).reshape(THREADS, ROUNDS).sum(1)
    # texture units filter with weights of eight bits
    assert sums_of(rung, device) == pytest.approx(expected, rel=2e-2)


def test_the_timed_response_is_that_of_the_gltf_material(device):
    grid = bytes_of(5, 1, pbr_model.CHANNELS)
    pbr_model.keep_in_range(grid.values)
    rung = PbrRung(PbrTextures(grid, tuple(pbr_model.LAYERS)), size=1)
    first, second = random_numbers(0), random_numbers(1)
    texels = np.repeat(pbr_model.decode(grid.values).T, THREADS * ROUNDS, 1).astype(np.float64)
    found = pbr_model.evaluate(texels, above_surface(first[2:]), above_surface(second[:2]))
    expected = found.sum(0).reshape(THREADS, ROUNDS).sum(1)
    assert sums_of(rung, device) == pytest.approx(expected, rel=2e-2)


def test_a_processor_measures_nothing_that_a_report_shows(device):
    rung = unlit_rung()
    assert time_rung(rung, device) is None
    assert 0 < nanoseconds_of(rung, device) < 1e5
