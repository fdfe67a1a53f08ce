"""Emission and opacity maps are compared with the source."""

import numpy as np
import pytest

from verdigris.core.bundle.files.ktx2 import BC6H
from verdigris.core.bundle.files.stored_textures import emission_levels, opacity_levels
from verdigris.core.bundle.verify.rows import map_differences
from verdigris.core.bundle.verify.verify import verify

from ..bundles import Graph, make_bundle

GLOW, COVER = (1.0, 0.5, 0.0), 0.4


@pytest.mark.parametrize(
    ("glow", "coverage", "emission", "opacity"),
    [
        (GLOW, COVER, 0.0, 0.0),
        # logarithms of 1 + light, the mean of three channels
        ((3.0, 0.5, 0.0), COVER, np.log(2) / 3, 0.0),
        ((0, 0, 0), 1, np.log(2 * 1.5) / 3, 0.6),
    ],
)
def test_emission_and_coverage_of_the_source_are_compared_with_the_maps(
    glow, coverage, emission, opacity, tmp_path
):
    bundle = make_bundle(
        tmp_path / "a.vdg",
        emission=emission_levels(np.full((4, 4, 3), GLOW, np.float32)),
        opacity=opacity_levels(np.full((4, 4), COVER, np.float32)),
    )
    found = map_differences(bundle, Graph(bundle, 1.0, glow, coverage))
    assert found == (
        pytest.approx(emission, abs=1e-6),
        pytest.approx(opacity, abs=1e-6),
        (16, 16),
        1e-3,
    )
    rows = verify(bundle, teacher=Graph(bundle, 1.0, glow, coverage)).rows
    assert [(row.what, row.holds) for row in rows[-2:]] == [
        ("emission against the graph now", emission == 0),
        ("opacity against the graph now", opacity == 0),
    ]


class Ramp(Graph):
    """What it gives off grows with u and v, and what it covers with v."""

    def unlit(self, uv, wo):
        u, v = uv.T
        return np.stack([u, v, 0 * u, v], 1)


def test_maps_of_different_sizes_are_compared_on_their_own_texels(tmp_path):
    def ramp(width, height):
        u, v = (np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height
        return np.stack([*np.meshgrid(u, v), np.zeros((height, width))], -1, dtype=np.float32)

    bundle = make_bundle(
        tmp_path / "a.vdg",
        emission=emission_levels(ramp(8, 2)),
        opacity=opacity_levels(ramp(2, 4)[..., 1]),
    )
    emission, opacity, texels, _ = map_differences(bundle, Ramp(bundle, 1.0))
    # the last digits of halves and of bytes
    assert (emission, opacity) == (pytest.approx(0, abs=2e-4), pytest.approx(0, abs=0.5 / 255))
    assert texels == (16, 8)
    flipped = make_bundle(tmp_path / "b.vdg", emission=emission_levels(ramp(8, 2)[:, ::-1]))
    # |log(1 + u) - log(2 - u)| in one of three channels
    u = (np.arange(8) + 0.5) / 8
    wanted = np.abs(np.log1p(u) - np.log(2 - u)).mean() / 3
    found = map_differences(flipped, Ramp(flipped, 1.0))
    assert found.emission == pytest.approx(wanted, abs=2e-4)


def test_emission_that_only_the_source_has_is_measured(tmp_path):
    bundle = make_bundle(tmp_path / "a.vdg")
    assert map_differences(bundle, Graph(bundle, 1.0))[:2] == (None, None)
    found = map_differences(bundle, Graph(bundle, 1.0, (1.0, 1.0, 1.0)))
    assert found[:2] == (pytest.approx(np.log(2)), None)


class Crack(Graph):
    """What it gives off has a hot colour in every fourth column, beside dark texels: no line of
    colours, as a block of BC6H has it, is near all of them."""

    def unlit(self, uv, wo):
        hot = (16 * uv[:, 0]).astype(int) % 4
        colours = np.array([(0, 0, 0), (6, 0.1, 0), (12, 5, 0.2), (1, 9, 8)], np.float64)
        return np.concatenate([colours[hot], np.ones((len(uv), 1))], 1)


def test_colours_that_blocks_cannot_hold_agree_as_well_as_blocks_can(tmp_path):
    glow = np.repeat(
        np.array([[(0, 0, 0), (6, 0.1, 0), (12, 5, 0.2), (1, 9, 8)]], np.float32), 16, 0
    )
    glow = np.tile(glow, (1, 4, 1))

    def row_of(name, stored):
        bundle = make_bundle(
            tmp_path / name, emission=emission_levels(stored), emission_format=BC6H
        )
        rows = verify(bundle, teacher=Crack(bundle, 1.0)).rows
        return next(row for row in rows if row.what == "emission against the graph now")

    intact = row_of("a.vdg", glow)
    assert intact.found > 0.01 and intact.holds
    # another map with the same blocks, but for their order
    other = row_of("b.vdg", glow[:, ::-1])
    assert not other.holds and other.bound == intact.bound
