"""docs/FORMAT.md is enough: a decoder written from it alone finds what the bundle says."""

import numpy as np
import pytest

from verdigris.core.network.spec import ACTIVATIONS, LatentLayout, NetworkSpec

from .bundles import lively_parameters, make_bundle
from .stranger import Material, read_textures

TALL = LatentLayout(4, 32, 6)


@pytest.mark.parametrize("quantised", [True, False], ids=["bytes", "halves"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_stranger_decodes_every_network_within_a_thousandth(quantised, activation, tmp_path):
    spec = NetworkSpec(hidden_width=16, hidden_layers=3, activation=activation, frame_count=2)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec, TALL), quantised)
    reference = bundle.reference()
    found = Material(bundle.folder).response(
        *(getattr(reference, name).astype(float) for name in ("uv", "lod", "wi", "wo"))
    )
    # responses over decades, or nothing would be shown
    lit = reference.exported[reference.exported > 0]
    assert len(reference) >= 256 and lit.max() / lit.min() > 30
    np.testing.assert_allclose(found, reference.exported, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("frames", [1, 3])
def test_a_stranger_decodes_other_counts_of_frames(frames, tmp_path):
    spec = NetworkSpec(hidden_width=8, hidden_layers=1, activation="silu", frame_count=frames)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec))
    reference = bundle.reference()
    found = Material(bundle.folder).response(
        *(getattr(reference, name).astype(float) for name in ("uv", "lod", "wi", "wo"))
    )
    np.testing.assert_allclose(found, reference.exported, rtol=1e-3, atol=1e-7)


def test_a_stranger_reads_emission_and_opacity_as_they_were_given(tmp_path):
    from verdigris.core.bundle.maps import emission_levels, opacity_levels

    random = np.random.default_rng(1)
    glow = random.uniform(0, 50, (4, 4, 3)).astype(np.float32)
    coverage = random.random((4, 4)).astype(np.float32)
    bundle = make_bundle(
        tmp_path / "a.vdg", emission=emission_levels(glow), opacity=opacity_levels(coverage)
    )
    read = read_textures(bundle.folder / "emission.ktx2", 4, 4, 1)
    np.testing.assert_allclose(read[0][0, ..., :3], glow, rtol=1e-3)
    # the coarsest level is the mean of all
    np.testing.assert_allclose(read[2][0, 0, 0, :3], glow.mean((0, 1)), rtol=1e-3)
    read = read_textures(bundle.folder / "opacity.ktx2", 4, 4, 1)
    np.testing.assert_allclose(read[0][0, ..., 0], coverage, atol=0.51 / 255)
    assert len(bundle.emission()) == len(bundle.opacity()) == 3
