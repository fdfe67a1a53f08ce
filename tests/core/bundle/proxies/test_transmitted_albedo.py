"""The transmitted albedo: closed forms, another decoder's sums, and its texture in bundles."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.base.errors import BundleError
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.proxies.make_proxies import numpy_respond_at
from verdigris.core.bundle.proxies.proxy_texture import TransmittedAlbedo, decode_srgb
from verdigris.core.bundle.proxies.transmitted_albedo import (
    check_transmitted_albedo,
    make_transmitted_albedo,
    passing_share,
)
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.network.parameters import TransmittedSide, initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec

from ...in_process import run_command
from ..bundles import edit, lively_parameters, make_bundle
from ..files.independent_sides import Sides

COLOUR = np.array([0.6, 0.25, 0.05])


def sides(index):
    parameters, below = (lively_parameters(seed=seed) for seed in (3, 4))
    parameters.transmitted = TransmittedSide(below.decoder, index, -below.head)
    return parameters


@pytest.fixture(scope="module", params=[1.0, 1.5])
def passing(request, tmp_path_factory):
    """A bundle of lively numbers with their transmitted albedo."""
    parameters = sides(request.param)
    made = make_transmitted_albedo(parameters, numpy_respond_at(parameters), 1 << 14)
    folder = tmp_path_factory.mktemp("passing") / "leaf.vdg"
    bounds = Bounds(transmitted_albedo=0.2)
    return make_bundle(folder, parameters, transmitted_albedo=made, bounds=bounds)


@pytest.fixture
def copy(passing, tmp_path):
    return shutil.copytree(passing.folder, tmp_path / "a.vdg")


def test_a_lambertian_leaf_passes_its_weight():
    parameters = initialise(NetworkSpec(8, 1), LatentLayout(8, 8, 4), 0, index_below=1.0)

    def leaf(uv, wi, wo):
        # what it reflects does not count
        below = np.where(wi[:, 2:] < 0, COLOUR, 9) * (uv[:, :1] < 0.5)
        return below * np.abs(wi[:, 2:]) / np.pi

    made = make_transmitted_albedo(parameters, lambda lod: leaf, 1 << 12)
    assert [level.shape for level in made.levels] == [(2, 2, 4), (1, 1, 4)]
    finest = decode_srgb(made.levels[0][..., :3])
    np.testing.assert_allclose(finest[:, 0], np.tile(COLOUR, (2, 1)), rtol=0.03)
    assert not finest[:, 1].any()


def test_a_solid_passes_lambertian_light_of_the_directions_that_facets_refract():
    """Without a frame's help: the solid angle of light below, by that of mirrored directions."""
    parameters, index = initialise(NetworkSpec(8, 1), LatentLayout(8, 8, 4), 0, 1.5), 1.5
    uv, random = np.full((64, 2), 0.5, np.float32), np.random.default_rng(0)

    def even(uv, wi, wo):
        return np.full((len(wi), 3), 1 / (2 * np.pi), np.float32)

    found = passing_share(parameters, even, uv, 0.0, random, 8, 512).mean()
    # half vectors of which both directions are on their sides, by plain counting
    z, turn = random.random((2, 8, 40_000))
    cosine = np.sqrt((np.arange(8) + 0.5) / 8)[:, None]
    sine = np.sqrt(1 - z * z)
    wi = np.stack([sine * np.cos(2 * np.pi * turn), sine * np.sin(2 * np.pi * turn), -z])
    wo = np.stack([np.sqrt(1 - cosine**2), 0 * cosine, cosine])
    half = -(wo + index * wi)
    half *= np.sign(half[2])
    is_lit = ((wo * half).sum(0) > 0) & ((wi * half).sum(0) < 0)
    # what the mirror at the half vector sends to the viewer is above the surface
    half /= np.sqrt((half * half).sum(0))
    is_lit &= (2 * (wo * half).sum(0) * half - wo)[2] > 0
    assert found == pytest.approx(is_lit.mean(), rel=0.03)


def test_it_is_what_a_decoder_from_the_page_alone_sums(passing):
    parameters, lod = passing.parameters(), 3.0
    respond, random = numpy_respond_at(parameters)(lod), np.random.default_rng(4)
    place = np.full((12, 2), 0.5, np.float32)
    found = passing_share(parameters, respond, place, lod, random, 32, 256).mean(0)
    steps = (np.arange(40) + 0.5) / 40
    z, turn = (each.ravel() for each in np.meshgrid(-steps, 2 * np.pi * steps))
    sine = np.sqrt(1 - z * z)
    wi = np.stack([sine * np.cos(turn), sine * np.sin(turn), z], 1)
    material, total, views = Sides(passing.folder), np.zeros(3), 48
    for cosine in np.sqrt((np.arange(views) + 0.5) / views):
        away, flat = 2 * np.pi * random.random(), np.sqrt(1 - cosine**2)
        wo = np.tile([flat * np.cos(away), flat * np.sin(away), cosine], (len(wi), 1))
        where = np.full((len(wi), 2), 0.5), np.full(len(wi), lod)
        total += 2 * np.pi * material.response(*where, wi, wo).mean(0) / views
    assert total.max() < 1
    np.testing.assert_allclose(found, total, rtol=0.06)
    # the texture has noise, and bytes
    stored = passing.transmitted_albedo().at(place[:1], np.array([lod]))
    np.testing.assert_allclose(stored[0], total, rtol=0.25, atol=0.005)


def test_verify_finds_a_texture_that_is_not_the_decoders(passing, copy):
    rows = {row.what: row for row in verify(passing).rows}
    row = rows["transmitted: albedo against quadrature"]
    assert row.holds and 0 < row.found < 0.2
    stored = passing.transmitted_albedo()
    darker = TransmittedAlbedo([level - level // 4 for level in stored.levels], 4)
    assert check_transmitted_albedo(passing.parameters(), darker).median > 0.3
    edit(copy, lambda document: document["bounds"].update(transmitted_albedo=0.5 * row.found))
    failed = [row.what for row in verify(open_bundle(copy)).rows if not row.holds]
    assert failed == ["transmitted: albedo against quadrature"]


def test_bundles_list_it_and_open_without_it(passing, copy):
    facts = passing.manifest.transmitted.albedo
    assert passing.manifest.cost["proxies_bytes"] == facts.record.bytes
    _, out, _ = run_command(["inspect", passing.folder])
    assert f"passing   {facts.width} x {facts.height}, {facts.levels} levels" in out
    edit(copy, lambda document: document["transmission"].pop("albedo"))
    older = open_bundle(copy)
    assert older.transmitted_albedo() is None and verify(older).holds
    before = replace(passing.manifest.transmitted, albedo=None)
    assert older.manifest.transmitted == before


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("width", 4, "albedo.levels is 2: it must be 3"),
        ("format", "R8_UNORM", "albedo.format is 'R8_UNORM'"),
        ("file", "latents.ktx2", "names the same file"),
        ("sha256", "0" * 64, "transmitted_albedo.ktx2: sha256 is"),
    ],
)
def test_a_wrong_field_is_refused(copy, name, value, message):
    edit(copy, lambda document: document["transmission"]["albedo"].update({name: value}))
    with pytest.raises(BundleError, match=re.escape(message)):
        open_bundle(copy).check_files()


def test_an_opaque_bundle_has_no_such_field(bundle):
    text = (bundle.folder / "manifest.json").read_text()
    assert bundle.transmitted_albedo() is None
    assert "transmi" not in text
