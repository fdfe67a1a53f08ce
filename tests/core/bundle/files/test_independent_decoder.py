"""docs/FORMAT.md is sufficient: a decoder written from it alone reproduces the reference."""

import numpy as np
import pytest

from verdigris.core.bundle.files.ktx2 import formats_of
from verdigris.core.bundle.files.reference import lobes_at
from verdigris.core.bundle.files.stored_textures import emission_levels, opacity_levels
from verdigris.core.bundle.proxies.proxy_texture import Proxies
from verdigris.core.network.light.environment_light import environment_light_split
from verdigris.core.network.spec import ACTIVATIONS, STRETCH_LIMIT, LatentLayout, NetworkSpec

from ..bundles import lively_parameters, make_bundle, random_curves
from .independent_decoder import Material, read_maps, read_reference, read_textures
from .independent_sampler import Sampler

TALL = LatentLayout(4, 32, 6)


def check_within_a_millionth(bundle):
    """As docs/FORMAT.md promises to decoders in double precision; the reference's columns."""
    columns = read_reference(bundle.folder)
    query = (columns[name] for name in ("uv", "lod", "wi", "wo"))
    found = Material(bundle.folder).response(*query)
    # five times as close: points that are not rounded to single floats would be off by more
    np.testing.assert_allclose(found, columns["exported"], rtol=2e-7, atol=1e-9)
    return columns


@pytest.mark.parametrize("texel_format", formats_of("latents"))
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_an_independent_decoder_is_right_for_every_network(texel_format, activation, tmp_path):
    spec = NetworkSpec(hidden_width=16, hidden_layers=3, activation=activation, frame_count=2)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec, TALL), texel_format)
    exported = check_within_a_millionth(bundle)["exported"]
    # responses over decades, or nothing would be shown
    lit = exported[exported > 0]
    assert len(exported) >= 256 and lit.max() / lit.min() > 30


@pytest.mark.parametrize(("frames", "lobes"), [(1, 2), (3, 2), (2, 1), (2, 3)])
def test_an_independent_decoder_decodes_other_counts_of_frames_and_lobes(frames, lobes, tmp_path):
    spec = NetworkSpec(8, 1, "silu", frame_count=frames, lobes=lobes, output_limit=9.9)
    check_within_a_millionth(make_bundle(tmp_path / "a.vdg", lively_parameters(spec)))


@pytest.mark.parametrize("texel_format", formats_of("latents"))
def test_an_independent_decoder_decodes_four_latents(texel_format, tmp_path):
    spec = NetworkSpec(8, 2, "silu", latent_channels=4)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec, TALL), texel_format)
    check_within_a_millionth(bundle)
    whole = make_bundle(tmp_path / "b.vdg", lively_parameters(layout=TALL), texel_format)
    four, eight = (each.manifest.latents.texture for each in (bundle, whole))
    assert (four.layers, eight.layers, 2 * four.texel_bytes) == (1, 2, eight.texel_bytes)


@pytest.mark.parametrize(("frames", "latents"), [(1, 8), (2, 4), (3, 8)])
def test_an_independent_sampler_draws_and_weighs_the_same(frames, latents, tmp_path):
    spec = NetworkSpec(8, 1, "silu", frame_count=frames, latent_channels=latents)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec))
    columns = read_reference(bundle.folder)
    surface = Sampler(bundle.folder).at(*(columns[name] for name in ("uv", "lod", "wo")))
    density = surface.density(columns["wi"])
    np.testing.assert_allclose(density, columns["pdf"], rtol=1e-6, atol=1e-12)
    drawn = surface.draw(columns["random"])
    np.testing.assert_allclose(drawn, columns["drawn"], atol=2e-7)
    np.testing.assert_allclose(surface.density(drawn), columns["drawn_pdf"], rtol=1e-6)


class Smooth:
    """An environment that differs in every direction and width."""

    def radiance(self, directions, solid_angle):
        return (np.array([[1.5], [2.0], [1.2]]) + directions) / (1 + solid_angle)

    def irradiance(self, normals):
        return 3 + normals


