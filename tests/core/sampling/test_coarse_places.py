"""How many places of its texel a sample of a coarser level averages."""

from dataclasses import replace

import numpy as np
import pytest
from analytic_material import respond

from verdigris.core.network.spec import LatentLayout
from verdigris.core.sampling.draw_samples import DrawnSamples
from verdigris.core.settings.draw_settings import DrawSettings

LAYOUT = LatentLayout(16, 16, levels=4)


def mean_around(batch, width, places=48):
    """The response averaged over a fine grid of the patch around each sample."""
    steps = width * ((np.arange(places) + 0.5) / places - 0.5)
    uv, wi, wo = (batch[name].astype(np.float64) for name in ("uv", "wi", "wo"))
    shifts = [np.array([u, v]) for u in steps for v in steps]
    return np.mean([respond(uv + shift, wi, wo) for shift in shifts], axis=0)


def test_given_one_place_when_levels_grow_then_so_do_the_places(teacher):
    settings = DrawSettings(coarse_share=0.9, coarse_places=1, least_cosine=0.1)
    batch = DrawnSamples([teacher], LAYOUT, settings=settings).draw(0, 2000)
    first = batch[batch["level"] == 1]
    np.testing.assert_allclose(
        first["response"], respond(*(first[name] for name in ("uv", "wi", "wo"))), rtol=2e-3
    )
    for level in (2, 3):
        coarse = batch[batch["level"] == level]
        mean = mean_around(coarse, 2 * 2**level / 16)
        of_middle = respond(*(coarse[name] for name in ("uv", "wi", "wo")))
        found, middle = (np.abs(values - mean).mean() for values in (coarse["response"], of_middle))
        # Two places, then four: each halves the variance, and spreading them does better.
        assert found < (0.85, 0.6)[level - 2] * middle


@pytest.mark.parametrize(
    ("places", "most", "same"), [(8, 16, (8, 16, 16)), (8, 1, (8, 8, 8)), (8, 100, (8, 16, 32))]
)
def test_given_a_bound_then_levels_have_the_places_that_it_leaves(teacher, places, most, same):
    """Each level's samples are those of settings that lead to this many there by doubling alone."""
    bounded = DrawSettings(coarse_share=0.9, coarse_places=places, most_coarse_places=most)
    batch = DrawnSamples([teacher], LAYOUT, settings=bounded).draw(0, 2000).copy()
    for level, wanted in enumerate(same, 1):
        factor = 2 ** (level - 1)
        plain = replace(bounded, coarse_places=wanted // factor, most_coarse_places=0)
        other = DrawnSamples([teacher], LAYOUT, settings=plain).draw(0, 2000)
        chosen = batch["level"] == level
        assert chosen.any() and np.array_equal(batch[chosen], other[chosen])
