"""Paint and the ring of the brush over a picture, and the colours that are chosen for them."""

import numpy as np
import pytest

from verdigris.core.pictures.gbuffer import sphere_gbuffer
from verdigris.ui.brush.contrast import INKS, choose_inks
from verdigris.ui.brush.paint_pixels import paint_pixels, ring_pixels, weights_at

INK = {ink.name: ink for ink in INKS}


def lab(rgb):
    """CIE L*a*b* of sRGB bytes under D65, independent of the module's own space."""
    to_xyz = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    share = np.array(rgb) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    x, y, z = np.cbrt(np.array(to_xyz) @ linear / (0.95047, 1.0, 1.08883))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize(
    "colour",
    [(90, 150, 120), (180, 100, 60), (30, 40, 160), (230, 225, 220), (15, 14, 12), (200, 30, 40)],
    ids=["patina", "copper", "blue paint", "plaster", "tar", "velvet"],
)
def test_paint_differs_from_the_material_and_more_from_less(colour):
    rng = np.random.default_rng(3)
    pixels = np.clip(np.array(colour) + rng.normal(0, 12, (32, 32, 3)), 0, 255).astype(np.uint8)
    more, less = choose_inks(pixels)
    material = lab(colour)
    # a difference of 2.3 is just seen
    for one, other in ((lab(more.rgb), material), (lab(less.rgb), material)):
        assert np.linalg.norm(one - other) > 50
    assert np.linalg.norm(lab(more.rgb) - lab(less.rgb)) > 50


def test_paint_on_green_patina_is_not_green():
    pixels = np.full((8, 8, 3), (70, 200, 110), np.uint8)
    assert INK["green"] not in choose_inks(pixels)
    assert choose_inks(None)[0] != choose_inks(None)[1]


def test_more_and_less_differ_in_their_hatching_and_what_is_not_trained_is_hatched_twice():
    more, less = INK["magenta"], INK["cyan"]
    weights = np.full((24, 24), 8.0, np.float32)
    up = paint_pixels(weights, (more, less), 1.0)[..., 3]
    down = paint_pixels(np.full_like(weights, 0.2), (more, less), 1.0)[..., 3]
    crossed = paint_pixels(np.zeros_like(weights), (more, less), 1.0)[..., 3]
    # stripes stay when one goes along them, and change across them
    assert (up[1:, :-1] == up[:-1, 1:]).all() and not (up[1:, 1:] == up[:-1, :-1]).all()
    assert (down[1:, 1:] == down[:-1, :-1]).all() and not (down[1:, :-1] == down[:-1, 1:]).all()
    assert np.count_nonzero(crossed > 200) > 1.4 * np.count_nonzero(up > 200)
    # also for an eye without colour, and nothing where nothing is painted
    assert np.ptp(up) > 100
    assert paint_pixels(np.ones((4, 4), np.float32), (more, less), 1.0)[..., 3].max() == 0
    beside = paint_pixels(np.full((4, 4), np.nan, np.float32), (more, less), 1.0)
    assert beside[..., 3].max() == 0
    faint = paint_pixels(weights, (more, less), 0.5)[..., 3]
    assert faint.max() == pytest.approx(up.max() / 2, abs=1)


def uv_of_sphere(size):
    view = sphere_gbuffer(size)
    uv = np.full((size * size, 2), np.nan, np.float32)
    uv[view.pixel] = view.uv
    return uv.reshape(size, size, 2), view


def test_weights_are_interpolated_between_texels_and_over_the_edges():
    weights = np.arange(16, dtype=np.float32).reshape(4, 4)
    centres = (np.indices((4, 4)).transpose(1, 2, 0)[..., ::-1] + 0.5) / 4
    np.testing.assert_allclose(weights_at(weights, centres), weights, atol=1e-5)
    halfway = weights_at(weights, np.array([[0.0, 0.125], [1.0, 0.125]], np.float32))
    assert halfway == pytest.approx([1.5, 1.5])
    assert np.isnan(weights_at(weights, np.array([[np.nan, 0.5]], np.float32))).all()


def test_the_ring_lies_where_the_brush_ends_on_the_bent_surface():
    uv, view = uv_of_sphere(192)
    radius, centre = 0.1, (0.5, 0.62)
    pixels = ring_pixels(uv, [centre], [radius])
    white = (pixels[..., 3] > 200) & (pixels[..., 0] > 200)
    places = uv[white]
    distance = np.hypot(*(places - centre).T)
    assert len(places) > 100
    # the ring, to within about a pixel, and none of it beside the surface
    assert np.abs(distance - radius).max() < 0.016
    assert not white.reshape(-1)[np.setdiff1d(np.arange(192 * 192), view.pixel)].any()
    # all around: the surface is bent, so the ring is no circle
    angle = np.arctan2(*(places - centre).T[::-1])
    assert np.histogram(angle, 12, (-np.pi, np.pi))[0].min() > 0
    # the falloff: a fainter line at half of the radius
    half = np.abs(np.hypot(*(uv - np.float32(centre)).transpose(2, 0, 1)) - radius / 2) < 0.003
    assert 80 < np.median(pixels[half][:, 3]) < 200
    assert pixels[half & (pixels[..., 3] > 60)][:, 0].min() == 255


def test_a_mirrored_brush_has_two_rings():
    uv, _ = uv_of_sphere(96)
    one = np.count_nonzero(ring_pixels(uv, [(0.3, 0.5)], [0.08])[..., 3])
    two = np.count_nonzero(ring_pixels(uv, [(0.3, 0.5), (0.7, 0.5)], [0.08, 0.08])[..., 3])
    assert two == pytest.approx(2 * one, rel=0.1)