@pytest.mark.parametrize(("frames", "latents"), [(1, 4), (2, 8)])
def test_an_independent_split_gives_the_same_light(frames, latents, tmp_path):
    spec = NetworkSpec(8, 1, "silu", frame_count=frames, latent_channels=latents)
    bundle = make_bundle(tmp_path / "a.vdg", lively_parameters(spec))
    columns = read_reference(bundle.folder)
    uv, lod, wo = (columns[name][:160] for name in ("uv", "lod", "wo"))
    wo = np.where(wo[:, 2:] > 0, wo, -wo)
    wo[0] = 0, 0, 1
    decode, smooth = Material(bundle.folder).response, Smooth()
    found = (
        Sampler(bundle.folder)
        .at(uv, lod, wo)
        .split(
            lambda wi: decode(uv, lod, wi, wo),
            lambda wi, solid_angle: smooth.radiance(wi.T, solid_angle).T,
            lambda normal: smooth.irradiance(normal.T).T,
        )
    )
    numbers = bundle.parameters().with_double_decoder()
    wanted = environment_light_split(
        numbers,
        lobes_at(numbers, uv, lod, wo),
        lambda wi: decode(uv, lod, wi.T, wo).T,
        smooth,
        wo.T,
    )
    np.testing.assert_allclose(found, wanted.T, rtol=1e-5)


def test_an_independent_decoder_stretches_no_further_than_the_limit(tmp_path):
    parameters = lively_parameters()
    parameters.frames()[[6, 7, 14, 15]] *= 60
    raw = parameters.frames() @ parameters.latents.T
    beyond = np.abs(raw[[6, 7, 14, 15]]) > STRETCH_LIMIT
    assert beyond.any() and not beyond.all()
    check_within_a_millionth(make_bundle(tmp_path / "a.vdg", parameters))


def test_an_independent_decoder_reproduces_the_columns_of_textures(tmp_path):
    random = np.random.default_rng(2)
    # 8 x 4 latents
    levels = [random.integers(0, 256, (5, *size, 4), np.uint8) for size in ((2, 4), (1, 2), (1, 1))]
    glow = random.uniform(0, 9, (4, 4, 3)).astype(np.float32)
    bundle = make_bundle(
        tmp_path / "a.vdg",
        proxies=Proxies(levels, 2, random_curves(random)),
        emission=emission_levels(glow),
        opacity=opacity_levels(random.random((4, 4)).astype(np.float32)),
    )
    columns = read_reference(bundle.folder)
    found = read_maps(bundle.folder, *(columns[name] for name in ("uv", "lod", "wo")))
    assert set(found) == {"albedo", "diffuse", "normal", "roughness", "emission", "opacity"}
    for name, values in found.items():
        np.testing.assert_allclose(values, columns[name], rtol=1e-5, atol=1e-5, err_msg=name)


def test_an_independent_decoder_reads_emission_and_opacity_as_they_were_given(tmp_path):
    random = np.random.default_rng(1)
    glow = random.uniform(0, 50, (4, 4, 3)).astype(np.float32)
    coverage = random.random((4, 4)).astype(np.float32)
    bundle = make_bundle(
        tmp_path / "a.vdg", emission=emission_levels(glow), opacity=opacity_levels(coverage)
    )
    read = read_textures(bundle.folder / "emission.ktx2", 4, 4, 0)
    np.testing.assert_allclose(read[0][0, ..., :3], glow, rtol=1e-3)
    # the coarsest level is the mean of all
    np.testing.assert_allclose(read[2][0, 0, 0, :3], glow.mean((0, 1)), rtol=1e-3)
    read = read_textures(bundle.folder / "opacity.ktx2", 4, 4, 0)
    np.testing.assert_allclose(read[0][0, ..., 0], coverage, atol=0.51 / 255)
    assert len(bundle.emission()) == len(bundle.opacity()) == 3
